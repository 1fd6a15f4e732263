//! What a resource looks like now, for those who wait for it to change.

use super::request::Sent;
use super::run::{Service, State};
use super::steps::text_of;
use super::{Context, Failure, Mark};
use crate::catalog::{Action, Arguments, RequestAction, Tool};
use crate::content::{ResourceBody, ResourceContents};
use http::header::{ETAG, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED};
use http::{Method, StatusCode};
use sha2::{Digest, Sha256};
use std::sync::Arc;

impl Service {
    /// Asks the API whether a resource is still what it was, with `If-None-Match` and `If-Modified-Since` (RFC 9110
    /// §13.1) where it gave what they need, else by fetching it. What `cache:` remembers is not looked at.
    ///
    /// # Errors
    /// [`Failure::UnknownResource`] where there is none, or none that this caller may read; what else keeps it from
    /// being read now.
    pub(super) async fn glance(&self, context: &Context, uri: &str, last: Option<&Mark>) -> Result<Mark, Failure> {
        if let Some(kept) = self.links.read(&context.caller, uri) {
            return Ok(of_contents(&[kept]));
        }
        let state = self.state.load_full();
        let (resource, arguments) = self.resource(&state, context, uri).await?;
        match &resource.tool.action {
            Action::Request(action) if is_plain(action) => {
                self.asked(&state, context, &resource.tool, action, &arguments, uri, last).await
            }
            _ => {
                let content = self.fresh(&state, context, &resource.tool, arguments, 1).await?;
                if content.is_error {
                    return Err(super::read::failed(text_of(&content), uri));
                }
                Ok(of_contents(&self.contents_of(context, &resource, &content, uri)))
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    async fn asked(
        &self,
        state: &Arc<State>,
        context: &Context,
        tool: &Arc<Tool>,
        action: &RequestAction,
        arguments: &Arguments,
        uri: &str,
        last: Option<&Mark>,
    ) -> Result<Mark, Failure> {
        let mut conditions = Vec::new();
        if let Some(last) = last {
            for (name, value) in [(IF_NONE_MATCH, &last.etag), (IF_MODIFIED_SINCE, &last.modified)] {
                let value = value.as_deref().and_then(|text| HeaderValue::from_str(text).ok());
                conditions.extend(value.map(|value| (name, value)));
            }
        }
        let response = match self.send_with(state, context, action, arguments, &conditions).await {
            Sent::Answer(response) => response,
            Sent::Failed(content) => return Err(Failure::Internal(text_of(&content))),
        };
        match (response.status, last) {
            (StatusCode::NOT_MODIFIED, Some(last)) => return Ok(last.clone()),
            (StatusCode::NOT_FOUND | StatusCode::GONE, _) => return Err(Failure::UnknownResource(uri.to_owned())),
            (status, _) if !action.success.contains(status.as_u16()) => {
                return Err(Failure::Internal(text_of(&self.shaped(tool, &response, arguments, context))));
            }
            _ => {}
        }
        let header = |name: http::HeaderName| response.header(name.as_str()).map(str::to_owned);
        Ok(Mark { digest: Sha256::digest(&response.body).into(), etag: header(ETAG), modified: header(LAST_MODIFIED) })
    }
}

/// True if one GET is all there is to it.
fn is_plain(action: &RequestAction) -> bool {
    action.method == Method::GET && action.paginate.is_none() && action.poll.is_none() && action.stream.is_none()
}

fn of_contents(contents: &[ResourceContents]) -> Mark {
    let mut hash = Sha256::new();
    for one in contents {
        let (kind, body) = match &one.body {
            ResourceBody::Text(text) => (0u8, text.as_bytes()),
            ResourceBody::Blob(bytes) => (1, bytes.as_ref()),
        };
        hash.update([kind]);
        hash.update((body.len() as u64).to_be_bytes());
        hash.update(body);
    }
    Mark { digest: hash.finalize().into(), etag: None, modified: None }
}
