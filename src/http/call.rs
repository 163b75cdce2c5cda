//! A request taken apart: what endpoints need of it, read from the platform once.

use crate::calendar::Instant;
use crate::error::Error;
use crate::json;
use crate::query::Query;
use futures_util::StreamExt;
use serde_json::Value;
use worker::{Date, Request};

/// The largest body taken, in bytes.
const MOST_BYTES: usize = 256 * 1024;

/// One request.
pub struct Call {
    /// The method in upper case.
    pub method: String,
    /// Scheme and host, for URLs of the cache.
    pub origin: String,
    /// The path, percent-encoded.
    pub path: String,
    /// The query, percent-encoded.
    pub query: String,
    /// The one instant at which all of it happens.
    pub now: Instant,
    request: Request,
}

impl Call {
    /// Takes a request apart.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] where its URL cannot be read.
    pub fn read(request: Request) -> Result<Self, Error> {
        let url = request
            .url()
            .map_err(|_| Error::invalid("The URL cannot be read."))?;
        let method = request.inner().method();
        Ok(Self {
            origin: url.origin().ascii_serialization(),
            path: url.path().to_owned(),
            query: url.query().unwrap_or_default().to_owned(),
            now: Instant(i64::try_from(Date::now().as_millis()).unwrap_or(i64::MAX)),
            method,
            request,
        })
    }

    /// Refuses query parameters where there are none.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`].
    pub fn no_parameters(&self) -> Result<(), Error> {
        Query::parse(&self.query, &[]).finish()
    }

    /// A header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<String> {
        self.request.headers().get(name).ok().flatten()
    }

    /// The body, at most 256 KiB of it, declared as JSON; not yet parsed, because who is calling
    /// is asked first.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`], [`Error::UnsupportedMediaType`].
    pub async fn body(&mut self) -> Result<Body, Error> {
        let declared = self
            .header("content-length")
            .and_then(|length| length.parse::<usize>().ok());
        let bytes = match declared {
            Some(length) if length > MOST_BYTES => return Err(too_large()),
            Some(_) => self.request.bytes().await.map_err(unreadable)?,
            None => self.streamed_body().await?,
        };
        let media_type = self.header("content-type").unwrap_or_default();
        let media_type = media_type.split(';').next().unwrap_or_default().trim();
        if media_type.eq_ignore_ascii_case("application/json") {
            Ok(Body(bytes))
        } else {
            Err(Error::UnsupportedMediaType)
        }
    }

    /// Reads a body of unknown length no further than is taken.
    async fn streamed_body(&mut self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        let Ok(mut stream) = self.request.stream() else {
            return Ok(bytes);
        };
        while let Some(chunk) = stream.next().await {
            bytes.extend(chunk.map_err(unreadable)?);
            if bytes.len() > MOST_BYTES {
                return Err(too_large());
            }
        }
        Ok(bytes)
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

fn too_large() -> Error {
    Error::TooLarge(format!("A body is at most {MOST_BYTES} bytes."))
}

fn unreadable(error: worker::Error) -> Error {
    Error::invalid(format!("The body cannot be read: {error}."))
}
