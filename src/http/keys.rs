//! The public keys of user tokens, from where they are nearest: this isolate, the edge cache,
//! the key server.

use super::call::Call;
use super::edge::perform;
use super::log;
use crate::calendar::Instant;
use crate::error::Error;
use crate::token::Token;
use crate::token::keys::{self, FRESH, Held, Key};
use std::cell::RefCell;

thread_local! {
    static HELD: RefCell<Held> = RefCell::default();
}

/// The key that a token says it was signed with.
///
/// # Errors
///
/// [`Error::InvalidToken`] where there is none, [`Error::KeysUnavailable`] where no keys can be
/// had at all.
pub async fn find(token: &Token<'_>, url: &str, call: &Call) -> Result<Key, Error> {
    let now = call.now;
    let held = || HELD.with_borrow(|held| held.find(&token.algorithm, token.key_id.as_deref()));
    let due = HELD.with_borrow(|held| held.is_due(now));
    let asked = due && !load_cached(url, now.0 - FRESH, now).await;
    if asked {
        fetch(url, call).await?;
    }
    if let Some(key) = held() {
        return Ok(key);
    }
    // A key of this name may be new. Nobody can make us ask for it more often than that.
    if !asked && HELD.with_borrow(|held| held.may_ask(now)) {
        fetch(url, call).await?;
    }
    let unknown = "The key that the user token names is not known.";
    held().ok_or(Error::InvalidToken(unknown))
}

/// Asks the key server. While it is down what is held stays, then what the edge cache still has.
async fn fetch(url: &str, call: &Call) -> Result<(), Error> {
    let now = call.now;
    let empty = HELD.with_borrow(Held::is_empty);
    if empty && !HELD.with_borrow(|held| held.may_ask(now)) {
        return Err(Error::KeysUnavailable("asked a moment ago".to_owned()));
    }
    if !empty {
        // Other requests meanwhile go on with what is held.
        HELD.with_borrow_mut(|held| held.ask(now));
    }
    let cause = match perform("fetched_keys", &[url]).await {
        Ok(text) => {
            if let Some(keys) = keys::read(&text) {
                HELD.with_borrow_mut(|held| held.hold(keys, now));
                let _ = perform("keep_keys", &[url, &now.0.to_string(), &text]).await;
                return Ok(());
            }
            "not a key set".to_owned()
        }
        Err(cause) => cause,
    };
    HELD.with_borrow_mut(|held| held.ask(now));
    if empty && !load_cached(url, 0, now).await {
        return Err(Error::KeysUnavailable(cause));
    }
    log::warning(call, &format!("JWKS_URL: {cause}"));
    Ok(())
}

/// Holds what the edge cache has, unless it was made before an instant.
async fn load_cached(url: &str, oldest: i64, now: Instant) -> bool {
    let cached = perform("cached_keys", &[url, &oldest.to_string()]).await;
    let keys = cached.ok().and_then(|text| keys::read(&text));
    let found = keys.is_some();
    if let Some(keys) = keys {
        HELD.with_borrow_mut(|held| held.hold(keys, now));
    }
    found
}
