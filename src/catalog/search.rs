//! Search mode: three tools find, describe and call the others over a ranked index (Okapi BM25).

use super::hints::{annotations, cut_at_word};
use super::{Action, Annotations, Catalog, Tool};
use bm25::{DefaultTokenizer, Embedder, EmbedderBuilder, Language, Scorer};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Name of the tool that finds tools.
pub const SEARCH: &str = "search_tools";
/// Name of the tool that describes one.
pub const DESCRIBE: &str = "describe_tool";
/// Name of the tool that calls one.
pub const CALL: &str = "call_tool";

/// Matches that a search gives where the caller does not say.
pub const USUAL_LIMIT: usize = 10;
/// Most matches that a search gives.
pub const MOST_LIMIT: usize = 50;

/// A tool of search mode, as published.
#[derive(Debug, Clone)]
pub struct SearchTool {
    /// `name`.
    pub name: &'static str,
    /// `title`.
    pub title: &'static str,
    /// `description`.
    pub description: String,
    /// `inputSchema`.
    pub input: Value,
    /// `annotations`.
    pub annotations: Annotations,
}

/// The three tools of search mode, in publishing order: [`SEARCH`], [`DESCRIBE`], [`CALL`]. The first one's
/// description sums the catalog up; together they stay under about 1,000 tokens whatever the catalog.
pub fn definitions(catalog: &Catalog) -> Vec<SearchTool> {
    let name = json!({ "type": "string", "description": "Name of the tool, as search_tools gives it." });
    let object = |properties: Value, required: &[&str]| json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false });
    vec![
        SearchTool {
            name: SEARCH,
            title: "Find tools",
            description: format!(
                "Finds tools by what they do. {} Search first, then describe_tool for the arguments, then call_tool.",
                summary(catalog)
            ),
            input: object(
                json!({
                    "query": {
                        "type": "string",
                        "description": "What the tool should do, in a few words, or a tool name, operationId or path."
                    },
                    "limit": {
                        "type": "integer", "minimum": 1, "maximum": MOST_LIMIT,
                        "description": format!("Most matches to give (default {USUAL_LIMIT}).")
                    }
                }),
                &["query"],
            ),
            annotations: Annotations { open_world: false, ..annotations("GET") },
        },
        SearchTool {
            name: DESCRIBE,
            title: "Describe a tool",
            description: "Gives a tool's full description and the JSON Schema of its arguments.".to_string(),
            input: object(json!({ "name": name }), &["name"]),
            annotations: Annotations { open_world: false, ..annotations("GET") },
        },
        SearchTool {
            name: CALL,
            title: "Call a tool",
            description: "Calls a tool by name with the arguments that describe_tool lists.".to_string(),
            input: object(
                json!({
                    "name": name,
                    "arguments": { "type": "object", "description": "The tool's arguments.", "properties": {} }
                }),
                &["name"],
            ),
            // It may be any tool: the careful answer.
            annotations: Annotations { read_only: false, destructive: true, idempotent: false, open_world: true },
        },
    ]
}

/// `1206 tools; by tag: repos 201, actions 184, …`
fn summary(catalog: &Catalog) -> String {
    let mut tags: HashMap<&str, usize> = HashMap::new();
    let mut count = 0usize;
    for tool in catalog.tools.values().filter(|tool| is_searched(tool)) {
        count += 1;
        if let Some(tag) = tool.tags.first() {
            *tags.entry(tag).or_default() += 1;
        }
    }
    let mut tags: Vec<(&str, usize)> = tags.into_iter().collect();
    tags.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let mut out = format!("{count} tool{}", if count == 1 { "" } else { "s" });
    if tags.len() > 1 {
        let shown: Vec<String> =
            tags.iter().take(40).map(|(tag, count)| format!("{} {count}", cut_at_word(tag, 40))).collect();
        out.push_str(&format!(" by tag: {}", shown.join(", ")));
        if tags.len() > shown.len() {
            out.push_str(", …");
        }
    }
    format!("{}.", cut_at_word(&out, 1_200))
}

fn is_searched(tool: &Tool) -> bool {
    !matches!(tool.action, Action::Search | Action::Describe | Action::CallByName)
}

/// What [`DESCRIBE`] gives for a tool.
pub fn described(tool: &Tool) -> Value {
    let mut out = Map::new();
    out.insert("name".to_string(), json!(tool.name));
    if let Some(title) = &tool.title {
        out.insert("title".to_string(), json!(title));
    }
    out.insert("description".to_string(), json!(tool.description));
    out.insert("inputSchema".to_string(), tool.input.published.tree().into_owned());
    if let Some(output) = &tool.output.published {
        out.insert("outputSchema".to_string(), output.tree().into_owned());
    }
    let hints = tool.annotations;
    out.insert(
        "annotations".to_string(),
        json!({
            "readOnlyHint": hints.read_only, "destructiveHint": hints.destructive,
            "idempotentHint": hints.idempotent, "openWorldHint": hints.open_world
        }),
    );
    Value::Object(out)
}

