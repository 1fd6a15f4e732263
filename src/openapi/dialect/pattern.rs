//! Regular expressions as ECMA-262 reads them with the `u` flag, which is how JSON Schema 2020-12 Core
//! (section 6.4) wants them and how clients compile them. Documents are full of escapes and brackets
//! that only other engines take.

use std::fmt::Write;
use std::iter::Peekable;
use std::str::Chars;

/// POSIX character classes and the ranges that they stand for.
const POSIX: [(&str, &str); 9] = [
    ("[:alpha:]", "A-Za-z"),
    ("[:alnum:]", "A-Za-z0-9"),
    ("[:digit:]", "0-9"),
    ("[:upper:]", "A-Z"),
    ("[:lower:]", "a-z"),
    ("[:space:]", "\\s"),
    ("[:word:]", "\\w"),
    ("[:xdigit:]", "A-Fa-f0-9"),
    ("[:blank:]", " \\t"),
];

/// `pattern` in the grammar of ECMA-262 with `u`, meaning the same; `None` where that has no words for it.
/// A pattern that is legal already comes back as it is.
pub(super) fn portable(pattern: &str) -> Option<String> {
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' => escape(&mut rest, &mut out, false)?,
            '[' => class(&mut rest, &mut out)?,
            '{' => match quantifier(&rest) {
                Some((text, length)) => {
                    out.push_str(&text);
                    rest.by_ref().take(length).for_each(drop);
                }
                None => out.push_str("\\{"),
            },
            ']' | '}' => out.extend(['\\', c]),
            '(' => group(&mut rest, &mut out)?,
            // Possessive quantifiers exist elsewhere only.
            '+' if is_quantified(&out) => return None,
            other => out.push(other),
        }
    }
    Some(out)
}

/// True if the pattern so far ends with a quantifier.
fn is_quantified(out: &str) -> bool {
    if out.ends_with('}') {
        let opened = out.rsplit_once('{').map(|(before, _)| before);
        return opened.is_some_and(|it| !["\\p", "\\P", "\\u", "\\"].iter().any(|escape| it.ends_with(escape)));
    }
    out.ends_with(['+', '*', '?']) && !["\\+", "\\*", "\\?"].iter().any(|it| out.ends_with(it))
}

/// What follows a backslash.
fn escape(rest: &mut Peekable<Chars<'_>>, out: &mut String, in_class: bool) -> Option<()> {
    let c = rest.next()?;
    match c {
        '^' | '$' | '\\' | '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '/' => {
            out.extend(['\\', c])
        }
        '-' if in_class => out.push_str("\\-"),
        'd' | 'D' | 'w' | 'W' | 's' | 'S' | 'b' | 'f' | 'n' | 'r' | 't' | 'v' => out.extend(['\\', c]),
        'B' | '1'..='9' | 'k' if !in_class => out.extend(['\\', c]),
        '0' if !rest.peek().is_some_and(char::is_ascii_digit) => out.push_str("\\0"),
        'c' if rest.peek().is_some_and(char::is_ascii_alphabetic) => out.push_str("\\c"),
        'x' if hexadecimal(rest, 2) => out.push_str("\\x"),
        'u' if hexadecimal(rest, 4) || rest.peek() == Some(&'{') => braced(rest, out, "\\u"),
        'p' | 'P' if rest.peek() == Some(&'{') => braced(rest, out, if c == 'p' { "\\p" } else { "\\P" }),
        'A' if !in_class => out.push('^'),
        'Z' | 'z' if !in_class => out.push('$'),
        'h' => out.push_str(if in_class { " \\t" } else { "[ \\t]" }),
        'e' => out.push_str("\\x1b"),
        'a' => out.push_str("\\x07"),
        // Set operators of other engines where they are doubled.
        '&' | '~' => {
            let _ = write!(out, "\\x{:02x}", u32::from(c));
        }
        other if other.is_ascii_alphanumeric() => return None,
        other => out.push(other),
    }
    Some(())
}

fn hexadecimal(rest: &Peekable<Chars<'_>>, digits: usize) -> bool {
    let mut ahead = rest.clone();
    (0..digits).all(|_| ahead.next().is_some_and(|it| it.is_ascii_hexdigit()))
}

