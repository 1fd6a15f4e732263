//! `paginate`: several requests, one list. Where a limit is reached, or a page fails, the model gets an
//! opaque, signed cursor with which it goes on exactly there.

use super::Context;
use super::request::{Sent, elsewhere};
use super::run::{Service, State};
use super::state::binding;
use super::steps::text_of;
use crate::call::CONTINUE;
use crate::catalog::{Arguments, RequestAction, Tool};
use crate::content::{Block, Content};
use crate::mapping::{PageStyle, Paginate};
use crate::response::Response;
use bytes::Bytes;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// `_meta` key of what `continue_from` takes to go on.
const META_NEXT: &str = "io.github.rest-mcp/next";

/// Pages and items where the author says nothing.
const MOST_PAGES: usize = 5;
const MOST_ITEMS: usize = 500;

/// Where a page is: what the paging parameter has, or the page's own URL, and how many of its items were
/// given out before.
#[derive(Clone, Default)]
struct Spot {
    value: Option<Value>,
    url: Option<String>,
    skip: usize,
}

/// What has been read so far.
#[derive(Default)]
struct Read {
    items: Vec<Value>,
    /// Where to go on; `None` = there is no more.
    rest: Option<Spot>,
    /// Remarks for the model.
    notes: Vec<String>,
}

impl Service {
    pub(super) async fn pages(
        &self,
        state: &Arc<State>,
        context: &Context,
        tool: &Arc<Tool>,
        action: &RequestAction,
        rules: &Paginate,
        mut arguments: Arguments,
    ) -> Content {
        let bound = binding(&context.caller, "page", &tool.name, &[]);
        let mut spot = Spot::default();
        if let Some(token) = arguments.shift_remove(CONTINUE) {
            match self.key.open(&bound, token.as_str().unwrap_or_default()) {
                Ok(kept) => spot = Spot::from_map(&kept),
                Err(_) => {
                    return Content::error(format!(
                        "`{CONTINUE}` is not one that an earlier answer of `{}` gave, or it is too old. Leave it out to start again.",
                        tool.name
                    ));
                }
            }
        }
        let (read, last) = match self.read_pages(state, context, tool, action, rules, &arguments, spot).await {
            Ok(read) => read,
            Err(content) => return content,
        };
        let Read { items, rest, mut notes } = read;
        let total = items.len();
        let mut headers = http::HeaderMap::new();
        headers.insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
        let body = Bytes::from(serde_json::to_vec(&Value::Array(items)).unwrap_or_default());
        let merged = Response { status: last.status, headers, body, truncated: false, elapsed: last.elapsed };
        let mut content = self.shaped(tool, &merged, &arguments, context);
        if content.is_error {
            return content;
        }
        if let Some(token) = rest.and_then(|rest| self.key.seal(&bound, &rest.into_map())) {
            notes.push(format!(
                "These are {total} items; there are more. To go on, call again with the same arguments and `{CONTINUE}: \"{token}\"`."
            ));
            content.set_meta(META_NEXT, Value::String(token));
        }
        if !notes.is_empty() {
            content.blocks.push(Block::text(notes.join("\n")));
        }
        content
    }

    /// Reads page after page. `Err` is the whole answer: the first page failed or holds no list.
    #[allow(clippy::too_many_arguments)]
    async fn read_pages(
        &self,
        state: &Arc<State>,
        context: &Context,
        tool: &Arc<Tool>,
        action: &RequestAction,
        rules: &Paginate,
        arguments: &Arguments,
        mut spot: Spot,
    ) -> Result<(Read, Response), Content> {
        let most_pages = rules.max_pages.unwrap_or(MOST_PAGES).max(1);
        let most_items = rules.max_items.unwrap_or(MOST_ITEMS).max(1);
        let mut read = Read::default();
        let mut last = None;
        for page in 1..=most_pages {
            let mut asked = arguments.clone();
            if let (Some(arg), Some(value)) = (&rules.arg, &spot.value) {
                asked.insert(arg.clone(), value.clone());
            }
            let answer = self.page(state, context, action, &asked, spot.url.as_deref()).await;
            let failed = match answer {
                Sent::Answer(response) if action.success.contains(response.status.as_u16()) => Ok(response),
                Sent::Answer(response) => Err(self.shaped(tool, &response, arguments, context)),
                Sent::Failed(content) => Err(content),
            };
            let response = match (failed, last.is_some()) {
                (Ok(response), _) => response,
                (Err(content), false) => return Err(content),
                (Err(content), true) => {
                    read.notes.push(format!("Page {page} could not be read: {}", text_of(&content)));
                    read.rest = Some(spot);
                    break;
                }
            };
            let body = serde_json::from_slice::<Value>(&response.body).unwrap_or_default();
            let Some(Value::Array(list)) = at(&body, rules.items.as_deref()) else {
                if last.is_none() {
                    return Err(self.shaped(tool, &response, arguments, context));
                }
                read.notes.push(format!("Page {page} holds no list."));
                break;
            };
            let skipped = spot.skip.min(list.len());
            let room = most_items.saturating_sub(read.items.len());
            read.items.extend(list.iter().skip(skipped).take(room).cloned());
            if let Some(events) = &context.events {
                events.progress(page as f64, None, Some(&format!("{} items", read.items.len())));
            }
            if list.len() - skipped > room {
                read.rest = Some(Spot { skip: skipped + room, ..spot });
                last = Some(response);
                break;
            }
            let next = next_spot(rules, &asked, &body, &response, list.len(), &spot);
            last = Some(response);
            let Some(next) = next else { break };
            if page == most_pages || read.items.len() >= most_items || context.cancel.is_cancelled() {
                read.rest = Some(next);
                break;
            }
            spot = next;
        }
        match last {
            Some(last) => Ok((read, last)),
            None => Err(Content::error("No page could be fetched.")),
        }
    }

