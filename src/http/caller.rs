//! Who is calling: a service by its key, a user by a token.

use super::call::Call;
use super::signature;
use crate::caller::Caller;
use crate::config::Config;
use crate::error::Error;
use crate::token::Token;
use subtle::{Choice, ConstantTimeEq};

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
        Ok(Caller::User(user)) if !call.is_read() => {
            // All who are nobody are one user: they are refused in any case.
            let user = user.as_deref().unwrap_or_default();
            call.limits.write(call, user).await?;
        }
        Ok(Caller::User(_)) | Err(Error::Unauthenticated(_) | Error::InvalidToken(_)) => {
            call.limits.read(call).await?;
        }
        // A service is never limited; the others are not the caller's fault.
        Ok(Caller::Service) | Err(_) => {}
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
    if keys.any(|(key, config)| is_service_key(key, config)) {
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
