//! `match`: which operations a rule is about.

use super::{Json, Match, OneOrMany};
use serde_json::{Map, Value};

/// What rules can ask of an operation.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The source's name.
    pub source: &'a str,
    /// HTTP method, any case.
    pub method: &'a str,
    /// Path template as written.
    pub path: &'a str,
    /// `tags`.
    pub tags: &'a [String],
    /// `operationId`.
    pub operation_id: Option<&'a str>,
    /// `deprecated`.
    pub deprecated: bool,
    /// Names of the security schemes of all alternatives.
    pub security: &'a [&'a str],
    /// `x-…` members.
    pub extensions: &'a Map<String, Value>,
}

/// A [`Match`] made ready: globs cut into segments once, not for every operation.
#[derive(Debug, Clone)]
pub struct Selector<'m> {
    matches: &'m Match,
    paths: Vec<Vec<&'m str>>,
}

impl Match {
    /// The condition made ready for many operations.
    pub fn compile(&self) -> Selector<'_> {
        let globs = self.path.as_ref().map(OneOrMany::as_slice).unwrap_or_default();
        Selector { matches: self, paths: globs.iter().map(|glob| glob.split('/').collect()).collect() }
    }

    /// True if every kind of condition holds; within one kind any value will do. No condition = every operation.
    /// An operation without tags satisfies no `tag` condition.
    pub fn matches(&self, facts: &Facts<'_>) -> bool {
        self.compile().matches(facts)
    }
}

impl Selector<'_> {
    /// See [`Match::matches`].
    pub fn matches(&self, facts: &Facts<'_>) -> bool {
        self.reason(facts).is_some()
    }

    /// Why it matches, such as `tag admin, method DELETE`; `every operation` where there is no condition.
    pub fn why(&self, facts: &Facts<'_>) -> Option<String> {
        let reasons = self.reason(facts)?;
        if reasons.is_empty() {
            return Some("every operation".to_owned());
        }
        Some(reasons.iter().map(|(kind, value)| format!("{kind} {value}")).collect::<Vec<_>>().join(", "))
    }

    fn reason<'a>(&'a self, facts: &Facts<'_>) -> Option<Vec<(&'a str, String)>> {
        let wanted = self.matches;
        let mut reasons = Vec::new();
        let mut any = |kind: &'static str, list: &'a Option<OneOrMany>, holds: &dyn Fn(&str) -> bool| {
            let Some(list) = list else { return Some(()) };
            let found = list.as_slice().iter().find(|one| holds(one))?;
            reasons.push((kind, found.clone()));
            Some(())
        };
        any("source", &wanted.source, &|one| one == facts.source)?;
        any("method", &wanted.method, &|one| one.eq_ignore_ascii_case(facts.method))?;
        any("tag", &wanted.tag, &|one| facts.tags.iter().any(|tag| tag == one))?;
        any("operation", &wanted.operation, &|one| facts.operation_id.is_some_and(|id| glob(one, id)))?;
        any("security", &wanted.security, &|one| facts.security.contains(&one))?;
        if let Some(globs) = &wanted.path {
            let path: Vec<&str> = facts.path.split('/').collect();
            let found = self.paths.iter().position(|segments| segments_match(segments, &path))?;
            reasons.push(("path", globs.as_slice().get(found).cloned().unwrap_or_default()));
        }
        if let Some(deprecated) = wanted.deprecated {
            if deprecated != facts.deprecated {
                return None;
            }
            reasons.push(("deprecated", deprecated.to_string()));
        }
        for (name, wanted) in &wanted.extensions {
            if !extension_matches(wanted, facts.extensions.get(name)) {
                return None;
            }
            reasons.push((name, wanted.to_string()));
        }
        Some(reasons)
    }
}

/// `false` and null match an absent extension too; a list means any of it; a list in the document is searched.
fn extension_matches(wanted: &Json, found: Option<&Json>) -> bool {
    if found.is_some_and(|found| found == wanted) {
        return true;
    }
    match (wanted, found) {
        (Value::Array(any), found) => any.iter().any(|one| extension_matches(one, found)),
        (Value::Bool(false) | Value::Null, None) => true,
        (wanted, Some(Value::Array(items))) => items.contains(wanted),
        _ => false,
    }
}

/// A glob over names: `*` stands for any characters, none included. Time is at most the product of the lengths.
pub fn glob(pattern: &str, text: &str) -> bool {
    let (mut pattern, mut text) = (pattern, text);
    let mut retry: Option<(&str, &str)> = None;
    loop {
        if let Some(after) = pattern.strip_prefix('*') {
            retry = Some((after, text));
            pattern = after;
            continue;
        }
        match (pattern.chars().next(), text.chars().next()) {
            (None, None) => return true,
            (Some(p), Some(t)) if p == t => {
                pattern = pattern.get(p.len_utf8()..).unwrap_or_default();
                text = text.get(t.len_utf8()..).unwrap_or_default();
            }
            _ => {
                // Let the last star take one character more.
                let Some((after, from)) = retry else { return false };
                let Some(skipped) = from.chars().next() else { return false };
                let from = from.get(skipped.len_utf8()..).unwrap_or_default();
                retry = Some((after, from));
                pattern = after;
                text = from;
            }
        }
    }
}

/// A glob over paths: `*` stands for one segment or part of one, `**` for any number of segments, none included.
pub fn path_glob(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = pattern.split('/').collect();
    let path: Vec<&str> = path.split('/').collect();
    segments_match(&pattern, &path)
}

fn segments_match(pattern: &[&str], path: &[&str]) -> bool {
    // reachable[i]: the pattern so far can end before segment i of the path.
    let mut reachable = vec![false; path.len() + 1];
    if let Some(first) = reachable.first_mut() {
        *first = true;
    }
    for part in pattern {
        let mut next = vec![false; path.len() + 1];
        let mut open = false;
        for (index, slot) in next.iter_mut().enumerate() {
            let here = reachable.get(index).copied().unwrap_or(false);
            *slot = if *part == "**" {
                open |= here;
                open
            } else {
                index.checked_sub(1).is_some_and(|before| {
                    reachable.get(before).copied().unwrap_or(false)
                        && path.get(before).is_some_and(|segment| glob(part, segment))
                })
            };
        }
        reachable = next;
    }
    reachable.last().copied().unwrap_or(false)
}
