//! The catalog as list results: every item is serialized once per revision, straight into the text of the whole
//! list, which is what most callers get; lists of fewer items are put together once per set of visible tools. All
//! are kept until the catalog is swapped.

mod item;
mod schema;

use super::cursor::{Cursor, Kind, digest8};
use super::version::Version;
use super::{tasks, text};
use crate::catalog::{Catalog, Tool};
use crate::content::wire::SharedText;
use crate::pace;
use crate::service::Visible;
use bytes::Bytes;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Lists of one catalog. Most distinct sets of visible tools and pages kept per revision.
const KEPT_LISTS: usize = 512;
/// Lists of more tools are written without what says nothing new: they are for models, and every byte is a token
/// that the work itself can't have. Shorter ones say everything outright, for people and clients that look at one
/// tool.
const COMPACT_FROM: usize = 128;

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
    tools: Listed,
    resources: Listed,
    templates: Listed,
    prompts: Listed,
    hash: [u8; 8],
    lists: Mutex<HashMap<Page, Part>>,
}

/// Everything of one kind.
#[derive(Debug)]
struct Listed {
    /// A JSON array.
    all: Arc<SharedText>,
    items: Vec<Item>,
}

#[derive(Debug)]
struct Item {
    /// Where it stands in the array.
    place: Range<usize>,
    /// Index of the tool or resource that must be visible, if one must.
    needs: Option<usize>,
}

fn shared(text: Vec<u8>) -> Arc<SharedText> {
    Arc::new(SharedText::from(Bytes::from(text.into_boxed_slice())))
}

impl Default for Listed {
    fn default() -> Self {
        Listed { all: shared(Vec::new()), items: Vec::new() }
    }
}

impl Listed {
    /// Writes all items; `write` appends one and says what it needs.
    fn new<T>(items: impl Iterator<Item = T>, mut write: impl FnMut(&mut Vec<u8>, T) -> Option<usize>) -> Listed {
        let (mut all, mut places) = (vec![b'['], Vec::new());
        for item in items {
            pace::breathe();
            if !places.is_empty() {
                all.push(b',');
            }
            let start = all.len();
            let needs = write(&mut all, item);
            places.push(Item { place: start..all.len(), needs });
        }
        all.push(b']');
        Listed { all: shared(all), items: places }
    }

    fn texts(&self) -> impl Iterator<Item = &[u8]> {
        self.items.iter().filter_map(|item| self.all.text().get(item.place.clone()))
    }
}

/// One page: the items as a JSON array, and where the next page starts.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) items: Arc<SharedText>,
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

    /// Makes the lists that were made of another catalog.
    pub(crate) fn make_as(&self, other: &View) {
        for version in Version::ALL {
            let Some(old) = other.revisions.get(version as usize).and_then(OnceLock::get) else { continue };
            let new = self.revision(version);
            for kind in Kind::ALL {
                if old.items(kind).all.deflated().is_some() {
                    new.items(kind).all.deflate();
                }
            }
        }
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
        let listed = revision.items(kind);
        let mut rest = listed.items.iter().filter(seen).skip(start).peekable();
        if start > 0 && rest.peek().is_none() {
            return None;
        }
        let shown: Vec<&Item> = rest.by_ref().take(size).collect();
        let count = shown.len();
        let items = if count == listed.items.len() {
            Arc::clone(&listed.all)
        } else {
            let mut text = vec![b'['];
            for (index, item) in shown.into_iter().enumerate() {
                if index > 0 {
                    text.push(b',');
                }
                text.extend_from_slice(listed.all.text().get(item.place.clone()).unwrap_or_default());
            }
            text.push(b']');
            shared(text)
        };
        let part = Part { items, next: rest.peek().is_some().then_some(start + count), count };
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
        // Search mode's own tools show and reach nothing but what their caller may call: they are for everybody.
        let listed = || {
            let others = catalog.tools.values().enumerate();
            let others = others.filter(|(_, tool)| !catalog.search_mode || catalog.pinned.contains(&tool.name));
            catalog.own.iter().map(|tool| (None, tool)).chain(others.map(|(index, tool)| (Some(index), tool)))
        };
        let style = item::Style { version, compact: listed().nth(COMPACT_FROM).is_some() };
        let tools = Listed::new(listed(), |out, (needs, tool)| {
            item::tool(out, tool, tasks && tasks::waits(tool).is_some(), style);
            needs
        });
        let of_resources = |templates: bool| {
            let some = catalog.resources.iter().enumerate().filter(|(_, one)| one.is_template == templates);
            Listed::new(some, |out, (index, resource)| {
                text::put(out, &item::resource(resource, version));
                Some(index)
            })
        };
        let (resources, templates) = (of_resources(false), of_resources(true));
        let prompts = Listed::new(catalog.prompts.values(), |out, prompt| {
            text::put(out, &item::prompt(prompt, version));
            None
        });
        let all = [&tools, &resources, &templates, &prompts];
        let hash = digest8(all.into_iter().flat_map(Listed::texts));
        Revision { tools, resources, templates, prompts, hash, lists: Mutex::default() }
    }

    fn items(&self, kind: Kind) -> &Listed {
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
    tool.output.published.as_ref().is_some_and(|schema| !schema.has_object_root())
}
