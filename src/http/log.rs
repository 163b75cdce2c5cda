//! What goes wrong and is not the caller's fault: one line of JSON each.
//!
//! A line names the pattern of the route and not the path: paths hold user ids. No line holds a
//! header, a query or a body.

use super::call::Call;
use super::edge::{Level, log};
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
        log(Level::Error, &line);
    }
}

/// What a request was done in spite of.
pub fn warning(call: &Call, cause: &str) {
    log(Level::Warn, &line(call, "warn", None, cause));
}

/// What is done from time to time could not be.
pub fn run(error: &Error) {
    if let Some(cause) = error.cause() {
        let line = serde_json::json!({"level": "error", "route": "scheduled", "cause": cause});
        log(Level::Error, &json(&line));
    }
}

/// What became of a message of the queue, of no request.
pub fn message(id: &str, tries: u32, cause: &str) {
    let line =
        serde_json::json!({"level": "warn", "message_id": id, "tries": tries, "cause": cause});
    log(Level::Warn, &json(&line));
}

/// What is of interest to whoever develops this, of no request.
pub fn debug(cause: &str) {
    let line = serde_json::json!({"level": "debug", "cause": cause});
    log(Level::Debug, &json(&line));
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
    json(&line)
}

fn json(line: &impl Serialize) -> String {
    serde_json::to_string(line).unwrap_or_default()
}
