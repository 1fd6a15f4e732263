//! `stream`: reads an upstream `text/event-stream` or NDJSON answer item by item; progress and log
//! lines reach the client while it runs.

use super::Context;
use super::request::{no_content, options};
use super::run::{Service, State};
use crate::catalog::{Arguments, RequestAction, Tool};
use crate::content::sequence::{Classified, Classifier, Decoder, Item};
use crate::content::{Block, Content};
use crate::mapping::{StreamMode, StreamRules};
use crate::request::Masks;
use crate::response::{MediaType, NoAnswer, Response};
use crate::upstream::BodyStream;
use bytes::Bytes;
use serde_json::Value;
use std::sync::Arc;
use std::time::Instant;

/// The next piece of the body with the request's secrets masked.
async fn piece(body: &mut BodyStream, masks: &mut Masks) -> Result<Option<Bytes>, NoAnswer> {
    loop {
        let piece = match body.chunk().await? {
            Some(chunk) => masks.piece(chunk),
            None => return Ok(Some(masks.rest()).filter(|rest| !rest.is_empty())),
        };
        if !piece.is_empty() {
            return Ok(Some(piece));
        }
    }
}

/// Most items that are kept.
const MOST_ITEMS: usize = 10_000;

impl Service {
    pub(super) async fn stream(
        &self,
        state: &Arc<State>,
        context: &Context,
        tool: &Arc<Tool>,
        action: &RequestAction,
        rules: &StreamRules,
        arguments: Arguments,
    ) -> Content {
        let request = match self.built(state, context, action, &arguments).await {
            Ok((request, _)) => request,
            Err(content) => return content,
        };
        let mut masks = Masks::of(&request);
        let started = Instant::now();
        let leg = context.record.as_ref().map(|record| record.leg(state, action));
        let opened = state.upstream.open(action.source, request, &options(context, action, leg.as_ref())).await;
        if let Some(leg) = leg {
            leg.end(opened.as_ref().map(|(head, _)| head.status.as_u16()));
        }
        let (mut head, mut body) = match opened {
            Ok(open) => open,
            Err(no_answer) => return no_content(context, action, &no_answer),
        };
        masks.headers(&mut head.headers);
        let media_type = head
            .headers
            .get(http::header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .and_then(MediaType::parse);
        let streams = action.success.contains(head.status.as_u16());
        let decoder = media_type.as_ref().filter(|_| streams).and_then(Decoder::for_media_type);
        let Some(mut decoder) = decoder else {
            // No stream after all: the whole answer, as if none had been expected.
            let mut whole = Vec::new();
            loop {
                match piece(&mut body, &mut masks).await {
                    Ok(Some(chunk)) => whole.extend_from_slice(&chunk),
                    Ok(None) => break,
                    Err(no_answer) => return no_content(context, action, &no_answer),
                }
            }
            let response = Response {
                status: head.status,
                headers: head.headers,
                body: whole.into(),
                truncated: body.truncated(),
                elapsed: started.elapsed(),
            };
            return self.shaped(tool, &response, &arguments, context);
        };
        let mut values: Vec<Value> = Vec::new();
        let mut dropped = 0usize;
        let classifier = match Classifier::new(rules) {
            Ok(classifier) => classifier,
            Err(message) => return Content::error(message),
        };
        let mut take = |items: Vec<Item>| {
            for item in items {
                match classifier.classify(item) {
                    Classified::Progress { progress, total, message } => {
                        if let Some(events) = &context.events {
                            events.progress(progress, total, message.as_deref());
                        }
                    }
                    Classified::Log { level, message } => {
                        if let Some(events) = &context.events {
                            events.log(level, &message);
                        }
                    }
                    Classified::Value(mut value) if values.len() < MOST_ITEMS => {
                        if let Some(plan) = &tool.result {
                            plan.compiled.withhold_text(&mut value);
                        }
                        values.push(value);
                    }
                    Classified::Value(_) => dropped += 1,
                }
            }
        };
        loop {
            match piece(&mut body, &mut masks).await {
                Ok(Some(chunk)) => take(decoder.push(&chunk)),
                Ok(None) => break,
                Err(no_answer) => return no_content(context, action, &no_answer),
            }
        }
        take(decoder.finish());
        let value = match rules.mode {
            StreamMode::Collect => Value::Array(values),
            StreamMode::Auto => match values.len() {
                0 => Value::Null,
                1 => values.pop().unwrap_or(Value::Null),
                _ => Value::Array(values),
            },
        };
        let mut headers = http::HeaderMap::new();
        headers.insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
        let response = Response {
            status: head.status,
            headers,
            body: Bytes::from(serde_json::to_vec(&value).unwrap_or_default()),
            truncated: false,
            elapsed: started.elapsed(),
        };
        let mut content = self.shaped(tool, &response, &arguments, context);
        if dropped > 0 || body.truncated() {
            content
                .blocks
                .push(Block::text(format!("The stream was longer than what is kept; {dropped} items were left out.")));
        }
        content
    }
}
