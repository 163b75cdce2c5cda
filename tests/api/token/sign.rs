//! Tokens as an issuer makes them, and as nobody should.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use test_support::{Value, json};

/// The shared secret of the services under test.
pub const SECRET: &str = "a secret of thirty-two bytes, ok?";

/// Seconds since 1970.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    i64::try_from(since.expect("after 1970").as_secs()).expect("seconds")
}

/// Base64url.
pub fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Claims of a user for the next ten minutes.
pub fn claims(user: impl Into<Value>) -> Value {
    json!({"sub": user.into(), "exp": now() + 600})
}

/// Claims of the user 42 with others set, or taken away by null.
pub fn claims_with(others: Value) -> Value {
    let mut claims = claims("42");
    for (name, value) in others.as_object().expect("claims") {
        claims[name] = value.clone();
    }
    claims
        .as_object_mut()
        .expect("claims")
        .retain(|_, value| !value.is_null());
    claims
}

/// A token of any header and claims, texts as they are, signed in some way.
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

/// HMAC with SHA-256 by a secret.
pub fn hmac(secret: impl AsRef<[u8]>) -> impl Fn(&[u8]) -> Vec<u8> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_ref());
    move |signed| hmac::sign(&key, signed).as_ref().to_vec()
}

/// A token by the shared secret.
pub fn hs256(claims: &Value) -> String {
    token(json!({"alg": "HS256", "typ": "JWT"}), claims, hmac(SECRET))
}
