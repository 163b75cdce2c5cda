//! The public keys of user tokens: from this isolate, else the edge cache, else the key server.

use crate::cache::edge;
use crate::log;
use crate::platform::key_server;
use crate::request::Request;
use activity_rank_core::calendar::Instant;
use activity_rank_core::error::Error;
use activity_rank_core::token::Token;
use activity_rank_core::token::keys::{self, FRESH, Key, KeySet};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::cell::RefCell;

/// The characters that `encodeURIComponent` escapes.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');

thread_local! {
    static KEYS: RefCell<KeySet> = RefCell::default();
}

/// Returns the keys that may have signed a token, at least one.
///
/// # Errors
///
/// [`Error::InvalidToken`] for an unknown key, [`Error::KeysUnavailable`] if no keys are available.
pub async fn find(token: &Token<'_>, url: &str, request: &Request) -> Result<Vec<Key>, Error> {
    let now = request.now;
    let known = || KEYS.with_borrow(|keys| keys.find(&token.algorithm, token.key_id.as_deref()));
    let due = KEYS.with_borrow(|keys| keys.is_due(now));
    let fetched = due && !load_cached(url, Instant(now.0 - FRESH), now).await;
    if fetched {
        fetch(url, request).await?;
    }
    let mut keys = known();
    // The key may be new.
    if keys.is_empty() && !fetched {
        keys = find_new(token, url, request, &keys).await?;
    }
    if keys.is_empty() {
        let unknown = "The user token was signed by an unknown key.";
        return Err(Error::InvalidToken(unknown.to_owned()));
    }
    Ok(keys)
}

/// Fetches the key set again, if enough time has passed, and returns the keys that may have signed a
/// token besides `tried`. The pause between two fetches limits what a caller can cause.
///
/// # Errors
///
/// [`Error::KeysUnavailable`] if no keys are available.
pub async fn find_new(
    token: &Token<'_>,
    url: &str,
    request: &Request,
    tried: &[Key],
) -> Result<Vec<Key>, Error> {
    if !KEYS.with_borrow(|keys| keys.may_fetch(request.now)) {
        return Ok(Vec::new());
    }
    fetch(url, request).await?;
    let mut keys = KEYS.with_borrow(|keys| keys.find(&token.algorithm, token.key_id.as_deref()));
    keys.retain(|key| !tried.contains(key));
    Ok(keys)
}

/// Fetches the keys from the key server. If that fails, the known keys stay in use, else those of
/// the edge cache, whatever their age.
async fn fetch(url: &str, request: &Request) -> Result<(), Error> {
    let now = request.now;
    let empty = KEYS.with_borrow(KeySet::is_empty);
    if empty && !KEYS.with_borrow(|keys| keys.may_fetch(now)) {
        return Err(Error::KeysUnavailable(
            "the last fetch failed less than a second ago".to_owned(),
        ));
    }
    if !empty {
        // Concurrent requests go on with the known keys.
        KEYS.with_borrow_mut(|keys| keys.record_fetch(now));
    }
    let cause = match key_server::fetch(url).await {
        Ok(text) => match keys::read(&text) {
            Some(keys) => {
                KEYS.with_borrow_mut(|set| set.replace(keys, now));
                // Without the edge cache, this isolate has the keys.
                let _ = edge::store(&cache_url(url), now, &text).await;
                return Ok(());
            }
            None => "not a key set".to_owned(),
        },
        Err(cause) => cause,
    };
    KEYS.with_borrow_mut(|keys| keys.record_fetch(now));
    if empty && !load_cached(url, Instant(0), now).await {
        return Err(Error::KeysUnavailable(cause));
    }
    log::warning(request, &format!("JWKS_URL: {cause}"));
    Ok(())
}

/// Loads the keys of the edge cache, unless they were fetched before `oldest`.
async fn load_cached(url: &str, oldest: Instant, now: Instant) -> bool {
    let cached = edge::find(&cache_url(url), oldest).await;
    let keys = cached.and_then(|cached| keys::read(&cached.body));
    let found = keys.is_some();
    if let Some(keys) = keys {
        KEYS.with_borrow_mut(|set| set.replace(keys, now));
    }
    found
}

/// Returns the URL of the cache entry. It differs from the key server's own URL, under which
/// `fetch` might find what is stored here.
fn cache_url(url: &str) -> String {
    let url = utf8_percent_encode(url, COMPONENT);
    format!("https://activity-rank.invalid/keys?{url}")
}
