//! Requests to the service.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::Method;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, RETRY_AFTER};
use url::Url;

use crate::platform::{Platform, Request, Response};
use crate::printable::printable;
use crate::problem::Problem;
use crate::request_error::RequestError;
use crate::retry::{waits, with_backoff};

/// Sends requests to one service.
#[derive(Clone, Debug)]
pub struct Client {
    platform: Arc<dyn Platform>,
    base: Url,
    authorization: Option<HeaderValue>,
}

impl Client {
    /// Creates a client for the service at an address, with the header of its key.
    #[must_use]
    pub fn new(platform: Arc<dyn Platform>, base: Url, authorization: Option<HeaderValue>) -> Self {
        Self {
            platform,
            base,
            authorization,
        }
    }

    /// Returns the URL of a route, with its segments percent-encoded.
    #[must_use]
    pub fn url(&self, segments: &[&str]) -> Url {
        let mut url = self.base.clone();
        // Fails for URLs such as `mailto:`, which the argument parser refuses.
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }

    /// Sends a GET without the key, for public routes.
    ///
    /// # Errors
    ///
    /// Returns [`RequestError`] after one attempt.
    pub async fn get(&self, url: &Url) -> Result<Vec<u8>, RequestError> {
        self.execute(request(Method::GET, url)).await
    }

    /// Sends a GET with the key.
    ///
    /// # Errors
    ///
    /// Returns [`RequestError`] after one attempt.
    pub async fn get_with_key(&self, url: &Url) -> Result<Vec<u8>, RequestError> {
        self.execute(self.with_key(request(Method::GET, url))).await
    }

    /// Sends a JSON body with the key.
    ///
    /// # Errors
    ///
    /// Returns [`RequestError`] after one attempt.
    pub async fn send(
        &self,
        method: Method,
        url: &Url,
        json: String,
    ) -> Result<Vec<u8>, RequestError> {
        let mut request = self.with_key(request(method, url));
        let json_type = HeaderValue::from_static("application/json");
        request.headers.insert(CONTENT_TYPE, json_type);
        request.body = Some(json);
        self.execute(request).await
    }

    /// Sends a request without the key and without a body.
    ///
    /// # Errors
    ///
    /// Returns [`RequestError::NoResponse`] after one attempt.
    pub async fn request(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
    ) -> Result<Response, RequestError> {
        let request = Request {
            headers,
            ..request(method, url)
        };
        self.respond(request).await
    }

    /// Runs `call`, and again after transient errors, at most `retries` times. Calls `on_retry` with the error and the delay
    /// before each retry.
    ///
    /// # Errors
    ///
    /// The last error.
    pub async fn with_backoff<T, F: Future<Output = Result<T, RequestError>>>(
        &self,
        retries: usize,
        on_retry: impl FnMut(&RequestError, Duration),
        call: impl FnMut() -> F,
    ) -> Result<T, RequestError> {
        with_backoff(waits(&self.platform), retries, on_retry, call).await
    }

    /// Waits.
    pub async fn sleep(&self, wait: Duration) {
        self.platform.sleep(wait).await;
    }

    async fn respond(&self, request: Request) -> Result<Response, RequestError> {
        let url = request.url.clone();
        let response = self.platform.send(request).await;
        response.map_err(|error| RequestError::without_response(&url, error))
    }

    fn with_key(&self, mut request: Request) -> Request {
        if let Some(authorization) = &self.authorization {
            request.headers.insert(AUTHORIZATION, authorization.clone());
        }
        request
    }

    async fn execute(&self, request: Request) -> Result<Vec<u8>, RequestError> {
        let url = request.url.to_string();
        let Response {
            status,
            headers,
            body,
        } = self.respond(request).await?;
        if status.is_success() {
            return Ok(body);
        }
        if status.is_redirection() {
            let location = headers
                .get(LOCATION)
                .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
                .unwrap_or_default();
            let what = format!("redirect to {}", printable(&location));
            return Err(RequestError::UnexpectedResponse { url, what });
        }
        Err(RequestError::Refused {
            problem: Box::new(Problem::from_response(status, &body)),
            retry_after: retry_after(&headers, SystemTime::from(jiff::Timestamp::now())),
            keyless: self.authorization.is_none(),
        })
    }
}

/// Returns a request without headers and body.
fn request(method: Method, url: &Url) -> Request {
    Request {
        method,
        url: url.clone(),
        headers: HeaderMap::new(),
        body: None,
    }
}

/// Parses `Retry-After`, which is either seconds or an HTTP date.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    match value.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => {
            let date = httpdate::parse_http_date(value).ok()?;
            Some(date.duration_since(now).unwrap_or(Duration::ZERO))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() -> Result<(), Box<dyn Error>> {
        let now = httpdate::parse_http_date("Fri, 20 Nov 2026 08:00:00 GMT")?;
        let parse = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, HeaderValue::from_static(value));
            retry_after(&headers, now).map(|delay| delay.as_secs())
        };
        assert_eq!(parse("7"), Some(7));
        assert_eq!(parse("Fri, 20 Nov 2026 08:01:30 GMT"), Some(90));
        assert_eq!(parse("Fri, 20 Nov 2026 07:00:00 GMT"), Some(0));
        assert_eq!(parse("soon"), None);
        Ok(())
    }
}
