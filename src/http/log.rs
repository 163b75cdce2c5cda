//! What goes wrong and is not the caller's fault: one line of JSON each.
//!
//! A line names the pattern of the route and not the path: paths hold user ids. No line holds a
//! header, a query or a body.

use super::call::Call;
use crate::error::Error;
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

/// A request that could not be done.
pub fn failure(call: &Call, error: &Error) {
    if let Some(cause) = error.cause() {
        let line = line(call, "error", Some(error.status()), &cause);
        worker::console_error!("{line}");
    }
}

/// What a request was done in spite of.
pub fn warning(call: &Call, cause: &str) {
    let line = line(call, "warn", None, cause);
    worker::console_warn!("{line}");
}

/// What is done from time to time could not be.
pub fn run(error: &Error) {
    if let Some(cause) = error.cause() {
        let line = serde_json::json!({"level": "error", "route": "scheduled", "cause": cause});
        worker::console_error!("{line}");
    }
}

/// What became of a message of the queue, of no request.
pub fn message(id: &str, tries: u32, cause: &str) {
    let line =
        serde_json::json!({"level": "warn", "message_id": id, "tries": tries, "cause": cause});
    worker::console_warn!("{line}");
}

/// What is of interest to whoever develops this, of no request.
pub fn debug(cause: &str) {
    let line = serde_json::json!({"level": "debug", "cause": cause});
    worker::console_debug!("{line}");
}

fn line(call: &Call, level: &'static str, status: Option<u16>, cause: &str) -> String {
    let line = Line {
        level,
        request_id: &call.id,
        status,
        method: &call.method,
        route: call.route,
        cause,
    };
    serde_json::to_string(&line).unwrap_or_default()
}
