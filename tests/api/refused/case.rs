//! One refused request.

use test_support::{Answer, Method, SERVICE_KEY, Value};

use crate::app::TestApp;
use crate::problem::Problem;
use crate::raw::{RawResponse, post_chunked};

/// A request and the expected problem.
pub struct Case {
    pub method: Method,
    pub path: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    pub problem: Problem,
}

impl Case {
    /// A request with the service key, no other header and no body.
    pub fn new(method: Method, path: impl Into<String>, problem: Problem) -> Self {
        let headers = vec![("authorization", format!("Bearer {SERVICE_KEY}"))];
        Self {
            method,
            path: path.into(),
            headers,
            body: Vec::new(),
            problem,
        }
    }

    /// Sets the body and declares it as JSON.
    pub fn json(self, body: impl Into<Vec<u8>>) -> Self {
        Self {
            body: body.into(),
            ..self.with_header("content-type", "application/json")
        }
    }

    /// Sets a header, replacing an earlier value.
    pub fn with_header(self, name: &'static str, value: &str) -> Self {
        let mut case = self.without_header(name);
        case.headers.push((name, value.to_owned()));
        case
    }

    /// Removes a header.
    pub fn without_header(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| *known != name);
        self
    }

    pub async fn send(&self, app: &TestApp) -> Answer {
        let (client, body) = (app.without_key(), self.body.clone());
        client
            .send(self.method.clone(), &self.path, body, &self.headers())
            .await
    }

    /// Sends the body in chunks, without `Content-Length`.
    pub fn send_chunked(&self, app: &TestApp) -> RawResponse {
        post_chunked(app.url(), &self.path, &self.headers(), &self.body)
    }

    /// Describes how a response differs from the expected one, or returns `None`.
    pub fn difference(&self, response: &Answer) -> Option<String> {
        let expected = self.problem.body();
        let header = self.problem.header;
        let same = response.status == self.problem.status()
            && response.body == expected
            && header.is_none_or(|(name, value)| response.header(name) == Some(value))
            && response.header("content-type") == Some("application/problem+json")
            && response.header("cache-control") == Some("no-store");
        if same {
            return None;
        }
        let sent = String::from_utf8_lossy(&self.body);
        let sent: String = sent.chars().take(200).collect();
        let received: String = response.text.chars().take(600).collect();
        Some(format!(
            "{} {} {sent}\n  expected {} {expected}\n  received {} {received}\n  with {:?}",
            self.method,
            self.path,
            self.problem.status(),
            response.status,
            response.headers
        ))
    }

    fn headers(&self) -> Vec<(&str, &str)> {
        self.headers
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect()
    }
}

/// A `GET` request.
pub fn get(path: &str, problem: Problem) -> Case {
    Case::new(Method::GET, path, problem)
}

/// `POST /v1/activity` with JSON.
pub fn post(body: &Value, problem: Problem) -> Case {
    Case::new(Method::POST, "/v1/activity", problem).json(body.to_string())
}

/// A `PUT` request with JSON.
pub fn put(path: &str, body: &Value, problem: Problem) -> Case {
    Case::new(Method::PUT, path, problem).json(body.to_string())
}
