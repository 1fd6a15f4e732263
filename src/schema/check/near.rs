//! The nearest legal name.

/// The candidate that `given` was most likely meant to be: equal but for case, `_` and `-`, or within
/// an edit distance of a third of its length. `None` if nothing is near.
pub fn nearest<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Distance is quadratic; nobody misspells a name of this length.
    if given.is_empty() || given.len() > 100 {
        return None;
    }
    let wanted = folded(given);
    let most = (given.chars().count() / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        if candidate.len() > 100 {
            continue;
        }
        let other = folded(candidate);
        if other == wanted {
            return Some(candidate);
        }
        let mut distance = strsim::damerau_levenshtein(&wanted, &other);
        // `id` for `petId`, `pet` for `petName`: one is the other's first or last word.
        if distance > most && wanted.len() >= 2 && (other.ends_with(&wanted) || other.starts_with(&wanted)) {
            distance = most;
        }
        if distance <= most && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

fn folded(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-' | ' ' | '.')).flat_map(char::to_lowercase).collect()
}

/// ``did you mean `petId`?``
pub fn did_you_mean(name: &str) -> String {
    format!("did you mean `{name}`?")
}
