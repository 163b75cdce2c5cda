//! Whether a user token was signed by a key of ours. The platform's WebCrypto knows.

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
/// [`Error::InvalidToken`].
pub async fn verify(token: &Token<'_>, tokens: &Tokens) -> Result<(), Error> {
    // Each algorithm has keys of its own kind. So a token chooses among our keys, but none is
    // ever used for another algorithm than its own: a public key can never be taken as a secret.
    let key = match token.algorithm.as_str() {
        "HS256" => tokens.secret.clone(),
        _ => None,
    };
    let key = key.ok_or(Error::InvalidToken(
        "The user token is signed by an algorithm that is not taken here.",
    ))?;
    let right = verify_signature(&token.algorithm, &key, &token.signature, token.signed);
    match JsFuture::from(right).await {
        Ok(right) if right.is_truthy() => Ok(()),
        Ok(_) | Err(_) => Err(Error::InvalidToken(
            "The user token's signature is not right.",
        )),
    }
}
