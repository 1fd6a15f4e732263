//! JSON-RPC 2.0 envelopes, read in one pass over the caller's bytes and borrowing from them.
//!
//! Values inside `params` stay raw JSON text; only the members some method needs are told apart.

use super::error::{INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, RpcError};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// What stood where an object may stand.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// An object.
    Object,
    /// Another JSON value.
    #[default]
    Other,
}

/// A struct of raw members that also notes repeated ones and values that are no object.
macro_rules! members {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty = $key:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Default)]
        pub(crate) struct $name<'a> {
            pub(crate) shape: Shape,
            pub(crate) repeated: Option<&'static str>,
            $(pub(crate) $field: Option<$type>,)*
        }

        impl<'de: 'a, 'a> serde::Deserialize<'de> for $name<'a> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                #[allow(non_camel_case_types)]
                enum Key { $($field,)* Other }
                struct KeySeed;
                impl<'de> DeserializeSeed<'de> for KeySeed {
                    type Value = Key;
                    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
                        deserializer.deserialize_str(self)
                    }
                }
                impl Visitor<'_> for KeySeed {
                    type Value = Key;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("a member name")
                    }
                    fn visit_str<E>(self, text: &str) -> Result<Key, E> {
                        Ok(match text {
                            $($key => Key::$field,)*
                            _ => Key::Other,
                        })
                    }
                }
                struct Members<'a>(PhantomData<&'a ()>);
                impl<'de: 'a, 'a> Visitor<'de> for Members<'a> {
                    type Value = $name<'a>;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("a JSON value")
                    }
                    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                        let mut out = $name { shape: Shape::Object, ..Default::default() };
                        while let Some(key) = map.next_key_seed(KeySeed)? {
                            match key {
                                $(Key::$field => {
                                    if out.$field.replace(map.next_value()?).is_some() {
                                        out.repeated = Some($key);
                                    }
                                })*
                                Key::Other => {
                                    map.next_value::<IgnoredAny>()?;
                                }
                            }
                        }
                        Ok(out)
                    }
                    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                        while seq.next_element::<IgnoredAny>()?.is_some() {}
                        Ok($name::default())
                    }
                    fn visit_unit<E>(self) -> Result<Self::Value, E> {
                        Ok($name::default())
                    }
                    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
                        Ok($name::default())
                    }
                    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
                        Ok($name::default())
                    }
                    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
                        Ok($name::default())
                    }
                    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
                        Ok($name::default())
                    }
                    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
                        Ok($name::default())
                    }
                }
                deserializer.deserialize_any(Members(PhantomData))
            }
        }
    };
}

members! {
    /// A message before it is classified.
    Envelope {
        jsonrpc: &'a RawValue = "jsonrpc",
        id: &'a RawValue = "id",
        method: &'a RawValue = "method",
        params: Params<'a> = "params",
        result: &'a RawValue = "result",
        error: &'a RawValue = "error",
    }
}

members! {
    /// The members of `params` that some method of ours reads.
    Params {
        meta: Meta<'a> = "_meta",
        name: &'a RawValue = "name",
        uri: &'a RawValue = "uri",
        arguments: &'a RawValue = "arguments",
        cursor: &'a RawValue = "cursor",
        level: &'a RawValue = "level",
        reference: &'a RawValue = "ref",
        argument: &'a RawValue = "argument",
        context: &'a RawValue = "context",
        input_responses: &'a RawValue = "inputResponses",
        request_state: &'a RawValue = "requestState",
        notifications: &'a RawValue = "notifications",
        task: &'a RawValue = "task",
        task_id: &'a RawValue = "taskId",
        request_id: &'a RawValue = "requestId",
        protocol_version: &'a RawValue = "protocolVersion",
        capabilities: &'a RawValue = "capabilities",
        client_info: &'a RawValue = "clientInfo",
    }
}

