//! Encodes results as JSON, in one pass and into one buffer.

use base64::{Engine, engine::general_purpose::STANDARD};
use redis::Value;

use crate::{error::error_line, runner::CommandResult};

/// Appends `{"result":…}` or `{"error":"…"}`.
pub(crate) fn result(out: &mut Vec<u8>, result: &CommandResult, base64: bool) {
    match result {
        Ok(value) => {
            out.extend_from_slice(b"{\"result\":");
            match value {
                // The hosted service does not encode a top-level OK.
                Value::Okay => out.extend_from_slice(b"\"OK\""),
                other => write(out, other, base64),
            }
            out.push(b'}');
        }
        Err(problem) => error(out, &problem.message()),
    }
}

/// Appends `{"error":"…"}`.
pub(crate) fn error(out: &mut Vec<u8>, message: &str) {
    out.extend_from_slice(b"{\"error\":");
    string(out, message.as_bytes());
    out.push(b'}');
}

fn write(out: &mut Vec<u8>, value: &Value, base64: bool) {
    match value {
        Value::Int(number) => out.extend_from_slice(itoa::Buffer::new().format(*number).as_bytes()),
        Value::BulkString(bytes) => bytes_or_base64(out, bytes, base64),
        Value::SimpleString(text) => bytes_or_base64(out, text.as_bytes(), base64),
        // The SDKs decode every string inside an array, also OK.
        Value::Okay => bytes_or_base64(out, b"OK", base64),
        Value::Array(values) => list(out, values, |out, each| write(out, each, base64)),
        Value::ServerError(error) => bytes_or_base64(out, error_line(error).as_bytes(), base64),
        // Nil. The other kinds of values exist only in RESP3.
        _ => out.extend_from_slice(b"null"),
    }
}

fn list<T>(out: &mut Vec<u8>, items: &[T], mut each: impl FnMut(&mut Vec<u8>, &T)) {
    out.push(b'[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        each(out, item);
    }
    out.push(b']');
}

fn bytes_or_base64(out: &mut Vec<u8>, bytes: &[u8], base64: bool) {
    if !base64 {
        return string(out, bytes);
    }
    out.push(b'"');
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    let space = out.get_mut(start..).unwrap_or_default();
    let written = STANDARD.encode_slice(bytes, space).unwrap_or(0);
    out.truncate(start + written);
    out.push(b'"');
}

/// Appends a JSON string. Invalid UTF-8 becomes U+FFFD.
fn string(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(b'"');
    for chunk in bytes.utf8_chunks() {
        escaped(out, chunk.valid().as_bytes());
        if !chunk.invalid().is_empty() {
            out.extend_from_slice("\u{FFFD}".as_bytes());
        }
    }
    out.push(b'"');
}

fn escaped(out: &mut Vec<u8>, text: &[u8]) {
    let mut rest = text;
    while let Some(at) = rest
        .iter()
        .position(|byte| matches!(byte, 0..=0x1F | b'"' | b'\\'))
    {
        let Some((plain, [special, after @ ..])) = rest.split_at_checked(at) else {
            break;
        };
        out.extend_from_slice(plain);
        match special {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            control => {
                let hex = |nibble: u8| {
                    if nibble < 10 {
                        b'0' + nibble
                    } else {
                        b'a' + nibble - 10
                    }
                };
                out.extend_from_slice(&[
                    b'\\',
                    b'u',
                    b'0',
                    b'0',
                    hex(control >> 4),
                    hex(control & 15),
                ]);
            }
        }
        rest = after;
    }
    out.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use base64::{Engine, engine::general_purpose::STANDARD};
    use proptest::prelude::*;
    use redis::Value;
    use serde_json::json;

    use super::result;

    fn encoded(value: Value, base64: bool) -> serde_json::Value {
        let mut out = Vec::new();
        result(&mut out, &Ok(value), base64);
        serde_json::from_slice(&out).unwrap_or_default()
    }

    proptest! {
        #[test]
        fn any_bytes_become_valid_json(bytes: Vec<u8>) {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            prop_assert_eq!(encoded(Value::BulkString(bytes), false), json!({ "result": text }));
        }

        #[test]
        fn any_bytes_become_base64(bytes: Vec<u8>) {
            let base64 = STANDARD.encode(&bytes);
            prop_assert_eq!(encoded(Value::BulkString(bytes), true), json!({ "result": base64 }));
        }

        #[test]
        fn any_integer_keeps_all_digits(number: i64) {
            let mut out = Vec::new();
            result(&mut out, &Ok(Value::Int(number)), true);
            prop_assert_eq!(String::from_utf8(out), Ok(format!("{{\"result\":{number}}}")));
        }
    }
}
