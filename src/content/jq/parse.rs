//! Text to term, with errors that say where.

use jaq_core::load::lex::{StrPart, Tok, Token};
use jaq_core::load::parse::Term;
use jaq_core::load::{Lexer, Parser};

/// Longest filter, deepest nesting and most tokens: jaq's parser and compiler recurse over the text.
const MAX_BYTES: usize = 16 * 1024;
const MAX_DEPTH: usize = 64;
const MAX_TOKENS: usize = 1500;

/// Parses a filter.
pub(in crate::content) fn parsed(text: &str) -> Result<Term<&str>, String> {
    if text.len() > MAX_BYTES {
        return Err(format!("the filter is longer than {MAX_BYTES} bytes"));
    }
    let mut depth = 0usize;
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Err(format!("the filter is nested deeper than {MAX_DEPTH} levels"));
        }
    }
    let tokens = Lexer::new(text).lex().map_err(|errors| {
        let found = errors.first().map(|(expect, rest)| (expect.as_str(), place(text, rest)));
        found.map_or_else(|| "can't be read".to_owned(), |(expect, place)| format!("{place}: expected {expect}"))
    })?;
    if count(&tokens) > MAX_TOKENS {
        return Err(format!("the filter has more than {MAX_TOKENS} tokens"));
    }
    Parser::new(&tokens).parse(|parser| parser.term()).map_err(|errors| match errors.first() {
        Some((expect, Some(found))) => {
            format!("{}: expected {}, found `{}`", place(text, found.0), expect.as_str(), head(found.0))
        }
        Some((expect, None)) => format!("at the end: expected {}", expect.as_str()),
        None => "can't be parsed".to_owned(),
    })
}

/// `at character 12` (from 1) of a part of the text; for text that is not part of it, `at the end`.
pub(super) fn place(text: &str, part: &str) -> String {
    let offset = (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize).filter(|offset| *offset < text.len());
    match offset.and_then(|offset| text.get(..offset)) {
        Some(before) => format!("at character {}", before.chars().count() + 1),
        None => "at the end".to_owned(),
    }
}

fn head(text: &str) -> String {
    text.chars().take(20).take_while(|char| *char != '\n').collect()
}

fn count(tokens: &[Token<&str>]) -> usize {
    tokens
        .iter()
        .map(|token| {
            1 + match &token.1 {
                Tok::Block(inner) => count(inner),
                Tok::Str(parts) => parts
                    .iter()
                    .map(|part| match part {
                        StrPart::Term(inner) => 1 + count(std::slice::from_ref(inner)),
                        _ => 1,
                    })
                    .sum(),
                _ => 0,
            }
        })
        .sum()
}
