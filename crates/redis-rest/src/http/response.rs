//! Builds HTTP responses: the format of a response, its status, headers and body.

use std::sync::Arc;

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::Response,
};

use crate::{backend::ReplyBudget, error::GatewayError, reply, runner::CommandResult};

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

    fn content_type(self) -> HeaderValue {
        match self {
            Self::Text | Self::Base64 => JSON,
            Self::Resp2 => OCTET_STREAM,
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

/// Returns the response to a single command. `budget` is that of its reply.
pub(super) fn single(result: CommandResult, format: Format, budget: Arc<ReplyBudget>) -> Response {
    let status = result
        .as_ref()
        .map_or_else(GatewayError::status, |_| StatusCode::OK);
    // Errors of the gateway itself are JSON in every format.
    let format = match &result {
        Ok(_) | Err(GatewayError::Redis(_)) => format,
        Err(_) => Format::Text,
    };
    let mut body = Vec::new();
    append(&mut body, &result, format);
    drop(result);
    let limit = budget.limits().request;
    if body.len() > limit && status == StatusCode::OK {
        return error(&GatewayError::RepliesTooLarge { limit });
    }
    let body = charged(body, budget);
    with_retry_after(response(status, format.content_type(), body))
}

/// Returns the response to a pipeline or transaction, which is 200 even if every command failed.
/// `budget` is that of the replies. The JSON of a reply may be longer than the reply, so the limit
/// applies to it too.
pub(super) fn batch(
    results: Vec<CommandResult>,
    format: Format,
    budget: Arc<ReplyBudget>,
) -> Response {
    let limit = budget.limits().request;
    let is_json = format != Format::Resp2;
    let mut body = Vec::new();
    if is_json {
        body.push(b'[');
    }
    // Frees each reply after its encoding.
    for (index, result) in results.into_iter().enumerate() {
        if is_json && index > 0 {
            body.push(b',');
        }
        let start = body.len();
        append(&mut body, &result, format);
        if body.len() > limit && result.is_ok() {
            body.truncate(start);
            let error = GatewayError::RepliesTooLarge { limit };
            append(&mut body, &Err(error), format);
        }
    }
    if is_json {
        body.push(b']');
    }
    let body = charged(body, budget);
    response(StatusCode::OK, format.content_type(), body)
}

fn append(body: &mut Vec<u8>, result: &CommandResult, format: Format) {
    match format {
        Format::Resp2 => reply::resp2::result(body, result),
        Format::Text | Format::Base64 => {
            reply::json::result(body, result, format == Format::Base64);
        }
    }
}

/// Charges a response body to a budget until the client has received it.
fn charged(mut body: Vec<u8>, budget: Arc<ReplyBudget>) -> Bytes {
    struct Charged {
        body: Vec<u8>,
        _budget: Arc<ReplyBudget>,
    }
    impl AsRef<[u8]> for Charged {
        fn as_ref(&self) -> &[u8] {
            &self.body
        }
    }
    body.shrink_to_fit();
    budget.set(body.len());
    Bytes::from_owner(Charged {
        body,
        _budget: budget,
    })
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

fn response(status: StatusCode, content_type: HeaderValue, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, content_type);
    response
}
