//! `activity-rank rebuild`.

use std::process::ExitCode;
use std::time::Duration;

use serde::Serialize;
use tokio::time::Instant;

use super::accounts::restore_lists;
use super::compare::{Comparison, Totals};
use super::corrections::{self, Names};
use super::purpose::Purpose;
use super::replay::{Replay, format_throughput};
use super::session::Session;
use super::settings::Settings;
use super::state::Phase;
use super::swap::{complete, prepare, swap};
use crate::args::{RebuildArgs, ServiceArgs};
use crate::count::count;
use crate::failure::{DIFFERENT, Failure};
use crate::screen::Screen;

/// Deleted values that a rejected rebuild prints.
const MAX_PRINTED: usize = 20;

/// Rebuilds the data of a deployment from its journal.
///
/// # Errors
///
/// [`Failure`] if service or store do not respond, or the data belongs to another deployment.
pub async fn run(service: &ServiceArgs, args: &RebuildArgs) -> Result<ExitCode, Failure> {
    let purpose = |_: &Settings| Ok(Purpose::Rebuild);
    let mut session = Session::open(service, &args.replay, purpose).await?;
    session.confirm(args.yes).await?;
    let options = RunOptions {
        discard: args.discard,
        json: args.json,
    };
    run_session(&mut session, options, Instant::now()).await
}

/// Options of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions {
    /// Accepts the loss of data.
    pub discard: bool,
    /// Prints the result as JSON.
    pub json: bool,
}

/// Rebuilds or recounts the shards of a session that began at `start`.
///
/// # Errors
///
/// As [`run`].
pub async fn run_session(
    session: &mut Session,
    options: RunOptions,
    start: Instant,
) -> Result<ExitCode, Failure> {
    let mut summary = Summary::default();
    let done = tokio::select! {
        done = rebuild(session, options, &mut summary) => done,
        _ = tokio::signal::ctrl_c() => Err(Failure::Interrupted("")),
    };
    session.finish_progress();
    match &done {
        Ok(None) => {
            Screen::print(&match options.json {
                true => summary.json(session, start),
                false => summary.report(session, start),
            })?;
            return Ok(ExitCode::SUCCESS);
        }
        Ok(Some(_)) | Err(Failure::Data(_)) => session.refuse().await?,
        Err(_) => Screen::print_error("run it again to resume"),
    }
    done.map(|code| code.unwrap_or(ExitCode::SUCCESS))
}

/// Replays, compares and swaps the shards. Returns an exit code if data would be lost.
async fn rebuild(
    session: &mut Session,
    options: RunOptions,
    summary: &mut Summary,
) -> Result<Option<ExitCode>, Failure> {
    // What an interrupted run has left to delete comes first.
    for owned in &mut session.shards {
        match owned.state.phase {
            Phase::Begun => complete(owned).await?,
            Phase::Swapped => owned.delete_former().await?,
            Phase::Replay | Phase::Done | Phase::Drop => {}
        }
        summary.rebuilt_before += u64::from(owned.state.phase == Phase::Done);
    }
    session.check_purpose().await?;
    // All shards are compared before the first one is swapped.
    let mut replays = Vec::new();
    for (index, owned) in session.shards.iter().enumerate() {
        if owned.state.phase != Phase::Replay {
            continue;
        }
        let mut replay = Replay::resume(session, owned).await?;
        // A recount has other points than the live data, and an import begins without data.
        if session.purpose == Purpose::Rebuild {
            let comparison = &mut summary.comparison;
            comparison.compare_live(&owned.shard, &mut replay).await?;
        } else {
            replay.approach_end(&owned.shard).await?;
        }
        replays.push((index, replay));
    }
    if !options.discard && print_data_loss(session, &summary.comparison)? {
        Screen::print_error(&summary.refusal(session));
        return Ok(Some(ExitCode::from(DIFFERENT)));
    }
    let corrections = match replays.is_empty() {
        true => Names::new(),
        false => corrections::read(session).await?,
    };
    let mut calls = Vec::new();
    for (index, replay) in replays {
        if let Some(owned) = session.shards.get(index) {
            calls.push((prepare(owned, &corrections).await?, replay));
        }
    }
    summary.longest_wait = swap(&mut calls).await?;
    for (_, replay) in &calls {
        summary.entries += replay.entries();
        summary.rebuilt += 1;
    }
    drop(calls);
    for owned in &mut session.shards {
        if owned.state.phase == Phase::Replay {
            owned.delete_former().await?;
        }
    }
    restore_lists(&session.shards).await?;
    for owned in &session.shards {
        owned.delete_state().await?;
    }
    Ok(None)
}

