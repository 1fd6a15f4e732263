//! Paths with `*`, `?` and `**`, as settings write them.

use crate::access::glob_matches;
use std::path::{Path, PathBuf};

/// Folders below folders that `**` looks into.
const DEEPEST: usize = 16;
/// Files that one pattern may name.
const MOST: usize = 10_000;

/// True if a text is a pattern.
pub(super) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// The files that a pattern names, relative ones below `folder`, in order of their paths. `*` and `?` stand for
/// characters of one name, but for no leading dot; `**` for any folders.
pub(super) fn expand(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let pattern = pattern.replace('\\', "/");
    let (start, rest) = match pattern.strip_prefix('/') {
        Some(rest) => (PathBuf::from("/"), rest.to_owned()),
        None => (folder.to_owned(), pattern),
    };
    let parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let mut found = Vec::new();
    walk(&start, &parts, DEEPEST, &mut found);
    found.sort();
    found.dedup();
    found
}

fn walk(folder: &Path, parts: &[&str], depth: usize, found: &mut Vec<PathBuf>) {
    let Some((part, rest)) = parts.split_first() else { return };
    if found.len() >= MOST {
        return;
    }
    if *part == "**" {
        walk(folder, rest, depth, found);
        if let Some(depth) = depth.checked_sub(1) {
            for (_, path) in entries(folder).filter(|(_, path)| path.is_dir() && !path.is_symlink()) {
                walk(&path, parts, depth, found);
            }
        }
        return;
    }
    if !is_pattern(part) {
        let path = folder.join(part);
        if rest.is_empty() {
            found.extend(path.is_file().then_some(path));
        } else {
            walk(&path, rest, depth, found);
        }
        return;
    }
    for (name, path) in entries(folder) {
        if glob_matches(part, &name) {
            if rest.is_empty() {
                found.extend(path.is_file().then_some(path));
            } else if path.is_dir() {
                walk(&path, rest, depth, found);
            }
        }
    }
}

/// Names and paths in a folder, hidden ones left out.
fn entries(folder: &Path) -> impl Iterator<Item = (String, PathBuf)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()))
        .filter(|(name, _)| !name.starts_with('.'))
}
