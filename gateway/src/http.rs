//! Methods, token, which endpoint.

mod answers;

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::{Request, State},
    http::{Method, request::Parts},
    response::Response,
};
use futures_util::FutureExt;

use crate::{
    auth::{Access, Auth},
    error::Fault,
    events::Events,
    request::{body, format::Format, json, path},
    rules,
    run::Runner,
};

/// Everything a request needs.
pub(crate) struct Gateway {
    pub(crate) auth: Auth,
    pub(crate) runner: Runner,
    pub(crate) events: Events,
    pub(crate) max_body_bytes: usize,
    pub(crate) max_commands: usize,
    pub(crate) patience: Duration,
}

/// Answers one request; never without a body of JSON, except where the protocol has none.
pub(crate) async fn answer(State(gateway): State<Arc<Gateway>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let response = match parts.method {
        Method::OPTIONS => answers::preflight(&parts.headers),
        Method::GET | Method::POST | Method::PUT | Method::HEAD => {
            // A panic would otherwise cut the connection, and the SDKs would send again.
            AssertUnwindSafe(gateway.dispatch(&parts, body))
                .catch_unwind()
                .await
                .unwrap_or(Err(Fault::Internal))
                .unwrap_or_else(|fault| answers::refusal(&fault))
        }
        _ => answers::method_not_allowed(),
    };
    answers::signed(response, &parts.headers, gateway.runner.sync.header())
}

impl Gateway {
    async fn dispatch(&self, parts: &Parts, body: Body) -> Result<Response, Fault> {
        let path = parts.uri.path().trim_end_matches('/');
        if path == "/healthz" {
            return self
                .runner
                .backend
                .ping()
                .await
                .map(|()| answers::healthy());
        }
        let token = self.auth.check(&parts.headers, parts.uri.query());
        // Read even without a token, so that the client sees the answer, but then not kept.
        let limit = token.as_ref().map_or(0, |_access| self.max_body_bytes);
        let body = body::read(body, limit, self.patience).await;
        let access = token?;
        let format = Format::of(&parts.headers)?;
        let body = body?;
        match path {
            "" => {
                let slot = self.runner.single(json::single(&body)?, access).await;
                Ok(answers::one(&slot, format))
            }
            "/pipeline" => {
                let commands = json::batch(&body, self.max_commands)?;
                let slots = self.runner.pipeline(commands, access).await?;
                Ok(answers::many(&slots, format))
            }
            "/multi-exec" => {
                let commands = json::batch(&body, self.max_commands)?;
                let slots = self.runner.transaction(commands, access).await?;
                Ok(answers::many(&slots, format.of_transaction()))
            }
            _ => self.path(parts, &body, format, access).await,
        }
    }

    /// A command in the path, or one of the three paths that open a stream.
    async fn path(
        &self,
        parts: &Parts,
        body: &[u8],
        format: Format,
        access: Access,
    ) -> Result<Response, Fault> {
        let segments: Vec<Vec<u8>> = path::segments(parts.uri.path()).collect();
        if let Some(kind) = Events::asked(&segments) {
            rules::allow(kind.command(), access)?;
            // The SDK sends the body `[]`, which is no argument here.
            let names = segments.into_iter().skip(1).collect();
            let events = self.events.open(&self.runner.backend, kind, names).await?;
            return Ok(answers::stream(events));
        }
        let command = path::command(segments, parts.uri.query(), body);
        Ok(answers::one(
            &self.runner.single(command, access).await,
            format,
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use axum::{
        body::{Body, Bytes, to_bytes},
        extract::{Request, State},
    };
    use futures_util::stream;
    use tokio::sync::watch;

    use super::{Gateway, answer};
    use crate::{
        auth::Auth,
        backend::{Backend, Manner},
        events::Events,
        run::Runner,
        script::Aliases,
        sync::SyncToken,
    };

    async fn gateway() -> Result<Gateway, String> {
        let patience = Duration::from_secs(1);
        let manner = Manner {
            connections: 1,
            patience,
            replicas: None,
        };
        Ok(Gateway {
            auth: Auth::new("token", "", true),
            runner: Runner {
                // No one listens on port 1.
                backend: Backend::open("redis://127.0.0.1:1", manner).await?,
                aliases: Aliases::new(1),
                sync: SyncToken::new(),
                max_bytes: 100,
            },
            events: Events::new(1, watch::channel(false).1),
            max_body_bytes: 100,
            max_commands: 1,
            patience,
        })
    }

    #[tokio::test]
    #[allow(clippy::panic, reason = "what is tested")]
    async fn a_panic_is_500_in_json() {
        let gateway = gateway().await.map(Arc::new);
        let body = stream::poll_fn(
            |_| -> std::task::Poll<Option<Result<Bytes, std::io::Error>>> {
                panic!("a fault of the gateway")
            },
        );
        let mut request = Request::new(Body::from_stream(body));
        *request.uri_mut() = "/ping?_token=token".parse().unwrap_or_default();
        let response = answer(
            State(gateway.unwrap_or_else(|why| panic!("{why}"))),
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
