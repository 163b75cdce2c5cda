//! Redis values → JSON or RESP2 bytes.

pub(crate) mod json;
pub(crate) mod resp2;

use redis::ServerError;

/// An error line as Redis wrote it, but for the one text that differs between servers and that
/// clients rely on.
pub(crate) fn error_line(error: &ServerError) -> String {
    match (error.code(), error.details()) {
        // Valkey leaves the second sentence out.
        ("NOSCRIPT", _) => "NOSCRIPT No matching script. Please use EVAL.".to_owned(),
        (code, Some(details)) => format!("{code} {details}"),
        (code, None) => code.to_owned(),
    }
}