members! {
    /// The members of `params._meta` that we read (2026-07-28 basic, "Request metadata").
    Meta {
        protocol_version: &'a RawValue = "io.modelcontextprotocol/protocolVersion",
        client_capabilities: &'a RawValue = "io.modelcontextprotocol/clientCapabilities",
        client_info: &'a RawValue = "io.modelcontextprotocol/clientInfo",
        log_level: &'a RawValue = "io.modelcontextprotocol/logLevel",
        progress_token: &'a RawValue = "progressToken",
        traceparent: &'a RawValue = "traceparent",
        tracestate: &'a RawValue = "tracestate",
        baggage: &'a RawValue = "baggage",
    }
}

/// A request id as canonical JSON text (a string or an integer), so that equal ids compare equal
/// and can be written back as they are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Id<'a>(Cow<'a, str>);

impl<'a> Id<'a> {
    pub(crate) fn read(raw: &'a RawValue) -> Option<Self> {
        let text = raw.get();
        match text.as_bytes() {
            [b'"', ..] if text.contains('\\') => {
                let decoded: String = serde_json::from_str(text).ok()?;
                serde_json::to_string(&decoded).ok().map(|text| Id(Cow::Owned(text)))
            }
            [b'"', ..] => Some(Id(Cow::Borrowed(text))),
            [b'-', b'0'] => Some(Id(Cow::Borrowed("0"))),
            [b'-', digits @ ..] | digits => {
                (!digits.is_empty() && digits.iter().all(u8::is_ascii_digit)).then_some(Id(Cow::Borrowed(text)))
            }
        }
    }

    pub(crate) fn as_json(&self) -> &str {
        &self.0
    }
}

/// A request.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    pub(crate) id: Id<'a>,
    pub(crate) method: Cow<'a, str>,
    pub(crate) params: Params<'a>,
}

impl Request<'_> {
    /// The revision claimed in `_meta`: its presence alone makes a request modern.
    pub(crate) fn claim(&self) -> Option<&RawValue> {
        self.params.meta.as_ref()?.protocol_version
    }
}

/// A notification.
#[derive(Debug)]
pub(crate) struct Notification<'a> {
    pub(crate) method: Cow<'a, str>,
    pub(crate) params: Params<'a>,
}

/// A client's answer to a request of ours.
#[derive(Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) id: Id<'a>,
    pub(crate) outcome: Result<&'a RawValue, &'a RawValue>,
}

