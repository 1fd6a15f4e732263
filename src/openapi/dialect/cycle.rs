//! Cuts circles of schemas that apply to the same value. A validator would follow them forever;
//! circles through properties or items are ordinary recursion and stay.
//!
//! The usual case is a parent that lists its children in `oneOf` while each child takes the parent
//! into its `allOf`. The child means the parent's own members, so it gets the parent without the
//! list (`PARENT_base`). What circles are left add nothing: `A = A and B` is `B`, `A = A or B` is `B`.

use crate::pace;
use crate::schema::DefinitionId;
use crate::schema::keyword::definition_name;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// How a schema stands to one that it applies to the same value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    /// Must hold: `$ref`, `allOf`.
    And,
    /// One of several: `oneOf`, `anyOf`.
    Or,
    /// Under a condition: `not`, `if`, `dependentSchemas`, ….
    Other,
}

/// What becomes of a reference.
enum Action {
    Keep,
    Rename(String),
    True,
    False,
}

/// The definitions (name, schema) without circles, new ones appended, and the ids of those that
/// were cut.
pub(super) fn break_cycles(
    mut list: Vec<(String, Value)>,
    names: &mut HashSet<String>,
) -> (Vec<(String, Value)>, Vec<DefinitionId>) {
    let mut ids: HashMap<String, DefinitionId> =
        list.iter().enumerate().map(|(id, (name, _))| (name.clone(), id)).collect();
    let graph: Vec<Vec<(Link, DefinitionId)>> = list.iter_mut().map(|(_, json)| links(json, &ids)).collect();
    let group = components(&graph);
    let same = |from: DefinitionId, to: DefinitionId| group.get(from).is_some() && group.get(from) == group.get(to);
    let circular: Vec<DefinitionId> =
        (0..list.len()).filter(|&id| graph.get(id).into_iter().flatten().any(|(_, to)| same(id, *to))).collect();
    if circular.is_empty() {
        return (list, Vec::new());
    }
    let listing: HashSet<DefinitionId> = circular
        .iter()
        .copied()
        .filter(|&id| graph.get(id).into_iter().flatten().any(|(link, to)| *link == Link::Or && same(id, *to)))
        .collect();
    let mut bases: HashMap<DefinitionId, String> = HashMap::new();
    let mut open: Vec<(DefinitionId, DefinitionId)> = circular.iter().map(|&id| (id, id)).collect();
    let original_ids = ids.clone();
    while let Some((id, family)) = open.pop() {
        let Some((_, mut json)) = list.get(id).cloned() else { continue };
        let mut wanted = Vec::new();
        each_link(&mut json, Link::And, &mut |link, name| match original_ids.get(name) {
            Some(&to) if link == Link::And && listing.contains(&to) && same(family, to) => {
                let base = bases.entry(to).or_insert_with(|| {
                    wanted.push(to);
                    free_name(name, names)
                });
                Action::Rename(base.clone())
            }
            _ => Action::Keep,
        });
        if let Some(entry) = list.get_mut(id) {
            entry.1 = json;
        }
        for to in wanted {
            let (Some((_, json)), Some(name)) = (list.get(to).cloned(), bases.get(&to)) else { continue };
            let base_id = list.len();
            ids.insert(name.clone(), base_id);
            list.push((
                name.clone(),
                without_lists(json, |name| original_ids.get(name).is_some_and(|&it| same(to, it))),
            ));
            open.push((base_id, to));
        }
    }
    let candidates: Vec<DefinitionId> = circular.iter().copied().chain(group.len()..list.len()).collect();
    let broken = cut(&mut list, &ids, &candidates);
    (list, broken)
}

fn free_name(name: &str, names: &mut HashSet<String>) -> String {
    let mut free = format!("{name}_base");
    let mut number = 2;
    while !names.insert(free.clone()) {
        free = format!("{name}_base_{number}");
        number += 1;
    }
    free
}

/// Visits every reference that applies to the same value as `json`.
fn each_link(json: &mut Value, link: Link, visit: &mut dyn FnMut(Link, &str) -> Action) {
    let Some(object) = json.as_object_mut() else { return };
    let action = match object.get("$ref").and_then(Value::as_str).and_then(definition_name) {
        Some(name) => visit(link, name),
        None => Action::Keep,
    };
    match action {
        Action::Keep => {}
        Action::Rename(name) => {
            object.insert("$ref".to_owned(), Value::String(format!("#/$defs/{name}")));
        }
        Action::True => {
            object.shift_remove("$ref");
        }
        Action::False => {
            *json = Value::Bool(false);
            return;
        }
    }
    let either = if link == Link::And { Link::Or } else { link };
    for (key, value) in object.iter_mut() {
        let inner = match key.as_str() {
            "allOf" => link,
            "oneOf" | "anyOf" => either,
            "not" | "if" | "then" | "else" | "dependentSchemas" => Link::Other,
            _ => continue,
        };
        match value {
            Value::Array(items) => items.iter_mut().for_each(|it| each_link(it, inner, visit)),
            Value::Object(members) if key == "dependentSchemas" => {
                members.values_mut().for_each(|it| each_link(it, inner, visit));
            }
            other => each_link(other, inner, visit),
        }
    }
}

