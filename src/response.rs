//! A response, before `response.js` turns it into one of the platform.

use activity_rank_core::calendar::Instant;
use activity_rank_core::error::Error;
use serde::Serialize;
use std::hash::{DefaultHasher, Hasher};

/// Status, headers and body.
#[derive(Clone, Debug)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The body; empty for none.
    pub body: String,
    /// The work of `response.js` besides sending it.
    pub handling: Handling,
    /// What the request led to: the outcome of an activity, the slug of a problem, or `ok`.
    pub outcome: &'static str,
    /// Where the body comes from.
    pub source: Source,
    headers: Vec<(&'static str, String)>,
}

/// Where the body of a response comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// No cache may store it.
    #[default]
    Uncached,
    /// It was made for this request, and a cache may store it.
    Miss,
    /// From the edge cache.
    Edge,
    /// A copy, while the store is unavailable.
    Stale,
}

impl Source {
    /// Returns the name in data points.
    fn name(self) -> &'static str {
        match self {
            Self::Uncached => "none",
            Self::Miss => "miss",
            Self::Edge => "edge",
            Self::Stale => "stale",
        }
    }
}

/// The work of `response.js` besides sending a response.
#[derive(Clone, Debug, Default)]
pub enum Handling {
    /// Nothing.
    #[default]
    Plain,
    /// Keeps the body in the isolate's cache while it is fresh, and stores it in the edge cache
    /// unless it comes from there.
    Cache {
        /// When the body was made.
        made: Instant,
        /// When it stops being fresh.
        until: Instant,
        /// The URL of the new entry of the edge cache.
        edge_url: Option<String>,
    },
    /// Sends an open stream as the body: its number in `live.js`.
    Stream(u32),
}

/// The outcome of a request that succeeded.
const OK: &str = "ok";

impl Response {
    /// Returns 200 with a value as JSON that no cache may store.
    #[must_use]
    pub fn json(value: &impl Serialize) -> Self {
        Self::json_text(serde_json::to_string(value).unwrap_or_default())
    }

    /// Returns 200 with JSON that no cache may store.
    #[must_use]
    pub fn json_text(body: String) -> Self {
        Self::text("application/json", body).with("cache-control", "no-store")
    }

    /// Returns 202 with a value as JSON: the request was accepted but not carried out yet.
    #[must_use]
    pub fn accepted(value: &impl Serialize) -> Self {
        Self {
            status: 202,
            ..Self::json(value)
        }
    }

    /// Returns 200 with a body of a media type.
    #[must_use]
    pub fn text(media_type: &str, body: impl Into<String>) -> Self {
        Self {
            status: 200,
            body: body.into(),
            handling: Handling::Plain,
            outcome: OK,
            source: Source::Uncached,
            headers: Vec::new(),
        }
        .with("content-type", media_type)
    }

    /// Returns 200 with a stream of a media type that no cache may store, and that nginx does not buffer.
    #[must_use]
    pub fn stream(media_type: &str, stream: u32) -> Self {
        let response = Self::text(media_type, "").with("cache-control", "no-store");
        Self {
            handling: Handling::Stream(stream),
            ..response.with("x-accel-buffering", "no")
        }
    }

    /// Adds to a JSON object that the user of the path is an account of a member.
    #[must_use]
    pub fn with_account_of(mut self, member: &str) -> Self {
        let mut headers = self.headers.iter();
        let is_json = headers.any(|(_, value)| value == "application/json");
        if let Some(rest) = self.body.strip_prefix('{').filter(|_| is_json) {
            self.body = format!("{{\"account_of\":\"{member}\",{rest}");
        }
        self
    }

    /// Names another user in the body.
    #[must_use]
    pub fn with_user(mut self, user: &str, other: &str) -> Self {
        self.body = self.body.replace(user, other);
        match self.header("etag") {
            Some(_) => self.with_etag(),
            None => self,
        }
    }

    /// Returns 204.
    #[must_use]
    pub fn no_content() -> Self {
        Self {
            status: 204,
            body: String::new(),
            handling: Handling::Plain,
            outcome: OK,
            source: Source::Uncached,
            headers: Vec::new(),
        }
        .with("cache-control", "no-store")
    }

    /// Returns the problem document of an error.
    #[must_use]
    pub fn problem(error: &Error) -> Self {
        let mut response = Self::json(&error.problem());
        response.status = error.status();
        response.outcome = error.slug();
        let response = response.with("content-type", "application/problem+json");
        match error {
            Error::MethodNotAllowed(allow) => response.with("allow", allow),
            Error::Unauthenticated(_) => response.with("www-authenticate", "Bearer"),
            Error::InvalidToken(_) => {
                response.with("www-authenticate", "Bearer error=\"invalid_token\"")
            }
            Error::StoreUnavailable(_)
            | Error::KeysUnavailable(_)
            | Error::TurnstileUnavailable(_) => response.with("retry-after", "1"),
            Error::RateLimited(_, seconds) => response.with("retry-after", seconds.to_string()),
            Error::InvalidRequest(..)
            | Error::Forbidden(_)
            | Error::NotFound(_)
            | Error::AccountOf(_)
            | Error::AccountConflict(_)
            | Error::PauseConflict(_)
            | Error::AuthorConflict(_)
            | Error::EventConflict(_)
            | Error::RulesConflict(_)
            | Error::SyncConflict(_)
            | Error::TooLarge(_)
            | Error::UnsupportedMediaType
            | Error::UnknownAction(_)
            | Error::NotUndoable(_)
            | Error::ScoreOverflow(_)
            | Error::Misconfigured(..) => response,
        }
    }

    /// Sets a header.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.retain(|(known, _)| *known != name);
        self.headers.push((name, value.into()));
        self
    }

    /// Returns a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let (_, value) = headers.find(|(known, _)| *known == name)?;
        Some(value)
    }

    /// Sets `ETag` to a hash of the body. `response.js` compares it with `If-None-Match`.
    #[must_use]
    pub fn with_etag(self) -> Self {
        let tag = format!("\"{}\"", body_hash(&self.body));
        self.with("etag", tag)
    }

    /// Sets the outcome.
    #[must_use]
    pub fn with_outcome(self, outcome: &'static str) -> Self {
        Self { outcome, ..self }
    }

    /// Returns the text from which `response.js` makes the platform's response: a line with the
    /// status, the pattern of the route, the outcome, the source and the handling, the name and value of
    /// each header in a line each, an empty line, and the body.
    ///
    /// The platform itself leaves out the body of a response to `HEAD`, but reports its length.
    #[must_use]
    pub fn serialize(&self, route: &str) -> String {
        let mut text = String::with_capacity(self.body.len() + 600);
        text.push_str(&self.status.to_string());
        for word in [route, self.outcome, self.source.name()] {
            text.push(' ');
            text.push_str(word);
        }
        match &self.handling {
            Handling::Plain => (),
            Handling::Cache {
                made,
                until,
                edge_url,
            } => {
                let edge_url = edge_url.as_deref().unwrap_or_default();
                text += &format!(" cache {} {} {edge_url}", made.0, until.0);
            }
            Handling::Stream(number) => text += &format!(" stream {number}"),
        }
        for (name, value) in &self.headers {
            for line in [*name, value.as_str()] {
                text.push('\n');
                text.push_str(line);
            }
        }
        text.push_str("\n\n");
        text.push_str(&self.body);
        text
    }
}

/// Returns a hash of a body in hexadecimal digits.
#[must_use]
pub fn body_hash(body: &str) -> String {
    let mut hasher = DefaultHasher::new();
    hasher.write(body.as_bytes());
    format!("{:016x}", hasher.finish())
}
