//! Dotted paths into a value.
//!
//! `owner.email` goes through objects by name and through lists to each item; `*` matches any name; a
//! number picks one item of a list; a backslash takes the next character literally (`a\.b`).

use indexmap::IndexMap;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// A parsed path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector {
    pub(super) segments: Vec<Segment>,
    text: String,
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Segment {
    /// A member's name, or the number of an item.
    Name(String),
    /// Any member.
    Any,
}

impl Selector {
    /// Reads a path; the error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        const MOST: usize = 64;
        let mut segments = Vec::new();
        let mut name = String::new();
        let mut literal = false;
        let mut end = |name: &mut String, literal: &mut bool| {
            let name = std::mem::take(name);
            let literal = std::mem::take(literal);
            if name.is_empty() {
                return Err(match text.strip_prefix('.') {
                    Some(rest) if !rest.is_empty() => format!("`{text}` begins with a dot; a path is written `{rest}`"),
                    _ => format!("`{text}` has an empty segment; a path is written `a.b.c`"),
                });
            }
            segments.push(if name == "*" && !literal { Segment::Any } else { Segment::Name(name) });
            Ok(())
        };
        let mut chars = text.chars();
        while let Some(char) = chars.next() {
            match char {
                '\\' => {
                    name.push(chars.next().ok_or_else(|| format!("`{text}` ends with a backslash"))?);
                    literal = true;
                }
                '.' => end(&mut name, &mut literal)?,
                _ => name.push(char),
            }
        }
        end(&mut name, &mut literal)?;
        if segments.len() > MOST {
            return Err(format!("a path has at most {MOST} segments"));
        }
        Ok(Selector { segments, text: text.to_owned() })
    }

    /// The path as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The value at the path; `None` where there is none. Behind a list (or `*`) it is the list of what the items have,
    /// which may be empty.
    pub fn get<'a>(&self, value: &'a Value) -> Option<Cow<'a, Value>> {
        get(value, &self.segments)
    }

    /// The same, taking the value apart instead of copying.
    pub fn take(&self, value: Value) -> Option<Value> {
        take(value, &self.segments)
    }
}

fn get<'a>(value: &'a Value, segments: &[Segment]) -> Option<Cow<'a, Value>> {
    let Some((first, rest)) = segments.split_first() else { return Some(Cow::Borrowed(value)) };
    match (value, first) {
        (Value::Object(members), Segment::Name(name)) => get(members.get(name)?, rest),
        (Value::Object(members), Segment::Any) => {
            Some(Cow::Owned(members.values().filter_map(|value| get(value, rest)).map(Cow::into_owned).collect()))
        }
        (Value::Array(items), Segment::Name(name)) => match number(name) {
            Some(index) => get(items.get(index)?, rest),
            None => Some(each(items, segments)),
        },
        (Value::Array(items), Segment::Any) => Some(each(items, segments)),
        _ => None,
    }
}

impl Selector {
    /// True if there is a value at the path.
    pub(super) fn hits(&self, value: &Value) -> bool {
        hits(value, &self.segments)
    }
}

fn hits(value: &Value, segments: &[Segment]) -> bool {
    let Some((first, rest)) = segments.split_first() else { return true };
    match (value, first) {
        (Value::Object(members), Segment::Name(name)) => members.get(name).is_some_and(|value| hits(value, rest)),
        (Value::Object(_), Segment::Any) => true,
        (Value::Array(items), first) => {
            if let Segment::Name(name) = first
                && let Some(index) = number(name)
            {
                return items.get(index).is_some_and(|item| hits(item, rest));
            }
            items.is_empty() || items.iter().any(|item| hits(item, segments))
        }
        _ => false,
    }
}

fn take(mut value: Value, segments: &[Segment]) -> Option<Value> {
    let Some((first, rest)) = segments.split_first() else { return Some(value) };
    match (&mut value, first) {
        (Value::Object(members), Segment::Name(name)) => take(std::mem::take(members.get_mut(name)?), rest),
        (Value::Object(members), Segment::Any) => {
            let members = std::mem::take(members);
            Some(members.into_iter().filter_map(|(_, value)| take(value, rest)).collect())
        }
        (Value::Array(items), first) => {
            if let Segment::Name(name) = first
                && let Some(index) = number(name)
            {
                return take(std::mem::take(items.get_mut(index)?), rest);
            }
            let items = std::mem::take(items);
            Some(items.into_iter().filter_map(|item| take(item, segments)).collect())
        }
        _ => None,
    }
}

/// The list of what the items have.
fn each<'a>(items: &[Value], segments: &[Segment]) -> Cow<'a, Value> {
    Cow::Owned(items.iter().filter_map(|item| get(item, segments)).map(Cow::into_owned).collect())
}

/// A segment that is the number of an item.
fn number(name: &str) -> Option<usize> {
    name.parse().ok()
}

