//! Whose token is this.

use axum::http::{HeaderMap, header::AUTHORIZATION};
use subtle::ConstantTimeEq;

use crate::{error::Fault, request::query};

/// What a token opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Everything REST can carry.
    Full,
    /// Commands that only read, and of those none that lists keys.
    ReadOnly,
}

/// The tokens, and where they may stand.
pub(crate) struct Auth {
    full: Vec<u8>,
    /// Empty: there is none.
    read_only: Vec<u8>,
    in_query: bool,
}

impl Auth {
    pub(crate) fn new(full: &str, read_only: &str, in_query: bool) -> Self {
        // A token read from a file may bring its line end along; no header could hold that.
        let bytes = |token: &str| token.trim().as_bytes().to_vec();
        Self {
            full: bytes(full),
            read_only: bytes(read_only),
            in_query,
        }
    }

    /// `_token` in the query wins over the header; the word `Bearer` may be missing.
    pub(crate) fn check(
        &self,
        headers: &HeaderMap,
        raw_query: Option<&str>,
    ) -> Result<Access, Fault> {
        let in_query = raw_query.filter(|_| self.in_query).and_then(query::token);
        let presented = match &in_query {
            Some(token) => token,
            None => headers
                .get(AUTHORIZATION)
                .map_or(&[][..], |value| bearer(value.as_bytes())),
        };
        let is = |token: &[u8]| !token.is_empty() && bool::from(token.ct_eq(presented));
        match (is(&self.full), is(&self.read_only)) {
            (true, _) => Ok(Access::Full),
            (false, true) => Ok(Access::ReadOnly),
            (false, false) => Err(Fault::Unauthorized),
        }
    }
}

fn bearer(value: &[u8]) -> &[u8] {
    match value.split_first_chunk::<7>() {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case(b"Bearer ") => token.trim_ascii(),
        _ => value.trim_ascii(),
    }
}
