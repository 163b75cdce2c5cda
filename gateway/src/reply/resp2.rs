//! Slots → the bytes of the Redis protocol, version 2.

use redis::Value;

use crate::run::Slot;

/// One reply.
pub(crate) fn slot(out: &mut Vec<u8>, slot: &Slot) {
    match slot {
        Ok(value) => write(out, value),
        Err(fault) => line(out, b'-', fault.text().as_bytes()),
    }
}

/// The replies of a pipeline, one after the other.
pub(crate) fn slots(out: &mut Vec<u8>, slots: &[Slot]) {
    for each in slots {
        slot(out, each);
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
            for each in values {
                write(out, each);
            }
        }
        Value::ServerError(error) => line(out, b'-', super::error_line(error).as_bytes()),
        // The client library does not keep the null array apart from the null string.
        _ => line(out, b'$', b"-1"),
    }
}

fn length(out: &mut Vec<u8>, kind: u8, count: usize) {
    line(out, kind, itoa::Buffer::new().format(count).as_bytes());
}

fn line(out: &mut Vec<u8>, kind: u8, text: &[u8]) {
    out.push(kind);
    out.extend_from_slice(text);
    out.extend_from_slice(b"\r\n");
}
