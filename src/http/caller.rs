//! Who is calling: a service by its key, a user by a token.

use super::call::Call;
use super::signature;
use crate::caller::Caller;
use crate::config::Config;
use crate::error::Error;
use crate::token::Token;
use subtle::{Choice, ConstantTimeEq};

/// The caller that the `Authorization` header of a request proves.
///
/// # Errors
///
/// [`Error::Unauthenticated`] where it proves none, [`Error::InvalidToken`] where what it holds
/// is not a user token that holds now, [`Error::KeysUnavailable`] where that cannot be known.
pub async fn identify(call: &Call, config: &Config) -> Result<Caller, Error> {
    let (services, users) = (!config.service_keys.is_empty(), config.tokens.are_taken());
    let how = match (services, users) {
        (true, true) => "Send the header Authorization: Bearer <service key or user token>.",
        (true, false) => "Send the header Authorization: Bearer <service key>.",
        (false, true) => "Send the header Authorization: Bearer <user token>.",
        (false, false) => {
            "Neither service keys nor user tokens are configured, so nobody may do this."
        }
    };
    let token = bearer(call).filter(|_| services || users);
    let token = token.ok_or(Error::Unauthenticated(how))?;
    if is_service_key(token, config) {
        return Ok(Caller::Service);
    }
    if !users {
        return Err(Error::Unauthenticated("This service key is not known."));
    }
    let token = Token::parse(token).map_err(Error::InvalidToken)?;
    signature::verify(&token, &config.tokens, call).await?;
    let user = token.user(&config.tokens, call.now);
    Ok(Caller::User(user.map_err(Error::InvalidToken)?))
}

/// What the `Authorization` header bears.
fn bearer(call: &Call) -> Option<&str> {
    let (scheme, token) = call.header("authorization")?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Every key is compared to its end: the time taken tells nothing about them.
fn is_service_key(token: &str, config: &Config) -> bool {
    let same = |key: &String| key.as_bytes().ct_eq(token.as_bytes());
    let keys = config.service_keys.iter().map(same);
    keys.fold(Choice::from(0), |a, b| a | b).into()
}
