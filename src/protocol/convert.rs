//! The catalog as list results: every item serialized once per revision, every list once per set of
//! visible tools, and kept until the catalog is swapped.

mod item;
mod schema;

use super::cursor::{Cursor, Kind, digest8};
use super::tasks;
use super::version::Version;
use crate::catalog::{Catalog, Tool};
use crate::service::Visible;
use bytes::Bytes;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Lists of one catalog. Most distinct sets of visible tools and pages kept per revision.
const KEPT_LISTS: usize = 512;

/// A catalog and what was made of it.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) catalog: Arc<Catalog>,
    /// Calls can become tasks.
    pub(crate) tasks: bool,
    revisions: [OnceLock<Revision>; 5],
}

/// Which list, for which set of visible tools, from which item on.
type Page = (Kind, Arc<str>, usize);

#[derive(Debug, Default)]
struct Revision {
    /// JSON texts with the index of the tool or resource that must be visible, if one must.
    tools: Vec<Item>,
    resources: Vec<Item>,
    templates: Vec<Item>,
    prompts: Vec<Item>,
    hash: [u8; 8],
    lists: Mutex<HashMap<Page, Part>>,
}

#[derive(Debug)]
struct Item {
    text: String,
    needs: Option<usize>,
}

/// One page: the items as a JSON array, and where the next page starts.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) items: Bytes,
    pub(crate) next: Option<usize>,
    /// Items on it.
    pub(crate) count: usize,
}

impl View {
    /// `tasks` says whether calls may become tasks at all.
    pub(crate) fn new(catalog: Arc<Catalog>, tasks: bool) -> Self {
        let tasks = tasks && tasks::any(&catalog);
        View { catalog, tasks, revisions: Default::default() }
    }

    fn revision(&self, version: Version) -> &Revision {
        static EMPTY: OnceLock<Revision> = OnceLock::new();
        match self.revisions.get(version as usize) {
            Some(slot) => slot.get_or_init(|| Revision::new(&self.catalog, self.tasks, version)),
            None => EMPTY.get_or_init(Revision::default),
        }
    }

    /// One page of a list. `start` is where it begins; `None` if nothing begins there.
    pub(crate) fn page(
        &self,
        kind: Kind,
        version: Version,
        visible: &Visible,
        start: usize,
        size: Option<usize>,
    ) -> Option<Part> {
        let revision = self.revision(version);
        let key = match visible {
            Visible::All => Arc::from(""),
            // An empty key must not be mistaken for "all".
            Visible::Only { key, .. } => Arc::from(format!("={key}")),
        };
        let mut lists = revision.lists.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(part) = lists.get(&(kind, Arc::clone(&key), start)) {
            return Some(part.clone());
        }
        let seen = |item: &&Item| match (item.needs, visible) {
            (None, _) | (_, Visible::All) => true,
            (Some(index), Visible::Only { tools, resources, .. }) => match kind {
                Kind::Resources | Kind::Templates => resources.binary_search(&index).is_ok(),
                Kind::Tools | Kind::Prompts => tools.binary_search(&index).is_ok(),
            },
        };
        let size = size.unwrap_or(usize::MAX).max(1);
        let mut rest = revision.items(kind).iter().filter(seen).skip(start).peekable();
        if start > 0 && rest.peek().is_none() {
            return None;
        }
        let mut text = String::from("[");
        let mut count = 0;
        for item in rest.by_ref().take(size) {
            if count > 0 {
                text.push(',');
            }
            text.push_str(&item.text);
            count += 1;
        }
        text.push(']');
        let part = Part { items: text.into(), next: rest.peek().is_some().then_some(start + count), count };
        if lists.len() >= KEPT_LISTS {
            lists.clear();
        }
        lists.insert((kind, key, start), part.clone());
        Some(part)
    }

    /// Where a cursor points to; `None` if it is not one of ours for this list.
    pub(crate) fn cursor(&self, kind: Kind, version: Version, visible: &Visible, start: usize) -> Cursor {
        let shown = match visible {
            Visible::All => [0; 8],
            Visible::Only { key, .. } => digest8([key.as_bytes()]),
        };
        Cursor { kind, start, catalog: self.revision(version).hash, shown }
    }
}

impl Revision {
    fn new(catalog: &Catalog, tasks: bool, version: Version) -> Self {
        let text = |tool: &Tool| item::tool(tool, tasks && tasks::waits(tool).is_some(), version).to_string();
        // Search mode's own tools show and reach nothing but what their caller may call: they are for everybody.
        let own = catalog.own.iter().map(|tool| Item { text: text(tool), needs: None });
        let others = catalog
            .tools
            .values()
            .enumerate()
            .filter(|(_, tool)| !catalog.search_mode || catalog.pinned.contains(&tool.name))
            .map(|(index, tool)| Item { text: text(tool), needs: Some(index) });
        let tools: Vec<Item> = own.chain(others).collect();
        let of_resources = |templates: bool| -> Vec<Item> {
            catalog
                .resources
                .iter()
                .enumerate()
                .filter(|(_, resource)| resource.is_template == templates)
                .map(|(index, resource)| Item {
                    text: item::resource(resource, version).to_string(),
                    needs: Some(index),
                })
                .collect()
        };
        let (resources, templates) = (of_resources(false), of_resources(true));
        let prompts: Vec<Item> = catalog
            .prompts
            .values()
            .map(|prompt| Item { text: item::prompt(prompt, version).to_string(), needs: None })
            .collect();
        let all = [&tools, &resources, &templates, &prompts];
        let hash = digest8(all.into_iter().flatten().map(|item| item.text.as_bytes()));
        Revision { tools, resources, templates, prompts, hash, lists: Mutex::default() }
    }

    fn items(&self, kind: Kind) -> &[Item] {
        match kind {
            Kind::Tools => &self.tools,
            Kind::Resources => &self.resources,
            Kind::Templates => &self.templates,
            Kind::Prompts => &self.prompts,
        }
    }
}

/// True if a tool's structured results travel as `{"result": …}` to peers that know objects only.
pub(crate) fn wraps(tool: &Tool) -> bool {
    tool.output.published.as_deref().is_some_and(|schema| !schema::is_object_schema(schema))
}
