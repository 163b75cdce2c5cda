//! What is answered while the store is away: copies that say of when they are.

use super::answer::Answer;
use super::cache;
use super::call::Call;
use super::{edge, log};
use crate::calendar::Instant;
use crate::error::Error;
use crate::ranking::Copy;

/// How far clocks may disagree, and how long after a hiding a second one may go unmarked because
/// the first has just been, in milliseconds.
const MARGIN: i64 = 2000;

/// The last good copy of a board, where the store could not be asked; the error if there is none.
///
/// # Errors
///
/// The one given.
pub async fn board(call: &Call, url: &str, error: Error) -> Result<Answer, Error> {
    let Error::StoreUnavailable(cause) = &error else {
        return Err(error);
    };
    let oldest = Instant(cache::last_hiding(&call.origin).await.0 + 1);
    let Some(copy) = cache::find(url, oldest).await else {
        return Err(error);
    };
    log::warning(call, &format!("answered with a copy: {cause}"));
    let answer = told(&copy, call).with("cache-control", "public, max-age=1");
    Ok(answer.tagged().unless_known(call.header("if-none-match")))
}

/// Forgets all copies, because somebody has been hidden or erased just now. What they hold stays
/// where it is; what is older than the mark made here is never shown.
pub async fn forget(call: &Call) {
    let until = Instant(edge::now() as i64 + MARGIN);
    cache::mark_hiding(&call.origin, until).await;
}

fn told(copy: &Copy, call: &Call) -> Answer {
    let age = copy.age(call.now).to_string();
    Answer::text("application/json", copy.stale()).with("age", age)
}
