//! `poll`: how a job is waited for.

use super::{Verifier, is_token, title};
use crate::document::pointer::join;
use crate::mapping::Poll;
use serde_json::Value;

impl Verifier<'_, '_> {
    pub(super) fn poll(&mut self, poll: &Poll, pointer: &str) {
        let at = |key: &str| join(pointer, key);
        for (key, filter) in [("status", &poll.status), ("progress", &poll.progress)] {
            if let Some(filter) = filter {
                self.filter(&at(key), filter);
            }
        }
        match (&poll.status, poll.until.is_empty()) {
            (Some(_), true) => self.key_error(
                "missing-key",
                &at("status"),
                "which status ends the wait is not said",
                "add `until: [done, failed]`",
            ),
            (None, false) => self.key_error(
                "missing-key",
                &at("until"),
                "where the status stands is not said",
                "add `status: .status`",
            ),
            (None, true) if poll.location.is_none() => {
                self.key_error(
                    "missing-key",
                    pointer,
                    format!("{} says neither when it is done nor where to ask", title(pointer)),
                    "add `status:` with `until:`, or `location: header location`",
                );
            }
            _ => {}
        }
        if let Some(status) = poll.failed.iter().find(|status| !poll.until.contains(status)) {
            let message = format!("`{}` does not end the wait", plain(status));
            self.key_error("conflict", &at("failed"), message, "list it under `until` too");
        }
        if let Some(location) = &poll.location {
            match location.split_once(' ') {
                Some(("header", name)) if is_token(name.trim()) => {}
                Some(("operation", name)) if !name.trim().is_empty() => {}
                Some(_) => self.error(
                    "bad-value",
                    &at("location"),
                    format!("`{location}` is no place"),
                    "there are `header NAME`, `operation NAME` and a dotted path",
                ),
                None => self.dotted(&at("location"), location, false),
            }
        }
        if let Some(result) = &poll.result {
            self.dotted(&at("result"), result, false);
        }
        self.not_zero(&at("at_most"), poll.at_most);
        if let (Some(every), Some(at_most)) = (poll.every, poll.at_most)
            && every > at_most
        {
            self.key_error(
                "conflict",
                &at("every"),
                "the pause is longer than the longest wait",
                "make `every` shorter than `at_most`",
            );
        }
    }
}

/// A status as it was written.
fn plain(status: &Value) -> String {
    status.as_str().map_or_else(|| status.to_string(), str::to_owned)
}
