//! `rules` and `tools`: which operations, and what makes a tool.

use super::{NAME_RULE, Verifier, is_token, is_tool_name, legal_name, list, title, written_of};
use crate::document::pointer::{join, join_index};
use crate::mapping::strict::Finding;
use crate::mapping::{HandRequest, ResultRules, ToolRules};
use serde_json::Value;

/// Edits that only make sense for one request.
const OF_A_REQUEST: &[&str] = &["paginate", "poll", "stream", "success", "media_type", "body", "timeout", "errors"];

impl Verifier<'_, '_> {
    pub(super) fn rules(&mut self) {
        let mapping = self.mapping;
        for (index, rule) in mapping.rules.iter().enumerate() {
            let pointer = join_index("/rules", index);
            if rule.set.is_none() && !rule.exclude {
                self.error(
                    "no-effect",
                    &pointer,
                    "this rule does nothing",
                    "add `set:` with edits, or `exclude: true`",
                );
            }
            if rule.set.is_some() && rule.exclude {
                let finding = Finding::warning(
                    "no-effect",
                    join(&pointer, "set"),
                    "`set` has no effect: the operations are left out",
                );
                self.findings.add(finding.on_key().fix("delete `set` or `exclude`"));
            }
            let matches = join(&pointer, "match");
            let sources = rule.matches.source.as_ref().map(|names| names.as_slice()).unwrap_or_default();
            for name in sources {
                self.must_exist(&join(&matches, "source"), name, mapping.sources.keys().map(String::as_str), "source");
            }
            for method in rule.matches.method.as_ref().map(|names| names.as_slice()).unwrap_or_default() {
                if !is_token(method) {
                    self.error(
                        "bad-value",
                        &join(&matches, "method"),
                        format!("`{method}` is no HTTP method"),
                        "write methods as in `[GET, HEAD]`",
                    );
                }
            }
            for path in rule.matches.path.as_ref().map(|globs| globs.as_slice()).unwrap_or_default() {
                if !path.starts_with('/') && !path.starts_with("**") {
                    let fix = format!("write `/{}`; `*` is one segment, `**` any number", path.trim_start_matches('/'));
                    self.error(
                        "bad-value",
                        &join(&matches, "path"),
                        format!("the path `{path}` matches nothing: paths start with `/`"),
                        fix,
                    );
                }
            }
            if let Some(set) = &rule.set {
                let pointer = join(&pointer, "set");
                let at = join(&pointer, "name");
                if let Some(name) = &set.name
                    && let Some(template) = self.template(&at, name)
                {
                    let known = ["operation", "method", "path", "tag", "source"];
                    self.known_names(&at, &template.placeholders(), &known, "a rule's name can use");
                }
                self.edits(set, &pointer);
            }
        }
    }

    pub(super) fn tool(&mut self, name: &str, tool: &ToolRules, pointer: &str) {
        if !is_tool_name(name) {
            let fix = format!("{NAME_RULE}; for instance `{}`", legal_name(name));
            self.key_error("bad-name", pointer, format!("`{name}` can't be a tool's name"), fix);
        }
        if tool.edits.name.is_some() {
            let fix = "rename the key itself, and say `operation:` where it was the automatic name";
            self.key_error("no-effect", &join(pointer, "name"), "a tool's key is its name", fix);
        }
        let kinds = written_of(self.findings, pointer, &["operation", "request", "steps", "workflow"]);
        if kinds.len() > 1 {
            let message = format!("{} is {} things at once: {}", title(pointer), kinds.len(), list(&kinds));
            self.key_error("conflict", pointer, message, "keep one of them; make a second tool for the other");
        }
        self.source_name(&join(pointer, "source"), tool.source.as_deref());
        if let Some(operation) = &tool.operation {
            self.operation(&join(pointer, "operation"), operation);
        }
        if tool.input.is_some() && tool.request.is_none() && kinds != ["steps"] {
            let fix = "change arguments under `args`; `input` is for tools with `request` or `steps`";
            self.key_error(
                "no-effect",
                &join(pointer, "input"),
                "the arguments of an operation come from its document",
                fix,
            );
        }
        if let Some(request) = &tool.request {
            self.request(tool, request, pointer);
        }
        if (kinds == ["steps"] || kinds == ["workflow"])
            && let Some(first) = written_of(self.findings, pointer, OF_A_REQUEST).first()
        {
            let (what, fix) = match tool.workflow {
                Some(_) => {
                    ("the tool of a workflow", "put it on the operations that the workflow calls, by way of `rules`")
                }
                None => ("a tool of steps", "put it on the tools that the steps call"),
            };
            self.key_error("no-effect", &join(pointer, first), format!("`{first}` has no effect on {what}"), fix);
        }
        if kinds == ["steps"] {
            self.steps(tool, pointer);
        }
        self.edits(&tool.edits, pointer);
        self.tests(tool, pointer);
    }

    /// An empty list takes back what an earlier rule says; where none does it is a mistake.
    pub(super) fn taken_back(&mut self, result: &ResultRules, pointer: &str) {
        type Says = fn(&ResultRules) -> Option<usize>;
        let lists: [(&str, Says); 4] = [
            ("pick", |rules| rules.pick.as_ref().map(Vec::len)),
            ("drop", |rules| rules.drop.as_ref().map(Vec::len)),
            ("redact", |rules| rules.redact.as_ref().map(Vec::len)),
            ("blocks", |rules| rules.blocks.as_ref().map(Vec::len)),
        ];
        let number = pointer.strip_prefix("/rules/").and_then(|rest| rest.split('/').next()?.parse::<usize>().ok());
        let rules = &self.mapping.rules;
        let earlier = rules.get(..number.unwrap_or(rules.len())).unwrap_or_default();
        let mut sets: Vec<&ResultRules> = Vec::new();
        sets.extend(earlier.iter().filter_map(|rule| rule.set.as_ref()?.result.as_ref()));
        let pointless: Vec<&str> = lists
            .iter()
            .filter(|(_, says)| says(result) == Some(0) && !sets.iter().any(|set| says(set) > Some(0)))
            .map(|(key, _)| *key)
            .collect();
        for key in pointless {
            let at = join(pointer, key);
            let message = format!("{} is an empty list", title(&at));
            self.error("empty-list", &at, message, "list at least one item, or delete the line");
        }
    }

