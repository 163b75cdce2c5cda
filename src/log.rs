//! The log: one line of JSON for each problem that the caller did not cause.
//!
//! A line names the pattern of the route instead of the path, because paths contain user ids. It
//! never contains a header, a query or a body.

use crate::request::Request;
use activity_rank_core::error::Error;
use serde::Serialize;

#[derive(Serialize)]
struct Line<'a> {
    level: &'static str,
    request_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    method: &'a str,
    route: &'a str,
    cause: &'a str,
}

/// Logs the cause of a failed request.
pub fn failure(request: &Request, error: &Error) {
    if let Some(cause) = error.cause() {
        let line = line(request, "error", Some(error.status()), &cause);
        worker::console_error!("{line}");
    }
}

/// Logs a problem that did not fail the request.
pub fn warning(request: &Request, cause: &str) {
    let line = line(request, "warn", None, cause);
    worker::console_warn!("{line}");
}

/// Logs the cause of a failed scheduled job.
pub fn job(error: &Error) {
    if let Some(cause) = error.cause() {
        let line = serde_json::json!({"level": "error", "route": "scheduled", "cause": cause});
        worker::console_error!("{line}");
    }
}

/// Logs a problem that did not fail a scheduled job.
pub fn scheduled(cause: &str) {
    let line = serde_json::json!({"level": "warn", "route": "scheduled", "cause": cause});
    worker::console_warn!("{line}");
}

/// Logs a problem with a message of the queue.
pub fn message(id: &str, tries: u32, cause: &str) {
    let line =
        serde_json::json!({"level": "warn", "message_id": id, "tries": tries, "cause": cause});
    worker::console_warn!("{line}");
}

/// Logs a detail for developers.
pub fn debug(cause: &str) {
    let line = serde_json::json!({"level": "debug", "cause": cause});
    worker::console_debug!("{line}");
}

fn line(request: &Request, level: &'static str, status: Option<u16>, cause: &str) -> String {
    let line = Line {
        level,
        request_id: &request.id,
        status,
        method: &request.method,
        route: request.route,
        cause,
    };
    serde_json::to_string(&line).unwrap_or_default()
}
