//! Who is calling: a service by its key, a user by a token.

use super::call::Call;
use super::signature;
use crate::caller::Caller;
use crate::config::Config;
use crate::error::Error;
use crate::token::Token;

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
    let authorization = call.header("authorization").unwrap_or_default();
    let token = authorization
        .split_once(' ')
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer") && (services || users))
        .map(|(_, token)| token.trim());
    let token = token.ok_or(Error::Unauthenticated(how))?;
    if let Some(scopes) = config.service_keys.scopes_of(token) {
        return Ok(Caller::Service(scopes));
    }
    if !users {
        return Err(Error::Unauthenticated("This service key is not known."));
    }
    let token = Token::parse(token).map_err(Error::InvalidToken)?;
    signature::verify(&token, &config.tokens, call.now).await?;
    let member = token.member(&config.tokens, call.now);
    Ok(Caller::User(member.map_err(Error::InvalidToken)?))
}
