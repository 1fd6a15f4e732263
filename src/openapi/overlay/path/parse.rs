//! The grammar of RFC 9535.

use super::filter::{Comparison, Filter, Operand, Query};
use super::{Path, Segment, Selector};
use serde_json::Value;

/// Nesting of parentheses and queries within filters.
const DEPTH: usize = 32;

/// A query that begins with `$`.
pub(super) fn path(text: &str) -> Result<Path, String> {
    let mut parser = Parser { rest: text.trim(), depth: 0 };
    parser.expect("$")?;
    let path = parser.segments()?;
    match parser.rest {
        "" => Ok(path),
        rest => Err(format!("`{rest}` is not understood")),
    }
}

struct Parser<'t> {
    rest: &'t str,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn blank(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn take(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.take(token) { Ok(()) } else { Err(format!("`{token}` is expected before `{}`", self.rest)) }
    }

    fn take_while(&mut self, keep: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|it| !keep(it)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T, String>) -> Result<T, String> {
        if self.depth >= DEPTH {
            return Err("it is nested too deep".to_owned());
        }
        self.depth += 1;
        let out = parse(self);
        self.depth -= 1;
        out
    }

    fn segments(&mut self) -> Result<Path, String> {
        let mut segments = Vec::new();
        loop {
            let before = self.rest;
            self.blank();
            let descendant = self.take("..");
            if self.rest.starts_with('[') {
                segments.push(Segment { descendant, selectors: self.bracketed()? });
            } else if descendant || self.take(".") {
                let selector = if self.take("*") { Selector::Wildcard } else { Selector::Name(self.shorthand()?) };
                segments.push(Segment { descendant, selectors: vec![selector] });
            } else {
                self.rest = before;
                return Ok(Path { segments });
            }
        }
    }

    /// A name after a dot. RFC 9535 allows letters, digits and `_`; `-` is common (`x-internal`) and
    /// can mean nothing else here.
    fn shorthand(&mut self) -> Result<String, String> {
        let name = self.take_while(|it| it.is_alphanumeric() || it == '_' || it == '-' || !it.is_ascii());
        if name.is_empty() || name.starts_with(|it: char| it.is_ascii_digit()) {
            return Err(format!("a name is expected before `{}`", self.rest));
        }
        Ok(name.to_owned())
    }

    fn bracketed(&mut self) -> Result<Vec<Selector>, String> {
        self.expect("[")?;
        let mut selectors = Vec::new();
        loop {
            self.blank();
            selectors.push(self.selector()?);
            self.blank();
            if self.take("]") {
                return Ok(selectors);
            }
            self.expect(",")?;
        }
    }

    fn selector(&mut self) -> Result<Selector, String> {
        if self.take("*") {
            return Ok(Selector::Wildcard);
        }
        if self.take("?") {
            self.blank();
            return self.deeper(Self::or).map(Selector::Filter);
        }
        if self.rest.starts_with(['\'', '"']) {
            return self.quoted().map(Selector::Name);
        }
        let start = self.integer()?;
        self.blank();
        if !self.take(":") {
            return start.map(Selector::Index).ok_or_else(|| format!("a selector is expected before `{}`", self.rest));
        }
        self.blank();
        let end = self.integer()?;
        self.blank();
        let step = if self.take(":") {
            self.blank();
            self.integer()?.unwrap_or(1)
        } else {
            1
        };
        Ok(Selector::Slice { start, end, step })
    }

    fn integer(&mut self) -> Result<Option<i64>, String> {
        let text = self.take_while(|it| it.is_ascii_digit() || it == '-');
        if text.is_empty() {
            return Ok(None);
        }
        text.parse().map(Some).map_err(|_| format!("`{text}` is no integer"))
    }

    fn quoted(&mut self) -> Result<String, String> {
        let Some(quote) = self.rest.chars().next() else { return Err("a text is expected".to_owned()) };
        let mut out = String::new();
        let mut characters = self.rest.char_indices().skip(1);
        while let Some((at, character)) = characters.next() {
            match character {
                it if it == quote => {
                    self.rest = self.rest.get(at + 1..).unwrap_or("");
                    return Ok(out);
                }
                '\\' => match characters.next().map(|(_, it)| it) {
                    Some('b') => out.push('\u{8}'),
                    Some('f') => out.push('\u{c}'),
                    Some('n') => out.push('\n'),
                    Some('r') => out.push('\r'),
                    Some('t') => out.push('\t'),
                    Some('u') => {
                        let mut unit = || {
                            let digits: String = characters.by_ref().take(4).map(|(_, it)| it).collect();
                            u16::from_str_radix(&digits, 16).map_err(|_| format!("`\\u{digits}` is no character"))
                        };
                        let first = unit()?;
                        let mut units = vec![first];
                        if (0xd800..0xdc00).contains(&first) {
                            characters.by_ref().take(2).for_each(drop);
                            let digits: String = characters.by_ref().take(4).map(|(_, it)| it).collect();
                            units.push(u16::from_str_radix(&digits, 16).map_err(|_| "half a character".to_owned())?);
                        }
                        out.push_str(&String::from_utf16(&units).map_err(|_| "half a character".to_owned())?);
                    }
                    Some(other) => out.push(other),
                    None => break,
                },
                other => out.push(other),
            }
        }
        Err("a text is not closed".to_owned())
    }

    fn or(&mut self) -> Result<Filter, String> {
        let mut parts = vec![self.and()?];
        loop {
            self.blank();
            if !self.take("||") {
                break;
            }
            parts.push(self.and()?);
        }
        Ok(one_or(parts, Filter::Or))
    }

    fn and(&mut self) -> Result<Filter, String> {
        let mut parts = vec![self.basic()?];
        loop {
            self.blank();
            if !self.take("&&") {
                break;
            }
            parts.push(self.basic()?);
        }
        Ok(one_or(parts, Filter::And))
    }

    fn basic(&mut self) -> Result<Filter, String> {
        self.blank();
        if self.rest.starts_with('!') && !self.rest.starts_with("!=") {
            self.expect("!")?;
            return self.deeper(Self::basic).map(|it| Filter::Not(Box::new(it)));
        }
        if self.take("(") {
            let inner = self.deeper(Self::or)?;
            self.blank();
            self.expect(")")?;
            return Ok(inner);
        }
        for (name, whole) in [("match(", true), ("search(", false)] {
            if self.take(name) {
                let text = self.deeper(Self::operand)?;
                self.blank();
                self.expect(",")?;
                let pattern = self.deeper(Self::operand)?;
                self.blank();
                self.expect(")")?;
                return Ok(Filter::Matches { text, pattern, whole });
            }
        }
        if self.rest.starts_with(['@', '$']) {
            let query = self.deeper(Self::query)?;
            return match self.comparison() {
                Some(comparison) => {
                    let left = single(query)?;
                    Ok(Filter::Compare(left, comparison, self.deeper(Self::operand)?))
                }
                None => Ok(Filter::Exists(query)),
            };
        }
        let left = self.deeper(Self::operand)?;
        let comparison = self.comparison().ok_or_else(|| format!("a comparison is expected before `{}`", self.rest))?;
        Ok(Filter::Compare(left, comparison, self.deeper(Self::operand)?))
    }

    fn comparison(&mut self) -> Option<Comparison> {
        self.blank();
        let all = [
            ("==", Comparison::Equal),
            ("!=", Comparison::NotEqual),
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ];
        all.into_iter().find(|(token, _)| self.take(token)).map(|(_, comparison)| comparison)
    }

    fn query(&mut self) -> Result<Query, String> {
        let from_root = self.take("$");
        if !from_root {
            self.expect("@")?;
        }
        Ok(Query { from_root, path: self.segments()? })
    }

    fn operand(&mut self) -> Result<Operand, String> {
        self.blank();
        if self.rest.starts_with(['\'', '"']) {
            return Ok(Operand::Literal(Value::String(self.quoted()?)));
        }
        if self.rest.starts_with(['@', '$']) {
            let query = self.deeper(Self::query)?;
            return single(query);
        }
        for function in ["length(", "count(", "value("] {
            if self.take(function) {
                self.blank();
                let operand = match function {
                    "length(" => Operand::Length(Box::new(self.deeper(Self::operand)?)),
                    "count(" => Operand::Count(self.deeper(Self::query)?),
                    _ => Operand::Value(self.deeper(Self::query)?),
                };
                self.blank();
                self.expect(")")?;
                return Ok(operand);
            }
        }
        for (word, value) in [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)] {
            if self.take(word) {
                return Ok(Operand::Literal(value));
            }
        }
        let number = self.take_while(|it| it.is_ascii_digit() || matches!(it, '-' | '+' | '.' | 'e' | 'E'));
        match serde_json::from_str(number) {
            Ok(value @ Value::Number(_)) => Ok(Operand::Literal(value)),
            _ => Err(format!("a value is expected before `{number}{}`", self.rest)),
        }
    }
}

fn single(query: Query) -> Result<Operand, String> {
    if query.path.is_singular() {
        Ok(Operand::Single(query))
    } else {
        Err("only a query for one node can be compared".to_owned())
    }
}

fn one_or(mut parts: Vec<Filter>, many: fn(Vec<Filter>) -> Filter) -> Filter {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        Some(last) => {
            parts.push(last);
            many(parts)
        }
        None => many(parts),
    }
}
