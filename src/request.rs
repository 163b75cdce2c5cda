//! A request, read from the platform once by `request.js`.

use activity_rank_core::MAX_BODY_BYTES;
use activity_rank_core::calendar::Instant;
use activity_rank_core::error::Error;
use activity_rank_core::json::{self, Items};
use activity_rank_core::query::Query;
use serde_json::Value;

/// One request.
pub struct Request {
    /// The id in the response header `X-Request-Id` and in the log.
    pub id: String,
    /// The method in upper case.
    pub method: String,
    /// The pattern of the route; `unknown` until the route is known, and of a path without one.
    pub route: &'static str,
    /// Scheme and host, for URLs of the edge cache.
    pub origin: String,
    /// The path, percent-encoded.
    pub path: String,
    /// The query, percent-encoded.
    pub query: String,
    /// The instant of the request: the clock is read once.
    pub now: Instant,
    headers: Vec<(String, String)>,
    body: Result<String, BodyError>,
}

/// Why a body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BodyError {
    /// It exceeds [`MAX_BODY_BYTES`].
    TooLarge,
    /// The isolate is busy with the bodies of other requests.
    Busy,
    /// It is not UTF-8, or the connection ended before its end.
    Broken,
}

impl Request {
    /// Parses the text that `request.js` writes: lines with the id, Unix ms, method, origin, path,
    /// query, what is wrong with the body, the name and value of each header, an empty line, and
    /// the body.
    #[must_use]
    pub fn parse(mut text: String) -> Self {
        let mut end = 0;
        let mut next = || {
            let start = end;
            while text.as_bytes().get(end).is_some_and(|byte| *byte != b'\n') {
                end += 1;
            }
            end += 1;
            text.get(start..end - 1).unwrap_or_default().to_owned()
        };
        let id = next();
        let now = Instant(next().parse().unwrap_or(i64::MAX));
        let (method, origin, path, query) = (next(), next(), next(), next());
        let body_error = match next().as_str() {
            "" => None,
            "large" => Some(BodyError::TooLarge),
            "busy" => Some(BodyError::Busy),
            _ => Some(BodyError::Broken),
        };
        let mut headers = Vec::new();
        loop {
            let name = next();
            if name.is_empty() {
                break;
            }
            headers.push((name, next()));
        }
        let body = text.split_off(end.min(text.len()));
        Self {
            id,
            method,
            route: "unknown",
            origin,
            path,
            query,
            now,
            headers,
            body: body_error.map_or(Ok(body), Err),
        }
    }

    /// Rejects query parameters on a route that has none.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`].
    pub fn reject_parameters(&self) -> Result<(), Error> {
        Query::parse(&self.query, &[]).finish()
    }

    /// Parses the user in the path of a route without query parameters.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`].
    pub fn path_user(&self, user: &str) -> Result<String, Error> {
        let mut query = Query::parse(&self.query, &[]);
        let user = query.user(user);
        query.finish()?;
        Ok(user)
    }

    /// Returns a header. `request.js` reads only the headers that the Worker uses.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find_map(|(known, value)| (known == name).then_some(value.as_str()))
    }

    /// Returns the credentials of the header `Authorization: Bearer`.
    #[must_use]
    pub fn bearer(&self) -> Option<&str> {
        let (scheme, token) = self.header("authorization")?.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    }

    /// Returns whether the header `Prefer` has `return=minimal` (RFC 7240).
    #[must_use]
    pub fn prefers_minimal(&self) -> bool {
        // Of several values of one preference, the first counts.
        let mut preferences = self.header("prefer").unwrap_or_default().split(',');
        let value = preferences.find_map(|preference| {
            let (name, value) = preference.split(';').next()?.split_once('=')?;
            name.trim().eq_ignore_ascii_case("return").then_some(value)
        });
        value.is_some_and(|value| value.trim().trim_matches('"') == "minimal")
    }

    /// Returns whether a reader of pages sent the request: it is a read that accepts HTML.
    #[must_use]
    pub fn wants_page(&self) -> bool {
        let accepted = self.header("accept").unwrap_or_default();
        self.is_read() && accepted.contains("text/html")
    }

    /// Returns whether the method is `GET` or `HEAD`.
    #[must_use]
    pub fn is_read(&self) -> bool {
        self.method == "GET" || self.method == "HEAD"
    }

    /// Returns whether the request came over https.
    #[must_use]
    pub fn is_secure(&self) -> bool {
        self.origin.starts_with("https:")
    }

    /// Returns the body of at most 256 KiB, declared as JSON. It is parsed later, because the caller
    /// is authenticated first.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`], [`Error::UnsupportedMediaType`]; [`Error::StoreUnavailable`] if the isolate is busy.
    pub fn body(&self) -> Result<Body<'_>, Error> {
        if self.body == Err(BodyError::Busy) {
            let cause = "the isolate is busy with other bodies".to_owned();
            return Err(Error::StoreUnavailable(cause));
        }
        if self.body == Err(BodyError::TooLarge) {
            let detail = format!("A body is at most {MAX_BODY_BYTES} bytes.");
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

/// A body declared as JSON; `None` if it is not UTF-8.
#[derive(Clone, Copy)]
pub struct Body<'a>(Option<&'a str>);

impl Body<'_> {
    /// Parses the JSON.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`], [`Error::TooLarge`] for a long array.
    pub fn json(&self) -> Result<Value, Error> {
        Ok(json::read(self.bytes()?)?)
    }

    /// Parses the JSON, and each item of an array on its own.
    ///
    /// # Errors
    ///
    /// As [`json`](Self::json), for the body as a whole.
    pub fn items(&self) -> Result<Items, Error> {
        Ok(json::read_items(self.bytes()?)?)
    }

    fn bytes(&self) -> Result<&[u8], Error> {
        match self.0 {
            None => Err(Error::invalid(
                "The body is not JSON: it is not valid UTF-8.",
            )),
            Some("") => Err(Error::invalid("The body is empty.")),
            Some(text) => Ok(text.as_bytes()),
        }
    }
}