    async fn page(
        &self,
        state: &Arc<State>,
        context: &Context,
        action: &RequestAction,
        asked: &Arguments,
        url: Option<&str>,
    ) -> Sent {
        let Some(url) = url else { return self.send(state, context, action, asked).await };
        match self.built(state, context, action, asked).await {
            Err(content) => Sent::Failed(content),
            Ok((request, _)) => match elsewhere(request, url) {
                Some(request) => self.dispatch(state, context, action, request).await,
                None => Sent::Failed(Content::error("The next page lies on another server; it was not fetched.")),
            },
        }
    }
}

impl Spot {
    fn from_map(kept: &Map<String, Value>) -> Spot {
        Spot {
            value: kept.get("value").cloned(),
            url: kept.get("url").and_then(Value::as_str).map(str::to_string),
            skip: kept.get("skip").and_then(Value::as_u64).and_then(|skip| usize::try_from(skip).ok()).unwrap_or(0),
        }
    }

    fn into_map(self) -> Map<String, Value> {
        let mut kept = Map::new();
        if let Some(value) = self.value {
            kept.insert("value".to_string(), value);
        }
        if let Some(url) = self.url {
            kept.insert("url".to_string(), Value::String(url));
        }
        if self.skip > 0 {
            kept.insert("skip".to_string(), json!(self.skip));
        }
        kept
    }
}

/// The page after this one; a page that names itself as the next one is the last.
fn next_spot(
    rules: &Paginate,
    asked: &Arguments,
    body: &Value,
    response: &Response,
    count: usize,
    here: &Spot,
) -> Option<Spot> {
    let current = rules.arg.as_deref().and_then(|arg| asked.get(arg));
    let full = count > 0 && !short(rules, asked, count);
    let value = match rules.style {
        PageStyle::Cursor => {
            at(body, rules.cursor.as_deref()).filter(|cursor| usable(cursor) && Some(*cursor) != current).cloned()
        }
        PageStyle::Page => full.then(|| json!(number(current).unwrap_or(1).saturating_add(1))),
        PageStyle::Offset => {
            full.then(|| json!(number(current).unwrap_or(0).saturating_add(i64::try_from(count).unwrap_or(i64::MAX))))
        }
        PageStyle::Link => {
            let in_body = rules.cursor.as_deref().and_then(|path| at(body, Some(path))).and_then(Value::as_str);
            let url = in_body
                .or_else(|| response.link_next())
                .filter(|url| !url.is_empty() && here.url.as_deref() != Some(url));
            return url.map(|url| Spot { url: Some(url.to_string()), ..Spot::default() });
        }
    };
    value.map(|value| Spot { value: Some(value), ..Spot::default() })
}

/// A page that is not full is the last one.
fn short(rules: &Paginate, asked: &Map<String, Value>, count: usize) -> bool {
    let size = number(rules.size_arg.as_deref().and_then(|arg| asked.get(arg)));
    size.is_some_and(|size| (count as i64) < size)
}

fn usable(cursor: &Value) -> bool {
    match cursor {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        _ => true,
    }
}

fn number(value: Option<&Value>) -> Option<i64> {
    match value? {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_i64(),
    }
}

/// A dotted path; absent = the value itself.
fn at<'v>(value: &'v Value, path: Option<&str>) -> Option<&'v Value> {
    let Some(path) = path else { return Some(value) };
    path.trim_start_matches('.').split('.').filter(|key| !key.is_empty()).try_fold(value, |value, key| value.get(key))
}
