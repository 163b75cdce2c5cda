//! Signatures of user tokens, verified by the platform's WebCrypto.

use super::bridge::HostCall;

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
