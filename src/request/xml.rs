//! XML from a value and its schema's `xml` hints (OpenAPI "XML Object", with the 3.2 `nodeType`).

use super::style::text_of;
use serde_json::{Map, Value};
use std::fmt::Write;

/// Elements nested deeper than this are refused.
const DEEPEST: usize = 128;

/// A document. `schema` is self-contained; `charset` is named in the declaration.
pub(crate) fn write(value: &Value, schema: &Value, charset: Option<&str>) -> Result<String, String> {
    let name = root_name(schema);
    let mut out = format!("<?xml version=\"1.0\" encoding=\"{}\"?>", charset.unwrap_or("UTF-8"));
    document(&mut out, value, schema, schema, &name)?;
    Ok(out)
}

/// A property of the schema as a document of its own.
pub(crate) fn write_property(value: &Value, schema: &Value, name: &str) -> Result<String, String> {
    let mut out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>".to_owned();
    let property = property(schema, schema, name, 0).unwrap_or(&Value::Bool(true));
    document(&mut out, value, property, schema, name)?;
    Ok(out)
}

fn document(out: &mut String, value: &Value, schema: &Value, root: &Value, name: &str) -> Result<(), String> {
    let writer = Writer { root };
    match value {
        // a document has one root, so an array is always wrapped
        Value::Array(items) => {
            let hints = writer.hints(schema);
            let outer = hints.name.unwrap_or(name);
            open(out, outer, &hints)?;
            out.push('>');
            let item = writer.items(schema);
            let inner = writer.hints(item).name.map(str::to_owned).unwrap_or_else(|| inner_name(item, outer));
            items.iter().try_for_each(|value| writer.element(out, value, item, &inner, 1))?;
            close(out, outer, &hints)
        }
        value => writer.element(out, value, schema, name, 0),
    }
}

/// The `xml.name` of the root, else the definition's name, else `root`.
fn root_name(schema: &Value) -> String {
    let hinted = Writer { root: schema }.hints(schema).name.map(str::to_owned);
    hinted.unwrap_or_else(|| inner_name(schema, "root"))
}

fn inner_name(schema: &Value, fallback: &str) -> String {
    let definition = schema.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix("#/$defs/"));
    definition.filter(|name| is_name(name)).unwrap_or(fallback).to_owned()
}

#[derive(Default)]
struct Hints<'s> {
    name: Option<&'s str>,
    namespace: Option<&'s str>,
    prefix: Option<&'s str>,
    wrapped: bool,
    /// 3.2: `element`, `attribute`, `text`, `cdata` or `none`; 3.1 `attribute: true` reads as `attribute`.
    node: Option<&'s str>,
}

struct Writer<'s> {
    root: &'s Value,
}

