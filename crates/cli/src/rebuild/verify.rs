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
use crate::failure::{DIFFERENT, Failure};
use crate::screen::Screen;

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
    let start = Instant::now();
    let (mut comparison, mut entries) = (Comparison::default(), 0);
    let compared = compare(&session, &mut comparison, &mut entries).await;
    session.end(compared).await?;
    // At the end, so that an interrupted run resumes with all shards.
    session.drop_written().await?;
    session.finish_progress();
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
