//! Signatures by the platform's WebCrypto: user tokens are verified, and credentials are signed.

use super::bridge::HostCall;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(raw_module = "platform/crypto.js")]
extern "C" {
    #[wasm_bindgen(catch, js_name = "sign")]
    async fn sign_jwt(
        algorithm: &str,
        key: &str,
        header: &str,
        claims: &str,
    ) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_name = "hash")]
    async fn hash_text(key: &str, text: &str) -> Result<JsValue, JsValue>;
}

/// Returns whether a signature is valid. `key` is a secret for `HS256`, else a JWK as JSON;
/// `signature` is base64url.
pub async fn is_signed(algorithm: &str, key: &str, signature: &str, signed: &str) -> bool {
    let call = HostCall::Verify {
        algorithm,
        key,
        signature,
        signed,
    };
    let reply = call.start().await;
    reply.is_ok_and(|reply| reply.number == 1.0)
}

/// Returns a signed JWT, or `None` if the platform rejects the key, a private one as a JWK. Header and claims are JSON.
pub async fn sign(algorithm: &str, key: &str, header: &str, claims: &str) -> Option<String> {
    sign_jwt(algorithm, key, header, claims)
        .await
        .ok()?
        .as_string()
}

/// Returns HMAC with SHA-256 of a text, in hexadecimal digits; `None` if the platform rejects the key.
pub async fn hash(key: &str, text: &str) -> Option<String> {
    hash_text(key, text).await.ok()?.as_string()
}
