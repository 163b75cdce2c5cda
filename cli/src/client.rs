//! The service, as seen over HTTP.

use std::error::Error;
use std::time::{Duration, SystemTime};

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Method, RequestBuilder, Url};

use crate::args::ServiceArgs;
use crate::call_error::CallError;
use crate::failure::Failure;
use crate::printable::printable;
use crate::problem::Problem;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The service itself answers or gives up within a second or two; the rest is for slow lines.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);

/// Calls one service.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    base: Url,
    authorization: Option<HeaderValue>,
}

impl Client {
    /// A client for the service named by the arguments.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] for a key no header can carry, or if TLS can't be set up.
    pub fn new(service: &ServiceArgs) -> Result<Self, Failure> {
        let authorization = service
            .key
            .as_ref()
            .map(|key| key.authorization())
            .transpose()?
            .flatten();
        // Fails only if another provider is in place already, which is then as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut http = reqwest::Client::builder()
            .user_agent(concat!("activity-rank/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(CALL_TIMEOUT)
            // Following one would turn a POST into a GET.
            .redirect(Policy::none());
        if service.url.scheme() == "http" {
            // Without TLS the system's certificates need not be there.
            http = http.tls_certs_only([]);
        }
        let http = http
            .build()
            .map_err(|error| Failure::Usage(format!("no HTTP client: {}", root_cause(&error))))?;
        Ok(Self {
            http,
            base: service.url.clone(),
            authorization,
        })
    }

    /// The address of a route, its segments percent-encoded.
    #[must_use]
    pub fn url(&self, segments: &[&str]) -> Url {
        let mut url = self.base.clone();
        // `Err` is for URLs like `mailto:`, which the arguments don't admit.
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }

    /// Reads a public route. The key stays at home.
    ///
    /// # Errors
    ///
    /// [`CallError`], after one attempt.
    pub async fn get(&self, url: &Url) -> Result<Vec<u8>, CallError> {
        self.call(url, self.http.get(url.clone())).await
    }

    /// Reads a route that is not public.
    ///
    /// # Errors
    ///
    /// [`CallError`], after one attempt.
    pub async fn get_with_key(&self, url: &Url) -> Result<Vec<u8>, CallError> {
        self.call(url, self.with_key(self.http.get(url.clone())))
            .await
    }

    /// Sends JSON with the key.
    ///
    /// # Errors
    ///
    /// [`CallError`], after one attempt.
    pub async fn send(
        &self,
        method: Method,
        url: &Url,
        json: String,
    ) -> Result<Vec<u8>, CallError> {
        let request = self
            .http
            .request(method, url.clone())
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .body(json);
        self.call(url, self.with_key(request)).await
    }

    fn with_key(&self, request: RequestBuilder) -> RequestBuilder {
        match &self.authorization {
            Some(authorization) => request.header(AUTHORIZATION, authorization.clone()),
            None => request,
        }
    }

    async fn call(&self, url: &Url, request: RequestBuilder) -> Result<Vec<u8>, CallError> {
        let unanswered = |error: &reqwest::Error| CallError::Unanswered {
            url: url.to_string(),
            cause: root_cause(error),
        };
        let answer = request.send().await.map_err(|error| unanswered(&error))?;
        let (status, headers) = (answer.status(), answer.headers().clone());
        let body = answer.bytes().await.map_err(|error| unanswered(&error))?;
        if status.is_success() {
            return Ok(body.into());
        }
        if status.is_redirection() {
            let to = headers
                .get(LOCATION)
                .map(|to| String::from_utf8_lossy(to.as_bytes()).into_owned());
            let what = format!("it redirects to {}", printable(&to.unwrap_or_default()));
            return Err(CallError::Foreign {
                url: url.to_string(),
                what,
            });
        }
        Err(CallError::Refused {
            problem: Box::new(Problem::from_answer(status, &body)),
            retry_after: retry_after(&headers, SystemTime::from(jiff::Timestamp::now())),
            keyless: self.authorization.is_none(),
        })
    }
}

/// `Retry-After` in either of its forms: seconds, or the date to wait for.
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

/// reqwest's own text names the step and the URL; the reason lies at the end of the chain.
fn root_cause(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "timed out".to_owned();
    }
    let mut cause: &dyn Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    printable(&cause.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(base: &str) -> Result<Client, Box<dyn Error>> {
        Ok(Client::new(&ServiceArgs {
            url: base.parse()?,
            key: None,
        })?)
    }

    #[test]
    fn routes_hang_below_the_path_of_the_service() -> Result<(), Box<dyn Error>> {
        let below = |base: &str| {
            client(base).map(|client| client.url(&["v1", "users", "a|b@c/d"]).to_string())
        };
        assert_eq!(
            below("http://localhost:1")?,
            "http://localhost:1/v1/users/a|b@c%2Fd"
        );
        assert_eq!(
            below("http://localhost:1/rank/")?,
            "http://localhost:1/rank/v1/users/a|b@c%2Fd"
        );
        Ok(())
    }

    #[test]
    fn retry_after_is_read_in_both_forms() -> Result<(), Box<dyn Error>> {
        let now = httpdate::parse_http_date("Fri, 20 Nov 2026 08:00:00 GMT")?;
        let read = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, HeaderValue::from_static(value));
            retry_after(&headers, now).map(|wait| wait.as_secs())
        };
        assert_eq!(read("7"), Some(7));
        assert_eq!(read("Fri, 20 Nov 2026 08:01:30 GMT"), Some(90));
        assert_eq!(read("Fri, 20 Nov 2026 07:00:00 GMT"), Some(0));
        assert_eq!(read("soon"), None);
        Ok(())
    }
}
