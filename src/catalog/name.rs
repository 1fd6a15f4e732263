//! Tool names: legal for every client (`[A-Za-z0-9_-]`, at most 64), unique, readable, and the same at
//! every load: a name depends on its own operation and on those that would have the same name, never on
//! the order of operations.

use crate::mapping::NameStyle;
use crate::pace;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};

/// Longest name that any client accepts.
pub const LONGEST: usize = 64;
/// Shortest limit that leaves room for a readable part beside the hash.
pub const SHORTEST: usize = 8;
/// Hexadecimal digits of a hash tail.
const TAIL: usize = 6;

/// What a name is made from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NameCandidate {
    /// `operationId`; an empty one counts as absent.
    pub operation_id: Option<String>,
    /// Upper-case method.
    pub method: String,
    /// Path template.
    pub path: String,
    /// `tool_prefix` of the source.
    pub prefix: String,
    /// A name that the mapping gives; it is taken as it is, without prefix and style, where legal.
    pub wanted: Option<String>,
}

impl NameCandidate {
    /// What tells this operation from others, whatever stands around it.
    fn identity(&self) -> String {
        format!("{} {} {}", self.method, self.path, self.operation_id.as_deref().unwrap_or_default())
    }
}

/// Makes one name a candidate, in the candidates' order; all differ. `max` is brought into
/// [`SHORTEST`]`..=`[`LONGEST`].
///
/// Candidates that would have the same name all get a tail from their method and path, so that adding
/// an operation never moves a name to another one; a name from the mapping, or an operationId that is
/// that very name, keeps it.
pub fn tool_names(candidates: &[NameCandidate], style: NameStyle, max: usize) -> Vec<String> {
    let max = max.clamp(SHORTEST, LONGEST);
    let first: Vec<String> = candidates
        .iter()
        .map(|candidate| {
            pace::breathe();
            plain_name(candidate, style, max)
        })
        .collect();
    let mut groups: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, name) in first.iter().enumerate() {
        groups.entry(name).or_default().push(index);
    }
    let mut taken: HashSet<String> = HashSet::new();
    let mut names = vec![String::new(); candidates.len()];
    let mut late: Vec<usize> = Vec::new();
    for (index, name) in first.iter().enumerate() {
        let group = groups.get(name.as_str()).map_or(&[][..], Vec::as_slice);
        if owner(candidates, group, name) == Some(index) {
            taken.insert(name.clone());
            if let Some(slot) = names.get_mut(index) {
                *slot = name.clone();
            }
        } else {
            late.push(index);
        }
    }
    // In order of identity, so that a tail does not depend on the order of operations either.
    late.sort_by_cached_key(|index| candidates.get(*index).map(NameCandidate::identity));
    for index in late {
        let (Some(candidate), Some(name)) = (candidates.get(index), first.get(index)) else { continue };
        let unique = apart(candidate, name, style, max, &taken);
        taken.insert(unique.clone());
        if let Some(slot) = names.get_mut(index) {
            *slot = unique;
        }
    }
    names
}

/// Names longer than this leave little room beside what clients put in front of them.
const LONG: usize = 40;

/// A shorter name for an operation, where its automatic `name` is long or repeats method and path (as some
/// frameworks' operationIds do): the part of the operationId before them, else the method and the last two words
/// of the path. It need not be free.
pub fn shorter(candidate: &NameCandidate, name: &str) -> Option<String> {
    let id = candidate.operation_id.as_deref().map(legal).unwrap_or_default();
    let folded = |text: &str| -> String {
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect()
    };
    // `read_item_items__item_id__get`: the function's name, then path and method.
    let repeated = format!("{}_{}", folded(&candidate.path), folded(&candidate.method));
    let own = folded(&id).strip_suffix(&repeated).map(str::len).and_then(|length| id.get(..length));
    let short = match own.map(|own| own.trim_matches('_')).filter(|own| own.len() > 2) {
        Some(own) => own.to_string(),
        None if name.len() <= LONG && id.len() <= LONGEST => return None,
        None => {
            let words: Vec<&str> =
                candidate.path.split('/').filter(|word| !word.is_empty() && !word.starts_with('{')).collect();
            let last = words.get(words.len().saturating_sub(2)..).unwrap_or_default();
            snake(&legal(&format!("{}_{}", candidate.method.to_ascii_lowercase(), last.join("_"))))
        }
    };
    (short.len() < name.len() && short.len() <= LONG).then_some(short)
}

/// Names that differ only in case, `_` or `-`: a model mixes them up. Pairs of indices, ascending.
pub fn look_alikes(names: &[&str]) -> Vec<(usize, usize)> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut pairs = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let folded: String = name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect();
        match seen.get(&folded) {
            Some(first) => pairs.push((*first, index)),
            None => {
                seen.insert(folded, index);
            }
        }
    }
    pairs
}

/// Which member of a group of equal names keeps the name: the only one, else the only one that the mapping
/// named, else the only one whose operationId it is.
fn owner(candidates: &[NameCandidate], group: &[usize], name: &str) -> Option<usize> {
    if let [only] = group {
        return Some(*only);
    }
    let only = |accepts: &dyn Fn(&NameCandidate) -> bool| {
        let mut those = group.iter().filter(|index| candidates.get(**index).is_some_and(accepts));
        match (those.next(), those.next()) {
            (Some(one), None) => Ok(Some(*one)),
            (None, _) => Ok(None),
            _ => Err(()),
        }
    };
    match only(&|candidate| candidate.wanted.is_some()) {
        Ok(Some(index)) => Some(index),
        Ok(None) => only(&|candidate| candidate.operation_id.as_deref() == Some(name)).ok().flatten(),
        Err(()) => None,
    }
}

