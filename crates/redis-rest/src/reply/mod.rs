//! Encodes command results as JSON or RESP2.

pub(crate) mod json;
pub(crate) mod resp2;