fn links(json: &mut Value, ids: &HashMap<String, DefinitionId>) -> Vec<(Link, DefinitionId)> {
    pace::breathe();
    let mut found = Vec::new();
    each_link(json, Link::And, &mut |link, name| {
        found.extend(ids.get(name).map(|&id| (link, id)));
        Action::Keep
    });
    found
}

/// `json` without the `oneOf`/`anyOf` that list a member of the circle.
fn without_lists(mut json: Value, in_circle: impl Fn(&str) -> bool) -> Value {
    if let Some(object) = json.as_object_mut() {
        for key in ["oneOf", "anyOf"] {
            let Some(list) = object.get_mut(key) else { continue };
            let mut listed = false;
            let mut probe = Value::Object([("anyOf".to_owned(), list.take())].into_iter().collect());
            each_link(&mut probe, Link::And, &mut |_, name| {
                listed |= in_circle(name);
                Action::Keep
            });
            match probe.get_mut("anyOf") {
                Some(back) if !listed => *list = back.take(),
                _ => {
                    object.shift_remove(key);
                }
            }
        }
    }
    json
}

/// Strongly connected components: the number of each node's component (Tarjan, iterative).
fn components(graph: &[Vec<(Link, DefinitionId)>]) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let count = graph.len();
    let (mut index, mut low, mut group) = (vec![NONE; count], vec![NONE; count], vec![NONE; count]);
    let mut on_stack = vec![false; count];
    let (mut stack, mut next, mut groups) = (Vec::new(), 0, 0);
    let get = |list: &[usize], at: usize| list.get(at).copied().unwrap_or(NONE);
    for start in 0..count {
        if get(&index, start) != NONE {
            continue;
        }
        let mut calls: Vec<(usize, usize)> = vec![(start, 0)];
        while let Some((node, edge)) = calls.pop() {
            if edge == 0 {
                set(&mut index, node, next);
                set(&mut low, node, next);
                next += 1;
                stack.push(node);
                set(&mut on_stack, node, true);
            }
            match graph.get(node).and_then(|it| it.get(edge)) {
                Some(&(_, to)) => {
                    calls.push((node, edge + 1));
                    if get(&index, to) == NONE {
                        calls.push((to, 0));
                    } else if on_stack.get(to).copied().unwrap_or(false) {
                        let least = get(&low, node).min(get(&index, to));
                        set(&mut low, node, least);
                    }
                }
                None => {
                    if get(&low, node) == get(&index, node) {
                        while let Some(member) = stack.pop() {
                            set(&mut on_stack, member, false);
                            set(&mut group, member, groups);
                            if member == node {
                                break;
                            }
                        }
                        groups += 1;
                    }
                    if let Some(&(parent, _)) = calls.last() {
                        let least = get(&low, parent).min(get(&low, node));
                        set(&mut low, parent, least);
                    }
                }
            }
        }
    }
    group
}

fn set<T>(list: &mut [T], at: usize, value: T) {
    if let Some(slot) = list.get_mut(at) {
        *slot = value;
    }
}

/// Cuts every edge that closes a circle (depth first, in order).
fn cut(
    list: &mut [(String, Value)],
    ids: &HashMap<String, DefinitionId>,
    starts: &[DefinitionId],
) -> Vec<DefinitionId> {
    let mut graph: HashMap<DefinitionId, Vec<DefinitionId>> = HashMap::new();
    for &id in starts {
        let found = list.get_mut(id).map(|(_, json)| links(json, ids)).unwrap_or_default();
        graph.insert(id, found.into_iter().map(|(_, to)| to).collect());
    }
    let (mut active, mut done) = (HashSet::new(), HashSet::new());
    let mut closing: HashMap<DefinitionId, HashSet<DefinitionId>> = HashMap::new();
    for &start in starts {
        let mut calls: Vec<(DefinitionId, usize)> = vec![(start, 0)];
        while let Some((node, edge)) = calls.pop() {
            if edge == 0 && (done.contains(&node) || !active.insert(node)) {
                continue;
            }
            match graph.get(&node).and_then(|it| it.get(edge)) {
                Some(&to) => {
                    calls.push((node, edge + 1));
                    if active.contains(&to) {
                        closing.entry(node).or_default().insert(to);
                    } else {
                        calls.push((to, 0));
                    }
                }
                None => {
                    active.remove(&node);
                    done.insert(node);
                }
            }
        }
    }
    let mut broken: Vec<DefinitionId> = closing.keys().copied().collect();
    broken.sort_unstable();
    for id in &broken {
        let (Some((_, json)), Some(targets)) = (list.get_mut(*id), closing.get(id)) else { continue };
        each_link(json, Link::And, &mut |link, name| match ids.get(name) {
            Some(to) if targets.contains(to) => {
                if link == Link::Or {
                    Action::False
                } else {
                    Action::True
                }
            }
            _ => Action::Keep,
        });
    }
    broken
}
