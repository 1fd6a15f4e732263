//! The edits that `rules[].set` and `tools.<name>` share.

use super::{Verifier, is_argument_name, is_token, list, title, written, written_of};
use crate::document::pointer::join;
use crate::mapping::strict::Finding;
use crate::mapping::{
    ArgumentEdits, Ask, AskKind, BlockRules, ErrorRules, PageStyle, Paginate, ResultKind, ResultRules, StatusSet,
    StreamRules, ToolEdits,
};
use indexmap::IndexMap;
use serde_json::Value;

impl Verifier<'_, '_> {
    pub(super) fn edits(&mut self, edits: &ToolEdits, pointer: &str) {
        let at = |key: &str| join(pointer, key);
        if let Some(super::super::Description::From(from)) = &edits.description
            && from.from.is_empty()
            && from.prepend.is_none()
            && from.append.is_none()
        {
            self.error(
                "missing-key",
                &at("description"),
                "this description has no text",
                "add `from: [summary, description]`",
            );
        }
        self.arguments(&edits.args, &at("args"));
        if let Some(result) = &edits.result {
            self.result(result, &at("result"));
        }
        if let Some(errors) = &edits.errors {
            self.errors(errors, &at("errors"));
        }
        if let Some(paginate) = &edits.paginate {
            self.paginate(paginate, &at("paginate"));
        }
        if let Some(poll) = &edits.poll {
            self.poll(poll, &at("poll"));
        }
        if let Some(stream) = &edits.stream {
            self.stream(stream, &at("stream"));
        }
        let ways = written_of(self.findings, pointer, &["paginate", "poll", "stream"]);
        if ways.len() > 1 {
            let second = ways.last().copied().unwrap_or_default();
            self.key_error("conflict", &at(second), format!("{} exclude each other", list(&ways)), "keep one of them");
        }
        if let Some(confirm) = &edits.confirm {
            self.template(&at("confirm"), confirm);
        }
        self.asks(&edits.ask, &at("ask"));
        self.answers_arrive(edits, pointer);
        self.not_zero(&at("timeout"), edits.timeout);
        if let Some(cache) = &edits.cache {
            self.not_zero(&join(&at("cache"), "ttl"), Some(cache.ttl));
        }
    }

    fn arguments(&mut self, args: &IndexMap<String, ArgumentEdits>, pointer: &str) {
        let mut names: Vec<(&str, &str)> = Vec::new();
        for (name, edits) in args {
            let at = join(pointer, name);
            self.dotted(&at, name, false);
            self.argument(edits, &at);
            let Some(published) = edits.rename.as_deref() else { continue };
            let rename = join(&at, "rename");
            if !is_argument_name(published) {
                let message = format!("`{published}` can't be an argument's name");
                self.error("bad-name", &rename, message, "a name has 1 to 64 letters, digits, `_`, `-` and `.`");
            }
            if let Some((_, other)) = names.iter().find(|(taken, _)| *taken == published) {
                let message = format!("`{other}` is called `{published}` already");
                self.error("name-collision", &rename, message, "give one of them another name");
            }
            names.push((published, name));
        }
    }

