//! `successCriteria` (Arazzo 1.0 §4.6.11): simple conditions, regular expressions and JSONPath.

use super::expression;
use crate::openapi::overlay::path::Path;
use crate::template::lookup;
use regex::Regex;
use serde_json::Value;
use std::cmp::Ordering;

/// Deepest nesting of parentheses and `!`.
const DEEPEST: usize = 32;

/// One criterion.
#[derive(Debug, Clone)]
pub struct Criterion {
    /// As written, for people.
    pub text: String,
    test: Test,
}

#[derive(Debug, Clone)]
enum Test {
    Simple(Node),
    Regex(Vec<String>, Regex),
    JsonPath(Vec<String>, Path),
}

#[derive(Debug, Clone)]
enum Node {
    Or(Vec<Node>),
    And(Vec<Node>),
    Not(Box<Node>),
    Truth(Operand),
    Compare(Operand, Comparison, Operand),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Debug, Clone)]
enum Operand {
    Literal(Value),
    Path(Vec<String>),
}

impl Criterion {
    /// Reads a Criterion Object.
    ///
    /// # Errors
    /// What is wrong with it, or not supported.
    pub fn read(value: &Value) -> Result<Criterion, String> {
        let text = value.get("condition").and_then(Value::as_str).ok_or("a criterion needs a `condition`")?.trim();
        let kind = match value.get("type") {
            None => "simple",
            Some(Value::String(kind)) => kind.as_str(),
            Some(other) => other.get("type").and_then(Value::as_str).unwrap_or_default(),
        };
        let context = || {
            let context = value.get("context").and_then(Value::as_str);
            expression::path(context.ok_or_else(|| format!("a criterion of type `{kind}` needs a `context`"))?)
        };
        let test = match kind {
            "simple" => Test::Simple(Parser { text, at: 0 }.whole()?),
            "regex" => {
                let regex = Regex::new(text).map_err(|_| format!("`{text}` is no regular expression"))?;
                Test::Regex(context()?, regex)
            }
            "jsonpath" => Test::JsonPath(context()?, Path::parse(text)?),
            "xpath" => {
                return Err(
                    "criteria of type `xpath` are not supported; use `simple`, `regex` or `jsonpath`".to_string()
                );
            }
            other => return Err(format!("`{other}` is no type of criterion; use `simple`, `regex` or `jsonpath`")),
        };
        Ok(Criterion { text: text.to_string(), test })
    }

    /// True if it holds for these values; over a value that is not there it does not.
    pub fn holds(&self, scope: &Value) -> bool {
        match &self.test {
            Test::Simple(node) => node.holds(scope),
            Test::Regex(path, regex) => match lookup(scope, path) {
                Some(Value::String(text)) => regex.is_match(text),
                Some(Value::Null) | None => false,
                Some(other) => regex.is_match(&other.to_string()),
            },
            Test::JsonPath(path, query) => lookup(scope, path).is_some_and(|value| {
                // `$[?@.x]` filters the members of the root; authors mean the root itself as well.
                !query.select(value).is_empty() || !query.select(&Value::Array(vec![value.clone()])).is_empty()
            }),
        }
    }

    /// Every path that it looks up.
    pub fn paths(&self) -> Vec<&[String]> {
        let mut found = Vec::new();
        match &self.test {
            Test::Simple(node) => node.paths(&mut found),
            Test::Regex(path, _) | Test::JsonPath(path, _) => found.push(path.as_slice()),
        }
        found
    }
}

impl Node {
    fn holds(&self, scope: &Value) -> bool {
        match self {
            Node::Or(nodes) => nodes.iter().any(|node| node.holds(scope)),
            Node::And(nodes) => nodes.iter().all(|node| node.holds(scope)),
            Node::Not(node) => !node.holds(scope),
            Node::Truth(operand) => !matches!(operand.value(scope), None | Some(Value::Null | Value::Bool(false))),
            Node::Compare(left, comparison, right) => {
                let null = Value::Null;
                let (left, right) = (left.value(scope).unwrap_or(&null), right.value(scope).unwrap_or(&null));
                compare(left, *comparison, right)
            }
        }
    }

    fn paths<'n>(&'n self, found: &mut Vec<&'n [String]>) {
        let mut operand = |one: &'n Operand| {
            if let Operand::Path(path) = one {
                found.push(path);
            }
        };
        match self {
            Node::Or(nodes) | Node::And(nodes) => nodes.iter().for_each(|node| node.paths(found)),
            Node::Not(node) => node.paths(found),
            Node::Truth(one) => operand(one),
            Node::Compare(left, _, right) => {
                operand(left);
                operand(right);
            }
        }
    }
}

