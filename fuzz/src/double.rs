//! A service with nothing behind it: what is fuzzed is how messages are read and answered.

use rest_mcp::access::Caller;
use rest_mcp::catalog::Catalog;
use rest_mcp::content::Content;
use rest_mcp::protocol::{Server, Settings};
use rest_mcp::service::{
    Answer, Change, Completion, Context, Failure, Handler, Mark, Outcome, PromptResult, ReadResult, Round, Visible,
};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::broadcast;

struct Nothing(Arc<Catalog>, broadcast::Sender<Change>);

/// A server that answers every tool call with its arguments.
pub fn server() -> Arc<Server> {
    let nothing = Nothing(Arc::default(), broadcast::channel(1).0);
    Arc::new(Server::new(Arc::new(nothing), Settings::default()).expect("randomness"))
}

fn unknown<'a, T: Send + 'a>(name: &str) -> Answer<'a, T> {
    let failure = Failure::InvalidParams(name.to_owned());
    Box::pin(async move { Err(failure) })
}

impl Handler for Nothing {
    fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.0)
    }

    fn visible(&self, _: &Caller) -> Visible {
        Visible::All
    }

    fn call_tool<'a>(
        &'a self,
        _: &'a Context,
        _: &'a str,
        arguments: Option<&'a RawValue>,
        _: Round,
    ) -> Answer<'a, Content> {
        let text = arguments.map_or("", RawValue::get).to_owned();
        Box::pin(async move { Ok(Outcome::Complete(Content::error(text))) })
    }

    fn read_resource<'a>(&'a self, _: &'a Context, uri: &'a str, _: Round) -> Answer<'a, ReadResult> {
        unknown(uri)
    }

    fn glance<'a>(
        &'a self,
        _: &'a Context,
        uri: &'a str,
        _: Option<&'a Mark>,
    ) -> Pin<Box<dyn Future<Output = Result<Mark, Failure>> + Send + 'a>> {
        Box::pin(async move { Err(Failure::UnknownResource(uri.to_owned())) })
    }

    fn get_prompt<'a>(
        &'a self,
        _: &'a Context,
        name: &'a str,
        _: &'a Map<String, Value>,
        _: Round,
    ) -> Answer<'a, PromptResult> {
        unknown(name)
    }

    fn complete<'a>(
        &'a self,
        _: &'a Context,
        _: Result<&'a str, &'a str>,
        argument: &'a str,
        _: &'a str,
        _: &'a Map<String, Value>,
    ) -> Answer<'a, Completion> {
        unknown(argument)
    }

    fn changes(&self) -> broadcast::Receiver<Change> {
        self.1.subscribe()
    }
}
