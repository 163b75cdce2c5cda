//! The HTTP client of the service.

use std::time::{Duration, SystemTime};

use activity_rank_store::redis::transport::root_cause;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Method, RequestBuilder, StatusCode, Url};

use crate::args::ServiceArgs;
use crate::failure::Failure;
use crate::printable::printable;
use crate::problem::Problem;
use crate::request_error::RequestError;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The service responds or gives up within two seconds; the rest is for slow connections.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// A response with any status.
#[derive(Clone, Debug)]
pub struct Response {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The complete body.
    pub body: Vec<u8>,
}

/// Sends requests to one service.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    base: Url,
    authorization: Option<HeaderValue>,
}

impl Client {
    /// Creates a client for the service.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::Usage`] if the key is invalid in a header or TLS cannot be set up.
    pub fn new(service: &ServiceArgs) -> Result<Self, Failure> {
        let authorization = service
            .key
            .as_ref()
            .map(|key| key.authorization())
            .transpose()?
            .flatten();
        Ok(Self {
            http: http_client(&service.url)?,
            base: service.url.clone(),
            authorization,
        })
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
        self.execute(url, self.http.get(url.clone())).await
    }

    /// Sends a GET with the key.
    ///
    /// # Errors
    ///
    /// Returns [`RequestError`] after one attempt.
    pub async fn get_with_key(&self, url: &Url) -> Result<Vec<u8>, RequestError> {
        self.execute(url, self.with_key(self.http.get(url.clone())))
            .await
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
        let request = self
            .http
            .request(method, url.clone())
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .body(json);
        self.execute(url, self.with_key(request)).await
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
        let request = self.http.request(method, url.clone()).headers(headers);
        respond(url, request).await
    }

    fn with_key(&self, request: RequestBuilder) -> RequestBuilder {
        match &self.authorization {
            Some(authorization) => request.header(AUTHORIZATION, authorization.clone()),
            None => request,
        }
    }

    async fn execute(&self, url: &Url, request: RequestBuilder) -> Result<Vec<u8>, RequestError> {
        let Response {
            status,
            headers,
            body,
        } = respond(url, request).await?;
        if status.is_success() {
            return Ok(body);
        }
        if status.is_redirection() {
            let location = headers
                .get(LOCATION)
                .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
                .unwrap_or_default();
            let what = format!("redirect to {}", printable(&location));
            return Err(RequestError::UnexpectedResponse {
                url: url.to_string(),
                what,
            });
        }
        Err(RequestError::Refused {
            problem: Box::new(Problem::from_response(status, &body)),
            retry_after: retry_after(&headers, SystemTime::from(jiff::Timestamp::now())),
            keyless: self.authorization.is_none(),
        })
    }
}

/// Sends a request and reads the whole response.
async fn respond(url: &Url, request: RequestBuilder) -> Result<Response, RequestError> {
    let failure = |error: &reqwest::Error| RequestError::NoResponse {
        url: url.to_string(),
        cause: printable(&root_cause(error)),
    };
    let response = request.send().await.map_err(|error| failure(&error))?;
    let (status, headers) = (response.status(), response.headers().clone());
    let body = response.bytes().await.map_err(|error| failure(&error))?;
    Ok(Response {
        status,
        headers,
        body: body.into(),
    })
}

/// Creates the HTTP client for requests to a service or store.
///
/// # Errors
///
/// Returns [`Failure::Usage`] if TLS cannot be set up.
pub fn http_client(url: &Url) -> Result<reqwest::Client, Failure> {
    // Fails only if a provider is already installed, which is equally good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut http = reqwest::Client::builder()
        .user_agent(concat!("activity-rank/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(REQUEST_TIMEOUT)
        // Following a redirect would turn a POST into a GET.
        .redirect(Policy::none());
    if url.scheme() == "http" {
        // Without TLS, the system's certificates need not exist.
        http = http.tls_certs_only([]);
    }
    http.build().map_err(|error| {
        let cause = root_cause(&error);
        Failure::Usage(format!("cannot create an HTTP client: {cause}"))
    })
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

    fn client(base: &str) -> Result<Client, Box<dyn Error>> {
        Ok(Client::new(&ServiceArgs {
            url: base.parse()?,
            key: None,
        })?)
    }

    #[test]
    fn url_keeps_the_base_path_of_the_service() -> Result<(), Box<dyn Error>> {
        let url = |base: &str| {
            client(base).map(|client| client.url(&["v1", "users", "a|b@c/d"]).to_string())
        };
        assert_eq!(
            url("http://localhost:1")?,
            "http://localhost:1/v1/users/a|b@c%2Fd"
        );
        assert_eq!(
            url("http://localhost:1/rank/")?,
            "http://localhost:1/rank/v1/users/a|b@c%2Fd"
        );
        Ok(())
    }

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