impl<'s> Writer<'s> {
    /// Follows references, a few of them.
    fn target(&self, mut schema: &'s Value) -> &'s Value {
        for _ in 0..16 {
            match definition(self.root, schema) {
                Some(target) => schema = target,
                None => break,
            }
        }
        schema
    }

    fn hints(&self, schema: &'s Value) -> Hints<'s> {
        let xml = schema.get("xml").or_else(|| self.target(schema).get("xml")).and_then(Value::as_object);
        let Some(xml) = xml else { return Hints::default() };
        let text = |name: &str| xml.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let flag = |name: &str| xml.get(name).and_then(Value::as_bool).unwrap_or_default();
        let node = text("nodeType").or(flag("attribute").then_some("attribute"));
        Hints {
            name: text("name"),
            namespace: text("namespace"),
            prefix: text("prefix"),
            wrapped: flag("wrapped"),
            node,
        }
    }

    fn items(&self, schema: &'s Value) -> &'s Value {
        find(self.root, schema, 0, &mut |schema| schema.get("items")).unwrap_or(&Value::Bool(true))
    }

    fn element(
        &self,
        out: &mut String,
        value: &Value,
        schema: &'s Value,
        name: &str,
        depth: usize,
    ) -> Result<(), String> {
        if depth > DEEPEST {
            return Err("is nested too deeply for XML".to_owned());
        }
        let hints = self.hints(schema);
        let name = hints.name.unwrap_or(name);
        open(out, name, &hints)?;
        match value {
            Value::Null => out.push_str(" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:nil=\"true\"/>"),
            Value::Object(members) => {
                self.attributes(out, members, schema)?;
                out.push('>');
                for (name, member) in members {
                    let schema = property(self.root, schema, name, 0).unwrap_or(&Value::Bool(true));
                    self.child(out, member, schema, name, depth + 1)?;
                }
                close(out, name, &hints)?;
            }
            Value::Array(items) => {
                out.push('>');
                let item = self.items(schema);
                items.iter().try_for_each(|value| self.element(out, value, item, name, depth + 1))?;
                close(out, name, &hints)?;
            }
            value => {
                out.push('>');
                push_text(out, &text_of(value))?;
                close(out, name, &hints)?;
            }
        }
        Ok(())
    }

    fn attributes(&self, out: &mut String, members: &Map<String, Value>, schema: &'s Value) -> Result<(), String> {
        for (name, member) in members.iter().filter(|(_, member)| !member.is_null()) {
            let Some(schema) = property(self.root, schema, name, 0) else { continue };
            let hints = self.hints(schema);
            if hints.node != Some("attribute") {
                continue;
            }
            if let (Some(prefix), Some(namespace)) = (hints.prefix, hints.namespace) {
                let _ = write!(out, " xmlns:{prefix}=\"");
                push_text(out, namespace)?;
                out.push('"');
            }
            out.push(' ');
            push_name(out, hints.name.unwrap_or(name), hints.prefix)?;
            out.push_str("=\"");
            push_text(out, &text_of(member))?;
            out.push('"');
        }
        Ok(())
    }

    fn child(
        &self,
        out: &mut String,
        value: &Value,
        schema: &'s Value,
        name: &str,
        depth: usize,
    ) -> Result<(), String> {
        let hints = self.hints(schema);
        match (hints.node, value) {
            (Some("attribute"), _) => Ok(()),
            (Some("text"), value) => push_text(out, &text_of(value)),
            (Some("cdata"), value) => {
                let text = text_of(value);
                check_text(&text)?;
                // the end mark can't stand inside a section, so it is split over two
                let _ = write!(out, "<![CDATA[{}]]>", text.replace("]]>", "]]]]><![CDATA[>"));
                Ok(())
            }
            (node, Value::Array(items)) => {
                let item = self.items(schema);
                let wrapped = hints.wrapped || node == Some("element");
                let outer = hints.name.filter(|_| wrapped).unwrap_or(name);
                let inner = self.hints(item).name.unwrap_or(outer);
                if wrapped {
                    open(out, outer, &hints)?;
                    out.push('>');
                }
                items.iter().try_for_each(|value| self.element(out, value, item, inner, depth + 1))?;
                if wrapped { close(out, outer, &hints) } else { Ok(()) }
            }
            (_, value) => self.element(out, value, schema, name, depth),
        }
    }
}

fn definition<'s>(root: &'s Value, schema: &Value) -> Option<&'s Value> {
    let name = schema.get("$ref")?.as_str()?.strip_prefix("#/$defs/")?;
    root.get("$defs")?.get(name)
}

/// The first answer of a schema, its reference, its `allOf`, `oneOf` or `anyOf` branches.
fn find<'s>(
    root: &'s Value,
    schema: &'s Value,
    depth: usize,
    ask: &mut dyn FnMut(&'s Value) -> Option<&'s Value>,
) -> Option<&'s Value> {
    if depth > 16 {
        return None;
    }
    if let Some(found) = ask(schema) {
        return Some(found);
    }
    if let Some(found) = definition(root, schema).and_then(|target| find(root, target, depth + 1, ask)) {
        return Some(found);
    }
    let branches = ["allOf", "oneOf", "anyOf"].into_iter().filter_map(|keyword| schema.get(keyword)?.as_array());
    branches.flatten().find_map(|branch| find(root, branch, depth + 1, ask))
}

fn property<'s>(root: &'s Value, schema: &'s Value, name: &str, depth: usize) -> Option<&'s Value> {
    find(root, schema, depth, &mut |schema| schema.get("properties")?.get(name))
}

fn open(out: &mut String, name: &str, hints: &Hints<'_>) -> Result<(), String> {
    out.push('<');
    push_name(out, name, hints.prefix)?;
    if let Some(namespace) = hints.namespace {
        match hints.prefix {
            Some(prefix) => drop(write!(out, " xmlns:{prefix}=\"")),
            None => out.push_str(" xmlns=\""),
        }
        push_text(out, namespace)?;
        out.push('"');
    }
    Ok(())
}

fn close(out: &mut String, name: &str, hints: &Hints<'_>) -> Result<(), String> {
    out.push_str("</");
    push_name(out, name, hints.prefix)?;
    out.push('>');
    Ok(())
}

fn push_name(out: &mut String, name: &str, prefix: Option<&str>) -> Result<(), String> {
    if !is_name(name) || !prefix.is_none_or(is_name) {
        return Err(format!("`{name}` can't be the name of an XML element"));
    }
    if let Some(prefix) = prefix {
        out.push_str(prefix);
        out.push(':');
    }
    out.push_str(name);
    Ok(())
}

/// XML 1.0 `Name`, non-ASCII letters taken as they are.
fn is_name(name: &str) -> bool {
    let start = |character: char| character.is_alphabetic() || character == '_' || character == ':';
    let rest =
        |character: char| start(character) || character.is_alphanumeric() || character == '-' || character == '.';
    name.chars().next().is_some_and(start) && name.chars().all(rest)
}

/// XML 1.0 `Char`.
fn check_text(text: &str) -> Result<(), String> {
    let illegal = |character: char| matches!(character, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    if text.contains(illegal) { Err("holds control characters that XML can't".to_owned()) } else { Ok(()) }
}

/// Appends character data, fit for elements and attributes.
pub(crate) fn push_text(out: &mut String, text: &str) -> Result<(), String> {
    check_text(text)?;
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\r' => out.push_str("&#13;"),
            other => out.push(other),
        }
    }
    Ok(())
}