/// Many paths as one tree, so that a value is walked once.
#[derive(Debug, Clone, Default)]
pub(super) struct Tree {
    /// The paths that end here apply to the value here.
    pub(super) leaf: bool,
    /// New name of the member that leads here.
    pub(super) rename: Option<String>,
    pub(super) children: IndexMap<String, Tree>,
    /// What applies to members that have no entry of their own.
    pub(super) any: Option<Box<Tree>>,
}

impl Tree {
    /// The tree of these paths.
    pub(super) fn new<'a>(selectors: impl IntoIterator<Item = &'a Selector>) -> Self {
        let mut tree = Tree::default();
        for selector in selectors {
            tree.at(&selector.segments).leaf = true;
        }
        tree.spread();
        tree
    }

    /// The tree of paths with new names for what they lead to.
    pub(super) fn renaming<'a>(renames: impl IntoIterator<Item = &'a (Selector, String)>) -> Self {
        let mut tree = Tree::default();
        for (selector, name) in renames {
            tree.at(&selector.segments).rename = Some(name.clone());
        }
        tree.spread();
        tree
    }

    fn at(&mut self, segments: &[Segment]) -> &mut Tree {
        segments.iter().fold(self, |node, segment| match segment {
            Segment::Name(name) => node.children.entry(name.clone()).or_default(),
            Segment::Any => node.any.get_or_insert_default(),
        })
    }

    /// Copies what applies to any member into the named ones, so that a walk follows one node.
    fn spread(&mut self) {
        if let Some(any) = &mut self.any {
            any.spread();
            for child in self.children.values_mut() {
                child.merge(any);
            }
        }
        for child in self.children.values_mut() {
            child.spread();
        }
    }

    fn merge(&mut self, other: &Tree) {
        self.leaf |= other.leaf;
        if self.rename.is_none() {
            self.rename.clone_from(&other.rename);
        }
        for (name, child) in &other.children {
            self.children.entry(name.clone()).or_default().merge(child);
        }
        if let Some(any) = &other.any {
            self.any.get_or_insert_default().merge(any);
        }
    }

    pub(super) fn child(&self, name: &str) -> Option<&Tree> {
        self.children.get(name).or(self.any.as_deref())
    }

    /// Keeps only what the paths lead to.
    pub(super) fn pick(&self, value: Value) -> Value {
        match value {
            _ if self.leaf => value,
            Value::Object(members) => {
                let kept = members.into_iter().filter_map(|(name, value)| {
                    let child = self.child(&name)?;
                    child.leads_into(&value).then(|| (name, child.pick(value)))
                });
                Value::Object(kept.collect())
            }
            Value::Array(items) => {
                let items = items.into_iter().filter(|item| self.leads_into(item));
                Value::Array(items.map(|item| self.pick(item)).collect())
            }
            other => other,
        }
    }

    /// False for a scalar where the paths go on: there is nothing of what they lead to. Null stands for an absent object.
    pub(super) fn leads_into(&self, value: &Value) -> bool {
        self.leaf || matches!(value, Value::Object(_) | Value::Array(_) | Value::Null)
    }

    /// Removes what the paths lead to.
    pub(super) fn remove(&self, value: &mut Value) {
        match value {
            Value::Object(members) => members.retain(|name, value| match self.child(name) {
                Some(child) if child.leaf => false,
                Some(child) => {
                    child.remove(value);
                    true
                }
                None => true,
            }),
            Value::Array(items) => items.iter_mut().for_each(|item| self.remove(item)),
            _ => {}
        }
    }

    /// Replaces what the paths lead to.
    pub(super) fn redact(&self, value: &mut Value) {
        if self.leaf {
            *value = Value::String("***".to_owned());
            return;
        }
        match value {
            Value::Object(members) => {
                for (name, value) in members {
                    if let Some(child) = self.child(name) {
                        child.redact(value);
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact(item)),
            _ => {}
        }
    }

    /// Renames members; their order stays. A member that already has a new name gives way and is reported.
    pub(super) fn rename(&self, value: Value, lost: &mut Vec<String>) -> Value {
        match value {
            Value::Object(members) => {
                let taken: Vec<String> = members.keys().filter_map(|name| self.child(name)?.rename.clone()).collect();
                let mut renamed = Map::with_capacity(members.len());
                for (name, value) in members {
                    let child = self.child(&name);
                    let new = child.and_then(|child| child.rename.clone());
                    if new.is_none() && taken.contains(&name) {
                        lost.push(name);
                        continue;
                    }
                    let value = match child {
                        Some(child) => child.rename(value, lost),
                        None => value,
                    };
                    renamed.insert(new.unwrap_or(name), value);
                }
                Value::Object(renamed)
            }
            Value::Array(items) => Value::Array(items.into_iter().map(|item| self.rename(item, lost)).collect()),
            other => other,
        }
    }
}

impl Selector {
    /// The value at the path in an object that is no [`Value`].
    pub(super) fn get_in<'a>(&self, members: &'a Map<String, Value>) -> Option<Cow<'a, Value>> {
        match self.segments.split_first()? {
            (Segment::Name(name), rest) => get(members.get(name)?, rest),
            (Segment::Any, _) => None,
        }
    }
}
