//! Boards in the edge cache, so that most readers never touch Redis, and all have the last good
//! copy while it is down.
//!
//! What is stored is the body alone and when it was made; every header is made anew, so that
//! none of one caller's reaches another. It is stored for longer than it is fresh: whoever finds
//! it says how old it may be. A platform without a cache only misses.

use super::edge::words;
use super::log;
use crate::calendar::Instant;
use crate::ranking::Copy;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::Context;
use worker::js_sys::Promise;
use worker::wasm_bindgen_futures::JsFuture;

#[wasm_bindgen(module = "/src/http/cache.js")]
extern "C" {
    fn found(url: &str, oldest: f64) -> Promise;
    fn keep(url: &str, body: &str, made: f64, seconds: u32) -> Promise;
}

/// How long a copy is stored, in seconds.
const KEPT: u32 = 86_400;

/// The path under which it is stored when somebody was hidden; no route has it.
const HIDING: &str = "/hiding";

/// The body stored under a URL, if it is there and was not made before an instant.
pub async fn find(url: &str, oldest: Instant) -> Option<Copy> {
    let found = JsFuture::from(found(url, oldest.0 as f64)).await.ok()?;
    let text = found.as_string()?;
    let (made, body) = text.split_once('\n')?;
    Some(Copy {
        body: body.to_owned(),
        made: Instant(made.parse().ok()?),
    })
}

/// The instant up to which copies may show somebody who has been hidden or erased since, as far as
/// this location of the platform knows.
pub async fn last_hiding(origin: &str) -> Instant {
    let mark = find(&format!("{origin}{HIDING}"), Instant(0)).await;
    mark.map_or(Instant(0), |mark| mark.made)
}

/// Keeps that instant.
pub async fn mark_hiding(origin: &str, until: Instant) {
    let kept = keep(&format!("{origin}{HIDING}"), "", until.0 as f64, KEPT);
    if let Err(error) = JsFuture::from(kept).await {
        log::debug(&format!("cache: {}", words(&error)));
    }
}

/// Stores a body under a URL; the caller does not wait for it.
pub fn store(context: &Context, url: &str, copy: &Copy) {
    let kept = JsFuture::from(keep(url, &copy.body, copy.made.0 as f64, KEPT));
    context.wait_until(async move {
        if let Err(error) = kept.await {
            // A plain workerd has no cache; anywhere else this is worth knowing.
            log::debug(&format!("cache: {}", words(&error)));
        }
    });
}
