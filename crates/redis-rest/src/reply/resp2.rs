//! Encodes results as RESP2, version 2 of the Redis protocol.

use redis::Value;

use crate::{error::error_line, runner::CommandResult};

/// Appends one result.
pub(crate) fn result(out: &mut Vec<u8>, result: &CommandResult) {
    match result {
        Ok(value) => write(out, value),
        Err(error) => line(out, b'-', error.message().as_bytes()),
    }
}

fn write(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Int(number) => line(out, b':', itoa::Buffer::new().format(*number).as_bytes()),
        Value::BulkString(bytes) => {
            length(out, b'$', bytes.len());
            out.extend_from_slice(bytes);
            out.extend_from_slice(b"\r\n");
        }
        Value::SimpleString(text) => line(out, b'+', text.as_bytes()),
        Value::Okay => line(out, b'+', b"OK"),
        Value::Array(values) => {
            length(out, b'*', values.len());
            for value in values {
                write(out, value);
            }
        }
        Value::ServerError(error) => line(out, b'-', error_line(error).as_bytes()),
        // The client library does not distinguish a null array from a null string.
        _ => line(out, b'$', b"-1"),
    }
}

fn length(out: &mut Vec<u8>, prefix: u8, count: usize) {
    line(out, prefix, itoa::Buffer::new().format(count).as_bytes());
}

fn line(out: &mut Vec<u8>, prefix: u8, text: &[u8]) {
    out.push(prefix);
    out.extend_from_slice(text);
    out.extend_from_slice(b"\r\n");
}