    fn argument(&mut self, edits: &ArgumentEdits, pointer: &str) {
        let of_published = ["default", "description", "rename", "mirror", "required", "examples", "enum"];
        let hidden = edits.hide == Some(true);
        if edits.value.is_some() || hidden {
            let why = if edits.value.is_some() { "value" } else { "hide" };
            let mut useless = written_of(self.findings, pointer, &of_published);
            // A hidden argument may have a default, and then is sent.
            useless.retain(|key| edits.value.is_some() || *key != "default");
            if edits.value.is_some() {
                useless.extend(written_of(
                    self.findings,
                    pointer,
                    &["minimum", "maximum", "pattern", "minLength", "maxLength"],
                ));
            }
            if edits.value.is_some() && edits.hide == Some(false) {
                useless.push("hide");
            }
            if let Some(first) = useless.first() {
                let message = format!("`{first}` has no effect: `{why}` keeps the argument from the model");
                self.key_error("no-effect", &join(pointer, first), message, format!("delete `{first}` or `{why}`"));
            }
        }
        if let Some(mirror) = &edits.mirror {
            let at = join(pointer, "mirror");
            if !is_token(mirror) {
                let message = format!("`{mirror}` can't end a header's name");
                self.error("bad-value", &at, message, "letters, digits and `-`, such as `Region` (`Mcp-Param-Region`)");
            }
            let kind = edits.schema.get("type").and_then(Value::as_str);
            if kind.is_some_and(|kind| !matches!(kind, "string" | "integer" | "boolean")) {
                self.key_error(
                    "conflict",
                    &at,
                    "only texts, whole numbers and booleans are mirrored in a header",
                    "delete `mirror`",
                );
            }
        }
        for (least, most) in [
            ("minimum", "maximum"),
            ("minLength", "maxLength"),
            ("minItems", "maxItems"),
            ("minProperties", "maxProperties"),
            ("minContains", "maxContains"),
        ] {
            let number = |key: &str| edits.schema.get(key).and_then(Value::as_f64);
            if let (Some(low), Some(high)) = (number(least), number(most))
                && low > high
            {
                let message = format!("no value fits: `{least}` is above `{most}`");
                self.key_error("conflict", &join(pointer, least), message, "exchange the two numbers");
            }
        }
        let choices = edits.schema.get("enum").and_then(Value::as_array);
        if let (Some(default), Some(choices)) = (&edits.default, choices)
            && !choices.contains(default)
        {
            self.error(
                "conflict",
                &join(pointer, "default"),
                "the default is not among `enum`",
                "add it to `enum`, or take another",
            );
        }
    }

    fn result(&mut self, result: &ResultRules, pointer: &str) {
        let at = |key: &str| join(pointer, key);
        if let Some(select) = &result.select {
            self.filter(&at("select"), select);
            let plain = written_of(self.findings, pointer, &["path", "pick", "rename"]);
            if let Some(first) = plain.first() {
                let message = format!("`{first}` does what `select` can do: use one or the other");
                self.key_error(
                    "conflict",
                    &at(first),
                    message,
                    format!("put `{first}` into the filter, or delete `select`"),
                );
            }
        }
        if let Some(path) = &result.path {
            self.dotted(&at("path"), path, false);
        }
        for (key, paths, wildcard) in
            [("pick", &result.pick, false), ("drop", &result.drop, true), ("redact", &result.redact, true)]
        {
            for (index, path) in paths.iter().flatten().enumerate() {
                self.dotted(&format!("{}/{index}", at(key)), path, wildcard);
            }
        }
        for (old, new) in &result.rename {
            let pointer = join(&at("rename"), old);
            self.dotted(&pointer, old, false);
            if new.is_empty() {
                self.error(
                    "no-value",
                    &pointer,
                    format!("`{old}` has no new name"),
                    "to leave it out, name it under `drop`",
                );
            }
        }
        if result.max_bytes.is_some_and(|most| most.0 < 256) {
            self.error("out-of-range", &at("max_bytes"), "nothing useful fits", "write a size such as `64KiB`");
        }
        let forms = written_of(self.findings, pointer, &["format", "template", "blocks"]);
        if forms.len() > 1 {
            let last = forms.last().copied().unwrap_or_default();
            self.key_error("conflict", &at(last), format!("{} exclude each other", list(&forms)), "keep one of them");
        }
        if let Some(template) = &result.template {
            self.template(&at("template"), template);
        }
        let as_resource = result.kind == Some(ResultKind::Resource);
        // The other half may stand in a rule.
        let of_rules = |has: &dyn Fn(&ResultRules) -> bool| {
            let sets = self.mapping.rules.iter().filter_map(|rule| rule.set.as_ref());
            sets.filter_map(|set| set.result.as_ref()).any(has)
        };
        let may_be_resource = of_rules(&|result| result.kind == Some(ResultKind::Resource));
        let may_have_uri = of_rules(&|result| result.uri.is_some()) || pointer.starts_with("/rules/");
        match (&result.uri, as_resource) {
            (Some(uri), as_resource) if as_resource || may_be_resource => drop(self.template(&at("uri"), uri)),
            (Some(_), _) => self.key_error(
                "no-effect",
                &at("uri"),
                "`uri` has no effect without `as: resource`",
                "add `as: resource`",
            ),
            (None, true) if may_have_uri => {}
            (None, true) => self.error("missing-key", &at("as"), "an embedded resource needs its URI", "add `uri:`"),
            (None, false) => {}
        }
        self.taken_back(result, pointer);
        for (index, block) in result.blocks.iter().flatten().enumerate() {
            self.block(block, &format!("{}/{index}", at("blocks")));
        }
    }

