//! The nearest legal name for a misspelt one.

/// The candidate an author most likely meant by `word`: equal but for case and separators
/// (`_`, `-`, `.`, blanks), else the one with the fewest typing mistakes (at most a third of the
/// word, at least one). `None` where nothing is near. Among equals the first wins.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = plain(word);
    let length = wanted.chars().count();
    // Longer words are no names; comparing them costs their lengths' product.
    if length == 0 || length > 200 {
        return None;
    }
    let allowed = (length / 3).max(1);
    let mut best: Option<(usize, &'a str)> = None;
    for candidate in candidates {
        if candidate == word {
            continue;
        }
        let other = plain(candidate);
        if other == wanted {
            return Some(candidate);
        }
        let other_length = other.chars().count();
        if other_length.abs_diff(length) > allowed {
            continue;
        }
        let distance = strsim::osa_distance(&wanted, &other);
        // A word replaced as a whole (`x` by `y`) is no misspelling.
        if distance <= allowed && distance < length.max(other_length) && best.is_none_or(|(least, _)| distance < least)
        {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// `did you mean ...?` for the nearest candidate.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, candidates).map(|name| format!("did you mean `{name}`?"))
}

fn plain(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '_' | '-' | '.' | ' ')).flat_map(char::to_lowercase).collect()
}