impl Operand {
    fn value<'v>(&'v self, scope: &'v Value) -> Option<&'v Value> {
        match self {
            Operand::Literal(value) => Some(value),
            Operand::Path(path) => lookup(scope, path),
        }
    }
}

/// Texts are compared without regard to case (Arazzo 1.0 §4.6.11.2); values of different types are unequal.
fn compare(left: &Value, comparison: Comparison, right: &Value) -> bool {
    let order = match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.as_f64().partial_cmp(&right.as_f64()),
        (Value::String(left), Value::String(right)) => Some(left.to_lowercase().cmp(&right.to_lowercase())),
        (left, right) if left == right => Some(Ordering::Equal),
        _ => None,
    };
    match (comparison, order) {
        (Comparison::Equal, order) => order == Some(Ordering::Equal),
        (Comparison::Unequal, order) => order != Some(Ordering::Equal),
        (Comparison::Less, Some(order)) => order.is_lt(),
        (Comparison::LessOrEqual, Some(order)) => order.is_le(),
        (Comparison::Greater, Some(order)) => order.is_gt(),
        (Comparison::GreaterOrEqual, Some(order)) => order.is_ge(),
        (_, None) => false,
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Parser<'t> {
    fn whole(mut self) -> Result<Node, String> {
        let node = self.or(0)?;
        match self.rest() {
            "" => Ok(node),
            rest => Err(format!("the condition `{}` can't be read from `{rest}` on", self.text)),
        }
    }

    /// What is left, without leading space.
    fn rest(&mut self) -> &'t str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn or(&mut self, depth: usize) -> Result<Node, String> {
        let mut nodes = vec![self.and(depth)?];
        while self.take("||") {
            nodes.push(self.and(depth)?);
        }
        Ok(if nodes.len() > 1 { Node::Or(nodes) } else { nodes.pop().ok_or("an empty condition")? })
    }

    fn and(&mut self, depth: usize) -> Result<Node, String> {
        let mut nodes = vec![self.unary(depth)?];
        while self.take("&&") {
            nodes.push(self.unary(depth)?);
        }
        Ok(if nodes.len() > 1 { Node::And(nodes) } else { nodes.pop().ok_or("an empty condition")? })
    }

    fn unary(&mut self, depth: usize) -> Result<Node, String> {
        if depth > DEEPEST {
            return Err("the condition is nested too deeply".to_string());
        }
        if self.rest().starts_with('!') && !self.rest().starts_with("!=") {
            self.at += 1;
            return Ok(Node::Not(Box::new(self.unary(depth + 1)?)));
        }
        if self.take("(") {
            let node = self.or(depth + 1)?;
            return match self.take(")") {
                true => Ok(node),
                false => Err(format!("the condition `{}` lacks a `)`", self.text)),
            };
        }
        let left = self.operand()?;
        let comparisons = [
            ("==", Comparison::Equal),
            ("!=", Comparison::Unequal),
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ];
        for (token, comparison) in comparisons {
            if self.take(token) {
                return Ok(Node::Compare(left, comparison, self.operand()?));
            }
        }
        Ok(Node::Truth(left))
    }

    fn operand(&mut self) -> Result<Operand, String> {
        let rest = self.rest();
        if let Some(quoted) = rest.strip_prefix('\'') {
            let mut text = String::new();
            let mut characters = quoted.char_indices().peekable();
            while let Some((at, character)) = characters.next() {
                if character != '\'' {
                    text.push(character);
                } else if characters.next_if(|(_, next)| *next == '\'').is_some() {
                    text.push('\'');
                } else {
                    self.at += at + 2;
                    return Ok(Operand::Literal(Value::String(text)));
                }
            }
            return Err(format!("the condition `{}` has an open quote", self.text));
        }
        let end = rest
            .find(|c: char| c.is_whitespace() || matches!(c, '=' | '!' | '<' | '>' | '&' | '|' | '(' | ')'))
            .unwrap_or(rest.len());
        let word = rest.get(..end).unwrap_or_default();
        self.at += end;
        if word.starts_with('$') {
            return expression::path(word).map(Operand::Path);
        }
        match word {
            "true" => Ok(Operand::Literal(Value::Bool(true))),
            "false" => Ok(Operand::Literal(Value::Bool(false))),
            "null" => Ok(Operand::Literal(Value::Null)),
            number => match number.parse::<serde_json::Number>() {
                Ok(number) => Ok(Operand::Literal(Value::Number(number))),
                Err(_) if word.is_empty() => Err(format!("the condition `{}` lacks a value", self.text)),
                Err(_) => Err(format!("`{word}` is no value; a text stands in single quotes")),
            },
        }
    }
}
