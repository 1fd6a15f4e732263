//! The walk: document and schema side by side.

use super::names::{legal_keys, other_home, unknown_key_fix};
use super::{Finding, Findings, Grammar, spoken};
use crate::diagnostic::hint::did_you_mean;
use crate::document::pointer::{join, join_index};
use crate::mapping::slot::{self, Part};
use regex::Regex;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Deepest nesting of settings.
const MAX_DEPTH: usize = 128;

pub(super) struct Walker<'f, 'd> {
    grammar: Grammar,
    findings: &'f mut Findings<'d>,
    patterns: HashMap<&'static str, Option<Regex>>,
    depth: usize,
}

/// A schema after its references, with the name of the definition it came from.
#[derive(Clone, Copy)]
struct Node {
    schema: &'static Map<String, Value>,
    name: &'static str,
}

impl Node {
    fn get(&self, keyword: &str) -> Option<&'static Value> {
        self.schema.get(keyword)
    }

    fn text(&self, keyword: &str) -> Option<&'static str> {
        self.get(keyword).and_then(Value::as_str)
    }
}

impl<'f, 'd> Walker<'f, 'd> {
    pub(super) fn new(grammar: Grammar, findings: &'f mut Findings<'d>) -> Self {
        Walker { grammar, findings, patterns: HashMap::new(), depth: 0 }
    }

    /// Checks a value; `None` = left out. `expected` says in words what an enclosing choice expects.
    pub(super) fn walk(
        &mut self,
        value: &Value,
        schema: &'static Value,
        pointer: &str,
        expected: Option<&'static str>,
    ) -> Option<Value> {
        if self.depth > MAX_DEPTH {
            self.broken(Finding::error("too-deep", pointer, "too many levels inside each other"));
            return None;
        }
        self.depth += 1;
        let checked = match self.resolve(schema, "") {
            Some(node) => self.node(value, node, pointer, expected),
            None => Some(value.clone()),
        };
        self.depth -= 1;
        checked
    }

    fn broken(&mut self, finding: Finding) {
        self.findings.add_broken(finding);
    }

    fn resolve(&self, schema: &'static Value, name: &'static str) -> Option<Node> {
        let (mut schema, mut name) = (schema.as_object()?, name);
        for _ in 0..8 {
            let Some(target) = schema.get("$ref").and_then(Value::as_str) else { break };
            name = target.strip_prefix("#/$defs/")?;
            schema = self.grammar.schema.get("$defs")?.get(name)?.as_object()?;
        }
        Some(Node { schema, name })
    }

    fn node(&mut self, value: &Value, node: Node, pointer: &str, expected: Option<&'static str>) -> Option<Value> {
        match node.name {
            "FixedValue" => return self.fixed_value(value, pointer),
            "Tree" => {
                self.no_placeholders(value, pointer);
                return Some(value.clone());
            }
            _ => {}
        }
        let expected = node.text("title").filter(|_| !node.name.is_empty()).or(expected).or(node.text("title"));
        if let Some(allowed) = enumeration(node.schema) {
            return self.one_of(value, &allowed, pointer);
        }
        if let Some(branches) = node.get("anyOf").or(node.get("oneOf")).and_then(Value::as_array) {
            return self.choice(value, branches, pointer, expected);
        }
        let kinds = kinds(node.schema);
        if !kinds.is_empty() && !kinds.iter().any(|kind| is_kind(value, kind)) {
            self.wrong_type(value, &kinds, node.name, pointer, expected);
            return None;
        }
        match value {
            Value::Object(members) => Some(self.object(members, node, pointer)),
            Value::Array(items) => Some(self.list(items, node, pointer)),
            Value::String(text) => self.text(text, node, pointer, expected).then(|| value.clone()),
            Value::Number(number) => self.number(number, node, pointer, expected).then(|| value.clone()),
            other => Some(other.clone()),
        }
    }

    // ---- objects and lists ----

