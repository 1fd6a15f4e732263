//! Patterns over tools: `get_*`, `tag:pet`, `method:DELETE`, `source:shop`.

use crate::catalog::Tool;

/// One pattern. In globs, `*` stands for any text and `?` for one character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pattern {
    /// Tool name.
    Name(String),
    /// Any of the tool's tags.
    Tag(String),
    /// HTTP method, upper case.
    Method(String),
    /// Name of the source.
    Source(String),
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// A text that names what is understood.
    pub fn parse(text: &str) -> Result<Pattern, String> {
        let wrong = |what: &str| Err(format!("`{text}`: {what}"));
        match text.split_once(':') {
            None if text.is_empty() => wrong("an empty pattern matches nothing"),
            None => Ok(Pattern::Name(text.to_owned())),
            Some((_, "")) => wrong("nothing after the colon"),
            Some(("tag", glob)) => Ok(Pattern::Tag(glob.to_owned())),
            Some(("method", method)) => Ok(Pattern::Method(method.to_ascii_uppercase())),
            Some(("source", glob)) => Ok(Pattern::Source(glob.to_owned())),
            Some((kind, _)) => wrong(&format!(
                "`{kind}:` is not known; expected a glob over tool names, `tag:…`, `method:…` or `source:…`"
            )),
        }
    }

    /// True if the tool is meant.
    pub fn matches(&self, tool: &Tool) -> bool {
        match self {
            Pattern::Name(glob) => glob_matches(glob, &tool.name),
            Pattern::Tag(glob) => tool.tags.iter().any(|tag| glob_matches(glob, tag)),
            Pattern::Method(glob) => {
                tool.operation.as_ref().is_some_and(|operation| glob_matches(glob, &operation.method))
            }
            Pattern::Source(glob) => {
                tool.operation.as_ref().is_some_and(|operation| glob_matches(glob, &operation.source))
            }
        }
    }
}

/// True if the whole text fits the glob: `*` is any text, `?` one character. Quadratic at worst.
pub fn glob_matches(glob: &str, text: &str) -> bool {
    let (mut glob, mut text) = (glob.chars(), text.chars());
    let mut fallback: Option<(std::str::Chars<'_>, std::str::Chars<'_>)> = None;
    loop {
        let text_before = text.clone();
        match (glob.next(), text.next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                text = text_before;
                fallback = Some((glob.clone(), text.clone()));
            }
            (Some('?'), Some(_)) => {}
            (Some(wanted), Some(found)) if wanted == found => {}
            _ => {
                let Some((after_star, mut from)) = fallback.take() else { return false };
                if from.next().is_none() {
                    return false;
                }
                glob = after_star.clone();
                text = from.clone();
                fallback = Some((after_star, from));
            }
        }
    }
}
