//! `rest-mcp` puts an existing REST API in front of AI agents.
//!
//! It reads OpenAPI documents and YAML mapping files at start, publishes MCP tools, and turns every
//! `tools/call` into exactly one well-formed HTTP request (or a declared sequence of them) and the
//! answer back into MCP content.
//!
//! ```text
//!  files, URLs                                                     MCP client
//!      |                                                               ^
//!    load (IO)                                              protocol + transport (IO)
//!      v                                                               |
//!  DOCUMENT --> Api ----\                                              |
//!           \            >--> CATALOG --> CALL --> REQUEST ==> RESPONSE --> CONTENT
//!            \-> Mapping-/    of Tools                     upstream (IO)
//! ```
//!
//! Read top to bottom, the module list below is the life of a call. A module uses only modules above
//! it; `tests/structure.rs` fails on any import that goes up.
//!
//! Invariants:
//!
//! 1. [`openapi`] and [`mapping`] do not know each other; only `catalog/compile` sees both.
//! 2. The input schema shown to the client and the request sent upstream derive from the same list
//!    of [`catalog::Binding`]s. There is no second walk over the document.
//! 3. The core (down to [`access`]) reads no file, socket, clock, environment or randomness; the one
//!    exception is the stopwatch that stops a jq filter which runs away (`content/jq`).
//! 4. Reading and compiling gather every problem (value + [`diagnostic::Report`]); they never stop
//!    at the first and never panic on any input.
//! 5. A [`catalog::Catalog`] is immutable; reload validates, then swaps the whole.
//! 6. Only [`protocol`] knows MCP revisions, only [`transport`] knows stdio/HTTP/SSE/WebSocket,
//!    only [`upstream`] knows the HTTP client.
//! 7. Nothing but the stdio transport writes to stdout while serving. Logs go to stderr.
//! 8. A secret reaches the wire through `request` and `upstream/auth` and appears nowhere else.
//! 9. Values from a caller are never evaluated: not as template, not as `${...}`, not as path syntax.
//! 10. The same predicate decides what `tools/list` shows and what `tools/call` allows.
//!
//! Decisions with their reasons:
//!
//! - Documents are plain JSON trees; places are found again in the text only when a diagnostic needs one.
//! - Asking the person is always an `input_required` round inside; handshake revisions get server requests.
//! - Where MCP's texts differ or are silent: bad arguments are tool errors in every revision, unknown tools are
//!   JSON-RPC errors, `supportedVersions` lists 2026-07-28 only, WebSocket ([`transport`]) behaves like stdio.
//! - A call becomes a task when it waits for a job of the API, or where `poll.questions: during` lets it ask on its way;
//!   a failed job is a failed result, an answer that does not tell its state is a JSON-RPC error.
//! - A resource that somebody subscribed to is asked about in the subscriber's own name, while he listens.
//! - Plain HTTP to a source's own origin goes over a bare connection pool; everything else over `reqwest`. A call drives the
//!   connection it uses itself; what all calls have to write goes out together once they have run (`gather`).
//! - Connections of HTTP stay on the thread they were put on, with their timers and the API's connections that their calls use
//!   ([`workers`]): where tasks wander between processors, a call costs a fifth more. So that nobody waits for his neighbour,
//!   answers of 256 kB and more are shaped aside, as many at once as there are workers, and requests of HTTP/2 are spread.
//! - A server loads on a thread of its own (`app/load_thread`): a reload offers calls the processor every tenth of a
//!   millisecond (`pace`), and makes the lists that clients have asked for before it swaps.
//! - Of a long answer only what `pick` and `select` look at is read into values; a filter that fails on the part runs again on
//!   the whole, so that its error tells of the whole. Common filters need no values at all (`content/shape/direct`); whatever
//!   is out of the ordinary for them is left to the interpreter, which thereby decides what every filter means.
//! - An answer that goes through whole is escaped while it is read against its schema (`content/conform/sink`): the reader
//!   knows where the quotes are. Long parts of a reply are sent from where they lie ([`content::wire::Pieces`]).
//! - A long list is compressed once, when a client that accepts gzip first asks for it; what differs from answer to answer stands
//!   before and after it in stored blocks (`transport/http/gzip`). Results of calls are not compressed: it would cost more than the call.
//! - Event streams of HTTP/1 are written by [`transport`] itself: the HTTP library would hold 25 kB for each that is silent.
//! - An API that repeats a secret of the request it got shows stars to the model; secrets of digits alone or of less than
//!   eight bytes are left, they can't be told from data (`request/mask`).
//! - A mapping with an error is not served at all (an unknown key could have been an exclusion); a document with
//!   an error loses only the operations concerned.

// ---- core: pure and synchronous ----
pub mod diagnostic;
pub mod secret;
pub mod document;
pub mod schema;
pub mod template;
pub mod openapi;
pub mod arazzo;
pub mod mapping;
pub mod catalog;
pub mod call;
pub mod request;
pub mod response;
pub mod content;
pub mod access;
// ---- shell: files, sockets, clocks ----
pub mod config;
pub mod load;
pub mod telemetry;
pub mod audit;
mod gather;
mod pace;
pub mod workers;
pub mod upstream;
pub mod service;
pub mod protocol;
pub mod transport;
pub mod reload;
pub mod mock;
pub mod app;
pub mod cli;