    fn request(&mut self, tool: &ToolRules, request: &HandRequest, pointer: &str) {
        let mapping = self.mapping;
        let at = join(pointer, "request");
        let source = match (&tool.source, mapping.sources.len()) {
            (Some(name), _) => mapping.sources.get(name),
            (None, 1) => mapping.sources.first().map(|(_, source)| source),
            (None, _) => {
                let names: Vec<&str> = mapping.sources.keys().map(String::as_str).collect();
                let fix = if names.is_empty() {
                    "add `sources:` with the API's `base_url`".to_owned()
                } else {
                    format!("add `source:`; there are {}", list(&names))
                };
                self.key_error("missing-key", &at, "where this request goes is not said", fix);
                None
            }
        };
        if !is_token(&request.method) {
            self.error(
                "bad-value",
                &join(&at, "method"),
                format!("`{}` is no HTTP method", request.method),
                "write a method such as `GET` or `POST`",
            );
        }
        if let Some(source) = source {
            for (index, name) in request.credentials.iter().enumerate() {
                let known = source.credentials.keys().map(String::as_str);
                self.must_exist(&format!("{at}/credentials/{index}"), name, known, "credential");
            }
        }
        let mut known: Vec<&str> = properties(tool.input.as_ref());
        for (index, parameter) in request.parameters.iter().enumerate() {
            if let Some(name) = parameter.get("name").and_then(Value::as_str) {
                known.push(name);
            }
            let schemas = ["schema", "content"].iter().filter(|key| parameter.get(**key).is_some()).count();
            if schemas == 2 {
                let at = format!("{at}/parameters/{index}");
                self.error("conflict", &at, "a parameter has `schema` or `content`, not both", "keep one of them");
            }
        }
        let path = join(&at, "path");
        for name in self.path_names(&path, &request.path) {
            if !known.contains(&name.as_str()) {
                let fix = format!("declare `{name}` under `input.properties`, or as a parameter");
                self.error("unknown-name", &path, format!("`{{{name}}}` has no value"), fix);
            }
        }
        if let Some(body) = &request.body {
            let at = join(&at, "body");
            if let Some(tree) = self.tree(&at, body) {
                self.tree_names(&at, body, &tree, &known, "arguments");
            }
        }
        if let Some(media_type) = &request.content_type
            && !media_type.split_once('/').is_some_and(|(kind, rest)| {
                is_token(kind) && is_token(rest.split(';').next().unwrap_or_default().trim())
            })
        {
            self.error(
                "bad-value",
                &join(&at, "content_type"),
                format!("`{media_type}` is no media type"),
                "write one such as `application/json`",
            );
        }
    }

    /// The variables of a path template.
    fn path_names(&mut self, pointer: &str, path: &str) -> Vec<String> {
        let mut names = Vec::new();
        if !path.starts_with('/') {
            self.error(
                "bad-path",
                pointer,
                format!("`{path}` does not start with `/`"),
                "paths are appended to the source's `base_url`",
            );
            return names;
        }
        if path.contains("{{") {
            self.error(
                "bad-path",
                pointer,
                "a path has no templates",
                "write `{name}` with one pair of braces; its value is encoded as one segment",
            );
            return names;
        }
        let mut rest = path;
        while let Some((_, after)) = rest.split_once('{') {
            match after.split_once('}') {
                Some((name, after)) if !name.is_empty() && !name.contains(['{', '/']) => {
                    names.push(name.to_owned());
                    rest = after;
                }
                _ => {
                    self.error(
                        "bad-path",
                        pointer,
                        format!("`{path}` has a `{{` without its name and `}}`"),
                        "write `{name}`",
                    );
                    return names;
                }
            }
        }
        names
    }

    fn tests(&mut self, tool: &ToolRules, pointer: &str) {
        for (index, test) in tool.tests.iter().enumerate() {
            let at = format!("{pointer}/tests/{index}");
            if test.request.is_none() && test.result.is_none() {
                self.error("no-effect", &at, "this test expects nothing", "add `request:` or `result:`");
            }
            // A call that is refused is never sent.
            let refused = test.result.as_ref().is_some_and(|result| result.is_error == Some(true));
            if test.result.is_some() && test.respond.is_none() && !refused {
                self.error(
                    "missing-key",
                    &at,
                    "this test expects a result of an answer that is not there",
                    "add `respond:`",
                );
            }
            for (index, answer) in test.respond.iter().flat_map(|all| all.as_slice()).enumerate() {
                let bodies = [answer.json.is_some(), answer.body.is_some(), answer.base64.is_some()];
                if bodies.iter().filter(|given| **given).count() > 1 {
                    self.error(
                        "conflict",
                        &format!("{at}/respond"),
                        format!("answer {} has several bodies", index + 1),
                        "keep one of `json`, `body`, `base64`",
                    );
                }
            }
        }
    }
}

/// The property names of an input schema.
pub(super) fn properties(schema: Option<&Value>) -> Vec<&str> {
    let properties = schema.and_then(|schema| schema.get("properties")).and_then(Value::as_object);
    properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect()
}
