//! Who is calling: a service by its key, a user by a token.

use super::call::Call;
use super::signature;
use crate::caller::Caller;
use crate::config::Config;
use crate::error::Error;
use crate::token::Token;

/// The caller that the `Authorization` header of a request proves; a user's requests are counted,
/// and an address's that prove none.
///
/// # Errors
///
/// [`Error::Unauthenticated`] where it proves none, [`Error::InvalidToken`] where what it holds
/// is not a user token that holds now, [`Error::KeysUnavailable`] where that cannot be known;
/// [`Error::RateLimited`] instead where there were too many.
pub async fn identify(call: &Call, config: &Config) -> Result<Caller, Error> {
    let caller = recognise(call, config).await;
    match &caller {
        Ok(Caller::User(member)) if !call.is_read() => {
            // All who are nobody are one user: they are refused in any case.
            let user = member.as_ref().map_or("", |member| &member.id);
            call.limits.write(call, user).await?;
        }
        Ok(Caller::User(_)) | Err(Error::Unauthenticated(_) | Error::InvalidToken(_)) => {
            call.limits.read(call).await?;
        }
        // A service is never limited; the others are not the caller's fault.
        Ok(Caller::Service(_)) | Err(_) => {}
    }
    caller
}

/// Counts a read that anybody may make, unless a service makes it.
///
/// # Errors
///
/// [`Error::RateLimited`].
pub async fn count_reader(call: &Call, config: Option<&Config>) -> Result<(), Error> {
    let mut keys = bearer(call).zip(config).into_iter();
    if keys.any(|(key, config)| config.service_keys.scopes_of(key).is_some()) {
        return Ok(());
    }
    call.limits.read(call).await
}

async fn recognise(call: &Call, config: &Config) -> Result<Caller, Error> {
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
    if let Some(scopes) = config.service_keys.scopes_of(token) {
        return Ok(Caller::Service(scopes));
    }
    if !users {
        return Err(Error::Unauthenticated("This service key is not known."));
    }
    let token = Token::parse(token).map_err(Error::InvalidToken)?;
    signature::verify(&token, &config.tokens, call).await?;
    let member = token.member(&config.tokens, call.now);
    Ok(Caller::User(member.map_err(Error::InvalidToken)?))
}

/// What the `Authorization` header bears.
fn bearer(call: &Call) -> Option<&str> {
    let (scheme, token) = call.header("authorization")?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
