//! Signed tokens, valid and invalid.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use test_support::{Value, json};

/// The shared secret of the deployments under test.
pub const SECRET: &str = "a secret of thirty-two bytes, ok?";

/// Seconds since 1970.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    i64::try_from(since.expect("after 1970").as_secs()).expect("seconds")
}

/// Encodes bytes as base64url without padding.
pub fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Returns the claims of a user, valid for ten minutes.
pub fn claims(user: impl Into<Value>) -> Value {
    json!({"sub": user.into(), "exp": now() + 600})
}

/// Returns the claims of user 42 with changes. Null removes a claim.
pub fn claims_with(changes: Value) -> Value {
    let mut claims = claims("42");
    for (name, value) in changes.as_object().expect("claims") {
        claims[name] = value.clone();
    }
    claims
        .as_object_mut()
        .expect("claims")
        .retain(|_, value| !value.is_null());
    claims
}

/// Builds a token. Header and claims are encoded as they are, valid JSON or not.
pub fn token(
    header: impl ToString,
    claims: impl ToString,
    sign: impl Fn(&[u8]) -> Vec<u8>,
) -> String {
    let (header, claims) = (encoded(header.to_string()), encoded(claims.to_string()));
    let signed = format!("{header}.{claims}");
    let signature = encoded(sign(signed.as_bytes()));
    format!("{signed}.{signature}")
}

/// Returns a function that signs with HMAC-SHA-256.
pub fn hmac(secret: impl AsRef<[u8]>) -> impl Fn(&[u8]) -> Vec<u8> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_ref());
    move |signed| hmac::sign(&key, signed).as_ref().to_vec()
}

/// Builds a token signed with [`SECRET`].
pub fn hs256(claims: &Value) -> String {
    token(json!({"alg": "HS256", "typ": "JWT"}), claims, hmac(SECRET))
}
