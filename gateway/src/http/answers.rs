//! Slots, faults and streams → HTTP responses.

use axum::{
    body::Body,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::Response,
};

use crate::{error::Fault, reply, request::format::Format, run::Slot};

const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");
const OCTETS: HeaderValue = HeaderValue::from_static("application/octet-stream");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PUT, OPTIONS");
const SYNC_TOKEN: HeaderName = HeaderName::from_static("upstash-sync-token");
const EXPOSED: HeaderValue = HeaderValue::from_static("upstash-sync-token");
/// nginx would otherwise collect events before it hands them on.
const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The answer to one command.
pub(super) fn one(slot: &Slot, format: Format) -> Response {
    let status = slot.as_ref().map_or_else(Fault::status, |_| StatusCode::OK);
    let mut out = Vec::new();
    // A fault of the gateway's own is JSON whatever was asked for.
    let kind = if format == Format::Resp2 && matches!(slot, Ok(_) | Err(Fault::Redis(_))) {
        reply::resp2::slot(&mut out, slot);
        OCTETS
    } else {
        reply::json::slot(&mut out, slot, format == Format::Base64);
        JSON
    };
    retriable(respond(status, kind, out))
}

/// The answers to many; whatever became of each, the request itself went well.
pub(super) fn many(slots: &[Slot], format: Format) -> Response {
    let mut out = Vec::new();
    if format == Format::Resp2 {
        reply::resp2::slots(&mut out, slots);
        return respond(StatusCode::OK, OCTETS, out);
    }
    reply::json::slots(&mut out, slots, format == Format::Base64);
    respond(StatusCode::OK, JSON, out)
}

/// The answer to a request that came to nothing as a whole.
pub(super) fn refusal(fault: &Fault) -> Response {
    let mut out = Vec::new();
    reply::json::error(&mut out, &fault.text());
    retriable(respond(fault.status(), JSON, out))
}

/// Redis answers.
pub(super) fn healthy() -> Response {
    respond(StatusCode::OK, JSON, b"{\"result\":\"PONG\"}".to_vec())
}

/// A body that goes on.
pub(super) fn stream(events: Body) -> Response {
    let mut response = Response::new(events);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, EVENTS);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(BUFFERING, HeaderValue::from_static("no"));
    response
}

/// What a browser asks before it asks.
pub(super) fn preflight(asked: &HeaderMap) -> Response {
    let mut response = Response::default();
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    if let Some(wanted) = asked.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    response
}

/// The one refusal whose body is empty in the protocol.
pub(super) fn method_not_allowed() -> Response {
    let mut response = Response::default();
    *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    response.headers_mut().insert(header::ALLOW, METHODS);
    response
}

/// Adds what every answer carries: the sync token, and leave for browsers to read it.
pub(super) fn signed(mut response: Response, asked: &HeaderMap, sync: HeaderValue) -> Response {
    let headers = response.headers_mut();
    headers.insert(SYNC_TOKEN, sync);
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_CREDENTIALS,
        HeaderValue::from_static("true"),
    );
    if let Some(origin) = asked.get(header::ORIGIN) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        headers.insert(header::VARY, HeaderValue::from_static("origin"));
    }
    response
}

fn retriable(mut response: Response) -> Response {
    if response.status() == StatusCode::SERVICE_UNAVAILABLE {
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

fn respond(status: StatusCode, kind: HeaderValue, body: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}
