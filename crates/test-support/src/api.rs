//! An HTTP client of the service, and its responses with assertions.

use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderName};
use reqwest::{Client, Method};
use serde_json::Value;

use crate::stream::Stream;

/// The service key of every Worker in tests.
pub const SERVICE_KEY: &str = "test-service-key";

const JSON: &[(&str, &str)] = &[("content-type", "application/json")];

/// How long an idle connection stays open. workerd closes idle connections after 15 seconds; a
/// client that closes them earlier never sends a request on a connection that is being closed.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10);

/// Returns an HTTP client for servers on this machine, without any proxy.
///
/// No test needs TLS, but cargo unifies features: built together with the command line, reqwest
/// has TLS and refuses to make a client without a crypto provider. The client has no root
/// certificates: parsing those of the system for each client takes a seventh of the processor time
/// of the API tests.
pub(crate) fn http_client() -> Client {
    // Fails when a provider is already installed, which is just as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder().no_proxy().pool_idle_timeout(IDLE_TIMEOUT);
    let builder = builder.tls_certs_only([]);
    builder.build().expect("these settings are valid")
}

/// Returns an HTTP client for a store elsewhere, which trusts the certificates of the system.
pub(crate) fn https_client() -> Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder().pool_idle_timeout(IDLE_TIMEOUT);
    builder.build().expect("the system has root certificates")
}

/// A client of one running service. Paths may carry a query: `get("/v1/ranking/day?limit=3")`.
#[must_use]
#[derive(Clone, Debug)]
pub struct Api {
    client: Client,
    url: String,
    key: Option<String>,
}

impl Api {
    /// Creates a client without credentials.
    pub fn new(url: &str) -> Self {
        Self {
            // One per test: its connections belong to the test's runtime.
            client: http_client(),
            url: url.to_owned(),
            key: None,
        }
    }

    /// Returns a copy that sends `Authorization: Bearer <key>`.
    pub fn with_key(&self, key: &str) -> Self {
        Self {
            key: Some(key.to_owned()),
            ..self.clone()
        }
    }

    /// Returns a copy that sends no credentials.
    pub fn without_key(&self) -> Self {
        Self {
            key: None,
            ..self.clone()
        }
    }

    /// Sends `GET path`.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, "", &[]).await
    }

    /// Sends `GET path` with these headers and returns the response as a stream of events.
    ///
    /// # Panics
    ///
    /// Panics without a response.
    pub async fn stream(&self, path: &str, headers: &[(&str, &str)]) -> Stream {
        let mut builder = self.client.get(format!("{}{path}", self.url));
        for (name, value) in headers {
            builder = builder.header(*name, *value);
        }
        let response = builder.send().await;
        Stream::new(response.unwrap_or_else(|error| panic!("GET {path}: {error:?}")))
    }

    /// Sends `POST path` with a JSON body.
    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::POST, path, body.to_string(), JSON).await
    }

    /// Sends `PUT path` with a JSON body.
    pub async fn put(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::PUT, path, body.to_string(), JSON).await
    }

    /// Sends `DELETE path`.
    pub async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, "", &[]).await
    }

    /// Runs the cron job of every minute, where the Worker runs cron on request.
    ///
    /// # Panics
    ///
    /// Panics if it does not.
    pub async fn minute(&self) {
        let answer = self.get("/cdn-cgi/local/scheduled?cron=*+*+*+*+*").await;
        assert_eq!((answer.status, answer.text.as_str()), (200, "ok"));
    }

    /// Sends any request.
    ///
    /// # Panics
    ///
    /// Panics without a complete response; [`try_send`](Self::try_send) returns the error instead.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        body: impl Into<Bytes>,
        headers: &[(&str, &str)],
    ) -> Answer {
        let response = self.try_send(method.clone(), path, body, headers).await;
        response.unwrap_or_else(|error| panic!("{method} {path}: {error:?}"))
    }

    /// Sends any request, for tests that kill the server meanwhile.
    ///
    /// # Errors
    ///
    /// Returns the transport error when no complete response arrives.
    pub async fn try_send(
        &self,
        method: Method,
        path: &str,
        body: impl Into<Bytes>,
        headers: &[(&str, &str)],
    ) -> reqwest::Result<Answer> {
        let request = format!("{method} {path}");
        let body = body.into();
        let mut builder = self.client.request(method, format!("{}{path}", self.url));
        if !body.is_empty() {
            builder = builder.body(body);
        }
        if let Some(key) = &self.key {
            builder = builder.bearer_auth(key);
        }
        for (name, value) in headers {
            builder = builder.header(*name, *value);
        }
        let response = builder.send().await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = String::from_utf8_lossy(&response.bytes().await?).into_owned();
        Ok(Answer {
            request,
            status,
            headers,
            body: serde_json::from_str(&text).unwrap_or(Value::Null),
            text,
        })
    }
}

/// A complete HTTP response.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Method and path of the request.
    pub request: String,
    /// The HTTP status.
    pub status: u16,
    /// All headers.
    pub headers: HeaderMap,
    /// The body as JSON, or null when it is not JSON.
    pub body: Value,
    /// The body as text.
    pub text: String,
}

impl Answer {
    /// Asserts status and body, and returns the response for further assertions.
    ///
    /// # Panics
    ///
    /// Panics at the caller's line when either differs.
    #[track_caller]
    #[allow(
        clippy::needless_pass_by_value,
        reason = "json!(…) reads better without &"
    )]
    pub fn assert(&self, status: u16, body: Value) -> &Self {
        assert!(
            self.status == status && self.body == body,
            "{}\n  expected {status} {body:#}\n  received {} {}",
            self.request,
            self.status,
            self.pretty_body()
        );
        self
    }

    /// Asserts the status and returns the response for further assertions.
    ///
    /// # Panics
    ///
    /// Panics at the caller's line when it differs, with the body.
    #[track_caller]
    pub fn assert_status(&self, status: u16) -> &Self {
        assert!(
            self.status == status,
            "{}\n  expected {status}\n  received {} {}",
            self.request,
            self.status,
            self.pretty_body()
        );
        self
    }

    /// Returns a header's value.
    pub fn header(&self, name: impl TryInto<HeaderName>) -> Option<&str> {
        let name = name.try_into().ok()?;
        self.headers.get(name)?.to_str().ok()
    }

    fn pretty_body(&self) -> String {
        match &self.body {
            Value::Null => self.text.clone(),
            body => format!("{body:#}"),
        }
    }
}