/// One classified message.
#[derive(Debug)]
pub(crate) enum Message<'a> {
    Request(Box<Request<'a>>),
    Notification(Box<Notification<'a>>),
    Answer(Answer<'a>),
}

/// One message, or an array of not yet decoded ones.
#[derive(Debug)]
pub(crate) enum Incoming<'a> {
    One(Message<'a>),
    Batch(Vec<&'a RawValue>),
}

/// A message that is none; `id` where it could be read.
#[derive(Debug)]
pub(crate) struct Rejected {
    pub(crate) id: Option<String>,
    pub(crate) error: RpcError,
}

impl Rejected {
    fn new(id: Option<&Id<'_>>, code: i32, message: impl Into<Cow<'static, str>>) -> Self {
        Rejected { id: id.map(|id| id.as_json().to_owned()), error: RpcError::new(code, message).status(400) }
    }
}

/// Decodes one frame, line or body; `max_depth` bounds the nesting of arrays and objects.
pub(crate) fn decode(bytes: &[u8], max_depth: usize) -> Result<Incoming<'_>, Rejected> {
    let text =
        std::str::from_utf8(bytes).map_err(|_| Rejected::new(None, PARSE_ERROR, "Parse error: not valid UTF-8"))?;
    if too_deep(bytes, max_depth) {
        return Err(Rejected::new(None, INVALID_REQUEST, format!("Nested deeper than {max_depth} levels")));
    }
    if text.trim_start_matches([' ', '\t', '\r', '\n']).starts_with('[') {
        let items: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| syntax(&error))?;
        return Ok(Incoming::Batch(items));
    }
    decode_one(text).map(Incoming::One)
}

fn syntax(error: &serde_json::Error) -> Rejected {
    let place = format!("Parse error at line {} column {}", error.line(), error.column());
    Rejected::new(None, PARSE_ERROR, place)
}

/// Decodes one message (an element of a batch).
pub(crate) fn decode_one(text: &str) -> Result<Message<'_>, Rejected> {
    let envelope: Envelope<'_> = serde_json::from_str(text).map_err(|error| syntax(&error))?;
    if envelope.shape != Shape::Object {
        return Err(Rejected::new(None, INVALID_REQUEST, "A message is a JSON object"));
    }
    let id = envelope.id.and_then(Id::read);
    let invalid = |text: &str| Err(Rejected::new(id.as_ref(), INVALID_REQUEST, text.to_owned()));
    if let Some(member) = envelope.repeated {
        return Err(Rejected::new(
            id.as_ref().filter(|_| member != "id"),
            INVALID_REQUEST,
            format!("Member `{member}` appears twice"),
        ));
    }
    if envelope.jsonrpc.is_none_or(|raw| raw.get() != "\"2.0\"") {
        return invalid("`jsonrpc` must be \"2.0\"");
    }
    if envelope.id.is_some() && id.is_none() {
        return invalid("`id` must be a string or an integer");
    }
    let Some(method) = envelope.method else {
        return match (id, envelope.result, envelope.error) {
            (Some(id), Some(result), None) => Ok(Message::Answer(Answer { id, outcome: Ok(result) })),
            (Some(id), None, Some(error)) => Ok(Message::Answer(Answer { id, outcome: Err(error) })),
            (id, ..) => Err(Rejected::new(id.as_ref(), INVALID_REQUEST, "Neither a request nor a response")),
        };
    };
    let Some(method) = string(method) else {
        return invalid("`method` must be a string");
    };
    if envelope.result.is_some() || envelope.error.is_some() {
        return invalid("A message has either `method` or `result` or `error`");
    }
    let given = envelope.params.is_some();
    let params = envelope.params.unwrap_or_default();
    let Some(id) = id else {
        return Ok(Message::Notification(Box::new(Notification { method, params })));
    };
    let wrong = |text: String| Err(Rejected::new(Some(&id), INVALID_PARAMS, text));
    if given && params.shape != Shape::Object {
        return wrong("`params` must be an object".to_owned());
    }
    if params.meta.as_ref().is_some_and(|meta| meta.shape != Shape::Object) {
        return wrong("`params._meta` must be an object".to_owned());
    }
    if let Some(member) = params.repeated.or(params.meta.as_ref().and_then(|meta| meta.repeated)) {
        return wrong(format!("Member `{member}` of `params` appears twice"));
    }
    Ok(Message::Request(Box::new(Request { id, method, params })))
}

/// The string in a raw value, borrowed where it holds no escapes.
pub(crate) fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    let text = raw.get();
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') { serde_json::from_str(text).ok().map(Cow::Owned) } else { Some(Cow::Borrowed(inner)) }
}

/// True if the raw value is an object.
pub(crate) fn is_object(raw: &RawValue) -> bool {
    raw.get().starts_with('{')
}

fn too_deep(bytes: &[u8], max_depth: usize) -> bool {
    // With fewer brackets than levels there is nothing to look at. Counted in small sums, sixteen bytes at once.
    let count = |chunk: &[u8]| chunk.iter().fold(0u8, |sum, byte| sum + u8::from(matches!(byte, b'{' | b'[')));
    if bytes.chunks(128).map(|chunk| usize::from(count(chunk))).sum::<usize>() <= max_depth {
        return false;
    }
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for byte in bytes {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => {
                depth += 1;
                if depth > max_depth {
                    return true;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}
