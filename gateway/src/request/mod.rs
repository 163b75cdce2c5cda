//! Body, path and headers → commands.

pub(crate) mod body;
#[cfg(any(test, fuzzing))]
pub mod decoding;
pub(crate) mod format;
pub(crate) mod json;
pub(crate) mod path;
pub(crate) mod query;