    fn object(&mut self, members: &Map<String, Value>, node: Node, pointer: &str) -> Value {
        let properties = node.get("properties").and_then(Value::as_object);
        let mut kept = Map::new();
        for (key, member) in members {
            let below = join(pointer, key);
            let known = properties.and_then(|properties| properties.get(key)).or_else(|| self.patterned(node, key));
            let schema = match (known, node.get("additionalProperties")) {
                (Some(schema), _) => schema,
                (None, Some(Value::Bool(false))) => {
                    self.unknown_key(key, node, &below, pointer);
                    continue;
                }
                (None, Some(schema)) => schema,
                (None, None) => {
                    kept.insert(key.clone(), member.clone());
                    continue;
                }
            };
            if member.is_null() && known.is_some() && !self.accepts_anything(schema) {
                if !self.accepts_null(schema) {
                    let finding = Finding::error("no-value", &below, format!("`{}` has no value", spoken(&below)));
                    self.broken(finding.on_key().fix("give it a value or delete the line"));
                }
                continue;
            }
            let member = if member.is_null() { self.empty(schema) } else { member.clone() };
            if let Some(checked) = self.walk(&member, schema, &below, None) {
                kept.insert(key.clone(), checked);
            }
        }
        for required in node.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            if !members.contains_key(required) {
                let what = if pointer.is_empty() { "the file".to_owned() } else { format!("`{}`", spoken(pointer)) };
                let says = properties.and_then(|all| all.get(required)).and_then(|schema| self.describe(schema));
                let fix = match says {
                    Some(says) => format!("add `{required}:` ({says})"),
                    None => format!("add `{required}:`"),
                };
                let finding = Finding::error("missing-key", pointer, format!("{what} needs `{required}`")).fix(fix);
                self.findings.add(finding.on_key());
            }
        }
        Value::Object(kept)
    }

    fn list(&mut self, items: &[Value], node: Node, pointer: &str) -> Value {
        if let Some(least) = node.get("minItems").and_then(Value::as_u64)
            && (items.len() as u64) < least
        {
            let finding = Finding::error("empty-list", pointer, format!("`{}` is an empty list", spoken(pointer)));
            self.broken(finding.fix("list at least one item, or delete the line"));
        }
        let Some(schema) = node.get("items") else { return Value::Array(items.to_vec()) };
        let mut kept = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let below = join_index(pointer, index);
            let item = if item.is_null() { self.empty(schema) } else { item.clone() };
            kept.extend(self.walk(&item, schema, &below, None));
        }
        Value::Array(kept)
    }

    /// What an empty YAML value (`get_pet:`) stands for.
    fn empty(&self, schema: &'static Value) -> Value {
        let kinds = self.resolve(schema, "").map(|node| kinds(node.schema)).unwrap_or_default();
        if !kinds.contains(&"null") {
            Value::Null
        } else if kinds.contains(&"array") {
            Value::Array(Vec::new())
        } else {
            Value::Object(Map::new())
        }
    }

    fn accepts_null(&self, schema: &'static Value) -> bool {
        self.resolve(schema, "").is_some_and(|node| kinds(node.schema).contains(&"null"))
    }

    fn accepts_anything(&self, schema: &'static Value) -> bool {
        let Some(node) = self.resolve(schema, "") else { return true };
        ["type", "anyOf", "oneOf", "enum", "const"].iter().all(|keyword| node.get(keyword).is_none())
    }

    fn patterned(&mut self, node: Node, key: &str) -> Option<&'static Value> {
        let patterns = node.get("patternProperties")?.as_object()?;
        patterns.iter().find(|(pattern, _)| self.matches(pattern, key)).map(|(_, schema)| schema)
    }

    fn matches(&mut self, pattern: &'static str, text: &str) -> bool {
        let compiled = self.patterns.entry(pattern).or_insert_with(|| Regex::new(pattern).ok());
        compiled.as_ref().is_none_or(|regex| regex.is_match(text))
    }

    fn describe(&self, schema: &'static Value) -> Option<String> {
        let own = schema.get("description").and_then(Value::as_str);
        let text = own.or_else(|| self.resolve(schema, "").and_then(|node| node.text("description")))?;
        let text = text.split(['\n', ';']).next().unwrap_or_default().trim_end_matches('.');
        let mut letters = text.chars();
        let first = letters.next()?;
        // `HTTP method` keeps its capitals, `Where it goes` does not.
        let is_word = letters.next().is_some_and(char::is_lowercase);
        let rest = text.get(first.len_utf8()..)?;
        Some(if is_word { format!("{}{rest}", first.to_lowercase()) } else { text.to_owned() })
    }

    // ---- choices ----

    fn choice(
        &mut self,
        value: &Value,
        branches: &'static [Value],
        pointer: &str,
        expected: Option<&'static str>,
    ) -> Option<Value> {
        if let Some(tag) = branches.first().and_then(tag_of) {
            return self.tagged(value, branches, tag, pointer);
        }
        let nodes: Vec<Node> = branches.iter().filter_map(|branch| self.resolve(branch, "")).collect();
        let fitting = nodes.iter().copied().find(|node| {
            let kinds = all_kinds(self, *node);
            kinds.is_empty() || kinds.iter().any(|kind| is_kind(value, kind))
        });
        if let Some(node) = fitting {
            return self.node(value, node, pointer, expected);
        }
        let mut wanted: Vec<&'static str> = nodes.iter().flat_map(|node| all_kinds(self, *node)).collect();
        wanted.dedup();
        self.wrong_type(value, &wanted, "", pointer, expected);
        None
    }

    fn tagged(&mut self, value: &Value, branches: &'static [Value], tag: &'static str, pointer: &str) -> Option<Value> {
        let Value::Object(members) = value else {
            self.wrong_type(value, &["object"], "", pointer, None);
            return None;
        };
        let constant = |branch: &'static Value| branch.get("properties")?.get(tag)?.get("const")?.as_str();
        let allowed: Vec<&'static str> = branches.iter().filter_map(constant).collect();
        let Some(given) = members.get(tag) else {
            let finding = Finding::error("missing-key", pointer, format!("`{}` needs `{tag}`", spoken(pointer)));
            self.broken(finding.fix(format!("add `{tag}:`; one of {}", ticked(&allowed))));
            return None;
        };
        self.one_of(given, &allowed, &join(pointer, tag))?;
        let branch = branches.iter().find(|branch| constant(branch) == given.as_str())?;
        let node = self.resolve(branch, "")?;
        Some(self.object(members, node, pointer))
    }

    fn one_of(&mut self, value: &Value, allowed: &[&'static str], pointer: &str) -> Option<Value> {
        let Value::String(text) = value else {
            self.wrong_type(value, &["string"], "", pointer, None);
            return None;
        };
        if allowed.contains(&text.as_str()) {
            return Some(value.clone());
        }
        let fix = match did_you_mean(text, allowed.iter().copied()) {
            Some(near) if allowed.len() > 8 => near,
            Some(near) => format!("{near} There are {}", ticked(allowed)),
            None => format!("there are {}", ticked(allowed)),
        };
        let message = format!("`{}` can't be `{}`", spoken(pointer), short(text));
        self.broken(Finding::error("bad-value", pointer, message).fix(fix));
        None
    }

    // ---- scalars ----

    fn text(&mut self, text: &str, node: Node, pointer: &str, expected: Option<&'static str>) -> bool {
        if node.name == "Slot" {
            return self.slot(text, pointer, false);
        }
        if let Some(pattern) = node.text("pattern")
            && !self.matches(pattern, text)
        {
            let expected = expected.unwrap_or("written differently");
            let message = format!("`{}` must be {expected}, found `{}`", spoken(pointer), short(text));
            self.broken(Finding::error("bad-value", pointer, message));
            return false;
        }
        if text.is_empty() && node.get("minLength").is_some() {
            self.broken(Finding::error("no-value", pointer, format!("`{}` is empty", spoken(pointer))));
            return false;
        }
        self.no_placeholders(&Value::String(text.to_owned()), pointer);
        true
    }

    fn number(
        &mut self,
        number: &serde_json::Number,
        node: Node,
        pointer: &str,
        expected: Option<&'static str>,
    ) -> bool {
        let Some(given) = number.as_f64() else { return true };
        let limit = |keyword: &str| node.get(keyword).and_then(Value::as_f64);
        let (least, most) = (limit("minimum"), limit("maximum"));
        let fits = least.is_none_or(|least| given >= least)
            && most.is_none_or(|most| given <= most)
            && limit("exclusiveMinimum").is_none_or(|least| given > least);
        if fits {
            return true;
        }
        let wanted = match (expected, least, most) {
            (Some(expected), ..) => expected.to_owned(),
            (None, Some(least), Some(most)) => format!("{least} to {most}"),
            (None, Some(least), None) => format!("{least} or more"),
            (None, None, Some(most)) => format!("{most} or less"),
            (None, None, None) => "more than 0".to_owned(),
        };
        let message = format!("`{}` must be {wanted}, found {number}", spoken(pointer));
        self.broken(Finding::error("out-of-range", pointer, message));
        false
    }

    fn wrong_type(
        &mut self,
        value: &Value,
        kinds: &[&'static str],
        name: &str,
        pointer: &str,
        expected: Option<&'static str>,
    ) {
        let wanted = expected.map_or_else(
            || kinds.iter().filter(|kind| **kind != "null").map(|kind| in_words(kind)).collect::<Vec<_>>().join(" or "),
            str::to_owned,
        );
        let subject = if pointer.is_empty() { "the file".to_owned() } else { format!("`{}`", spoken(pointer)) };
        let message = format!("{subject} must be {wanted}, found {}", in_words(kind_of(value)));
        let raw = self.findings.document().source_text(pointer).map(str::trim).unwrap_or_default();
        let fix = super::names::type_fix(value, kinds, name, raw, expected.is_some());
        self.broken(Finding::error("wrong-type", pointer, message).maybe_fix(fix));
    }

    fn unknown_key(&mut self, key: &str, node: Node, below: &str, pointer: &str) {
        let place = if pointer.is_empty() { "at the top".to_owned() } else { format!("in `{}`", spoken(pointer)) };
        let keys = legal_keys(node.schema);
        let fix = unknown_key_fix(self.grammar.renamed, node.name, key, &keys)
            .or_else(|| other_home(self.grammar.schema, node.schema, key))
            .unwrap_or_else(|| match did_you_mean(key, keys.iter().copied()) {
                Some(near) => near,
                None => format!("the keys here are {}", ticked(&keys)),
            });
        self.broken(Finding::error("unknown-key", below, format!("unknown key `{key}` {place}")).on_key().fix(fix));
    }

    // ---- `${…}` ----

    fn fixed_value(&mut self, value: &Value, pointer: &str) -> Option<Value> {
        if let Value::String(text) = value {
            return self.slot(text, pointer, true).then(|| value.clone());
        }
        self.no_placeholders(value, pointer);
        Some(value.clone())
    }

    fn slot(&mut self, text: &str, pointer: &str, caller: bool) -> bool {
        match slot::parse(text) {
            Err(wrong) => {
                let finding = Finding::error("bad-placeholder", pointer, wrong.message).inside(wrong.range);
                self.broken(finding.maybe_fix(wrong.fix));
                false
            }
            Ok(parts) if !caller && parts.iter().any(|part| matches!(part, Part::Caller(_))) => {
                let message = format!("`{}` can't come from the caller", spoken(pointer));
                let finding = Finding::error("placeholder-not-allowed", pointer, message);
                self.broken(finding.fix("`${caller:…}` is for `args.NAME.value`; a caller's token goes on with `exchange` or `forward` under `credentials`"));
                false
            }
            Ok(_) => true,
        }
    }

    /// Refuses `${env:…}` and its like where nobody would resolve them.
    fn no_placeholders(&mut self, value: &Value, pointer: &str) {
        match value {
            Value::String(text) => {
                let found = ["${env:", "${file:", "${caller:"].iter().filter_map(|mark| text.find(mark)).min();
                let Some(start) = found else { return };
                let end = text.get(start..).and_then(|rest| rest.find('}')).map_or(text.len(), |at| start + at + 1);
                let shown = text.get(start..end).unwrap_or_default();
                let message = format!("`{}` is not resolved in `{}`", short(shown), spoken(pointer));
                let finding = Finding::error("placeholder-not-allowed", pointer, message).inside(start..end);
                self.broken(finding.fix(
                    "`${…}` works under `sources` and in `args.NAME.value`; a secret goes to `credentials` or `headers` of the source",
                ));
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.no_placeholders(item, &join_index(pointer, index));
                }
            }
            Value::Object(members) => {
                for (key, member) in members {
                    self.no_placeholders(member, &join(pointer, key));
                }
            }
            _ => {}
        }
    }
}

