//! Parses a request into commands.

pub(crate) mod body;
#[cfg(any(test, fuzzing))]
pub mod decoding;
pub(crate) mod json;
pub(crate) mod url;
