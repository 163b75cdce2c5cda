//! How the caller wants the answer: from the `Upstash-*` headers.

use axum::http::HeaderMap;

use crate::error::Fault;

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// JSON; strings as text, what is not UTF-8 in them as U+FFFD.
    Text,
    /// JSON; strings as base64 of their bytes.
    Base64,
    /// The bytes of the Redis protocol, version 2.
    Resp2,
}

impl Format {
    pub(crate) fn of(headers: &HeaderMap) -> Result<Self, Fault> {
        let is = |name: &str, value: &[u8]| {
            headers
                .get(name)
                .is_some_and(|own| own.as_bytes().trim_ascii().eq_ignore_ascii_case(value))
        };
        let base64 = is("upstash-encoding", b"base64");
        let resp2 = is("upstash-response-format", b"resp2");
        let json = !headers.contains_key("upstash-response-format")
            || is("upstash-response-format", b"json");
        match (json, resp2, base64) {
            (true, _, false) => Ok(Self::Text),
            (true, _, true) => Ok(Self::Base64),
            (false, true, false) => Ok(Self::Resp2),
            (false, true, true) => Err(Fault::Base64OfResp2),
            (false, false, _) => Err(Fault::BadResponseFormat),
        }
    }

    /// Raw replies are for single commands and pipelines only.
    pub(crate) fn of_transaction(self) -> Self {
        if self == Self::Resp2 {
            Self::Text
        } else {
            self
        }
    }
}
