//! `activity-rank verify`.

use std::process::ExitCode;

use serde::Serialize;
use tokio::time::Instant;

use super::compare::{Comparison, Totals};
use super::purpose::Purpose;
use super::replay::{Replay, format_throughput};
use super::session::Session;
use super::settings::Settings;
use crate::args::{ServiceArgs, VerifyArgs};
use crate::failure::{DIFFERENT, Failure, interruptible};
use crate::screen::Screen;

/// The end of the error of an interrupted run, and of one that was deleting its keys.
const NOTHING: &str = ": nothing was changed";
const LEFT: &str =
    ": nothing was changed; the next run deletes the rest of what this one has written";

/// JSON form of the result.
#[derive(Serialize)]
struct Document {
    #[serde(flatten)]
    comparison: Totals,
    /// Entries of the journal.
    entries: u64,
    seconds: f64,
}

/// Replays the journal of all shards and compares the live data with it. Adds the number of entries. Returns the
/// number of the last one on each shard.
///
/// # Errors
///
/// [`Failure`] if service or store do not respond, or the store has data that no run can compare.
pub async fn compare(
    session: &Session,
    comparison: &mut Comparison,
    entries: &mut u64,
) -> Result<Vec<u64>, Failure> {
    let mut last = Vec::new();
    for owned in &session.shards {
        let mut replay = Replay::resume(session, owned).await?;
        comparison.compare_live(&owned.shard, &mut replay).await?;
        *entries += replay.entries();
        last.push(replay.position());
    }
    Ok(last)
}

/// Compares the data of a deployment with its journal.
///
/// # Errors
///
/// [`Failure`] if service or store do not respond, or the data belongs to another deployment.
pub async fn run(service: &ServiceArgs, args: &VerifyArgs) -> Result<ExitCode, Failure> {
    let purpose = |_: &Settings| Ok(Purpose::Rebuild);
    let mut session = Session::open(service, &args.replay, purpose).await?;
    session.check_unswapped().await?;
    session.confirm(args.yes).await?;
    let start = Instant::now();
    let (mut comparison, mut entries) = (Comparison::default(), 0);
    let compared = compare(&session, &mut comparison, &mut entries);
    let compared = interruptible(NOTHING, compared).await;
    let compared = session.end(compared).await;
    if matches!(compared, Ok(_) | Err(Failure::Interrupted(_))) {
        // At the end: a run that was killed resumes with all shards.
        interruptible(LEFT, session.drop_written()).await?;
    }
    session.finish_progress();
    compared?;
    Screen::print(&match args.json {
        true => serde_json::to_string(&Document {
            comparison: comparison.totals(),
            entries,
            seconds: start.elapsed().as_secs_f64(),
        })
        .unwrap_or_default(),
        false => format!(
            "{}\n{} compared with {}",
            comparison.report(),
            comparison.findings.format_keys(),
            format_throughput(entries, start)
        ),
    })?;
    Ok(match comparison.findings.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(DIFFERENT),
    })
}
