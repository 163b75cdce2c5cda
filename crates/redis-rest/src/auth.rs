//! Authentication: checks the token of a request.

use axum::http::{HeaderMap, header::AUTHORIZATION};
use subtle::ConstantTimeEq;

use crate::{error::GatewayError, policy::Access, request::url};

/// The configured tokens.
pub(crate) struct Auth {
    full: Vec<u8>,
    /// Empty without a read-only token.
    read_only: Vec<u8>,
    accept_query_token: bool,
}

impl Auth {
    pub(crate) fn new(full: &str, read_only: &str, accept_query_token: bool) -> Self {
        // A token read from a file may end with a newline, which no header can carry.
        let bytes = |token: &str| token.trim().as_bytes().to_vec();
        Self {
            full: bytes(full),
            read_only: bytes(read_only),
            accept_query_token,
        }
    }

    /// Returns the access that the token of a request grants.
    ///
    /// `_token` in the query takes precedence over the `Authorization` header. The `Bearer` scheme
    /// is optional.
    pub(crate) fn check(
        &self,
        headers: &HeaderMap,
        raw_query: Option<&str>,
    ) -> Result<Access, GatewayError> {
        let from_query = raw_query
            .filter(|_| self.accept_query_token)
            .and_then(url::token);
        let presented = match &from_query {
            Some(token) => token,
            None => headers
                .get(AUTHORIZATION)
                .map_or(&[][..], |value| bearer(value.as_bytes())),
        };
        let matches = |token: &[u8]| !token.is_empty() && bool::from(token.ct_eq(presented));
        match (matches(&self.full), matches(&self.read_only)) {
            (true, _) => Ok(Access::Full),
            (false, true) => Ok(Access::ReadOnly),
            (false, false) => Err(GatewayError::Unauthorized),
        }
    }
}

fn bearer(value: &[u8]) -> &[u8] {
    match value.split_first_chunk::<7>() {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case(b"Bearer ") => token.trim_ascii(),
        _ => value.trim_ascii(),
    }
}
