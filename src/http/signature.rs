//! Whether a user token was signed by a key of ours. The platform's WebCrypto knows.

use super::call::Call;
use super::keys;
use crate::config::Tokens;
use crate::error::Error;
use crate::token::Token;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::js_sys::Promise;
use worker::wasm_bindgen_futures::JsFuture;

#[wasm_bindgen(module = "/src/http/signature.js")]
extern "C" {
    fn verify_signature(algorithm: &str, key: &str, signature: &[u8], signed: &str) -> Promise;
}

/// Verifies the signature of a token.
///
/// # Errors
///
/// [`Error::InvalidToken`]; [`Error::KeysUnavailable`] where there is no key to verify it with.
pub async fn verify(token: &Token<'_>, tokens: &Tokens, call: &Call) -> Result<(), Error> {
    // Each algorithm has keys of its own kind. So a token chooses among our keys, but none is
    // ever used for another algorithm than its own: a public key can never be taken as a secret.
    let key = match (token.algorithm.as_str(), &tokens.secret, &tokens.jwks_url) {
        ("HS256", Some(secret), _) => secret.clone(),
        ("RS256" | "ES256" | "EdDSA", _, Some(url)) => keys::find(token, url, call).await?.jwk,
        _ => {
            let other = "The user token is signed by an algorithm that is not taken here.";
            return Err(Error::InvalidToken(other));
        }
    };
    let right = verify_signature(&token.algorithm, &key, &token.signature, token.signed);
    match JsFuture::from(right).await {
        Ok(right) if right.is_truthy() => Ok(()),
        Ok(_) | Err(_) => Err(Error::InvalidToken(
            "The user token's signature is not right.",
        )),
    }
}
