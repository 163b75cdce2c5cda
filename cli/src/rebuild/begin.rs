//! How a run begins, or goes on.

use super::drop::give_up;
use super::journal::{Journal, Page};
use super::place::Place;
use super::state::{Phase, State, check_stamp};
use crate::failure::Failure;

/// The first page of the journal, if it is that of the site in this place.
///
/// # Errors
///
/// [`Failure`] where the service does not answer, or the place is another site's.
pub async fn first_page(place: &Place, journal: &Journal, prefix: &str) -> Result<Page, Failure> {
    let page = journal
        .page(0, |failure, wait| {
            place.live.progress.waiting(&failure.to_string(), wait);
        })
        .await?;
    if page.prefix != prefix {
        let other = crate::printable::printable(&page.prefix);
        return Err(Failure::Usage(format!(
            "the service keeps its data under the prefix {other}, not {prefix}: is PREFIX that of the service?"
        )));
    }
    if !page.stamp.starts_with("v2 shards=1 ") {
        let stamp = crate::printable::printable(&page.stamp);
        return Err(Failure::Usage(format!(
            "this version makes sites of one shard anew, and this is another ({stamp})"
        )));
    }
    check_stamp(place, &page.stamp).await?;
    Ok(page)
}

/// Gives up what was begun before.
///
/// # Errors
///
/// [`Failure`] where the store does not answer, or it is too late for that.
pub async fn start_over(place: &Place, stamp: &str) -> Result<(), Failure> {
    match State::look(place).await? {
        None => Ok(()),
        Some(Phase::Replay | Phase::Held | Phase::Drop) => {
            let mut state = State::begin(place, stamp).await?;
            give_up(place, &mut state).await
        }
        Some(Phase::Delete | Phase::Rename) => Err(Failure::Usage(
            "a rebuild is bringing everything to its place, and has to be finished: leave out --fresh"
                .to_owned(),
        )),
    }
}

/// Goes on with what was begun before, or begins.
///
/// # Errors
///
/// [`Failure`] where the store does not answer, or what was begun is another site's.
pub async fn begin(place: &Place, stamp: &str) -> Result<State, Failure> {
    if State::look(place).await? == Some(Phase::Drop) {
        let mut state = State::begin(place, stamp).await?;
        give_up(place, &mut state).await?;
    }
    let state = State::begin(place, stamp).await?;
    if state.stamp == stamp {
        return Ok(state);
    }
    Err(Failure::Usage(
        "a rebuild was begun with other settings of the service: --fresh begins anew".to_owned(),
    ))
}
