//! `activity-rank verify`.

use std::process::ExitCode;

use tokio::time::Instant;

use super::begin::{begin, first_page, start_over};
use super::compare::look::{counted_again, told, while_it_counts};
use super::drop::give_up;
use super::journal::Journal;
use super::place::Place;
use super::replay::Replay;
use super::state::Phase;
use crate::args::{ServiceArgs, VerifyArgs};
use crate::failure::{DIFFERENT, Failure};
use crate::screen::Screen;

/// Compares a site with its journal.
///
/// # Errors
///
/// [`Failure`] where service or store do not answer, or there is another site.
pub async fn run(service: &ServiceArgs, args: &VerifyArgs) -> Result<ExitCode, Failure> {
    let place = Place::new(&args.store).await?;
    let journal = Journal::new(service, args.store.retries)?;
    let first = first_page(&place, &journal, &args.store.prefix).await?;
    if args.fresh {
        start_over(&place, &first.stamp).await?;
    }
    let state = begin(&place, &first.stamp).await?;
    if state.phase != Phase::Replay {
        return Err(Failure::Usage(
            "a rebuild has not been finished: run rebuild first".to_owned(),
        ));
    }
    let start = Instant::now();
    let mut replay = Replay::resume(&place, journal, first, state).await?;
    let (findings, unsure) = while_it_counts(&place, &mut replay).await?;
    let again = counted_again(&place).await?;
    give_up(&place, replay.state()).await?;
    place.live.progress.finish();
    Screen::print(&format!(
        "{}\n{} compared with {}",
        told(&findings, unsure, &again),
        findings.keys(),
        replay.figures(start)
    ))?;
    Ok(match findings.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(DIFFERENT),
    })
}
