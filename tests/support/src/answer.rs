//! What the service answered, and how a test holds it against what it should have.

use reqwest::header::{HeaderMap, HeaderName};
use serde_json::Value;

/// A whole answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Method and path of the request.
    pub request: String,
    /// The HTTP status.
    pub status: u16,
    /// All headers.
    pub headers: HeaderMap,
    /// The body as JSON, or null when it is not JSON.
    pub body: Value,
    /// The body as text.
    pub text: String,
}

impl Answer {
    /// Fails the test unless status and whole body are these; returns the answer for more.
    ///
    /// # Panics
    ///
    /// When they differ, at the caller's line.
    #[track_caller]
    #[allow(
        clippy::needless_pass_by_value,
        reason = "json!(…) reads better without &"
    )]
    pub fn assert(&self, status: u16, body: Value) -> &Self {
        let same = self.status == status && self.body == body;
        assert!(
            same,
            "{}\n  expected {status} {body:#}\n  answered {} {}",
            self.request,
            self.status,
            self.shown()
        );
        self
    }

    /// Fails the test unless the status is this one.
    ///
    /// # Panics
    ///
    /// When it differs, at the caller's line, with the body.
    #[track_caller]
    pub fn assert_status(&self, status: u16) -> &Self {
        let (request, shown) = (&self.request, self.shown());
        assert!(
            self.status == status,
            "{request}\n  expected {status}\n  answered {} {shown}",
            self.status
        );
        self
    }

    /// A header's value, or nothing.
    #[must_use]
    pub fn header(&self, name: impl TryInto<HeaderName>) -> Option<&str> {
        let name = name.try_into().ok()?;
        self.headers.get(name)?.to_str().ok()
    }

    /// Indented when it is JSON.
    fn shown(&self) -> String {
        match &self.body {
            Value::Null => self.text.clone(),
            body => format!("{body:#}"),
        }
    }
}
