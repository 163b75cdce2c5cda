//! HTTP: routes a request by method and path.

mod response;

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes},
    extract::Request,
    http::{Method, request::Parts},
    response::Response,
};
use futures_util::FutureExt;

use self::response::Format;
use crate::{
    auth::Auth,
    backend::{ReplyBudget, ReplyLimits},
    error::GatewayError,
    events::Events,
    memory::{Share, SharedLimit},
    policy::{self, Access},
    request::{body, json, url},
    runner::Runner,
};

/// The state that all requests share.
pub(crate) struct Gateway {
    pub(crate) auth: Auth,
    pub(crate) runner: Runner,
    pub(crate) events: Events,
    pub(crate) reply_limits: Arc<ReplyLimits>,
    pub(crate) max_body_bytes: usize,
    /// The memory of the bodies and commands of all requests.
    pub(crate) bodies: Arc<SharedLimit>,
    pub(crate) max_commands: usize,
    pub(crate) body_timeout: Duration,
}

/// Handles one request. Every response has a JSON body, except where the protocol has none.
pub(crate) async fn handle(gateway: Arc<Gateway>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let response = match parts.method {
        Method::OPTIONS => response::preflight(&parts.headers),
        Method::GET | Method::POST | Method::PUT | Method::HEAD => {
            // A panic would otherwise close the connection, and the SDKs would retry.
            AssertUnwindSafe(gateway.route(&parts, body))
                .catch_unwind()
                .await
                .unwrap_or(Err(GatewayError::Internal))
                .unwrap_or_else(|error| response::error(&error))
        }
        _ => response::method_not_allowed(),
    };
    let sync_token = gateway.runner.sync_token.header();
    response::with_common_headers(response, &parts.headers, sync_token)
}

/// Returns `error` as response to any request.
pub(crate) async fn refuse(gateway: &Gateway, request: Request, error: &GatewayError) -> Response {
    let (parts, body) = request.into_parts();
    // The body is read but not stored, as without a valid token.
    let share = Share::new(&gateway.bodies);
    let _ = body::read(body, 0, &share, gateway.body_timeout).await;
    let sync_token = gateway.runner.sync_token.header();
    response::with_common_headers(response::error(error), &parts.headers, sync_token)
}

impl Gateway {
    async fn route(&self, parts: &Parts, body: Body) -> Result<Response, GatewayError> {
        let path = parts.uri.path().trim_end_matches('/');
        if path == "/healthz" {
            self.runner.backend.ping().await?;
            return Ok(response::healthy());
        }
        let access = self.auth.check(&parts.headers, parts.uri.query());
        // Without a valid token the body is read but not stored: a client that is still sending
        // would see a broken connection instead of the 401 response.
        let limit = access.as_ref().map_or(0, |_access| self.max_body_bytes);
        let share = Share::new(&self.bodies);
        let body = body::read(body, limit, &share, self.body_timeout).await;
        let access = access?;
        let format = Format::of(&parts.headers)?;
        let body = body?;
        match path {
            "" => {
                let command = json::single(&body, &share)?;
                drop(body);
                let budget = self.budget(share);
                let result = self.runner.single(command, access, &budget).await;
                Ok(response::single(result, format, budget))
            }
            "/pipeline" => {
                let commands = json::batch(&body, self.max_commands, &share)?;
                drop(body);
                let budget = self.budget(share);
                let results = self.runner.pipeline(commands, access, &budget).await?;
                Ok(response::batch(results, format, budget))
            }
            "/multi-exec" => {
                let commands = json::batch(&body, self.max_commands, &share)?;
                drop(body);
                let budget = self.budget(share);
                let results = self.runner.transaction(commands, access, &budget).await?;
                Ok(response::batch(results, format.for_transaction(), budget))
            }
            _ => self.path(parts, (body, share), format, access).await,
        }
    }

    /// Returns the budget of a request whose commands have the memory `share`.
    fn budget(&self, share: Share) -> Arc<ReplyBudget> {
        ReplyBudget::new(&self.reply_limits, Some(share))
    }

    /// Opens an event stream, or runs the command in the path.
    async fn path(
        &self,
        parts: &Parts,
        (body, share): (Bytes, Share),
        format: Format,
        access: Access,
    ) -> Result<Response, GatewayError> {
        let segments: Vec<Vec<u8>> = url::segments(parts.uri.path()).collect();
        if let Some(kind) = Events::stream_kind(&segments) {
            policy::check_permission(kind.command(), access)?;
            // The body is ignored: the SDK sends `[]`.
            let names = segments.into_iter().skip(1).collect();
            let events = self.events.open(&self.runner.backend, kind, names).await?;
            return Ok(response::event_stream(events));
        }
        let command = url::command(segments, parts.uri.query(), &body);
        drop(body);
        share.charge_arguments(command.arguments().len())?;
        let budget = self.budget(share);
        let result = self.runner.single(command, access, &budget).await;
        Ok(response::single(result, format, budget))
    }
}

#[cfg(test)]
mod tests {
    use std::{io, sync::Arc, task::Poll, time::Duration};

    use axum::{
        body::{Body, Bytes, to_bytes},
        extract::Request,
    };
    use futures_util::stream;
    use tokio::sync::watch;

    use super::{Gateway, handle};
    use crate::{
        auth::Auth,
        backend::{Backend, NodeOptions, ReplyLimits, Restriction},
        events::Events,
        memory::SharedLimit,
        policy::Policy,
        runner::Runner,
        script::Aliases,
        sync_token::SyncToken,
    };

    async fn gateway() -> Result<Gateway, String> {
        let timeout = Duration::from_secs(1);
        let policy = Arc::new(Policy::default());
        let options = NodeOptions {
            restriction: Restriction::new(Arc::clone(&policy), "token"),
            connections: 1,
            timeout,
            replica_acks: None,
        };
        Ok(Gateway {
            auth: Auth::new("token", "", true),
            runner: Runner {
                // Nothing listens on port 1.
                backend: Backend::open("redis://127.0.0.1:1", options).await?,
                policy,
                aliases: Aliases::new(1),
                sync_token: SyncToken::new(),
                max_bytes: 100,
            },
            events: Events::new(1, watch::channel(false).1),
            reply_limits: ReplyLimits::new(100, 100, 100),
            max_body_bytes: 100,
            bodies: SharedLimit::new(100),
            max_commands: 1,
            body_timeout: timeout,
        })
    }

    #[tokio::test]
    #[allow(clippy::panic, reason = "the test causes a panic")]
    async fn panic_returns_json_500() {
        let gateway = gateway().await.map(Arc::new);
        let body = stream::poll_fn(|_| -> Poll<Option<Result<Bytes, io::Error>>> {
            panic!("injected panic")
        });
        let mut request = Request::new(Body::from_stream(body));
        *request.uri_mut() = "/ping?_token=token".parse().unwrap_or_default();
        let response = handle(
            gateway.unwrap_or_else(|message| panic!("{message}")),
            request,
        )
        .await;
        assert_eq!(response.status(), 500);
        let body = to_bytes(response.into_body(), 1000)
            .await
            .unwrap_or_default();
        assert_eq!(body, r#"{"error":"ERR internal error"}"#);
    }
}
