//! An answer before it becomes the platform's response.

use crate::calendar::Instant;
use crate::error::Error;
use serde::Serialize;
use std::hash::{DefaultHasher, Hasher};

/// A status, a body and the headers that say what may be done with it.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The body; empty for none.
    pub body: String,
    /// What is to be done with it besides.
    pub more: More,
    headers: Vec<(&'static str, String)>,
}

/// What `response.js` does with an answer besides handing it over.
#[derive(Clone, Debug, Default)]
pub enum More {
    /// Nothing.
    #[default]
    Nothing,
    /// It is a copy from the edge cache, made at the first instant and fresh until the second: the
    /// isolate holds it.
    Hold(Instant, Instant),
    /// It was made at this instant, and goes into the edge cache under a URL.
    Keep(Instant, String),
    /// In the place of the body comes a stream, as long as somebody reads it: its number in
    /// `live.js`.
    Stream(u32),
}

impl Answer {
    /// 200 with JSON that nobody may store.
    #[must_use]
    pub fn json(body: &impl Serialize) -> Self {
        Self::text(
            "application/json",
            serde_json::to_string(body).unwrap_or_default(),
        )
        .with("cache-control", "no-store")
    }

    /// 202 with JSON: taken, and not done yet.
    #[must_use]
    pub fn accepted(body: &impl Serialize) -> Self {
        Self {
            status: 202,
            ..Self::json(body)
        }
    }

    /// 200 with a body of a media type.
    #[must_use]
    pub fn text(media_type: &str, body: impl Into<String>) -> Self {
        Self {
            status: 200,
            body: body.into(),
            more: More::Nothing,
            headers: Vec::new(),
        }
        .with("content-type", media_type)
    }

    /// 200 with a stream of a media type; nobody may store it.
    #[must_use]
    pub fn stream(media_type: &str, stream: u32) -> Self {
        let answer = Self::text(media_type, "").with("cache-control", "no-store");
        let more = More::Stream(stream);
        Self { more, ..answer }
    }

    /// 204.
    #[must_use]
    pub fn nothing() -> Self {
        Self {
            status: 204,
            body: String::new(),
            more: More::Nothing,
            headers: Vec::new(),
        }
        .with("cache-control", "no-store")
    }

    /// A problem document.
    #[must_use]
    pub fn problem(error: &Error) -> Self {
        let mut answer = Self::json(&error.problem());
        answer.status = error.status();
        let answer = answer.with("content-type", "application/problem+json");
        match error {
            Error::MethodNotAllowed(allow) => answer.with("allow", *allow),
            Error::Unauthenticated(_) => answer.with("www-authenticate", "Bearer"),
            Error::InvalidToken(_) => {
                answer.with("www-authenticate", "Bearer error=\"invalid_token\"")
            }
            Error::StoreUnavailable(_) | Error::KeysUnavailable(_) => {
                answer.with("retry-after", "1")
            }
            // The longest that the platform's counters count for: who waits so long is let through.
            Error::RateLimited(_) => answer.with("retry-after", "60"),
            Error::InvalidRequest(..)
            | Error::Forbidden(_)
            | Error::NotFound(_)
            | Error::TooLarge(_)
            | Error::UnsupportedMediaType
            | Error::UnknownAction(_)
            | Error::NotUndoable(_)
            | Error::ScoreOverflow(_)
            | Error::Misconfigured(..) => answer,
        }
    }

    /// This answer with a header set.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.retain(|(known, _)| *known != name);
        self.headers.push((name, value.into()));
        self
    }

    /// A header that is set.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let (_, value) = headers.find(|(known, _)| *known == name)?;
        Some(value)
    }

    /// This answer with an `ETag`: a hash of the body.
    #[must_use]
    pub fn tagged(self) -> Self {
        let tag = format!("\"{}\"", version(&self.body));
        self.with("etag", tag)
    }

    /// 304 in place of this answer where the caller has it already.
    #[must_use]
    pub fn unless_known(self, if_none_match: Option<&str>) -> Self {
        let (Some(tag), Some(known)) = (self.header("etag"), if_none_match) else {
            return self;
        };
        let same =
            |known: &str| known.trim().trim_start_matches("W/") == tag || known.trim() == "*";
        if !known.split(',').any(same) {
            return self;
        }
        let mut answer = Self {
            status: 304,
            ..self
        };
        answer.headers.retain(|(name, _)| *name != "content-type");
        if !matches!(answer.more, More::Keep(..)) {
            answer.body.clear();
        }
        answer
    }

    /// The text of which `response.js` makes the platform's response. To a `HEAD` it has a body
    /// too: the platform keeps that back and tells its length. So has a 304 of what is to be
    /// kept, which hands over none.
    #[must_use]
    pub fn text_of_all(&self) -> String {
        let mut text = String::with_capacity(self.body.len() + 600);
        text.push_str(&self.status.to_string());
        match &self.more {
            More::Nothing => (),
            More::Hold(made, until) => text += &format!(" hold {} {}", made.0, until.0),
            More::Keep(made, url) => text += &format!(" keep {} {url}", made.0),
            More::Stream(number) => text += &format!(" stream {number}"),
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

/// What tells a body from others: a hash of it, in hexadecimal digits.
#[must_use]
pub fn version(body: &str) -> String {
    let mut hasher = DefaultHasher::new();
    hasher.write(body.as_bytes());
    format!("{:016x}", hasher.finish())
}