    fn block(&mut self, block: &BlockRules, pointer: &str) {
        let at = |key: &str| join(pointer, key);
        match block {
            BlockRules::Text { path, template } => {
                if path.is_some() && template.is_some() {
                    self.error(
                        "conflict",
                        pointer,
                        "a text block has `path` or `template`, not both",
                        "keep one of them",
                    );
                }
                if let Some(path) = path {
                    self.dotted(&at("path"), path, false);
                }
                if let Some(template) = template {
                    self.template(&at("template"), template);
                }
            }
            BlockRules::Image { data, .. } | BlockRules::Audio { data, .. } => self.dotted(&at("data"), data, false),
            BlockRules::Resource { uri, path, .. } => {
                self.template(&at("uri"), uri);
                if let Some(path) = path {
                    self.dotted(&at("path"), path, false);
                }
            }
            BlockRules::Link { uri, name, .. } => {
                self.template(&at("uri"), uri);
                if let Some(name) = name {
                    self.template(&at("name"), name);
                }
            }
        }
    }

    fn errors(&mut self, errors: &ErrorRules, pointer: &str) {
        if let Some(path) = &errors.path {
            self.dotted(&join(pointer, "path"), path, false);
        }
        for status in errors.hints.keys() {
            if StatusSet::parse_one(status).is_none() {
                let at = join(&join(pointer, "hints"), status);
                self.key_error(
                    "bad-value",
                    &at,
                    format!("`{status}` is no HTTP status"),
                    "write `404`, `400-499` or `4XX`",
                );
            }
        }
    }

    fn paginate(&mut self, paginate: &Paginate, pointer: &str) {
        let at = |key: &str| join(pointer, key);
        for (key, path) in [("items", &paginate.items), ("cursor", &paginate.cursor)] {
            if let Some(path) = path {
                self.dotted(&at(key), path, false);
            }
        }
        let needed: &[&str] = match paginate.style {
            PageStyle::Cursor => &["cursor", "arg"],
            PageStyle::Page | PageStyle::Offset => &["arg"],
            PageStyle::Link => &[],
        };
        for key in needed {
            if !written(self.findings, pointer, key) {
                let what = if *key == "arg" { "the parameter that takes it" } else { "where the answer has it" };
                let message = format!("{} needs `{key}`: {what}", title(pointer));
                self.key_error("missing-key", pointer, message, format!("add `{key}:`"));
            }
        }
        let useless: &[&str] = match paginate.style {
            PageStyle::Cursor => &[],
            PageStyle::Page | PageStyle::Offset => &["cursor"],
            PageStyle::Link => &["arg"],
        };
        if let Some(first) = written_of(self.findings, pointer, useless).first() {
            self.key_error(
                "no-effect",
                &at(first),
                format!("`{first}` has no effect with this `style`"),
                "delete the line",
            );
        }
    }

    fn stream(&mut self, stream: &StreamRules, pointer: &str) {
        let mut check = |group: &str, key: &str, path: Option<&str>| {
            if let Some(path) = path {
                self.dotted(&format!("{pointer}/{group}/{key}"), path, false);
            }
        };
        if let Some(progress) = &stream.progress {
            check("progress", "value", Some(&progress.value));
            check("progress", "total", progress.total.as_deref());
            check("progress", "message", progress.message.as_deref());
        }
        if let Some(log) = &stream.log {
            check("log", "level", log.level.as_deref());
            check("log", "message", Some(&log.message));
        }
    }