/// The result of a rebuild.
#[derive(Default)]
struct Summary {
    /// Differences between the data and the journal.
    comparison: Comparison,
    /// Shards rebuilt by this run.
    rebuilt: u64,
    /// Shards rebuilt by an interrupted run.
    rebuilt_before: u64,
    /// Journal entries applied by this run.
    entries: u64,
    /// The longest time that writers of a shard may have waited.
    longest_wait: Duration,
}

/// JSON form of the summary.
#[derive(Serialize)]
struct Document {
    #[serde(flatten)]
    comparison: Option<Totals>,
    shards: u64,
    entries: u64,
    longest_wait_seconds: f64,
    seconds: f64,
}

impl Summary {
    fn json(&self, session: &Session, start: Instant) -> String {
        let document = Document {
            comparison: session.recount.is_none().then(|| self.comparison.totals()),
            shards: self.rebuilt + self.rebuilt_before,
            entries: self.entries,
            longest_wait_seconds: self.longest_wait.as_secs_f64(),
            seconds: start.elapsed().as_secs_f64(),
        };
        serde_json::to_string(&document).unwrap_or_default()
    }

    fn report(&self, session: &Session, start: Instant) -> String {
        let (name, done, result) = match &session.purpose {
            Purpose::Recount(recount) => {
                ("recount", "recounted", format!("{}\n", recount.limits()))
            }
            Purpose::Import(_) => ("import", "imported", String::new()),
            Purpose::Rebuild | Purpose::Preview => (
                "rebuild",
                "rebuilt",
                format!("{}\n", self.comparison.report()),
            ),
        };
        if self.rebuilt == 0 {
            return format!("completed an interrupted {name}");
        }
        let seconds = self.longest_wait.as_secs_f64();
        let wait = match self.longest_wait.is_zero() {
            true => "no request waited".to_owned(),
            false => format!("requests waited for at most {seconds:.1} s"),
        };
        let throughput = format_throughput(self.entries, start);
        let mut report = format!("{result}{done} from {throughput}; {wait}");
        if self.rebuilt_before > 0 {
            let shards = count(self.rebuilt_before, "shard");
            report.push_str(&format!("\n{shards} {done} before the interruption"));
        }
        report
    }

    /// Says that data would be lost.
    fn refusal(&self, session: &Session) -> String {
        let (changed, restart) = match self.rebuilt_before {
            0 => ("nothing was changed".to_owned(), ""),
            rebuilt => {
                let shards = session.shards.len();
                let rebuilt = format!("{rebuilt} of {shards} shards are rebuilt");
                (
                    format!("{rebuilt}, and nothing else was changed"),
                    ", or --fresh to start over",
                )
            }
        };
        let excess = self.comparison.findings.excess.len();
        let values = count(excess.try_into().unwrap_or(u64::MAX), "value");
        format!("{changed}: {values} would be lost; use --discard to rebuild anyway{restart}")
    }
}

/// Prints the values that a rebuild would delete. Returns whether there are any.
///
/// # Errors
///
/// As [`Screen::print`].
pub fn print_data_loss(session: &Session, comparison: &Comparison) -> Result<bool, Failure> {
    let excess = &comparison.findings.excess;
    if excess.is_empty() {
        return Ok(false);
    }
    session.finish_progress();
    Screen::print(&comparison.report())?;
    Screen::print("The store has values that the journal lacks. A rebuild would delete:")?;
    for difference in excess.iter().take(MAX_PRINTED) {
        Screen::print(&difference.to_string())?;
    }
    Ok(true)
}
