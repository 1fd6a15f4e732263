//! `resources` and `prompts`.

use super::{Verifier, is_argument_name, list, title, written_of};
use crate::document::pointer::{join, join_index};
use crate::mapping::{PromptMessage, PromptRules, ResourceRules};

impl Verifier<'_, '_> {
    pub(super) fn resources(&mut self) {
        let mapping = self.mapping;
        for (name, resource) in &mapping.resources {
            let pointer = join("/resources", name);
            self.source_name(&join(&pointer, "source"), resource.source.as_deref());
            self.operation(&join(&pointer, "operation"), &resource.operation);
            self.resource_uri(resource, &pointer);
        }
        let mut seen: Vec<(&str, &str)> = Vec::new();
        for (name, resource) in &mapping.resources {
            if let Some((_, other)) = seen.iter().find(|(uri, _)| *uri == resource.uri) {
                let at = join(&join("/resources", name), "uri");
                self.error(
                    "name-collision",
                    &at,
                    format!("resource `{other}` has this URI already"),
                    "give one of them another URI",
                );
            }
            seen.push((&resource.uri, name));
        }
    }

    fn resource_uri(&mut self, resource: &ResourceRules, pointer: &str) {
        let at = join(pointer, "uri");
        if resource.uri.contains("{{") {
            self.error(
                "bad-uri",
                &at,
                "a resource's URI has no templates",
                "write `{name}` with one pair of braces (RFC 6570)",
            );
            return;
        }
        match uri_variables(&resource.uri) {
            Err(message) => self.error("bad-uri", &at, message, "write it as `pets://{petId}`"),
            Ok(variables) => {
                let mut twice = variables
                    .iter()
                    .enumerate()
                    .filter(|(index, name)| variables.iter().take(*index).any(|other| other == *name));
                if let Some((_, name)) = twice.next() {
                    self.error(
                        "bad-uri",
                        &at,
                        format!("`{{{name}}}` stands twice"),
                        "a URI can't be read back then; use each variable once",
                    );
                }
                for name in resource.args.keys().filter(|name| variables.contains(&name.as_str())) {
                    let at = join(&join(pointer, "args"), name);
                    self.key_error(
                        "conflict",
                        &at,
                        format!("`{name}` comes from the URI"),
                        "delete it here or in `uri`",
                    );
                }
            }
        }
    }

    pub(super) fn prompts(&mut self) {
        let mapping = self.mapping;
        for (name, prompt) in &mapping.prompts {
            let pointer = join("/prompts", name);
            self.prompt(prompt, &pointer);
            self.asks(&prompt.ask, &join(&pointer, "ask"));
        }
    }

    fn prompt(&mut self, prompt: &PromptRules, pointer: &str) {
        let mut names: Vec<&str> = Vec::new();
        for (index, argument) in prompt.arguments.iter().enumerate() {
            let at = join(&join_index(&join(pointer, "arguments"), index), "name");
            let name = argument.name.as_str();
            if name.is_empty() {
                let at = join_index(&join(pointer, "arguments"), index);
                self.error("missing-key", &at, "this argument has no name", "add `name:`");
            } else if !is_argument_name(name) {
                self.error(
                    "bad-name",
                    &at,
                    format!("`{name}` can't be an argument's name"),
                    "letters, digits, `_`, `-` and `.`",
                );
            } else if names.contains(&name) {
                self.error(
                    "name-collision",
                    &at,
                    format!("there is an argument `{name}` already"),
                    "give one of them another name",
                );
            }
            names.push(name);
        }
        // Answers to questions can be used like arguments.
        let asked = prompt.ask.iter().map(|(name, ask)| ask.into.as_deref().unwrap_or(name));
        names.extend(asked.map(|into| into.split('.').next().unwrap_or(into)));
        if prompt.messages.is_empty() {
            self.key_error(
                "missing-key",
                pointer,
                format!("{} has no messages", title(pointer)),
                "add `messages:` with at least one `text:`",
            );
        }
        for (index, message) in prompt.messages.iter().enumerate() {
            self.message(message, &join_index(&join(pointer, "messages"), index), &names);
        }
    }

    fn message(&mut self, message: &PromptMessage, pointer: &str, names: &[&str]) {
        let kinds = written_of(self.findings, pointer, &["text", "resource", "image"]);
        match kinds.as_slice() {
            [_] => {}
            [] => self.error(
                "missing-key",
                pointer,
                "this message has no content",
                "add one of `text`, `resource`, `image`",
            ),
            several => self.error(
                "conflict",
                pointer,
                format!("a message is one thing, not {}", list(several)),
                "make a message of each",
            ),
        }
        if message.resource.is_none() {
            for key in written_of(self.findings, pointer, &["resource_text", "mime_type"]) {
                self.key_error(
                    "no-effect",
                    &join(pointer, key),
                    format!("`{key}` has no effect without `resource`"),
                    "add `resource:` with the URI, or delete the line",
                );
            }
        }
        let texts = [
            ("text", &message.text),
            ("resource", &message.resource),
            ("resource_text", &message.resource_text),
            ("image", &message.image),
        ];
        for (key, text) in texts {
            let at = join(pointer, key);
            if let Some(text) = text
                && let Some(template) = self.template(&at, text)
            {
                self.known_names(&at, &template.placeholders(), names, "arguments");
            }
        }
    }
}

/// The variables of a URI template of RFC 6570 level 1.
fn uri_variables(uri: &str) -> Result<Vec<&str>, String> {
    let scheme = uri.split(':').next().unwrap_or_default();
    let legal = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
        && uri.contains(':');
    if !legal {
        return Err(format!("`{uri}` has no scheme"));
    }
    let mut variables = Vec::new();
    let mut rest = uri;
    while let Some((before, after)) = rest.split_once('{') {
        if before.contains('}') {
            return Err(format!("`{uri}` has a `}}` without its `{{`"));
        }
        let Some((name, after)) = after.split_once('}') else {
            return Err(format!("`{uri}` has a `{{` without its `}}`"));
        };
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.')) {
            return Err(format!("`{{{name}}}` is no plain variable"));
        }
        variables.push(name);
        rest = after;
    }
    if rest.contains('}') {
        return Err(format!("`{uri}` has a `}}` without its `{{`"));
    }
    Ok(variables)
}
