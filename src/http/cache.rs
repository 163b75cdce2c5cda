//! Boards in the edge cache, so that most readers never touch Redis, and all have the last good
//! copy while it is down.
//!
//! What is stored is the body alone and when it was made; every header is made anew, so that
//! none of one caller's reaches another. It is stored for longer than it is fresh: whoever finds
//! it says how old it may be. A platform without a cache only misses. Boards are put there by
//! `response.js`, which has them anyway.

use super::edge::perform;
use super::log;
use crate::calendar::Instant;
use crate::ranking::Copy;

/// The path under which it is stored when somebody was hidden; no route has it.
const HIDING: &str = "/hiding";

/// The body stored under a URL, if it is there and was not made before an instant.
pub async fn find(url: &str, oldest: Instant) -> Option<Copy> {
    let found = perform("found", &[url, &oldest.0.to_string()]).await.ok()?;
    let (made, body) = found.split_once('\n')?;
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
    let (url, until) = (format!("{origin}{HIDING}"), until.0.to_string());
    if let Err(cause) = perform("keep", &[&url, &until, ""]).await {
        log::debug(&format!("cache: {cause}"));
    }
}