    pub(super) fn asks(&mut self, asks: &IndexMap<String, Ask>, pointer: &str) {
        for (name, ask) in asks {
            let at = join(pointer, name);
            if let Some(message) = &ask.message {
                self.template(&join(&at, "message"), message);
            } else if ask.kind != AskKind::Roots {
                self.key_error(
                    "missing-key",
                    &at,
                    format!("{} says nothing to the person or model", title(&at)),
                    "add `message:`",
                );
            }
            if ask.kind == AskKind::Elicit {
                self.form(ask, &at);
            }
            let useless: &[&str] = match ask.kind {
                AskKind::Elicit => &["max_tokens", "system"],
                AskKind::Sample => &["schema"],
                AskKind::Roots => &["schema", "message", "max_tokens", "system"],
            };
            if let Some(first) = written_of(self.findings, &at, useless).first() {
                self.key_error(
                    "no-effect",
                    &join(&at, first),
                    format!("`{first}` has no effect with this `kind`"),
                    "delete the line",
                );
            }
            if let Some(into) = &ask.into {
                self.dotted(&join(&at, "into"), into, false);
            }
            if let Some(after) = &ask.after {
                let others = asks.keys().map(String::as_str).filter(|other| other != name);
                self.must_exist(&join(&at, "after"), after, others, "question");
            }
            // A chain longer than there are questions has come round.
            let mut next = ask.after.as_ref();
            let mut length = 0;
            while let Some(after) = next.filter(|_| length <= asks.len()) {
                length += 1;
                next = asks.get(after).and_then(|ask| ask.after.as_ref());
            }
            if length > asks.len() {
                self.error(
                    "conflict",
                    &join(&at, "after"),
                    "these questions wait for each other",
                    "let one of them come first",
                );
            }
        }
    }

    /// What the person gives must reach the request.
    fn answers_arrive(&mut self, edits: &ToolEdits, pointer: &str) {
        for (name, ask) in &edits.ask {
            let into = ask.into.as_deref().unwrap_or(name);
            let whole = format!("body.{into}");
            let taken = |(key, edits): &(&String, &ArgumentEdits)| {
                (**key == into || **key == whole) && (edits.hide == Some(true) || edits.value.is_some())
            };
            if let Some((key, edits)) = edits.args.iter().find(taken) {
                let why = if edits.value.is_some() { "value" } else { "hide" };
                let at = join(&join(&join(pointer, "args"), key), why);
                let message = format!("`{why}` would drop the answer to `{name}`");
                self.key_error(
                    "conflict",
                    &at,
                    message,
                    format!("delete `{why}`: what `ask` fills in is not shown to the model"),
                );
            }
        }
    }

    /// MCP's forms are flat: every property is a text, number, boolean or choice.
    fn form(&mut self, ask: &Ask, pointer: &str) {
        let Some(schema) = &ask.schema else {
            self.key_error(
                "missing-key",
                pointer,
                format!("{} has no form", title(pointer)),
                "add `schema:` with `type: object` and `properties:`",
            );
            return;
        };
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            let kind = property.get("type").and_then(Value::as_str);
            let flat = match kind {
                Some("string" | "number" | "integer" | "boolean") => true,
                // 2025-11-25: a choice of several.
                Some("array") => property
                    .get("items")
                    .is_some_and(|items| items.get("enum").is_some() || items.get("anyOf").is_some()),
                _ => false,
            };
            if !flat {
                let at = join(&format!("{pointer}/schema/properties"), name);
                let finding = Finding::error("bad-form", at, format!("`{name}` can't be a field of a form"));
                self.findings.add(finding.on_key().fix("fields are texts, numbers, booleans or choices (`enum`)"));
            }
            if is_secret(name, property) {
                let at = join(&format!("{pointer}/schema/properties"), name);
                let message = format!("a form must not ask for a secret such as `{name}`");
                let finding = Finding::error("secret-in-form", at, message);
                self.findings
                    .add(finding.on_key().fix("put it under the source's `credentials`; MCP forbids such questions"));
            }
        }
        for (index, name) in schema.get("required").and_then(Value::as_array).into_iter().flatten().enumerate() {
            if let Some(name) = name.as_str() {
                let known = properties.into_iter().flatten().map(|(name, _)| name.as_str());
                self.must_exist(&format!("{pointer}/schema/required/{index}"), name, known, "property");
            }
        }
    }
}

/// True if a field of a form holds a secret (MCP, elicitation: servers must not ask for one in a form).
fn is_secret(name: &str, property: &Value) -> bool {
    const NAMES: &[&str] = &["password", "passwort", "passwd", "passphrase", "secret", "apikey"];
    let plain = name.to_ascii_lowercase().replace(['_', '-'], "");
    property.get("format").and_then(Value::as_str) == Some("password") || NAMES.iter().any(|one| plain.contains(one))
}
