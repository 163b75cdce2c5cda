//! Body, path and headers → commands.

pub(crate) mod body;
pub(crate) mod format;
pub(crate) mod json;
pub(crate) mod path;
pub(crate) mod query;