/// What [`SEARCH`] gives for one match: name, first words of the description, argument names (required ones
/// marked with `*`).
pub fn found(tool: &Tool) -> Value {
    let schema = tool.input.published.tree();
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|other| other == name));
    let properties = schema.get("properties").and_then(Value::as_object);
    let arguments: Vec<String> = properties
        .into_iter()
        .flat_map(Map::keys)
        .take(30)
        .map(|name| if is_required(name) { format!("{name}*") } else { name.clone() })
        .collect();
    let line = tool.description.lines().next().unwrap_or_default();
    json!({ "name": tool.name, "description": cut_at_word(line, 200), "arguments": arguments })
}

/// A ranked index over a catalog's tools; built on the first search.
pub struct Index {
    tools: Vec<Arc<Tool>>,
    built: OnceLock<Built>,
}

struct Built {
    embedder: Embedder,
    scorer: Scorer<usize>,
    exact: HashMap<String, Vec<usize>>,
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index").field("tools", &self.tools.len()).finish()
    }
}

impl Index {
    /// Notes the catalog's tools; cheap.
    pub fn new(catalog: &Catalog) -> Index {
        Index { tools: catalog.tools.values().cloned().collect(), built: OnceLock::new() }
    }

    /// The best matches: (index into [`Catalog::tools`], score), best first, at most `limit`. A query that is
    /// a tool's name, operationId, path or `METHOD path` puts that tool first.
    pub fn search(&self, query: &str, limit: usize) -> Vec<(usize, f32)> {
        self.search_among(query, limit, |_| true)
    }

    /// As [`Index::search`], over the tools that `allowed` accepts by index.
    pub fn search_among(&self, query: &str, limit: usize, allowed: impl Fn(usize) -> bool) -> Vec<(usize, f32)> {
        let built = self.built.get_or_init(|| build(&self.tools));
        // A query is a few words; more cost time without finding better.
        let query = query.char_indices().nth(1_000).map_or(query, |(end, _)| query.get(..end).unwrap_or(query));
        let mut scores: HashMap<usize, f32> = HashMap::new();
        for hit in built.scorer.matches(&built.embedder.embed(&spread(query))) {
            if allowed(hit.id) {
                scores.insert(hit.id, hit.score);
            }
        }
        for index in built.exact.get(&key(query)).into_iter().flatten().filter(|index| allowed(**index)) {
            *scores.entry(*index).or_default() += 1_000.0;
        }
        let mut best: Vec<(usize, f32)> = scores.into_iter().collect();
        best.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        best.truncate(limit);
        best
    }
}

fn build(tools: &[Arc<Tool>]) -> Built {
    let texts: Vec<String> =
        tools.iter().map(|tool| if is_searched(tool) { text(tool) } else { String::new() }).collect();
    let corpus: Vec<&str> = texts.iter().map(String::as_str).collect();
    let tokenizer = DefaultTokenizer::new(Language::English);
    let embedder: Embedder = EmbedderBuilder::with_tokenizer_and_fit_to_corpus(tokenizer, &corpus).build();
    let mut scorer = Scorer::new();
    let mut exact: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, (tool, text)) in tools.iter().zip(&texts).enumerate().filter(|(_, (tool, _))| is_searched(tool)) {
        scorer.upsert(&index, embedder.embed(text));
        let mut keys = vec![key(&tool.name)];
        if let Some(operation) = &tool.operation {
            keys.extend(operation.operation_id.as_deref().map(key));
            keys.push(key(&operation.path));
            keys.push(key(&format!("{} {}", operation.method, operation.path)));
        }
        keys.sort_unstable();
        keys.dedup();
        keys.into_iter().for_each(|key| exact.entry(key).or_default().push(index));
    }
    Built { embedder, scorer, exact }
}

fn key(text: &str) -> String {
    text.trim().trim_matches('`').to_lowercase()
}

/// What is searched: the name counts three times, then title, tags, path, arguments and the description's start.
fn text(tool: &Tool) -> String {
    let name = spread(&tool.name);
    let mut out = format!("{name} {name} {name}");
    let mut add = |text: &str| {
        out.push(' ');
        out.push_str(text);
    };
    if let Some(title) = &tool.title {
        add(title);
    }
    for tag in &tool.tags {
        add(&spread(tag));
    }
    if let Some(operation) = &tool.operation {
        add(&operation.method.to_ascii_lowercase());
        add(&spread(&operation.path));
        if let Some(id) = &operation.operation_id {
            add(&spread(id));
        }
    }
    for name in tool.input.published.property_names() {
        add(&spread(&name));
    }
    add(&cut_at_word(&tool.description, 600));
    out
}

/// Cuts `getPetById`, `get_pet-by.id` and `/pet/{petId}` into words.
fn spread(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut before_lower = false;
    for c in text.chars() {
        if !c.is_alphanumeric() {
            out.push(' ');
            before_lower = false;
            continue;
        }
        if c.is_uppercase() && before_lower {
            out.push(' ');
        }
        before_lower = c.is_lowercase() || c.is_numeric();
        out.push(c);
    }
    out
}
