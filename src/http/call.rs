//! A request taken apart: what endpoints need of it, read from the platform once.

use super::limits::Limits;
use crate::calendar::Instant;
use crate::error::Error;
use crate::json;
use crate::query::Query;
use serde_json::Value;
use std::rc::Rc;

/// The largest body taken, in bytes, as `request.js` reads it.
const MOST_BYTES: usize = 256 * 1024;

/// One request.
pub struct Call {
    /// What it is called in its answer and in the log.
    pub id: String,
    /// The method in upper case.
    pub method: String,
    /// The pattern of its route; empty while that is not known.
    pub route: &'static str,
    /// Scheme and host, for URLs of the cache.
    pub origin: String,
    /// The path, percent-encoded.
    pub path: String,
    /// The query, percent-encoded.
    pub query: String,
    /// The one instant at which all of it happens.
    pub now: Instant,
    /// How often callers may call.
    pub limits: Rc<Limits>,
    headers: Vec<(String, String)>,
    body: Result<String, Unread>,
}

/// Why a body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unread {
    /// It is longer than is taken.
    Large,
    /// It is not UTF-8, or did not come whole.
    Broken,
}

impl Call {
    /// Takes a request apart, as `request.js` writes it.
    #[must_use]
    pub fn read(mut text: String, limits: Rc<Limits>) -> Self {
        let mut read = 0;
        let mut next = || {
            let start = read;
            while text.as_bytes().get(read).is_some_and(|byte| *byte != b'\n') {
                read += 1;
            }
            read += 1;
            text.get(start..read - 1).unwrap_or_default().to_owned()
        };
        let id = next();
        let now = Instant(next().parse().unwrap_or(i64::MAX));
        let (method, origin, path, query) = (next(), next(), next(), next());
        let unread = match next().as_str() {
            "" => None,
            "large" => Some(Unread::Large),
            _ => Some(Unread::Broken),
        };
        let mut headers = Vec::new();
        loop {
            let name = next();
            if name.is_empty() {
                break;
            }
            headers.push((name, next()));
        }
        let body = text.split_off(read.min(text.len()));
        Self {
            id,
            now,
            method,
            route: "",
            origin,
            path,
            query,
            limits,
            headers,
            body: unread.map_or(Ok(body), Err),
        }
    }

    /// Refuses query parameters where there are none.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`].
    pub fn no_parameters(&self) -> Result<(), Error> {
        Query::parse(&self.query, &[]).finish()
    }

    /// A header, of those that `request.js` hands over.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find_map(|(known, value)| (known == name).then_some(value.as_str()))
    }

    /// Whether it only reads.
    #[must_use]
    pub fn is_read(&self) -> bool {
        self.method == "GET" || self.method == "HEAD"
    }

    /// Whether it came by https.
    #[must_use]
    pub fn is_secure(&self) -> bool {
        self.origin.starts_with("https:")
    }

    /// The body, at most 256 KiB of it, declared as JSON; not yet parsed, because who is calling
    /// is asked first.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`], [`Error::UnsupportedMediaType`].
    pub fn body(&self) -> Result<Body<'_>, Error> {
        if self.body == Err(Unread::Large) {
            let detail = format!("A body is at most {MOST_BYTES} bytes.");
            return Err(Error::TooLarge(detail));
        }
        let media_type = self.header("content-type").unwrap_or_default();
        let media_type = media_type.split(';').next().unwrap_or_default().trim();
        if media_type.eq_ignore_ascii_case("application/json") {
            Ok(Body(self.body.as_deref().ok()))
        } else {
            Err(Error::UnsupportedMediaType)
        }
    }
}

/// A body declared as JSON; nothing where it is no text.
pub struct Body<'a>(Option<&'a str>);

impl Body<'_> {
    /// The JSON in it.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`], [`Error::TooLarge`] for a long array.
    pub fn json(&self) -> Result<Value, Error> {
        let broken = || Error::invalid("The body is not JSON: it is not plain UTF-8.");
        Ok(json::read(self.0.ok_or_else(broken)?.as_bytes())?)
    }
}
