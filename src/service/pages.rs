//! `paginate`: several requests, one list. Where the limit is reached the model gets what it needs to go on.

use super::request::Sent;
use super::run::{Service, State};
use super::Context;
use crate::catalog::{Arguments, RequestAction, Tool};
use crate::content::{Block, Content};
use crate::mapping::{PageStyle, Paginate};
use crate::response::Response;
use bytes::Bytes;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Pages and items where the author says nothing.
const MOST_PAGES: usize = 5;
const MOST_ITEMS: usize = 500;

impl Service {
    #[allow(clippy::too_many_arguments)]
    pub(super) async fn pages(
        &self,
        state: &Arc<State>,
        context: &Context,
        tool: &Arc<Tool>,
        action: &RequestAction,
        rules: &Paginate,
        arguments: Arguments,
    ) -> Content {
        let most_pages = rules.max_pages.unwrap_or(MOST_PAGES).max(1);
        let most_items = rules.max_items.unwrap_or(MOST_ITEMS).max(1);
        let mut items: Vec<Value> = Vec::new();
        let mut asked = arguments.clone();
        let mut follow: Option<String> = None;
        let mut next: Option<Value> = None;
        let mut last = None;
        for page in 1..=most_pages {
            let sent = match follow.take() {
                None => self.send(state, context, action, &asked).await,
                Some(url) => match self.built(state, context, action, &asked).await {
                    Err(content) => Sent::Failed(content),
                    Ok((mut request, _)) => match same_origin(&request.url, &url) {
                        Some(url) => {
                            request.url = url;
                            request.secret_in_url.clear();
                            self.dispatch(state, context, action, request).await
                        }
                        None => Sent::Failed(Content::error("The next page lies on another server; it was not fetched.".to_string())),
                    },
                },
            };
            let response = match sent {
                Sent::Answer(response) => response,
                Sent::Failed(content) if items.is_empty() => return content,
                Sent::Failed(content) => return partial(content, items.len(), page),
            };
            if !action.success.contains(response.status.as_u16()) {
                let failed = self.shaped(tool, &response, &arguments, context);
                return if items.is_empty() { failed } else { partial(failed, items.len(), page) };
            }
            let Ok(body) = serde_json::from_slice::<Value>(&response.body) else {
                return self.shaped(tool, &response, &arguments, context);
            };
            let found = at(&body, rules.items.as_deref());
            let Some(Value::Array(list)) = found else {
                return self.shaped(tool, &response, &arguments, context);
            };
            let count = list.len();
            items.extend(list.iter().cloned());
            if let Some(events) = &context.events {
                events.progress(page as f64, None, Some(&format!("{} items", items.len())));
            }
            match rules.style {
                PageStyle::Cursor => {
                    next = at(&body, rules.cursor.as_deref()).filter(|cursor| usable(cursor)).cloned();
                }
                PageStyle::Page => {
                    let current = number(rules.arg.as_deref().and_then(|arg| asked.get(arg))).unwrap_or(1);
                    next = (count > 0 && !short(rules, &asked, count)).then(|| json!(current + 1));
                }
                PageStyle::Offset => {
                    let current = number(rules.arg.as_deref().and_then(|arg| asked.get(arg))).unwrap_or(0);
                    next = (count > 0 && !short(rules, &asked, count)).then(|| json!(current + count as i64));
                }
                PageStyle::Link => {
                    let in_body = rules.cursor.as_deref().and_then(|path| at(&body, Some(path))).and_then(Value::as_str);
                    follow = in_body.or_else(|| response.link_next()).map(str::to_string);
                    next = follow.clone().map(Value::String);
                }
            }
            last = Some(response);
            if next.is_none() || items.len() >= most_items || context.cancel.is_cancelled() {
                break;
            }
            if let (Some(arg), Some(value)) = (&rules.arg, &next) {
                asked.insert(arg.clone(), value.clone());
            }
        }
        let Some(last) = last else { return Content::error("No page could be fetched.".to_string()) };
        let more = next.is_some() || items.len() > most_items;
        items.truncate(most_items);
        let total = items.len();
        let merged = Response { body: Bytes::from(serde_json::to_vec(&Value::Array(items)).unwrap_or_default()), truncated: false, ..last };
        let mut content = self.shaped(tool, &merged, &arguments, context);
        if more {
            let how = match (&rules.arg, &next) {
                (Some(arg), Some(value)) if rules.style != PageStyle::Link => format!(" To go on, call again with `{arg}: {value}`."),
                _ => " Narrow the call to see others.".to_string(),
            };
            content.blocks.push(Block::text(format!("These are the first {total} items; there are more.{how}")));
            let mut meta = content.meta.take().unwrap_or_default();
            if let Some(next) = next.filter(|_| rules.style != PageStyle::Link) {
                meta.insert("io.github.rest-mcp/next".to_string(), next);
            }
            content.meta = Some(meta);
        }
        content
    }
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
    value.and_then(Value::as_i64)
}

/// A dotted path; absent = the value itself.
fn at<'v>(value: &'v Value, path: Option<&str>) -> Option<&'v Value> {
    let Some(path) = path else { return Some(value) };
    path.trim_start_matches('.').split('.').filter(|key| !key.is_empty()).try_fold(value, |value, key| value.get(key))
}

fn partial(mut failed: Content, items: usize, page: usize) -> Content {
    failed.is_error = true;
    failed.blocks.push(Block::text(format!("Page {page} failed after {items} items had been read.")));
    failed
}

/// The next page's URL, made absolute, if it stays on the server: credentials go nowhere else.
fn same_origin(current: &str, next: &str) -> Option<String> {
    let base = url::Url::parse(current).ok()?;
    let joined = base.join(next).ok()?;
    (joined.origin() == base.origin()).then(|| joined.to_string())
}
