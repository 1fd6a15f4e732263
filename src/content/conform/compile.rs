//! From a published schema to nodes.

use super::{ANY, Node, Property, Shape};
use crate::schema::kinds::Kinds;
use crate::schema::walk;
use serde_json::Value;
use std::collections::HashMap;

pub(super) fn compile(published: &Value) -> Shape {
    let mut compiler = Compiler { root: published, nodes: vec![Node::any()], known: HashMap::new() };
    let root = compiler.schema(published, 0);
    let mut nodes = compiler.nodes;
    let closures: Vec<Vec<u32>> = (0..nodes.len() as u32).map(|id| closure(&nodes, id)).collect();
    for (node, closure) in nodes.iter_mut().zip(closures) {
        node.closure = closure;
    }
    Shape { nodes, root }
}

fn closure(nodes: &[Node], id: u32) -> Vec<u32> {
    if nodes.get(id as usize).is_none_or(|node| node.any_of.is_empty()) {
        return Vec::new();
    }
    let mut all = vec![id];
    let mut next = 0;
    while let Some(&id) = all.get(next) {
        next += 1;
        for branch in nodes.get(id as usize).map_or(&[][..], |node| &node.any_of) {
            if !all.contains(branch) {
                all.push(*branch);
            }
        }
    }
    all
}

struct Compiler<'r> {
    root: &'r Value,
    nodes: Vec<Node>,
    /// Nodes of references, made before what they refer to is compiled.
    known: HashMap<&'r str, u32>,
}

impl<'r> Compiler<'r> {
    fn schema(&mut self, schema: &'r Value, depth: usize) -> u32 {
        let Some(members) = schema.as_object() else { return ANY };
        // As deep as JSON text can be read.
        if depth > 128 {
            return ANY;
        }
        if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
            return self.reference(reference, depth);
        }
        let kinds = Kinds::declared(members.get("type"));
        let structural = ["properties", "items", "additionalProperties", "anyOf"];
        if kinds == Kinds::ALL && !structural.iter().any(|keyword| members.contains_key(*keyword)) {
            return ANY;
        }
        let id = self.nodes.len() as u32;
        self.nodes.push(Node::any());
        self.fill(id, schema, depth);
        id
    }

    fn reference(&mut self, reference: &'r str, depth: usize) -> u32 {
        let mut reference = reference;
        let mut target = walk::target(self.root, reference);
        // A definition that is only a reference is what it refers to.
        for _ in 0..32 {
            match target.and_then(|target| target.get("$ref")).and_then(Value::as_str) {
                Some(next) => {
                    reference = next;
                    target = walk::target(self.root, reference);
                }
                None => break,
            }
        }
        if let Some(id) = self.known.get(reference) {
            return *id;
        }
        let Some(target @ Value::Object(members)) = target else { return ANY };
        if members.contains_key("$ref") {
            return ANY;
        }
        let id = self.nodes.len() as u32;
        self.nodes.push(Node::any());
        self.known.insert(reference, id);
        self.fill(id, target, depth + 1);
        id
    }

    fn fill(&mut self, id: u32, schema: &'r Value, depth: usize) {
        let mut node = Node::any();
        node.kinds = Kinds::declared(schema.get("type"));
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let property = self.schema(property, depth + 1);
            node.properties.push(Property::new(name, property));
        }
        node.sorted = (0..node.properties.len() as u32).collect();
        let properties = &node.properties;
        node.sorted.sort_by_key(|index| properties.get(*index as usize).map(Property::name));
        if let Some(items) = schema.get("items") {
            node.items = self.schema(items, depth + 1);
        }
        if let Some(extra) = schema.get("additionalProperties") {
            node.extra = self.schema(extra, depth + 1);
        }
        if let Some(branches) = schema.get("anyOf").and_then(Value::as_array) {
            let branches: Vec<u32> = branches.iter().map(|branch| self.schema(branch, depth + 1)).collect();
            // One alternative accepts everything: no condition.
            if !branches.contains(&ANY) {
                node.any_of = branches;
            }
        }
        if let Some(slot) = self.nodes.get_mut(id as usize) {
            *slot = node;
        }
    }
}
