//! Replaces what does not conform by null.

use super::{ANY, Node, Shape};
use crate::schema::kinds::Kinds;
use serde_json::{Map, Value};

/// Values looked at to choose between alternatives, a call; past it the first alternative of the right
/// type is taken. The result conforms either way.
const FUEL: usize = 200_000;

pub(super) fn repair(shape: &Shape, value: &mut Value) -> usize {
    let mut nulled = 0;
    let mut fuel = FUEL;
    repair_at(shape, shape.root, Kinds::ALL, value, &mut nulled, &mut fuel);
    nulled
}

pub(super) fn fits(shape: &Shape, value: &Value) -> bool {
    let mut fuel = usize::MAX;
    cost(shape, shape.root, Kinds::ALL, value, 1, &mut fuel) == 0
}

/// `allowed` is what the schemas around leave of the types: an alternative may allow null where they do not.
fn repair_at(shape: &Shape, id: u32, allowed: Kinds, value: &mut Value, nulled: &mut usize, fuel: &mut usize) {
    let Some(node) = shape.node(id) else { return };
    let allowed = node.kinds & allowed;
    if !allowed.meets(Kinds::of(value)) {
        *value = nothing(allowed);
        *nulled += 1;
        return;
    }
    match value {
        Value::Object(members) => {
            let mut guess = 0;
            for (name, value) in members.iter_mut() {
                repair_at(shape, node.member(name, &mut guess), Kinds::ALL, value, nulled, fuel);
            }
        }
        Value::Array(items) if node.items != ANY => {
            items.iter_mut().for_each(|item| repair_at(shape, node.items, Kinds::ALL, item, nulled, fuel));
        }
        _ => {}
    }
    if let Some(best) = nearest(shape, node, allowed, value, fuel) {
        repair_at(shape, best, allowed, value, nulled, fuel);
    }
}

/// What stands for a value that had to go.
fn nothing(allowed: Kinds) -> Value {
    if allowed.meets(Kinds::NULL) {
        return Value::Null;
    }
    if allowed.meets(Kinds::OBJECT) {
        return Value::Object(Map::new());
    }
    if allowed.meets(Kinds::ARRAY) { Value::Array(Vec::new()) } else { Value::Null }
}

/// The alternatives to choose from: those of the value's type, else those of a type that is allowed here, else all.
fn candidates<'n>(shape: &'n Shape, node: &'n Node, allowed: Kinds, value: &Value) -> impl Iterator<Item = u32> + 'n {
    let any = |wanted: Kinds| {
        let kinds = |branch: &u32| shape.node(*branch).map_or(Kinds::ALL, |node| node.kinds);
        node.any_of.iter().any(|branch| kinds(branch).meets(wanted)).then_some(wanted)
    };
    let wanted = any(Kinds::of(value) & allowed).or_else(|| any(allowed)).unwrap_or(Kinds::ALL);
    node.any_of.iter().copied().filter(move |branch| shape.node(*branch).is_none_or(|node| node.kinds.meets(wanted)))
}

/// The alternative that costs the fewest values.
fn nearest(shape: &Shape, node: &Node, allowed: Kinds, value: &Value, fuel: &mut usize) -> Option<u32> {
    let mut best: Option<(usize, u32)> = None;
    for branch in candidates(shape, node, allowed, value) {
        let most = best.map_or(usize::MAX, |(least, _)| least);
        let cost = cost(shape, branch, allowed, value, most, fuel);
        if best.is_none_or(|(least, _)| cost < least) {
            best = Some((cost, branch));
        }
        if cost == 0 {
            break;
        }
    }
    best.map(|(_, branch)| branch)
}

/// How many values would be replaced; counting stops at `most`.
fn cost(shape: &Shape, id: u32, allowed: Kinds, value: &Value, most: usize, fuel: &mut usize) -> usize {
    let Some(node) = shape.node(id) else { return 0 };
    let allowed = node.kinds & allowed;
    if !allowed.meets(Kinds::of(value)) {
        // Losing a whole container weighs more than losing values in it.
        return match value {
            Value::Object(members) => 1 + members.len(),
            Value::Array(items) => 1 + items.len(),
            _ => 1,
        };
    }
    if *fuel == 0 {
        return 0;
    }
    *fuel -= 1;
    let mut total = 0;
    match value {
        Value::Object(members) => {
            let mut guess = 0;
            for (name, value) in members {
                total += cost(shape, node.member(name, &mut guess), Kinds::ALL, value, most, fuel);
                if total >= most {
                    return total;
                }
            }
        }
        Value::Array(items) if node.items != ANY => {
            for item in items {
                total += cost(shape, node.items, Kinds::ALL, item, most, fuel);
                if total >= most {
                    return total;
                }
            }
        }
        _ => {}
    }
    if !node.any_of.is_empty() {
        let mut least = usize::MAX;
        for branch in candidates(shape, node, allowed, value) {
            least = least.min(cost(shape, branch, allowed, value, least.min(most), fuel));
            if least == 0 {
                break;
            }
        }
        total = total.saturating_add(least);
    }
    total
}
