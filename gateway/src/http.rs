//! Methods, CORS, token, which endpoint; the one place that builds HTTP responses.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header, request::Parts},
    response::Response,
};
use futures_util::FutureExt;

use crate::{
    auth::Auth,
    error::Fault,
    events::Events,
    reply,
    request::{body, format::Format, json, path},
    run::{Runner, Slot},
};

const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");
const OCTETS: HeaderValue = HeaderValue::from_static("application/octet-stream");
const TRUE: HeaderValue = HeaderValue::from_static("true");
const SYNC_TOKEN: HeaderName = HeaderName::from_static("upstash-sync-token");

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
    let mut response = if parts.method == Method::OPTIONS {
        preflight(&parts.headers)
    } else if !matches!(
        parts.method,
        Method::GET | Method::POST | Method::PUT | Method::HEAD
    ) {
        respond(StatusCode::METHOD_NOT_ALLOWED, None, Vec::new())
    } else {
        // A panic would otherwise cut the connection, and the SDKs would send the request again.
        AssertUnwindSafe(gateway.dispatch(&parts, body))
            .catch_unwind()
            .await
            .unwrap_or(Err(Fault::Internal))
            .unwrap_or_else(|fault| refusal(&fault))
    };
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, TRUE);
    headers.insert(SYNC_TOKEN, gateway.runner.sync.header());
    if let Some(origin) = parts.headers.get(header::ORIGIN) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        headers.insert(
            header::ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static("upstash-sync-token"),
        );
        headers.insert(header::VARY, HeaderValue::from_static("origin"));
    }
    response
}

impl Gateway {
    async fn dispatch(&self, parts: &Parts, body: Body) -> Result<Response, Fault> {
        let path = parts.uri.path().trim_end_matches('/');
        if path == "/healthz" {
            return self.health().await;
        }
        let token = self.auth.check(&parts.headers, parts.uri.query());
        // Read even without a token, so that the client sees the answer, but then not kept.
        let limit = if token.is_ok() {
            self.max_body_bytes
        } else {
            0
        };
        let body = body::read(body, limit, self.patience).await;
        token?;
        let format = Format::of(&parts.headers)?;
        let body = body?;
        match path {
            "" => Ok(one(&self.runner.single(json::single(&body)?).await, format)),
            "/pipeline" => {
                let commands = json::batch(&body, self.max_commands)?;
                Ok(many(&self.runner.pipeline(commands).await?, format))
            }
            "/multi-exec" => {
                let commands = json::batch(&body, self.max_commands)?;
                // Raw replies are for single commands and pipelines only.
                let format = if format == Format::Resp2 {
                    Format::Text
                } else {
                    format
                };
                Ok(many(&self.runner.transaction(commands).await?, format))
            }
            _ => {
                let segments: Vec<Vec<u8>> = path::segments(parts.uri.path()).collect();
                if let Some(kind) = Events::asked(&segments) {
                    // The SDK sends the body `[]`, which is no argument here.
                    let names = segments.into_iter().skip(1).collect();
                    let events = self.events.open(&self.runner.backend, kind, names).await?;
                    return Ok(streaming(events));
                }
                let command = path::command(segments, parts.uri.query(), &body);
                Ok(one(&self.runner.single(command).await, format))
            }
        }
    }

    async fn health(&self) -> Result<Response, Fault> {
        match self.runner.backend.ping().await {
            Ok(()) => Ok(respond(
                StatusCode::OK,
                Some(JSON),
                b"{\"result\":\"PONG\"}".to_vec(),
            )),
            Err(fault) => {
                let mut response = refusal(&fault);
                *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
                Ok(response)
            }
        }
    }
}

fn one(slot: &Slot, format: Format) -> Response {
    let mut out = Vec::new();
    let kind = match (slot, format) {
        (Ok(_) | Err(Fault::Redis(_)), Format::Resp2) => {
            reply::resp2::slot(&mut out, slot);
            OCTETS
        }
        _ => {
            reply::json::slot(&mut out, slot, format == Format::Base64);
            JSON
        }
    };
    match slot {
        Ok(_) => respond(StatusCode::OK, Some(kind), out),
        Err(fault) => with_retry(fault, respond(fault.status(), Some(kind), out)),
    }
}

fn many(slots: &[Slot], format: Format) -> Response {
    let mut out = Vec::new();
    if format == Format::Resp2 {
        reply::resp2::slots(&mut out, slots);
        return respond(StatusCode::OK, Some(OCTETS), out);
    }
    reply::json::slots(&mut out, slots, format == Format::Base64);
    respond(StatusCode::OK, Some(JSON), out)
}

fn refusal(fault: &Fault) -> Response {
    let mut out = Vec::new();
    reply::json::error(&mut out, &fault.text());
    with_retry(fault, respond(fault.status(), Some(JSON), out))
}

fn with_retry(fault: &Fault, mut response: Response) -> Response {
    if fault.status() == StatusCode::SERVICE_UNAVAILABLE {
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

fn streaming(events: Body) -> Response {
    let mut response = Response::new(events);
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/event-stream"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // nginx would otherwise collect events before it hands them on.
    headers.insert(
        HeaderName::from_static("x-accel-buffering"),
        HeaderValue::from_static("no"),
    );
    response
}

fn preflight(asked: &HeaderMap) -> Response {
    let mut response = respond(StatusCode::OK, None, Vec::new());
    let headers = response.headers_mut();
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static("GET, HEAD, POST, PUT, OPTIONS"),
    );
    if let Some(wanted) = asked.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    response
}

fn respond(status: StatusCode, kind: Option<HeaderValue>, body: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    if let Some(kind) = kind {
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
    }
    response
}
