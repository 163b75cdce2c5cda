//! Authenticates the caller: a service by its key, a user by a token.

use super::{key_set, rate_limit};
use crate::app::{App, RequestContext};
use crate::platform::crypto;
use crate::request::Request;
use activity_rank_core::caller::{Caller, Visitor};
use activity_rank_core::config::Tokens;
use activity_rank_core::error::Error;
use activity_rank_core::id;
use activity_rank_core::token::keys::{self, Key};
use activity_rank_core::token::{Member, Token};
use activity_rank_store::daily::{self, Daily};
use serde_json::{Map, Value};

/// The path of activity. Members write only their own data elsewhere.
const ACTIVITY: &str = "/v1/activity";

/// Returns the caller that the header `Authorization` proves.
///
/// Counts writes against the user's rate limit, changes of own data against that of the day, and reads and failed attempts against that of the
/// address.
///
/// # Errors
///
/// [`Error::Unauthenticated`] without credentials, [`Error::InvalidToken`] for an invalid user
/// token, [`Error::KeysUnavailable`] if its key cannot be fetched; [`Error::RateLimited`] instead of
/// these over a limit.
pub async fn authenticate(context: RequestContext<'_>) -> Result<Caller, Error> {
    let RequestContext { app, request, .. } = context;
    let caller = identify(context, request.bearer()).await;
    match &caller {
        Ok(caller @ (Caller::User(_) | Caller::Visitor(_))) if !request.is_read() => {
            let user = caller.write_limit_key().unwrap_or_default();
            rate_limit::check_write(app, request, user).await?;
            if matches!(caller, Caller::User(_)) && request.path != ACTIVITY {
                daily::count(context.deployment, Daily::Changes(user), request.now).await?;
            }
        }
        Ok(Caller::User(_) | Caller::Visitor(_))
        | Err(Error::Unauthenticated(_) | Error::InvalidToken(_)) => {
            rate_limit::check_read(app, request).await?;
        }
        // Services have no limit; other errors are not the caller's.
        Ok(Caller::Service(_)) | Err(_) => {}
    }
    caller
}

/// Counts a public read against the address, unless a service sends it.
///
/// # Errors
///
/// [`Error::RateLimited`].
pub async fn limit_public_read(app: &App, request: &Request) -> Result<(), Error> {
    let config = app
        .deployment
        .as_ref()
        .ok()
        .map(|deployment| &deployment.config);
    if let (Some(key), Some(config)) = (request.bearer(), config)
        && config.service_keys.find(key).is_some()
    {
        return Ok(());
    }
    rate_limit::check_read(app, request).await
}

/// Returns the caller as [`authenticate`] does, for a route whose reads have been counted: see
/// [`limit_public_read`].
///
/// # Errors
///
/// As [`authenticate`], but for the rate limits.
pub async fn authenticate_counted(context: RequestContext<'_>) -> Result<Caller, Error> {
    identify(context, context.request.bearer()).await
}

/// Returns the caller whom credentials prove.
///
/// # Errors
///
/// As [`authenticate_counted`].
pub async fn identify(
    context: RequestContext<'_>,
    credentials: Option<&str>,
) -> Result<Caller, Error> {
    let (request, config) = (context.request, &context.deployment.config);
    let services = !config.service_keys.is_empty();
    let users = config.tokens.are_enabled();
    let expected = match (services, users) {
        (true, true) => "Send the header Authorization: Bearer <service key or user token>.",
        (true, false) => "Send the header Authorization: Bearer <service key>.",
        (false, true) => "Send the header Authorization: Bearer <user token>.",
        (false, false) => {
            "Neither service keys nor user tokens are configured, so this request is never allowed."
        }
    };
    if let (Some(text), Some(visitors)) = (credentials, &config.visitors)
        && let Some((id, signature)) = text.split_once('.')
        && id::is_visitor(id)
    {
        // No signed part of a JWT has a colon, so neither token is valid as the other one.
        if !crypto::is_signed("HS256", &visitors.key, signature, id).await {
            let invalid = "The signature of the visitor's token is invalid.";
            return Err(Error::InvalidToken(invalid.to_owned()));
        }
        return Ok(Caller::Visitor(Visitor {
            id: id.to_owned(),
            actions: visitors.actions.clone(),
        }));
    }
    let credentials = credentials.filter(|_| services || users);
    let credentials = credentials.ok_or(Error::Unauthenticated(expected))?;
    if let Some(service) = config.service_keys.find(credentials) {
        return Ok(Caller::Service(service.clone()));
    }
    if !users {
        return Err(Error::Unauthenticated("Unknown service key."));
    }
    let token = Token::parse(credentials);
    let token = token.map_err(|cause| Error::InvalidToken(cause.to_owned()))?;
    verify(&token, &config.tokens, request).await?;
    let claims = token.claims(&config.tokens, request.now);
    let claims = claims.map_err(Error::InvalidToken)?;
    Ok(Caller::User(member(&claims, &config.tokens).await))
}

/// Returns the user of verified claims, or why they have no valid user id.
async fn member(claims: &Map<String, Value>, tokens: &Tokens) -> Result<Member, String> {
    let ids = &tokens.user_ids;
    let mut text = ids.text(claims)?;
    if let Some(key) = ids.hash_key() {
        text = crypto::hash(key, &text).await.unwrap_or_default();
    }
    let groups_claim = tokens.groups_claim.as_deref();
    Ok(Member::new(ids.id(&text)?, claims, groups_claim))
}

/// Verifies the signature of a token.
async fn verify(token: &Token<'_>, tokens: &Tokens, request: &Request) -> Result<(), Error> {
    // A token chooses among the configured keys, but a key is never used for an algorithm that is
    // not its own: a public key cannot serve as a secret.
    let signed = match (token.algorithm.as_str(), &tokens.secret, &tokens.jwks_url) {
        ("HS256", Some(secret), _) => is_signed(token, secret).await,
        (algorithm, _, Some(url)) if keys::is_supported(algorithm) => {
            let keys = key_set::find(token, url, request).await?;
            // A key may have been replaced under its id.
            is_signed_by(token, &keys).await
                || is_signed_by(token, &key_set::find_new(token, url, request, &keys).await?).await
        }
        _ => {
            let other = "The algorithm of the user token is not supported.";
            return Err(Error::InvalidToken(other.to_owned()));
        }
    };
    if signed {
        return Ok(());
    }
    let invalid = "The signature of the user token is invalid.";
    Err(Error::InvalidToken(invalid.to_owned()))
}

/// Returns whether one of the keys has signed a token.
async fn is_signed_by(token: &Token<'_>, keys: &[Key]) -> bool {
    for key in keys {
        if is_signed(token, &key.jwk).await {
            return true;
        }
    }
    false
}

async fn is_signed(token: &Token<'_>, key: &str) -> bool {
    crypto::is_signed(&token.algorithm, key, token.signature, token.signed).await
}
