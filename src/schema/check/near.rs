//! The nearest legal name, for a model.

use crate::diagnostic::hint;

/// The candidate that `given` was most likely meant to be: the one that [`hint::nearest`] finds, else one
/// that starts or ends with it (`id` for `petId`). `None` if nothing is near.
pub fn nearest<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let near = hint::nearest(given, candidates.clone());
    if near.is_some() || given.len() < 2 || given.len() > 100 {
        return near;
    }
    let wanted = given.to_lowercase();
    candidates.into_iter().find(|candidate| {
        let candidate = candidate.to_lowercase();
        candidate.ends_with(&wanted) || candidate.starts_with(&wanted)
    })
}

/// ``did you mean `petId`?``
pub fn did_you_mean(name: &str) -> String {
    format!("did you mean `{name}`?")
}
