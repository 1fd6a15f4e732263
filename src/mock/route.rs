//! Which operation a path means: literal segments win over variables.

use crate::openapi::Api;
use percent_encoding::percent_decode_str;

/// One operation's path, cut for matching.
#[derive(Debug)]
pub(super) struct Route {
    /// Index in [`Api::operations`].
    pub(super) operation: usize,
    bases: Vec<Vec<String>>,
    segments: Vec<Vec<Piece>>,
    query: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Literal(String),
    Variable(String),
}

/// A route that fits.
#[derive(Debug)]
pub(super) struct Match {
    pub(super) operation: usize,
    /// Variables, decoded, in path order.
    pub(super) variables: Vec<(String, String)>,
    /// Compares: one number a segment, then the literal query.
    pub(super) score: Vec<u8>,
}

/// The routes of every operation.
pub(super) fn routes(api: &Api, extra_base: Option<&str>) -> Vec<Route> {
    let route = |(index, operation): (usize, &crate::openapi::Operation)| {
        let (path, query) = crate::request::split_query(&operation.path);
        let mut bases: Vec<Vec<String>> = operation.servers.iter().map(|server| split(&base_path(server))).collect();
        bases.extend(extra_base.map(split));
        bases.push(Vec::new());
        bases.sort_by_key(|base| std::cmp::Reverse(base.len()));
        bases.dedup();
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (name.to_owned(), value.to_owned())
        };
        Route {
            operation: index,
            bases,
            segments: template(path),
            query: query.into_iter().flat_map(|query| query.split('&')).map(pair).collect(),
        }
    };
    api.operations.iter().enumerate().map(route).collect()
}

/// The path of a server URL, variables filled in with their defaults.
fn base_path(server: &crate::openapi::Server) -> String {
    let mut url = server.url.clone();
    for (name, variable) in &server.variables {
        let value = variable.default.as_deref().or_else(|| variable.allowed.first().map(String::as_str));
        url = url.replace(&format!("{{{name}}}"), value.unwrap_or_default());
    }
    let behind = match url.split_once("://") {
        Some((_, rest)) => rest.split_once('/').map_or("", |(_, path)| path),
        None => url.as_str(),
    };
    behind.split(['?', '#']).next().unwrap_or_default().to_owned()
}

/// Segments of a path, decoded; empty ones at the ends left out.
pub(super) fn split(path: &str) -> Vec<String> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    if path.is_empty() {
        return Vec::new();
    }
    path.split('/').map(|segment| percent_decode_str(segment).decode_utf8_lossy().into_owned()).collect()
}

fn template(path: &str) -> Vec<Vec<Piece>> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    if path.is_empty() {
        return Vec::new();
    }
    let segment = |segment: &str| {
        let mut pieces = Vec::new();
        let mut rest = segment;
        while let Some((before, from)) = rest.split_once('{') {
            let Some((name, after)) = from.split_once('}') else { break };
            if !before.is_empty() {
                pieces.push(Piece::Literal(before.to_owned()));
            }
            pieces.push(Piece::Variable(name.trim().to_owned()));
            rest = after;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Literal(percent_decode_str(rest).decode_utf8_lossy().into_owned()));
        }
        pieces
    };
    path.split('/').map(segment).collect()
}

impl Route {
    /// The variables, if the path (and the literal query of the template) fits.
    pub(super) fn find(&self, segments: &[String], query: &str) -> Option<Match> {
        let given: Vec<&str> = query.split('&').collect();
        let wanted = |(name, value): &(String, String)| {
            given.iter().any(|pair| pair.split_once('=').unwrap_or((pair, "")) == (name.as_str(), value.as_str()))
        };
        if !self.query.iter().all(wanted) {
            return None;
        }
        self.bases.iter().find_map(|base| {
            let behind = segments.strip_prefix(base.as_slice())?;
            if behind.len() != self.segments.len() {
                return None;
            }
            let mut variables = Vec::new();
            let mut score = Vec::with_capacity(behind.len() + 1);
            for (pieces, text) in self.segments.iter().zip(behind) {
                score.push(match pieces.as_slice() {
                    [Piece::Literal(_)] => 2,
                    [Piece::Variable(_)] => 0,
                    _ => 1,
                });
                if !fits(pieces, text, &mut variables) {
                    return None;
                }
            }
            score.push(u8::try_from(self.query.len()).unwrap_or(u8::MAX));
            Some(Match { operation: self.operation, variables, score })
        })
    }
}

/// Matches one segment; a variable takes at least one character and ends at the next literal.
fn fits(pieces: &[Piece], text: &str, variables: &mut Vec<(String, String)>) -> bool {
    let mut rest = text;
    let mut pieces = pieces.iter().peekable();
    while let Some(piece) = pieces.next() {
        match piece {
            Piece::Literal(literal) => match rest.strip_prefix(literal.as_str()) {
                Some(after) => rest = after,
                None => return false,
            },
            Piece::Variable(name) => {
                let first = rest.chars().next().map_or(0, char::len_utf8);
                let end = match pieces.peek() {
                    None => Some(rest.len()),
                    // the last literal is looked for from the end
                    Some(Piece::Literal(literal)) => {
                        let tail = rest.get(first..).unwrap_or_default();
                        tail.rfind(literal.as_str()).map(|at| at + first)
                    }
                    Some(Piece::Variable(_)) => Some(first),
                };
                let value = end.and_then(|end| rest.get(..end)).filter(|value| !value.is_empty());
                let Some(value) = value else { return false };
                variables.push((name.clone(), value.to_owned()));
                rest = rest.get(value.len()..).unwrap_or_default();
            }
        }
    }
    rest.is_empty()
}
