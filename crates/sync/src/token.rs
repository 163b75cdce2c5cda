//! JSON Web Tokens with HMAC and SHA-256.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;

/// Returns a token with a header and claims; `None` if the secret cannot be a key.
#[must_use]
pub fn sign(header: &Value, claims: &Value, secret: &[u8]) -> Option<String> {
    let encode = |json: &Value| URL_SAFE_NO_PAD.encode(json.to_string());
    let signing_input = format!("{}.{}", encode(header), encode(claims));
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
    mac.update(signing_input.as_bytes());
    let signature = URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes());
    Some(format!("{signing_input}.{signature}"))
}
