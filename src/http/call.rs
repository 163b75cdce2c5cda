//! A request taken apart: what endpoints need of it, read from the platform once.

use super::edge;
use super::limits::Limits;
use crate::calendar::Instant;
use crate::error::Error;
use crate::json;
use crate::query::Query;
use serde_json::Value;
use std::iter;
use std::rc::Rc;
use wasm_bindgen::JsValue;
use worker::js_sys::Uint8Array;
use worker::wasm_bindgen_futures::JsFuture;
use worker::web_sys::Request;

/// The largest body taken, in bytes.
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
    request: Request,
}

impl Call {
    /// Takes a request apart.
    #[must_use]
    pub fn read(request: Request, limits: Rc<Limits>) -> Self {
        let lines = edge::taken_apart(&request);
        let mut lines = lines.split('\n').map(str::to_owned);
        let mut next = || lines.next().unwrap_or_default();
        Self {
            id: next(),
            now: Instant(next().parse().unwrap_or(i64::MAX)),
            method: next(),
            route: "",
            origin: next(),
            path: next(),
            query: next(),
            limits,
            headers: iter::from_fn(|| lines.next().zip(lines.next())).collect(),
            request,
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

    /// A header, of those that `edge.js` hands over.
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
    pub async fn body(&self) -> Result<Body, Error> {
        let bytes = JsFuture::from(edge::body_of(&self.request, MOST_BYTES)).await;
        let bytes = bytes.map_err(|error| unreadable(&error))?;
        if bytes.is_null() {
            let detail = format!("A body is at most {MOST_BYTES} bytes.");
            return Err(Error::TooLarge(detail));
        }
        let media_type = self.header("content-type").unwrap_or_default();
        let media_type = media_type.split(';').next().unwrap_or_default().trim();
        if media_type.eq_ignore_ascii_case("application/json") {
            Ok(Body(Uint8Array::new(&bytes).to_vec()))
        } else {
            Err(Error::UnsupportedMediaType)
        }
    }
}

/// A body declared as JSON.
pub struct Body(Vec<u8>);

impl Body {
    /// The JSON in it.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`], [`Error::TooLarge`] for a long array.
    pub fn json(&self) -> Result<Value, Error> {
        Ok(json::read(&self.0)?)
    }
}

fn unreadable(error: &JsValue) -> Error {
    Error::invalid(format!("The body cannot be read: {}.", edge::words(error)))
}
