//! The log: lines on stderr.

use std::io::{Write, stderr};

/// Writes a line. Written in parts, as `eprintln!` does, it would mix with what another thread writes to stdout, if both go to
/// one file.
pub fn line(message: &str) {
    // A closed stderr is no failure.
    let _ = stderr().write_all(format!("redis-rest: {message}\n").as_bytes());
}
