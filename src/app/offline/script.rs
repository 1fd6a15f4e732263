//! The canned answers of one test, handed out in order; what was asked is kept.

use crate::mapping::TestAnswer;
use crate::upstream::{Canned, CannedRequest};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Answers and what became of them.
pub(super) struct Script {
    answers: Vec<TestAnswer>,
    state: Mutex<Progress>,
}

#[derive(Default)]
struct Progress {
    sent: Vec<CannedRequest>,
    problems: Vec<String>,
}

impl Script {
    pub(super) fn new(answers: Vec<TestAnswer>) -> Self {
        Script { answers, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, Progress> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was sent, in order.
    pub(super) fn sent(&self) -> Vec<CannedRequest> {
        self.state().sent.clone()
    }

    /// Answers that could not be given or that nobody asked for.
    pub(super) fn problems(&self) -> Vec<String> {
        let state = self.state();
        let mut problems = state.problems.clone();
        let used = state.sent.len();
        if used < self.answers.len() {
            problems.push(format!("`respond`: {} answers, but only {used} requests were sent", self.answers.len()));
        }
        problems
    }
}

impl Canned for Script {
    fn answer(&self, request: CannedRequest) -> Result<http::Response<Bytes>, String> {
        let mut state = self.state();
        let number = state.sent.len();
        let asked = format!("{} {}", request.method, super::compare::target(&request.url));
        state.sent.push(request);
        let answer = match self.answers.get(number) {
            Some(answer) => answer.clone(),
            // A test that only looks at its request.
            None if self.answers.is_empty() && number == 0 => TestAnswer { status: Some(204), ..TestAnswer::default() },
            None => {
                let problem = format!("`respond`: no answer for request {} ({asked})", number + 1);
                state.problems.push(problem.clone());
                return Err(problem);
            }
        };
        response(&answer).map_err(|reason| {
            let problem = format!("`respond`: answer {}: {reason}", number + 1);
            state.problems.push(problem.clone());
            problem
        })
    }
}

fn response(answer: &TestAnswer) -> Result<http::Response<Bytes>, String> {
    let (body, media_type) = if let Some(json) = &answer.json {
        (Bytes::from(json.to_string()), Some("application/json"))
    } else if let Some(text) = &answer.body {
        (Bytes::from(text.clone()), Some("text/plain; charset=utf-8"))
    } else if let Some(text) = &answer.base64 {
        let bytes = STANDARD.decode(text.trim()).map_err(|_| "`base64` is no base64".to_string())?;
        (Bytes::from(bytes), None)
    } else {
        (Bytes::new(), None)
    };
    let status = http::StatusCode::from_u16(answer.status.unwrap_or(200)).map_err(|error| error.to_string())?;
    let mut response = http::Response::new(body);
    *response.status_mut() = status;
    for (name, value) in &answer.headers {
        let name = http::HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("`{name}` is no header name"))?;
        let value = http::HeaderValue::from_str(value).map_err(|_| format!("`{name}` has no legal value"))?;
        response.headers_mut().append(name, value);
    }
    if let Some(media_type) = media_type.filter(|_| !response.headers().contains_key(CONTENT_TYPE)) {
        response.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static(media_type));
    }
    Ok(response)
}
