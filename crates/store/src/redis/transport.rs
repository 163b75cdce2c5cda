//! How a pipeline reaches the store: one HTTP request and its complete response.

use super::message;
use super::reply::Slot;
use std::pin::Pin;

/// Sends requests to the store's `/pipeline` endpoint.
///
/// The Worker uses the platform's `fetch`; the command line and tests use `ReqwestTransport` of the
/// feature `reqwest`, and the Worker can.
pub trait Transport {
    /// Sends a JSON body and reads the complete response before the deadline, without following
    /// redirects.
    ///
    /// # Errors
    ///
    /// Returns the cause; it contains no secret.
    fn post(&self, body: String) -> PostFuture<'_>;
}

/// The response to one request, or why there is none.
pub type PostFuture<'a> = Pin<Box<dyn Future<Output = Result<HttpResponse, String>> + 'a>>;

/// A response of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpResponse {
    /// The HTTP status code.
    pub status: u16,
    /// The body.
    pub body: String,
}

impl HttpResponse {
    /// Returns why a response without a 2xx status is not usable: the status and the error message.
    #[must_use]
    pub fn cause(&self) -> String {
        let slot: Option<Slot> = serde_json::from_slice(self.body.as_bytes()).ok();
        let error = slot.and_then(|slot| slot.error).unwrap_or_default();
        let text = match self.status {
            300..400 => "is a redirect, which is not followed",
            _ => message(&error),
        };
        format!("status {} {text}", self.status)
            .trim_end()
            .to_owned()
    }
}

/// The URL, credentials and deadline of a transport.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The URL of the store's `/pipeline` endpoint.
    pub url: String,
    /// The bearer token.
    pub token: String,
    /// The deadline of one request in milliseconds.
    pub timeout: u32,
}

impl Endpoint {
    /// Returns the endpoint of a store at a base URL without a trailing `/`.
    #[must_use]
    pub fn new(base_url: &str, token: &str, timeout: u32) -> Self {
        Self {
            url: format!("{base_url}/pipeline"),
            token: token.to_owned(),
            timeout,
        }
    }
}

#[cfg(feature = "reqwest")]
pub use with_reqwest::{ReqwestTransport, root_cause};

#[cfg(feature = "reqwest")]
mod with_reqwest {
    use super::{Endpoint, HttpResponse, PostFuture, Transport};
    use reqwest::Client;
    use reqwest::header::HeaderValue;
    use std::error::Error;
    use std::sync::{Mutex, MutexGuard, PoisonError};
    use std::time::Duration;

    /// A transport that uses the `reqwest` crate.
    ///
    /// In wasm, reqwest calls the platform's `fetch`, with these differences to a native build and to
    /// the Worker's own transport:
    ///
    /// - The platform follows redirects, and removes the `Authorization` header from a request to
    ///   another origin. Elsewhere a redirect is an error.
    /// - The deadline is a timer that aborts the request. TLS, proxies and connections are the
    ///   platform's.
    /// - An error has only a text, which can contain the URL.
    pub struct ReqwestTransport {
        client: Client,
        endpoint: Endpoint,
        /// The token of the last response. A replica of Upstash that serves a read waits until it has
        /// the writes before that response.
        sync_token: Mutex<HeaderValue>,
    }

    const SYNC_TOKEN: &str = "upstash-sync-token";

    impl ReqwestTransport {
        /// Returns a transport to an endpoint.
        #[must_use]
        pub fn new(endpoint: Endpoint) -> Self {
            let builder = Client::builder();
            #[cfg(not(target_arch = "wasm32"))]
            let builder = builder.redirect(reqwest::redirect::Policy::none());
            Self::with_client(builder.build().unwrap_or_default(), endpoint)
        }

        /// Returns a transport that uses a client with its own settings. It must not follow
        /// redirects.
        #[must_use]
        pub fn with_client(client: Client, endpoint: Endpoint) -> Self {
            let sync_token = Mutex::new(HeaderValue::from_static(""));
            Self {
                client,
                endpoint,
                sync_token,
            }
        }

        fn sync_token(&self) -> MutexGuard<'_, HeaderValue> {
            let token = self.sync_token.lock();
            token.unwrap_or_else(PoisonError::into_inner)
        }

        async fn send(&self, body: String) -> Result<HttpResponse, reqwest::Error> {
            let Endpoint {
                url,
                token,
                timeout,
            } = &self.endpoint;
            let request = self.client.post(url).bearer_auth(token);
            let request = request.header("content-type", "application/json");
            let request = request.header(SYNC_TOKEN, self.sync_token().clone());
            let deadline = Duration::from_millis(u64::from(*timeout));
            let response = request.body(body).timeout(deadline).send().await?;
            if let Some(token) = response.headers().get(SYNC_TOKEN) {
                *self.sync_token() = token.clone();
            }
            let status = response.status().as_u16();
            let body = response.text().await?;
            Ok(HttpResponse { status, body })
        }
    }

    impl Transport for ReqwestTransport {
        fn post(&self, body: String) -> PostFuture<'_> {
            Box::pin(async {
                let sent = self.send(body).await;
                // The URL can contain credentials.
                sent.map_err(|error| root_cause(&error.without_url()))
            })
        }
    }

    /// Returns the innermost cause of an error: the text of reqwest itself names only the step and
    /// the URL.
    #[must_use]
    pub fn root_cause(error: &reqwest::Error) -> String {
        if error.is_timeout() {
            return "timed out".to_owned();
        }
        let mut cause: &dyn Error = error;
        while let Some(source) = cause.source() {
            cause = source;
        }
        let text = cause.to_string();
        // The debug output of a JavaScript error: `JsValue(Error: Message: details`, and a stack. The
        // details can contain the URL.
        #[cfg(target_arch = "wasm32")]
        let text = match text.contains("reqwest::errors::TimedOut") {
            true => "timed out".to_owned(),
            false => {
                let message = text.split([':', '\n']).nth(1);
                message.unwrap_or("unknown error").trim().to_owned()
            }
        };
        text
    }
}
