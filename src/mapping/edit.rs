//! Merging edits: later wins, key by key.

use super::{AnnotationEdits, ArgumentEdits, ErrorRules, ResultRules, ToolEdits};
use indexmap::IndexMap;

fn later<T: Clone>(first: &Option<T>, later: &Option<T>) -> Option<T> {
    later.as_ref().or(first.as_ref()).cloned()
}

fn says<T>(list: &Option<Vec<T>>) -> bool {
    list.as_ref().is_some_and(|list| !list.is_empty())
}

fn merged<T: Clone>(
    first: &IndexMap<String, T>,
    later: &IndexMap<String, T>,
    join: impl Fn(&T, &T) -> T,
) -> IndexMap<String, T> {
    let mut all = first.clone();
    for (name, new) in later {
        let value = match first.get(name) {
            Some(old) => join(old, new),
            None => new.clone(),
        };
        all.insert(name.clone(), value);
    }
    all
}

fn both<T: Clone>(first: &Option<T>, later: &Option<T>, join: impl Fn(&T, &T) -> T) -> Option<T> {
    match (first, later) {
        (Some(old), Some(new)) => Some(join(old, new)),
        (old, new) => new.as_ref().or(old.as_ref()).cloned(),
    }
}

impl ToolEdits {
    /// These edits with later ones on top. Arguments, annotations, the result's steps and the hints of errors are
    /// merged key by key; every other key is taken whole from the later edits where they have it. `paginate`, `poll`
    /// and `stream` exclude each other: the later one replaces the others.
    #[must_use]
    pub fn over(&self, with: &ToolEdits) -> ToolEdits {
        let other = with.paginate.is_some() || with.poll.is_some() || with.stream.is_some();
        ToolEdits {
            name: later(&self.name, &with.name),
            title: later(&self.title, &with.title),
            description: later(&self.description, &with.description),
            annotations: both(&self.annotations, &with.annotations, AnnotationEdits::over),
            icons: later(&self.icons, &with.icons),
            args: merged(&self.args, &with.args, ArgumentEdits::over),
            extra: merged(&self.extra, &with.extra, |_, later| later.clone()),
            body: later(&self.body, &with.body),
            media_type: later(&self.media_type, &with.media_type),
            result: both(&self.result, &with.result, ResultRules::over),
            success: later(&self.success, &with.success),
            errors: both(&self.errors, &with.errors, ErrorRules::over),
            paginate: if other { with.paginate.clone() } else { self.paginate.clone() },
            poll: if other { with.poll.clone() } else { self.poll.clone() },
            stream: if other { with.stream.clone() } else { self.stream.clone() },
            confirm: later(&self.confirm, &with.confirm),
            ask: merged(&self.ask, &with.ask, |_, new| new.clone()),
            requires_client: later(&self.requires_client, &with.requires_client),
            cache: later(&self.cache, &with.cache),
            timeout: later(&self.timeout, &with.timeout),
            hidden: later(&self.hidden, &with.hidden),
        }
    }
}

impl AnnotationEdits {
    fn over(&self, with: &AnnotationEdits) -> AnnotationEdits {
        AnnotationEdits {
            read_only: with.read_only.or(self.read_only),
            destructive: with.destructive.or(self.destructive),
            idempotent: with.idempotent.or(self.idempotent),
            open_world: with.open_world.or(self.open_world),
        }
    }
}

impl ArgumentEdits {
    fn over(&self, with: &ArgumentEdits) -> ArgumentEdits {
        let mut schema = self.schema.clone();
        schema.extend(with.schema.clone());
        ArgumentEdits {
            rename: later(&self.rename, &with.rename),
            description: later(&self.description, &with.description),
            value: later(&self.value, &with.value),
            hide: later(&self.hide, &with.hide),
            default: later(&self.default, &with.default),
            required: later(&self.required, &with.required),
            mirror: later(&self.mirror, &with.mirror),
            schema,
        }
    }
}

impl ErrorRules {
    fn over(&self, with: &ErrorRules) -> ErrorRules {
        ErrorRules {
            path: later(&self.path, &with.path),
            hints: merged(&self.hints, &with.hints, |_, new| new.clone()),
        }
    }
}

impl ResultRules {
    /// An empty list takes back what earlier edits say. `select` and the plain steps exclude each other, and so do `template`, `blocks` and `format`: the later edit
    /// that says one of a group replaces the group.
    fn over(&self, with: &ResultRules) -> ResultRules {
        let mut base = self.clone();
        if with.select.is_some() {
            base.path = None;
            base.pick = None;
            base.rename.clear();
        } else if with.path.is_some() || says(&with.pick) || !with.rename.is_empty() {
            base.select = None;
        }
        if with.template.is_some() || says(&with.blocks) || with.format.is_some() {
            base.template = None;
            base.blocks = None;
            base.format = None;
        }
        ResultRules {
            select: later(&base.select, &with.select),
            path: later(&base.path, &with.path),
            pick: later(&base.pick, &with.pick),
            drop: later(&base.drop, &with.drop),
            rename: merged(&base.rename, &with.rename, |_, new| new.clone()),
            redact: later(&base.redact, &with.redact),
            limit_items: later(&base.limit_items, &with.limit_items),
            max_bytes: later(&base.max_bytes, &with.max_bytes),
            format: later(&base.format, &with.format),
            template: later(&base.template, &with.template),
            blocks: later(&base.blocks, &with.blocks),
            kind: later(&base.kind, &with.kind),
            uri: later(&base.uri, &with.uri),
            mime_type: later(&base.mime_type, &with.mime_type),
            binary: later(&base.binary, &with.binary),
            output_schema: later(&base.output_schema, &with.output_schema),
        }
    }
}
