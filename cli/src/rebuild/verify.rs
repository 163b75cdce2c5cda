//! `activity-rank verify`.

use std::process::ExitCode;

use tokio::time::Instant;

use super::begin::begin;
use super::compare::look::Look;
use super::drop::give_up;
use super::replay::{Replay, figures};
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
    let begun = begin(service, &args.store, args.fresh).await?;
    let mut shards = begun.shards.iter();
    if shards.any(|shard| shard.state.phase != Phase::Replay) {
        return Err(Failure::Usage(
            "a rebuild has not been finished: run rebuild first".to_owned(),
        ));
    }
    let start = Instant::now();
    let (mut look, mut entries, mut states) = (Look::default(), 0, Vec::new());
    for shard in &begun.shards {
        let mut replay = Replay::resume(&begun, shard).await?;
        look.while_it_counts(&shard.place, &mut replay).await?;
        entries += replay.entries();
        states.push(replay.into_state());
    }
    // Not before all are compared: interrupted, it has done with the journal what it had.
    for (shard, state) in begun.shards.iter().zip(&mut states) {
        give_up(&shard.place, state).await?;
    }
    begun.finish_progress();
    Screen::print(&format!(
        "{}\n{} compared with {}",
        look.told(),
        look.findings.keys(),
        figures(entries, start)
    ))?;
    Ok(match look.findings.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(DIFFERENT),
    })
}
