//! HTML pages reduced to what a person would read.

/// The readable text: no tags, scripts, styles or comments; entities decoded; one line a block.
pub(in crate::content) fn readable(html: &str) -> String {
    let mut lines = Lines::default();
    let mut rest = html;
    while let Some((text, tail)) = rest.split_once('<') {
        lines.text(text);
        rest = tail;
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, after)| after);
            continue;
        }
        let closing = rest.starts_with('/');
        let name: String = rest
            .trim_start_matches('/')
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect::<String>()
            .to_ascii_lowercase();
        if name.is_empty() && !rest.starts_with(['/', '!', '?']) {
            // A bare less-than sign.
            lines.text("<");
            continue;
        }
        rest = after_tag(rest);
        if !closing && matches!(name.as_str(), "script" | "style" | "noscript" | "template" | "svg") {
            rest = after_element(rest, &name);
        } else if !is_inline(&name) {
            lines.end();
        }
    }
    lines.text(rest);
    lines.end();
    lines.done
}

fn is_inline(name: &str) -> bool {
    matches!(
        name,
        "a" | "abbr"
            | "b"
            | "bdi"
            | "bdo"
            | "cite"
            | "code"
            | "em"
            | "font"
            | "i"
            | "kbd"
            | "label"
            | "mark"
            | "q"
            | "s"
            | "samp"
            | "small"
            | "span"
            | "strong"
            | "sub"
            | "sup"
            | "tt"
            | "u"
            | "var"
            | "wbr"
            | "img"
            | "input"
    )
}

/// Behind the `>` of a tag; quoted attribute values may hold one.
fn after_tag(text: &str) -> &str {
    let mut quote = None;
    for (at, char) in text.char_indices() {
        match (quote, char) {
            (None, '>') => return text.get(at + 1..).unwrap_or_default(),
            (None, '"' | '\'') => quote = Some(char),
            (Some(open), _) if open == char => quote = None,
            _ => {}
        }
    }
    // An unclosed quote must not swallow the page.
    text.split_once('>').map_or("", |(_, after)| after)
}

fn after_element<'a>(text: &'a str, name: &str) -> &'a str {
    let end = format!("</{name}");
    let found = text.as_bytes().windows(end.len()).position(|window| window.eq_ignore_ascii_case(end.as_bytes()));
    match found.and_then(|at| text.get(at..)) {
        Some(tail) => after_tag(tail),
        None => "",
    }
}

#[derive(Default)]
struct Lines {
    done: String,
    line: String,
}

impl Lines {
    fn text(&mut self, raw: &str) {
        let decoded = entities(raw);
        for (index, word) in decoded.split(char::is_whitespace).enumerate() {
            if index > 0 && !self.line.is_empty() && !self.line.ends_with(' ') {
                self.line.push(' ');
            }
            self.line.push_str(word);
        }
    }

    fn end(&mut self) {
        let line = self.line.trim();
        if !line.is_empty() {
            if !self.done.is_empty() {
                self.done.push('\n');
            }
            self.done.push_str(line);
        }
        self.line.clear();
    }
}

fn entities(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        decoded.push_str(before);
        let entity = after.split_once(';').filter(|(name, _)| name.len() <= 10);
        match entity.and_then(|(name, tail)| Some((entity_char(name)?, tail))) {
            Some((char, tail)) => {
                decoded.push(char);
                rest = tail;
            }
            None => {
                decoded.push('&');
                rest = after;
            }
        }
    }
    decoded.push_str(rest);
    decoded
}

fn entity_char(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code);
    }
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "copy" => '©',
        "reg" => '®',
        "trade" => '™',
        "hellip" => '…',
        "mdash" => '—',
        "ndash" => '–',
        "lsquo" => '‘',
        "rsquo" => '’',
        "ldquo" => '“',
        "rdquo" => '”',
        "laquo" => '«',
        "raquo" => '»',
        "bull" => '•',
        "middot" => '·',
        "times" => '×',
        "rarr" => '→',
        "larr" => '←',
        "auml" => 'ä',
        "ouml" => 'ö',
        "uuml" => 'ü',
        "Auml" => 'Ä',
        "Ouml" => 'Ö',
        "Uuml" => 'Ü',
        "szlig" => 'ß',
        "eacute" => 'é',
        "egrave" => 'è',
        "agrave" => 'à',
        "ccedil" => 'ç',
        "ntilde" => 'ñ',
        _ => return None,
    })
}
