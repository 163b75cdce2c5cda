//! The transport to the store: the platform's `fetch`.

use super::bridge::HostCall;
use activity_rank_store::redis::transport::{Endpoint, HttpResponse, PostFuture, Transport};

/// A transport that uses the platform's `fetch`.
pub struct FetchTransport {
    endpoint: Endpoint,
    authorization: String,
}

impl FetchTransport {
    /// Returns a transport to an endpoint.
    #[must_use]
    pub fn new(endpoint: Endpoint) -> Self {
        Self {
            authorization: format!("Bearer {}", endpoint.token),
            endpoint,
        }
    }
}

impl Transport for FetchTransport {
    fn post(&self, body: String) -> PostFuture<'_> {
        let call = HostCall::Post {
            url: &self.endpoint.url,
            authorization: &self.authorization,
            timeout: self.endpoint.timeout,
            body: &body,
        };
        let reply = call.start();
        Box::pin(async {
            let reply = reply.await?;
            Ok(HttpResponse {
                status: reply.number as u16,
                body: reply.text,
            })
        })
    }
}