/// An escape with its `{…}`, if it has one.
fn braced(rest: &mut Peekable<Chars<'_>>, out: &mut String, escape: &str) {
    out.push_str(escape);
    if rest.peek() == Some(&'{') {
        for c in rest.by_ref() {
            out.push(c);
            if c == '}' {
                break;
            }
        }
    }
}

/// A quantifier in braces after the `{`: its text and the characters it takes.
fn quantifier(rest: &Peekable<Chars<'_>>) -> Option<(String, usize)> {
    let inside: String = rest.clone().take_while(|it| *it != '}').take(24).collect();
    let (low, high) = inside.split_once(',').map_or((inside.as_str(), None), |(low, high)| (low, Some(high)));
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let length = inside.len() + 1;
    match high {
        _ if rest.clone().nth(inside.len()) != Some('}') => None,
        None => number(low).then(|| (format!("{{{low}}}"), length)),
        Some("") => number(low).then(|| (format!("{{{low},}}"), length)),
        // `{,3}` is what other engines write for `{0,3}`.
        Some(high) if low.is_empty() && number(high) => Some((format!("{{0,{high}}}"), length)),
        Some(high) => (number(low) && number(high)).then(|| (format!("{{{low},{high}}}"), length)),
    }
}

/// After `(`: the kinds of groups that ECMA-262 has.
fn group(rest: &mut Peekable<Chars<'_>>, out: &mut String) -> Option<()> {
    out.push('(');
    if rest.peek() != Some(&'?') {
        return Some(());
    }
    let ahead: String = rest.clone().take(3).collect();
    match ahead.as_bytes() {
        [b'?', b':' | b'=' | b'!', ..] => {}
        [b'?', b'<', ..] => {}
        [b'?', b'P', b'<'] => {
            rest.by_ref().take(2).for_each(drop);
            out.push('?');
        }
        _ => return None,
    }
    Some(())
}

/// A character class after its `[`.
fn class(rest: &mut Peekable<Chars<'_>>, out: &mut String) -> Option<()> {
    out.push('[');
    if rest.peek() == Some(&'^') {
        out.push('^');
        rest.next();
    }
    // Whether the last item can begin a range, and whether an open range waits for its end.
    let (mut single, mut open) = (false, false);
    let start = out.len();
    // Elsewhere a `]` that comes first stands for itself; ECMA-262 has an empty class there.
    while let Some(c) = rest.next() {
        match c {
            ']' => {
                out.push(']');
                return Some(());
            }
            '-' => {
                let last = rest.peek() == Some(&']');
                if single && !last && !is_set(rest) {
                    out.push('-');
                    (single, open) = (false, true);
                } else if (last || out.len() == start) && !open {
                    out.push('-');
                    single = !last;
                } else {
                    out.push_str("\\-");
                    (single, open) = (!open, false);
                }
                continue;
            }
            '[' => {
                let posix = POSIX.iter().find(|(name, _)| starts_with(rest, name));
                match posix {
                    Some((name, ranges)) => {
                        out.push_str(ranges);
                        rest.by_ref().take(name.len() - 1).for_each(drop);
                        (single, open) = (false, false);
                        continue;
                    }
                    None => out.push_str("\\["),
                }
            }
            '\\' => {
                let set = matches!(rest.peek(), Some('d' | 'D' | 'w' | 'W' | 's' | 'S' | 'p' | 'P' | 'h'));
                escape(rest, out, true)?;
                single = !set && !open;
                open = false;
                continue;
            }
            other => out.push(other),
        }
        single = !open;
        open = false;
    }
    None
}

/// True if a class escape such as `\d` comes next, which can't end a range.
fn is_set(rest: &Peekable<Chars<'_>>) -> bool {
    let mut ahead = rest.clone();
    ahead.next() == Some('\\') && matches!(ahead.next(), Some('d' | 'D' | 'w' | 'W' | 's' | 'S' | 'p' | 'P' | 'h'))
}

/// True if `name` without its first character comes next.
fn starts_with(rest: &Peekable<Chars<'_>>, name: &str) -> bool {
    rest.clone().take(name.len() - 1).eq(name.chars().skip(1))
}
