//! The HTTP client of a host.

use std::sync::Arc;
use std::time::Duration;

use activity_rank_store::redis::transport::root_cause;
pub use activity_rank_sync::client::Client;
use activity_rank_sync::platform::{Pending, Platform, Request, Response, SendError};
use reqwest::Url;
use reqwest::redirect::Policy;

use crate::args::ServiceArgs;
use crate::failure::Failure;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The service responds or gives up within two seconds; the rest is for slow connections.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// The longest response, in bytes. A page of the journal, or of a source, has some megabytes.
const MAX_RESPONSE: usize = 64 * 1024 * 1024;

/// Sends requests with reqwest, and waits with tokio.
#[derive(Debug)]
struct Host(reqwest::Client);

impl Platform for Host {
    fn send(&self, request: Request) -> Pending<'_, Result<Response, SendError>> {
        Box::pin(async {
            let sent = self.0.request(request.method, request.url);
            let sent = sent.headers(request.headers);
            let sent = match request.body {
                Some(body) => sent.body(body),
                None => sent,
            };
            let no_response = |error: reqwest::Error| {
                let cause = root_cause(&error);
                // The error of a server that answers the first message of TLS in plain text.
                SendError::NoResponse(match cause.contains("InvalidContentType") {
                    true => "it does not speak TLS: its address may begin with http://".to_owned(),
                    false => cause,
                })
            };
            let mut response = sent.send().await.map_err(no_response)?;
            let (status, headers) = (response.status(), response.headers().clone());
            let mut body = Vec::new();
            while let Some(chunk) = response.chunk().await.map_err(no_response)? {
                body.extend_from_slice(&chunk);
                if body.len() > MAX_RESPONSE {
                    let what = format!("more than {} MB", MAX_RESPONSE >> 20);
                    return Err(SendError::Unusable(what));
                }
            }
            Ok(Response {
                status,
                headers,
                body,
            })
        })
    }

    fn sleep(&self, wait: Duration) -> Pending<'_, ()> {
        Box::pin(tokio::time::sleep(wait))
    }
}

/// Creates the client for a service.
///
/// # Errors
///
/// Returns [`Failure::Usage`] if the key is invalid in a header or TLS cannot be set up.
pub fn client(service: &ServiceArgs) -> Result<Client, Failure> {
    let authorization = service
        .key
        .as_ref()
        .map(|key| key.authorization())
        .transpose()?
        .flatten();
    let platform = platform(&service.url)?;
    Ok(Client::new(platform, service.url.clone(), authorization))
}

/// Returns what sends requests to an address.
///
/// # Errors
///
/// Returns [`Failure::Usage`] if TLS cannot be set up.
pub fn platform(url: &Url) -> Result<Arc<dyn Platform>, Failure> {
    Ok(Arc::new(Host(http_client(url)?)))
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

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;

    fn client_of(base: &str) -> Result<Client, Box<dyn Error>> {
        Ok(client(&ServiceArgs {
            url: base.parse()?,
            key: None,
        })?)
    }

    #[test]
    fn url_keeps_the_base_path_of_the_service() -> Result<(), Box<dyn Error>> {
        let url = |base: &str| {
            client_of(base).map(|client| client.url(&["v1", "users", "a|b@c/d"]).to_string())
        };
        for base in ["http://localhost:1", "http://localhost:1/rank"] {
            let expected = format!("{base}/v1/users/a|b@c%2Fd");
            assert_eq!(url(&format!("{base}/"))?, expected);
        }
        assert_eq!(
            url("http://localhost:1")?,
            "http://localhost:1/v1/users/a|b@c%2Fd"
        );
        Ok(())
    }
}
