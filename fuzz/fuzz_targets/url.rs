//! Every style, place and value: a URL keeps its host, its segments and its query separators, and decoding it gives
//! the values back.
#![no_main]

use common::url::{Site, style};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use percent_encoding::percent_decode_str;
use rest_mcp::openapi::{ParameterIn, Style};
use serde_json::{Map, Value, json};

/// Texts that end, split or climb somewhere.
const HOSTILE: [&str; 14] = ["..", ".", "/", "%2e", "%2F", "?", "#", "&x=1", ";", "\\", "@evil", "\r\n", ",", "|"];

fn text(u: &mut Unstructured<'_>) -> Result<String> {
    let mut text = String::new();
    for _ in 0..u.int_in_range(0..=3u8)? {
        match u.arbitrary::<bool>()? {
            true => text.push_str(*u.choose(&HOSTILE)?),
            false => text.extend(u.arbitrary::<&str>()?.chars().take(6)),
        }
    }
    Ok(text)
}

fn value(u: &mut Unstructured<'_>) -> Result<Value> {
    Ok(match u.int_in_range(0..=4u8)? {
        0 => Value::from((0..u.int_in_range(0..=3u8)?).map(|_| text(u)).collect::<Result<Vec<_>>>()?),
        1 => Value::Object(
            (0..u.int_in_range(0..=3u8)?).map(|_| Ok((text(u)?, json!(text(u)?)))).collect::<Result<Map<_, _>>>()?,
        ),
        2 => common::generate::value(u, 3)?,
        _ => Value::from(text(u)?),
    })
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8().expect("UTF-8").into_owned()
}

/// One path parameter: the segment decodes to what the style says.
fn path(u: &mut Unstructured<'_>) -> Result<()> {
    let kind = *u.choose(&[Style::Simple, Style::Label, Style::Matrix, Style::SpaceDelimited, Style::PipeDelimited])?;
    let (explode, reserved, value) = (u.arbitrary()?, u.arbitrary()?, value(u)?);
    let site = Site::new("/base/{v}/tail").parameter("v", ParameterIn::Path, style(kind, explode, reserved));
    let Some(request) = site.build(json!({"v": value})) else { return Ok(()) };
    let segments: Vec<&str> = request.path_segments().expect("http").collect();
    assert_eq!((segments.len(), segments[0], segments[2]), (3, "base", "tail"), "{request}");
    assert!(!segments[1].is_empty());
    assert_eq!((request.query(), request.fragment()), (None, None), "{request}");
    let segment = segments[1];
    match (kind, &value) {
        (Style::Simple, Value::String(text)) => assert_eq!(&decoded(segment), text),
        (Style::Label, Value::String(text)) => assert_eq!(decoded(segment), format!(".{text}")),
        (Style::Matrix, Value::String(text)) if !text.is_empty() => assert_eq!(decoded(segment), format!(";v={text}")),
        (Style::Simple, Value::Array(_)) if !reserved => {
            let Some(texts) = texts(&value) else { return Ok(()) };
            assert_eq!(segment.split(',').map(decoded).collect::<Vec<_>>(), texts);
        }
        _ => {}
    }
    Ok(())
}

/// Query parameters between two others, which stay what they are.
fn query(u: &mut Unstructured<'_>) -> Result<()> {
    let kinds = [Style::Form, Style::SpaceDelimited, Style::PipeDelimited, Style::DeepObject, Style::TabDelimited];
    let kind = *u.choose(&kinds)?;
    let (explode, reserved, name, value) = (u.arbitrary()?, u.arbitrary()?, text(u)?, value(u)?);
    if name.is_empty() || name == "first" || name == "last" {
        return Ok(());
    }
    let plain = || style(Style::Form, true, false);
    let site = Site::new("/p")
        .parameter("first", ParameterIn::Query, plain())
        .parameter(&name, ParameterIn::Query, style(kind, explode, reserved))
        .parameter("last", ParameterIn::Query, plain());
    let Some(request) = site.build(json!({"first": "1", name.clone(): value, "last": "2"})) else { return Ok(()) };
    assert_eq!((request.path(), request.fragment()), ("/p", None), "{request}");
    // With `allowReserved` a text that looks encoded already is left as it is, be it UTF-8 or not.
    let decoded = |text: &str| match reserved {
        true => percent_decode_str(text).decode_utf8_lossy().into_owned(),
        false => decoded(text),
    };
    let pairs: Vec<(String, String)> = request
        .query()
        .unwrap_or_default()
        .split('&')
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (decoded(name), decoded(value)))
        .collect();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(pairs.first(), Some(&pair("first", "1")), "{request}");
    assert_eq!(pairs.last(), Some(&pair("last", "2")), "{request}");
    let middle = &pairs[1..pairs.len() - 1];
    let form = explode && kind != Style::DeepObject;
    match &value {
        _ if reserved => {}
        Value::String(text) => assert_eq!(middle, [pair(&name, text)], "{request}"),
        Value::Array(_) if form => {
            let Some(texts) = texts(&value) else { return Ok(()) };
            assert_eq!(middle, texts.iter().map(|text| pair(&name, text)).collect::<Vec<_>>(), "{request}");
        }
        Value::Object(members) if members.values().all(Value::is_string) && (form || kind == Style::DeepObject) => {
            let wanted: Vec<_> = members
                .iter()
                .map(|(key, value)| (key, value.as_str().unwrap_or_default()))
                .map(|(key, value)| if form { pair(key, value) } else { pair(&format!("{name}[{key}]"), value) })
                .collect();
            assert_eq!(middle, wanted, "{request}");
        }
        _ if !form && kind != Style::DeepObject => assert!(middle.len() <= 1, "{request}"),
        _ => {}
    }
    Ok(())
}

/// Templates as an author writes them: what is accepted gives a URL on the same host.
fn template(u: &mut Unstructured<'_>) -> Result<()> {
    let (before, after) = (text(u)?, text(u)?);
    let (base, value) =
        (*u.choose(&["https://api.example", "https://api.example/v1/", "https://api.example/a?k=1"])?, text(u)?);
    let site = Site::new(&format!("/{before}{{v}}{after}")).base(base);
    let site = site.parameter("v", ParameterIn::Path, style(Style::Simple, false, u.arbitrary()?));
    site.build(json!({"v": value}));
    Ok(())
}

fuzz_target!(|input: &[u8]| {
    let mut u = Unstructured::new(input);
    // Too few bytes is no finding.
    let _ = match u.arbitrary::<u8>().unwrap_or_default() % 5 {
        0 | 1 => path(&mut u),
        2 => template(&mut u),
        _ => query(&mut u),
    };
});