// ---- schemas ----

fn enumeration(schema: &'static Map<String, Value>) -> Option<Vec<&'static str>> {
    if let Some(constant) = schema.get("const") {
        return constant.as_str().map(|one| vec![one]);
    }
    if let Some(list) = schema.get("enum") {
        return list.as_array()?.iter().map(Value::as_str).collect();
    }
    let branches = schema.get("oneOf")?.as_array()?;
    let lists: Option<Vec<Vec<&'static str>>> =
        branches.iter().map(|branch| branch.as_object().and_then(enumeration)).collect();
    lists.map(|lists| lists.concat())
}

/// The property by which the branches of a choice are told apart.
fn tag_of(branch: &'static Value) -> Option<&'static str> {
    let properties = branch.get("properties")?.as_object()?;
    properties.iter().find(|(_, schema)| schema.get("const").is_some()).map(|(name, _)| name.as_str())
}

fn kinds(schema: &'static Map<String, Value>) -> Vec<&'static str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn all_kinds(walker: &Walker<'_, '_>, node: Node) -> Vec<&'static str> {
    if enumeration(node.schema).is_some() {
        return vec!["string"];
    }
    match node.get("anyOf").or(node.get("oneOf")).and_then(Value::as_array) {
        Some(branches) => branches
            .iter()
            .filter_map(|branch| walker.resolve(branch, ""))
            .flat_map(|node| kinds(node.schema))
            .collect(),
        None => kinds(node.schema),
    }
}

fn is_kind(value: &Value, kind: &str) -> bool {
    match kind {
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        other => kind_of(value) == other,
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn in_words(kind: &str) -> &'static str {
    match kind {
        "null" => "nothing",
        "boolean" => "true or false",
        "integer" => "a whole number",
        "number" => "a number",
        "string" => "text",
        "array" => "a list",
        _ => "an object",
    }
}

fn ticked(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn short(text: &str) -> String {
    let mut shown: String = text.chars().take(60).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}