fn plain_name(candidate: &NameCandidate, style: NameStyle, max: usize) -> String {
    if let Some(wanted) = candidate.wanted.as_deref().filter(|wanted| !wanted.is_empty()) {
        let name = legal(wanted);
        if !name.is_empty() {
            return fit(&name, wanted, max);
        }
    }
    let id = candidate.operation_id.as_deref().unwrap_or_default();
    let base = match legal(id) {
        // Nothing of the operationId is left: the path says more.
        empty if empty.is_empty() || (style == NameStyle::Snake && snake(&empty).is_empty()) => {
            path_name(&candidate.method, &candidate.path)
        }
        name => name,
    };
    let name = legal(&format!("{}{base}", candidate.prefix));
    let name = match style {
        NameStyle::Keep => name,
        NameStyle::Snake => snake(&name),
    };
    let own = if id.is_empty() { candidate.identity() } else { id.to_string() };
    fit(&name, &own, max)
}

/// A name apart from those that are taken.
fn apart(candidate: &NameCandidate, name: &str, style: NameStyle, max: usize, taken: &HashSet<String>) -> String {
    let tail = match style {
        NameStyle::Keep => path_name(&candidate.method, &candidate.path),
        NameStyle::Snake => snake(&path_name(&candidate.method, &candidate.path)),
    };
    let longer = format!("{name}_{tail}");
    if tail != *name && longer.len() <= max && !taken.contains(&longer) {
        return longer;
    }
    let hashed = with_tail(name, &hash(&candidate.identity()), max);
    if !taken.contains(&hashed) {
        return hashed;
    }
    // The very same operation twice (two sources): only their order tells them apart.
    (2usize..)
        .map(|number| with_tail(&hashed, &number.to_string(), max))
        .find(|name| !taken.contains(name))
        .unwrap_or(hashed)
}

/// Legal names come back as they are; else every run of illegal characters becomes one `_`, none at the ends.
fn legal(name: &str) -> String {
    let is_legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.chars().all(is_legal) {
        return name.to_string();
    }
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match is_legal(c) {
            true => out.push(c),
            false if !out.ends_with('_') => out.push('_'),
            false => {}
        }
    }
    out.trim_matches('_').to_string()
}

/// `GET /pet/{petId}` becomes `get_pet_by_petId`.
fn path_name(method: &str, path: &str) -> String {
    let mut words = vec![method.to_ascii_lowercase()];
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        let mut rest = segment;
        while let Some((before, after)) = rest.split_once('{') {
            words.push(legal(before));
            let (name, tail) = after.split_once('}').unwrap_or((after, ""));
            words.push("by".to_string());
            words.push(legal(name));
            rest = tail;
        }
        words.push(legal(rest));
    }
    words.retain(|word| !word.trim_matches(['_', '-']).is_empty());
    if words.len() == 1 {
        words.push("root".to_string());
    }
    legal(&words.join("_"))
}

fn snake(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 8);
    for word in words(name) {
        let word = word.trim_matches(['_', '-']);
        if word.is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push('_');
        }
        out.push_str(&word.to_ascii_lowercase());
    }
    out
}

/// Cuts a name into words; separators stay at the start of the word they precede.
fn words(name: &str) -> Vec<&str> {
    let bytes = name.as_bytes();
    let mut cuts = vec![0usize];
    for (at, pair) in bytes.windows(2).enumerate() {
        let (Some(&a), Some(&b)) = (pair.first(), pair.get(1)) else { continue };
        let next = bytes.get(at + 2);
        let lower_upper = (a.is_ascii_lowercase() || a.is_ascii_digit()) && b.is_ascii_uppercase();
        let acronym_end = a.is_ascii_uppercase() && b.is_ascii_uppercase() && next.is_some_and(u8::is_ascii_lowercase);
        let separator = matches!(b, b'_' | b'-') && !matches!(a, b'_' | b'-');
        if lower_upper || acronym_end || separator {
            cuts.push(at + 1);
        }
    }
    cuts.push(name.len());
    cuts.windows(2).filter_map(|pair| name.get(*pair.first()?..*pair.get(1)?)).filter(|word| !word.is_empty()).collect()
}

/// Shortens a name that is too long; the tail is a hash of what it was made from.
fn fit(name: &str, original: &str, max: usize) -> String {
    if name.len() <= max { name.to_string() } else { with_tail(name, &hash(original), max) }
}

/// `name_tail` within `max`: as many whole words of the name as there is room for.
fn with_tail(name: &str, tail: &str, max: usize) -> String {
    let room = max.saturating_sub(tail.len() + 1);
    let mut head = String::new();
    if name.len() <= room {
        head.push_str(name);
    } else {
        for word in words(name) {
            if head.len() + word.len() > room {
                break;
            }
            head.push_str(word);
        }
        if head.is_empty() {
            head = name.chars().take(room).collect();
        }
    }
    let head = head.trim_end_matches(['_', '-']);
    if head.is_empty() { tail.to_string() } else { format!("{head}_{tail}") }
}

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(TAIL / 2).map(|byte| format!("{byte:02x}")).collect()
}
