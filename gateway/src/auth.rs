//! Is this the token.

use axum::http::{HeaderMap, header::AUTHORIZATION};
use subtle::ConstantTimeEq;

use crate::{error::Fault, request::query};

/// The one token that opens everything, and where it may stand.
pub(crate) struct Auth {
    token: Vec<u8>,
    in_query: bool,
}

impl Auth {
    pub(crate) fn new(token: &str, in_query: bool) -> Self {
        Self {
            token: token.as_bytes().to_vec(),
            in_query,
        }
    }

    /// `_token` in the query wins over the header; the word `Bearer` may be missing.
    pub(crate) fn check(&self, headers: &HeaderMap, raw_query: Option<&str>) -> Result<(), Fault> {
        let in_query = raw_query.filter(|_| self.in_query).and_then(query::token);
        let presented = match &in_query {
            Some(token) => token,
            None => headers
                .get(AUTHORIZATION)
                .map_or(&[][..], |value| bearer(value.as_bytes())),
        };
        if bool::from(self.token.ct_eq(presented)) {
            Ok(())
        } else {
            Err(Fault::Unauthorized)
        }
    }
}

fn bearer(value: &[u8]) -> &[u8] {
    match value.split_first_chunk::<7>() {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case(b"Bearer ") => token.trim_ascii(),
        _ => value.trim_ascii(),
    }
}
