//! User tokens: JWTs (RFC 7519) with their keys and claims.
//!
//! The Worker verifies signatures with WebCrypto.

mod base64url;
mod claims;
pub mod keys;
mod member;

pub use member::Member;

use crate::calendar::Instant;
use crate::config::Tokens;
use crate::json;
use serde_json::{Map, Value};

/// Maximum length of a token.
const MAX_BYTES: usize = 8 * 1024;

/// The parts of a token. None of them can be trusted before the signature is verified.
#[derive(Clone, Debug, PartialEq)]
pub struct Token<'a> {
    /// The algorithm in the header. It selects a configured key, but not the algorithm of that key.
    pub algorithm: String,
    /// The key id in the header.
    pub key_id: Option<String>,
    /// The signed text: header and claims.
    pub signed: &'a str,
    /// The signature, in base64url.
    pub signature: &'a str,
    claims: &'a str,
}

impl<'a> Token<'a> {
    /// Splits a token into its parts and decodes its header.
    ///
    /// # Errors
    ///
    /// Why the text is not a token.
    pub fn parse(text: &'a str) -> Result<Self, &'static str> {
        if text.len() > MAX_BYTES {
            return Err("A user token is at most 8192 bytes.");
        }
        let parts = text.rsplit_once('.');
        let parts = parts.and_then(|(signed, signature)| {
            let (header, claims) = signed.split_once('.')?;
            (!claims.contains('.')).then_some((signed, header, claims, signature))
        });
        let Some((signed, header, claims, signature)) = parts else {
            return Err("This is neither a known service key nor a user token.");
        };
        let header = decode_object(header).ok_or("The header of the user token is malformed.")?;
        // A recipient must reject extensions that it does not implement (RFC 7515, 4.1.11).
        if header.contains_key("crit") {
            return Err("The user token requires unsupported extensions (crit).");
        }
        if base64url::decode(signature).is_none() {
            return Err("The signature of the user token is malformed.");
        }
        Ok(Self {
            algorithm: string_field(&header, "alg").unwrap_or_default(),
            key_id: string_field(&header, "kid"),
            signed,
            signature,
            claims,
        })
    }

    /// Checks the claims of a token with a verified signature, and returns them.
    ///
    /// # Errors
    ///
    /// Why the token is not valid now.
    pub fn claims(&self, tokens: &Tokens, now: Instant) -> Result<Map<String, Value>, String> {
        let claims =
            decode_object(self.claims).ok_or("The claims of the user token are malformed.")?;
        claims::check(&claims, tokens, now)?;
        Ok(claims)
    }
}

/// Decodes a part of a token: a JSON object in base64url.
fn decode_object(part: &str) -> Option<Map<String, Value>> {
    match json::read(&base64url::decode(part)?) {
        Ok(Value::Object(fields)) => Some(fields),
        Ok(_) | Err(_) => None,
    }
}

fn string_field(object: &Map<String, Value>, name: &str) -> Option<String> {
    object.get(name)?.as_str().map(str::to_owned)
}
