//! A text that matches a regular expression, for the expressions that people write into schemas.

/// A text of `min` to `max` characters that matches `pattern`; `None` where none was found.
pub(super) fn example(pattern: &str, min: usize, max: usize) -> Option<String> {
    let check = regex::Regex::new(pattern).ok()?;
    [0, 1, 3, min].into_iter().find_map(|extra| {
        let mut reader = Reader { rest: pattern, extra: extra.min(1024), depth: 0 };
        let text = reader.alternatives();
        let length = text.chars().count();
        (check.is_match(&text) && (min..=max).contains(&length)).then_some(text)
    })
}

struct Reader<'p> {
    rest: &'p str,
    /// How often an open-ended repetition is repeated beyond its minimum.
    extra: usize,
    depth: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let character = characters.next();
        self.rest = characters.as_str();
        character
    }

    fn eat(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// The first alternative's text; the others are read over.
    fn alternatives(&mut self) -> String {
        let first = self.sequence();
        while self.eat("|") {
            self.sequence();
        }
        first
    }

    fn sequence(&mut self) -> String {
        let mut out = String::new();
        while let Some(character) = self.peek() {
            if character == '|' || character == ')' {
                break;
            }
            let atom = self.atom();
            let times = self.repetition();
            if out.len() + atom.len() * times <= 65_536 {
                out.extend(std::iter::repeat_n(atom.as_str(), times));
            }
        }
        out
    }

    fn atom(&mut self) -> String {
        match self.next() {
            Some('^' | '$') | None => String::new(),
            Some('.') => "a".to_owned(),
            Some('\\') => self.escape(),
            Some('[') => self.class(),
            Some('(') => self.group(),
            Some(character) => character.to_string(),
        }
    }

    fn group(&mut self) -> String {
        let looks = ["?=", "?!", "?<=", "?<!"].into_iter().any(|mark| self.eat(mark));
        if !looks && !self.eat("?:") && (self.eat("?<") || self.eat("?P<")) {
            while self.next().is_some_and(|character| character != '>') {}
        }
        self.depth += 1;
        let inside = if self.depth < 64 { self.alternatives() } else { String::new() };
        self.depth -= 1;
        self.eat(")");
        if looks { String::new() } else { inside }
    }

    fn escape(&mut self) -> String {
        match self.next() {
            Some('d') => "1",
            Some('w' | 'D' | 'S') => "a",
            Some('s') => " ",
            Some('W') => "-",
            Some('n') => "\n",
            Some('r') => "\r",
            Some('t') => "\t",
            Some('b' | 'B' | 'A' | 'z' | 'Z') | None => "",
            Some('p' | 'P') => {
                if self.eat("{") {
                    while self.next().is_some_and(|character| character != '}') {}
                } else {
                    self.next();
                }
                "a"
            }
            Some('u') => return self.code(4),
            Some('x') => return self.code(2),
            Some(character) => return character.to_string(),
        }
        .to_owned()
    }

    fn code(&mut self, digits: usize) -> String {
        let text = self.rest.get(..digits).unwrap_or_default();
        let character = u32::from_str_radix(text, 16).ok().and_then(char::from_u32);
        self.rest = self.rest.get(text.len()..).unwrap_or_default();
        character.map(String::from).unwrap_or_default()
    }

    fn class(&mut self) -> String {
        let negated = self.eat("^");
        let mut ranges: Vec<(char, char)> = Vec::new();
        let mut first = true;
        while let Some(character) = self.next() {
            let low = match character {
                ']' if !first => break,
                '\\' => self.escape().chars().next(),
                '[' if self.eat(":") => {
                    while self.next().is_some_and(|character| character != ']') {}
                    Some('a')
                }
                character => Some(character),
            };
            first = false;
            let Some(low) = low else { continue };
            let ranged = self.rest.starts_with('-') && !self.rest.starts_with("-]");
            if !ranged {
                ranges.push((low, low));
                continue;
            }
            self.next();
            let high = match self.next() {
                Some('\\') => self.escape().chars().next(),
                high => high,
            };
            ranges.push((low, high.unwrap_or(low)));
        }
        if !negated {
            // a letter or digit looks more like a real value than the first thing listed
            let good = ranges.iter().find(|(low, _)| low.is_ascii_alphanumeric()).or_else(|| ranges.first());
            return good.map(|(low, _)| low.to_string()).unwrap_or_default();
        }
        let free = |candidate: &char| !ranges.iter().any(|(low, high)| (low..=high).contains(&candidate));
        ('a'..='z').chain('0'..='9').chain("-_ .A".chars()).find(free).map(String::from).unwrap_or_default()
    }

    fn repetition(&mut self) -> usize {
        let times = match self.peek() {
            Some('*') => {
                self.next();
                self.extra
            }
            Some('+') => {
                self.next();
                1 + self.extra
            }
            Some('?') => {
                self.next();
                0
            }
            Some('{') => match self.counted() {
                Some(times) => times,
                None => return 1,
            },
            _ => return 1,
        };
        // lazy and possessive marks change nothing here
        if !self.eat("?") {
            self.eat("+");
        }
        times
    }

    fn counted(&mut self) -> Option<usize> {
        let (inside, after) = self.rest.strip_prefix('{')?.split_once('}')?;
        let (low, high) = match inside.split_once(',') {
            Some((low, high)) => (low, Some(high)),
            None => (inside, None),
        };
        let low: usize = low.trim().parse().ok()?;
        self.rest = after;
        let low = low.min(1024);
        Some(match high.map(str::trim) {
            None => low,
            Some("") => low + self.extra,
            Some(high) => (low + self.extra).min(high.parse().unwrap_or(low)).max(low),
        })
    }
}
