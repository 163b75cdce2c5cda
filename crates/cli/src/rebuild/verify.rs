//! `activity-rank verify`.

use std::process::ExitCode;

use tokio::time::Instant;

use super::compare::Comparison;
use super::replay::{Replay, format_throughput};
use super::session::Session;
use super::state::Phase;
use crate::args::{ServiceArgs, VerifyArgs};
use crate::failure::{DIFFERENT, Failure};
use crate::screen::Screen;

/// Compares the data of a deployment with its journal.
///
/// # Errors
///
/// [`Failure`] if service or store do not respond, or the data belongs to another deployment.
pub async fn run(service: &ServiceArgs, args: &VerifyArgs) -> Result<ExitCode, Failure> {
    let session = Session::open(service, &args.store, args.fresh).await?;
    let mut shards = session.shards.iter();
    if shards.any(|owned| owned.state.phase != Phase::Replay) {
        return Err(Failure::Usage(
            "a rebuild is unfinished: run rebuild first".to_owned(),
        ));
    }
    let start = Instant::now();
    let (mut comparison, mut entries, mut states) = (Comparison::default(), 0, Vec::new());
    for owned in &session.shards {
        let mut replay = Replay::resume(&session, owned).await?;
        comparison.compare_live(&owned.shard, &mut replay).await?;
        entries += replay.entries();
        states.push(replay.into_state());
    }
    // Shadows are dropped at the end, so that an interrupted run resumes with all of them.
    for (owned, state) in session.shards.iter().zip(&mut states) {
        state.drop_shadow(&owned.shard).await?;
    }
    session.finish_progress();
    Screen::print(&format!(
        "{}\n{} compared with {}",
        comparison.report(),
        comparison.findings.format_keys(),
        format_throughput(entries, start)
    ))?;
    Ok(match comparison.findings.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(DIFFERENT),
    })
}
