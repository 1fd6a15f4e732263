//! The five published revisions and, in one table, what each of them knows.
//!
//! Nothing is sent that the spoken revision does not know. The first revision that has a field is
//! taken from the official `schema.json` files.

/// A published revision of MCP, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// 2024-11-05.
    V2024_11_05,
    /// 2025-03-26.
    V2025_03_26,
    /// 2025-06-18.
    V2025_06_18,
    /// 2025-11-25: the last one with an `initialize` handshake.
    V2025_11_25,
    /// 2026-07-28: every request describes itself.
    V2026_07_28,
}

/// What `structuredContent` may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Structured {
    /// The revision has no such member.
    Unknown,
    /// Objects only: other values are wrapped as `{"result": …}`.
    Object,
    /// Any JSON value.
    Any,
}

/// One row of the table.
#[derive(Debug)]
pub(crate) struct Knows {
    /// Written form.
    pub(crate) name: &'static str,
    /// Arrays of messages.
    pub(crate) batches: bool,
    /// `Tool.annotations`.
    pub(crate) annotations: bool,
    /// `title` of Implementation, Tool, Resource, ResourceTemplate, Prompt, PromptArgument.
    pub(crate) title: bool,
    /// `icons` everywhere, `Implementation.description` and `websiteUrl`.
    pub(crate) icons: bool,
    /// `audio` blocks.
    pub(crate) audio: bool,
    /// `resource_link` blocks.
    pub(crate) links: bool,
    /// `outputSchema` and `structuredContent`.
    pub(crate) structured: Structured,
    /// The `completions` capability (the method is older).
    pub(crate) completions: bool,
    /// `message` of progress notifications.
    pub(crate) progress_message: bool,
    /// `elicitation/create`.
    pub(crate) elicitation: bool,
    /// `mode: url` and the wider enum forms of elicitation.
    pub(crate) elicitation_modes: bool,
    /// Tasks in the core; an extension later.
    pub(crate) tasks: bool,
    /// Event ids, priming event and `retry` on SSE streams.
    pub(crate) resumable: bool,
    /// `resultType`, `ttlMs`, `cacheScope`, `_meta…/serverInfo`, `x-mcp-header`.
    pub(crate) modern: bool,
}

const V2024_11_05: Knows = Knows {
    name: "2024-11-05",
    batches: false,
    annotations: false,
    title: false,
    icons: false,
    audio: false,
    links: false,
    structured: Structured::Unknown,
    completions: false,
    progress_message: false,
    elicitation: false,
    elicitation_modes: false,
    tasks: false,
    resumable: false,
    modern: false,
};
const V2025_03_26: Knows = Knows {
    name: "2025-03-26",
    batches: true,
    annotations: true,
    audio: true,
    completions: true,
    progress_message: true,
    ..V2024_11_05
};
const V2025_06_18: Knows = Knows {
    name: "2025-06-18",
    batches: false,
    title: true,
    links: true,
    structured: Structured::Object,
    elicitation: true,
    ..V2025_03_26
};
const V2025_11_25: Knows =
    Knows { name: "2025-11-25", icons: true, elicitation_modes: true, tasks: true, resumable: true, ..V2025_06_18 };
const V2026_07_28: Knows = Knows {
    name: "2026-07-28",
    structured: Structured::Any,
    tasks: false,
    resumable: false,
    modern: true,
    ..V2025_11_25
};

impl Version {
    /// All of them, oldest first.
    pub const ALL: [Version; 5] =
        [Version::V2024_11_05, Version::V2025_03_26, Version::V2025_06_18, Version::V2025_11_25, Version::V2026_07_28];
    /// The newest with a handshake: what an unknown version is countered with.
    pub const NEWEST_LEGACY: Version = Version::V2025_11_25;
    /// What an HTTP request without version header and session speaks.
    pub const HEADERLESS: Version = Version::V2025_03_26;

    /// Reads the written form.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.as_str() == text)
    }

    /// The written form.
    pub fn as_str(self) -> &'static str {
        self.knows().name
    }

    /// True if every request describes itself (no handshake).
    pub fn is_modern(self) -> bool {
        self.knows().modern
    }

    pub(crate) fn knows(self) -> &'static Knows {
        match self {
            Version::V2024_11_05 => &V2024_11_05,
            Version::V2025_03_26 => &V2025_03_26,
            Version::V2025_06_18 => &V2025_06_18,
            Version::V2025_11_25 => &V2025_11_25,
            Version::V2026_07_28 => &V2026_07_28,
        }
    }
}

/// The revisions that a request may claim in `_meta`: `supportedVersions` and `data.supported`.
///
/// Legacy ones are left out on purpose: a client told that 2025-11-25 is supported would put it
/// into `_meta` and be refused again.
pub(crate) const CLAIMABLE: [&str; 1] = ["2026-07-28"];
