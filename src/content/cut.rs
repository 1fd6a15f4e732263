//! Shortens JSON so that it stays valid, and remembers what was left out.

use serde_json::{Map, Value, json};

/// Something that was shortened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// Dotted path of what was shortened; empty for the value itself.
    pub path: String,
    /// Items, members or characters that are left.
    pub kept: usize,
    /// How many there were; `None` where the rest was never received.
    pub total: Option<usize>,
    /// What is counted.
    pub unit: Unit,
}

/// What a [`Cut`] counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Items of a list.
    Items,
    /// Members of an object.
    Members,
    /// Characters of a text.
    Characters,
    /// Lines of a text.
    Lines,
}

impl Cut {
    /// `{path, kept, total}` for `_meta`.
    pub(super) fn to_json(&self) -> Value {
        json!({"path": self.path, "kept": self.kept, "total": self.total})
    }

    /// "50 of 640 items of `data.items`".
    pub(super) fn spoken(&self) -> String {
        let unit = match self.unit {
            Unit::Items => "items",
            Unit::Members => "members",
            Unit::Characters => "characters",
            Unit::Lines => "lines",
        };
        let of = if self.path.is_empty() { String::new() } else { format!(" of `{}`", self.path) };
        match self.total {
            Some(total) => format!("{} of {total} {unit}{of}", self.kept),
            None => format!("the first {} {unit}{of}", self.kept),
        }
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Shortens every list to at most `most` items.
pub(super) fn limit_items(value: &mut Value, most: usize, path: &str, cuts: &mut Vec<Cut>) {
    match value {
        Value::Array(items) => {
            if items.len() > most {
                let total = Some(items.len());
                cuts.push(Cut { path: path.to_owned(), kept: most, total, unit: Unit::Items });
                items.truncate(most);
            }
            for item in items {
                limit_items(item, most, path, cuts);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                if matches!(member, Value::Array(_) | Value::Object(_)) {
                    limit_items(member, most, &join(path, name), cuts);
                }
            }
        }
        _ => {}
    }
}

/// Shortens a value until its compact serialization has at most `budget` bytes, or is as short as its kind
/// allows. Lists lose their last items, long texts their end; small members stay whole.
pub(super) fn fit(value: Value, budget: usize, path: &str, cuts: &mut Vec<Cut>) -> Value {
    if size(&value) <= budget {
        return value;
    }
    match value {
        Value::Array(items) => fit_list(items, budget, path, cuts),
        Value::Object(members) => fit_object(members, budget, path, cuts),
        Value::String(text) => fit_text(text, budget, path, cuts),
        other => other,
    }
}

fn fit_list(items: Vec<Value>, budget: usize, path: &str, cuts: &mut Vec<Cut>) -> Value {
    let total = items.len();
    let mut left = budget.saturating_sub(2);
    let mut kept = Vec::new();
    for item in items {
        let cost = size(&item) + usize::from(!kept.is_empty());
        if cost > left {
            // The first item is shortened rather than lost, else the answer says nothing at all.
            if kept.is_empty() && left > 16 {
                kept.push(fit(item, left, path, cuts));
            }
            break;
        }
        left -= cost;
        kept.push(item);
    }
    if kept.len() < total {
        cuts.push(Cut { path: path.to_owned(), kept: kept.len(), total: Some(total), unit: Unit::Items });
    }
    Value::Array(kept)
}

fn fit_object(members: Map<String, Value>, budget: usize, path: &str, cuts: &mut Vec<Cut>) -> Value {
    let total = members.len();
    let overhead: usize = members.keys().map(|name| text_size(name) + 2).sum::<usize>() + 2;
    let mut sizes: Vec<usize> = members.values().map(size).collect();
    sizes.sort_unstable();
    // Fair shares: what small members don't need goes to the large ones.
    let mut left = budget.saturating_sub(overhead);
    let mut share = 0;
    for (index, size) in sizes.iter().enumerate() {
        share = left / (total - index).max(1);
        if *size > share {
            break;
        }
        left -= size;
    }
    let mut spent = 2usize;
    let mut kept = Map::new();
    for (name, member) in members {
        let member = fit(member, share, &join(path, &name), cuts);
        let cost = text_size(&name) + 2 + size(&member);
        if spent + cost > budget + 1 {
            continue;
        }
        spent += cost;
        kept.insert(name, member);
    }
    if kept.len() < total {
        cuts.push(Cut { path: path.to_owned(), kept: kept.len(), total: Some(total), unit: Unit::Members });
    }
    Value::Object(kept)
}

fn fit_text(text: String, budget: usize, path: &str, cuts: &mut Vec<Cut>) -> Value {
    const MARK: &str = "…";
    if text_size(&text) <= MARK.len() + 2 {
        return Value::String(text);
    }
    let mut left = budget.saturating_sub(2 + MARK.len());
    let mut kept = String::new();
    let mut count = 0;
    for char in text.chars() {
        let cost = char_size(char);
        if cost > left {
            break;
        }
        left -= cost;
        kept.push(char);
        count += 1;
    }
    cuts.push(Cut { path: path.to_owned(), kept: count, total: Some(text.chars().count()), unit: Unit::Characters });
    kept.push_str(MARK);
    Value::String(kept)
}

/// Bytes of the compact serialization.
pub(super) fn size(value: &Value) -> usize {
    match value {
        Value::Null => 4,
        Value::Bool(value) => 5 - usize::from(*value),
        Value::Number(number) => number.to_string().len(),
        Value::String(text) => text_size(text),
        Value::Array(items) => items.iter().map(|item| size(item) + 1).sum::<usize>().max(1) + 1,
        Value::Object(members) => {
            members.iter().map(|(name, member)| text_size(name) + size(member) + 2).sum::<usize>().max(1) + 1
        }
    }
}

fn text_size(text: &str) -> usize {
    text.chars().map(char_size).sum::<usize>() + 2
}

fn char_size(char: char) -> usize {
    match char {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        other => other.len_utf8(),
    }
}

/// Shortens a plain text to whole lines (or characters) within `budget` bytes.
pub(super) fn fit_plain(text: String, budget: usize, cuts: &mut Vec<Cut>) -> String {
    if text.len() <= budget {
        return text;
    }
    let end = (0..=budget).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let head = text.get(..end).unwrap_or_default();
    match head.rfind('\n') {
        Some(line) if line > 0 => {
            let kept = head.get(..line).unwrap_or_default();
            let (kept_lines, total) = (kept.lines().count(), Some(text.lines().count()));
            cuts.push(Cut { path: String::new(), kept: kept_lines, total, unit: Unit::Lines });
            kept.to_owned()
        }
        _ => {
            let (kept, total) = (head.chars().count(), Some(text.chars().count()));
            cuts.push(Cut { path: String::new(), kept, total, unit: Unit::Characters });
            head.to_owned()
        }
    }
}

/// Completes the beginning of a JSON text that was cut off: what is whole stays, the rest is left out.
/// `None` where the beginning is no JSON, or holds nothing whole.
pub(super) fn salvage(text: &[u8]) -> Option<(Value, Vec<Cut>)> {
    // What stands before a comma or ends with a bracket is whole.
    let mut whole = 0;
    let mut brackets = Brackets::default();
    for (at, byte) in text.iter().enumerate() {
        match brackets.take(*byte)? {
            b',' => whole = at,
            b']' | b'}' => whole = at + 1,
            _ => {}
        }
        if brackets.open.len() > 120 {
            break;
        }
    }
    let mut completed = text.get(..whole).filter(|whole| !whole.is_empty())?.to_vec();
    let mut brackets = Brackets::default();
    for byte in &completed {
        brackets.take(*byte)?;
    }
    let depth = brackets.open.len();
    completed.extend(brackets.open.iter().rev());
    let mut value: Value = serde_json::from_slice(&completed).ok()?;
    let mut cuts = Vec::new();
    drop_partial(&mut value, depth, "", &mut cuts);
    Some((value, cuts))
}

/// The closing brackets that are still due.
#[derive(Default)]
struct Brackets {
    open: Vec<u8>,
    in_string: bool,
    escaped: bool,
}

impl Brackets {
    /// Reads one byte; gives it back where it stands outside strings, else a space. `None` if a bracket closes nothing.
    fn take(&mut self, byte: u8) -> Option<u8> {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return Some(b' ');
        }
        match byte {
            b'"' => self.in_string = true,
            b'[' => self.open.push(b']'),
            b'{' => self.open.push(b'}'),
            b']' | b'}' => {
                self.open.pop()?;
            }
            _ => {}
        }
        Some(byte)
    }
}

/// Follows the `depth` containers that were open at the cut. The first list with a whole item loses the
/// incomplete one behind it: half an item would look like a whole one.
fn drop_partial(value: &mut Value, depth: usize, path: &str, cuts: &mut Vec<Cut>) {
    if depth == 0 {
        return;
    }
    match value {
        Value::Array(items) => {
            let partial = depth > 1;
            if partial && items.len() > 1 {
                items.pop();
            }
            cuts.push(Cut { path: path.to_owned(), kept: items.len(), total: None, unit: Unit::Items });
        }
        Value::Object(members) => {
            let kept = members.len();
            if let Some((name, last)) = members.iter_mut().next_back() {
                let path = join(path, name);
                drop_partial(last, depth - 1, &path, cuts);
            }
            if cuts.is_empty() {
                cuts.push(Cut { path: path.to_owned(), kept, total: None, unit: Unit::Members });
            }
        }
        _ => {}
    }
}

/// Names the arguments, out of those that a tool has, with which a caller gets another or a smaller part.
pub(super) fn way_to_the_rest(known: &[impl AsRef<str>]) -> String {
    const PAGING: [&str; 14] = [
        "cursor",
        "page",
        "offset",
        "skip",
        "after",
        "before",
        "start",
        "page_token",
        "pagetoken",
        "next",
        "marker",
        "since",
        "until",
        "from",
    ];
    const NARROWING: [&str; 16] = [
        "limit",
        "per_page",
        "perpage",
        "page_size",
        "pagesize",
        "size",
        "count",
        "top",
        "fields",
        "select",
        "filter",
        "q",
        "query",
        "search",
        "ids",
        "id",
    ];
    let names = |wanted: &[&str]| -> Vec<String> {
        let own = known.iter().map(AsRef::as_ref).filter(|name| wanted.contains(&name.to_ascii_lowercase().as_str()));
        own.map(|name| format!("`{name}`")).collect()
    };
    let (paging, narrowing) = (names(&PAGING), names(&NARROWING));
    match (paging.is_empty(), narrowing.is_empty()) {
        (false, _) => format!("Get the rest with {}.", paging.join(", ")),
        (true, false) => format!("Ask for less with {}.", narrowing.join(", ")),
        (true, true) => "Ask for something narrower to see the rest.".to_owned(),
    }
}
