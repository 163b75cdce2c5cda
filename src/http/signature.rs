//! Whether a user token was signed by a key of ours. The platform's WebCrypto knows.

use super::call::Call;
use super::edge::perform;
use super::keys;
use crate::config::Tokens;
use crate::error::Error;
use crate::token::Token;

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
    // The key comes last: a secret may have line ends.
    let takes = [
        token.algorithm.as_str(),
        token.signature,
        token.signed,
        &key,
    ];
    match perform("verify_signature", &takes).await {
        Ok(right) if right == "1" => Ok(()),
        Ok(_) | Err(_) => Err(Error::InvalidToken(
            "The user token's signature is not right.",
        )),
    }
}
