//! Steps around the handlers of several routes.

pub mod authentication;
pub mod cors;
mod key_set;
pub mod rate_limit;
pub mod security_headers;
