//! Builds HTTP responses: the format of a response, its status, headers and body.

use axum::{
    body::Body,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::Response,
};

use crate::{error::GatewayError, reply, runner::CommandResult};

const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");
const OCTET_STREAM: HeaderValue = HeaderValue::from_static("application/octet-stream");
const EVENT_STREAM: HeaderValue = HeaderValue::from_static("text/event-stream");
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PUT, OPTIONS");
const SYNC_TOKEN: HeaderName = HeaderName::from_static("upstash-sync-token");
const EXPOSED_HEADERS: HeaderValue = HeaderValue::from_static("upstash-sync-token");
/// Disables response buffering in nginx, which would delay events.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The format of a response body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// JSON with strings as text. Invalid UTF-8 becomes U+FFFD.
    Text,
    /// JSON with strings in base64.
    Base64,
    /// The bytes of RESP2.
    Resp2,
}

impl Format {
    /// Returns the format that the `Upstash-*` headers of a request select.
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, GatewayError> {
        let has = |name: &str, expected: &[u8]| {
            headers
                .get(name)
                .is_some_and(|value| value.as_bytes().trim_ascii().eq_ignore_ascii_case(expected))
        };
        let base64 = has("upstash-encoding", b"base64");
        let resp2 = has("upstash-response-format", b"resp2");
        let json = !headers.contains_key("upstash-response-format")
            || has("upstash-response-format", b"json");
        match (json, resp2, base64) {
            (true, _, false) => Ok(Self::Text),
            (true, _, true) => Ok(Self::Base64),
            (false, true, false) => Ok(Self::Resp2),
            (false, true, true) => Err(GatewayError::Base64OfResp2),
            (false, false, _) => Err(GatewayError::BadResponseFormat),
        }
    }

    /// Returns the format of a response to `/multi-exec`, which is always JSON.
    pub(super) fn for_transaction(self) -> Self {
        if self == Self::Resp2 {
            Self::Text
        } else {
            self
        }
    }
}

/// Returns the response to a single command.
pub(super) fn single(result: &CommandResult, format: Format) -> Response {
    let status = result
        .as_ref()
        .map_or_else(GatewayError::status, |_| StatusCode::OK);
    let mut body = Vec::new();
    // Errors of the gateway itself are JSON in every format.
    let content_type =
        if format == Format::Resp2 && matches!(result, Ok(_) | Err(GatewayError::Redis(_))) {
            reply::resp2::result(&mut body, result);
            OCTET_STREAM
        } else {
            reply::json::result(&mut body, result, format == Format::Base64);
            JSON
        };
    with_retry_after(response(status, content_type, body))
}

/// Returns the response to a pipeline or transaction, which is 200 even if every command failed.
pub(super) fn batch(results: &[CommandResult], format: Format) -> Response {
    let mut body = Vec::new();
    if format == Format::Resp2 {
        reply::resp2::results(&mut body, results);
        return response(StatusCode::OK, OCTET_STREAM, body);
    }
    reply::json::results(&mut body, results, format == Format::Base64);
    response(StatusCode::OK, JSON, body)
}

/// Returns the response to a request that failed as a whole.
pub(super) fn error(error: &GatewayError) -> Response {
    let mut body = Vec::new();
    reply::json::error(&mut body, &error.message());
    with_retry_after(response(error.status(), JSON, body))
}

/// Returns the response of `/healthz` while Redis is reachable.
pub(super) fn healthy() -> Response {
    response(StatusCode::OK, JSON, b"{\"result\":\"PONG\"}".to_vec())
}

/// Returns the response that streams events.
pub(super) fn event_stream(events: Body) -> Response {
    let mut response = Response::new(events);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, EVENT_STREAM);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
    response
}

/// Returns the response to a CORS preflight request.
pub(super) fn preflight(request_headers: &HeaderMap) -> Response {
    let mut response = Response::default();
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    if let Some(requested) = request_headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, requested.clone());
    }
    response
}

/// Returns a 405 response. It is the only error whose body the protocol leaves empty.
pub(super) fn method_not_allowed() -> Response {
    let mut response = Response::default();
    *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    response.headers_mut().insert(header::ALLOW, METHODS);
    response
}

/// Adds the headers of every response: the sync token and CORS.
pub(super) fn with_common_headers(
    mut response: Response,
    request_headers: &HeaderMap,
    sync_token: HeaderValue,
) -> Response {
    let headers = response.headers_mut();
    headers.insert(SYNC_TOKEN, sync_token);
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_CREDENTIALS,
        HeaderValue::from_static("true"),
    );
    if let Some(origin) = request_headers.get(header::ORIGIN) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
        headers.insert(header::VARY, HeaderValue::from_static("origin"));
    }
    response
}

fn with_retry_after(mut response: Response) -> Response {
    if response.status() == StatusCode::SERVICE_UNAVAILABLE {
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

fn response(status: StatusCode, content_type: HeaderValue, body: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, content_type);
    response
}
