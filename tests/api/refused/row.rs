//! One request that is refused.

use test_support::{Answer, Method, SERVICE_KEY, Value};

use super::problem::Problem;
use crate::raw::{RawAnswer, post_chunked};
use crate::site::Site;

/// A request and the problem it is answered with.
pub struct Row {
    pub method: Method,
    pub path: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    pub problem: Problem,
}

impl Row {
    /// A request with the service key and nothing else.
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

    /// The same with a body declared as JSON.
    pub fn json(self, body: impl Into<Vec<u8>>) -> Self {
        Self {
            body: body.into(),
            ..self.with("content-type", "application/json")
        }
    }

    /// The same with a header, in place of one of that name.
    pub fn with(self, name: &'static str, value: &str) -> Self {
        let mut row = self.without(name);
        row.headers.push((name, value.to_owned()));
        row
    }

    /// The same without a header.
    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| *known != name);
        self
    }

    pub async fn send(&self, site: &Site) -> Answer {
        let client = site.without_key();
        client
            .send(
                self.method.clone(),
                &self.path,
                self.body.clone(),
                &self.headers(),
            )
            .await
    }

    /// Sends the body in chunks, without its length.
    pub fn send_chunked(&self, site: &Site) -> RawAnswer {
        post_chunked(site.url(), &self.path, &self.headers(), &self.body)
    }

    /// How an answer differs from what is expected, if it does.
    pub fn difference(&self, answer: &Answer) -> Option<String> {
        let expected = self.problem.body();
        let header = self
            .problem
            .header
            .is_none_or(|(name, value)| answer.header(name) == Some(value));
        let media_type = answer.header("content-type") == Some("application/problem+json");
        let kept_by_nobody = answer.header("cache-control") == Some("no-store");
        let same = answer.status == self.problem.status() && answer.body == expected;
        if same && header && media_type && kept_by_nobody {
            return None;
        }
        let sent = String::from_utf8_lossy(&self.body);
        let sent: String = sent.chars().take(200).collect();
        let told = if answer.body == Value::Null {
            &answer.text
        } else {
            &answer.body.to_string()
        };
        let told: String = told.chars().take(600).collect();
        Some(format!(
            "{} {} {sent}\n  expected {} {expected}\n  answered {} {told}\n  with {:?}",
            self.method,
            self.path,
            self.problem.status(),
            answer.status,
            answer.headers
        ))
    }

    fn headers(&self) -> Vec<(&str, &str)> {
        self.headers
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect()
    }
}

/// `GET` of a path.
pub fn get(path: &str, problem: Problem) -> Row {
    Row::new(Method::GET, path, problem)
}

/// `POST /v1/activity` with JSON.
pub fn post(body: &Value, problem: Problem) -> Row {
    Row::new(Method::POST, "/v1/activity", problem).json(body.to_string())
}

/// `PUT` of a path with JSON.
pub fn put(path: &str, body: &Value, problem: Problem) -> Row {
    Row::new(Method::PUT, path, problem).json(body.to_string())
}
