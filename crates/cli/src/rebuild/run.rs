//! `activity-rank rebuild`.

use std::cell::Cell;
use std::process::ExitCode;
use std::time::Duration;

use activity_rank_store::redis::Command;
use serde::Serialize;
use tokio::time::Instant;

use super::compare::{Comparison, Totals, audit};
use super::preview::LIMITS;
use super::replay::{Replay, format_throughput};
use super::session::{OwnedShard, Session};
use super::state::{Phase, Purpose, Shard};
use super::swap::swap;
use crate::archive::fingerprint::Fingerprint;
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
    let purpose = |_: &Fingerprint| Ok(Purpose::Rebuild);
    let session = Session::open(service, &args.store, args.fresh, purpose).await?;
    let options = RunOptions {
        discard: args.discard,
        json: args.json,
    };
    run_session(&session, options, Instant::now()).await
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
    session: &Session,
    options: RunOptions,
    start: Instant,
) -> Result<ExitCode, Failure> {
    let rebuild = Rebuild {
        session,
        start,
        options,
        locked: Cell::new(None),
    };
    let done = tokio::select! {
        done = rebuild.rebuild() => done,
        _ = tokio::signal::ctrl_c() => Err(Failure::Interrupted),
    };
    session.finish_progress();
    match &done {
        Ok(code) if *code == ExitCode::SUCCESS => {}
        Ok(_) => session.refuse().await?,
        Err(Failure::Data(_)) if !rebuild.unlock().await => session.refuse().await?,
        Err(_) => Screen::print_error(match rebuild.unlock().await {
            true => {
                "the rebuild has started to replace the data: run it again to complete it; until \
                 then writes are locked"
            }
            false => "run it again to resume",
        }),
    }
    done
}

/// A rebuild of all shards.
struct Rebuild<'a> {
    session: &'a Session,
    start: Instant,
    options: RunOptions,
    /// The shard with writes that are, or may be, locked.
    locked: Cell<Option<&'a OwnedShard>>,
}

/// The result of a rebuild.
#[derive(Default)]
struct Summary {
    /// Differences found while writes were locked.
    comparison: Comparison,
    /// Shards rebuilt by this run.
    rebuilt: u64,
    /// Shards rebuilt by an interrupted run.
    rebuilt_before: u64,
    /// Journal entries applied by this run.
    entries: u64,
    /// Longest time that writes of a shard were locked.
    longest_lock: Duration,
}

/// JSON form of the summary.
#[derive(Serialize)]
struct Document {
    #[serde(flatten)]
    comparison: Option<Totals>,
    shards: u64,
    entries: u64,
    longest_lock_seconds: f64,
    seconds: f64,
}

impl<'a> Rebuild<'a> {
    async fn rebuild(&self) -> Result<ExitCode, Failure> {
        let mut summary = Summary::default();
        let shards_in = |phases: &'static [Phase]| {
            let shards = self.session.shards.iter();
            shards.filter(|owned| phases.contains(&owned.state.phase))
        };
        summary.rebuilt_before += shards_in(&[Phase::Done]).map(|_| 1).sum::<u64>();
        // Shards that an interrupted run has left locked come first.
        for owned in shards_in(&[Phase::Delete, Phase::Rename]) {
            self.locked.set(Some(owned));
            let mut state = owned.state.clone();
            swap(&owned.shard, &mut state, self.session.has_entries).await?;
            summary.rebuilt_before += 1;
        }
        self.locked.set(None);
        self.session.check_purpose()?;
        for owned in shards_in(&[Phase::Locked]) {
            self.locked.set(Some(owned));
            let mut replay = Replay::resume(self.session, owned).await?;
            if let Some(code) = self.lock_and_swap(owned, &mut replay, &mut summary).await? {
                return Ok(code);
            }
        }
        // All shards are compared before the first one is locked.
        let (mut comparison, mut replays) = (Comparison::default(), Vec::new());
        for owned in shards_in(&[Phase::Replay]) {
            let mut replay = Replay::resume(self.session, owned).await?;
            match self.is_recount() {
                true => replay.approach_end(&owned.shard).await?,
                false => comparison.compare_live(&owned.shard, &mut replay).await?,
            }
            replays.push((owned, replay));
        }
        if let Some(code) = self.reject_data_loss(&comparison, &summary)? {
            return Ok(code);
        }
        for (owned, mut replay) in replays {
            if let Some(code) = self.lock_and_swap(owned, &mut replay, &mut summary).await? {
                return Ok(code);
            }
        }
        self.locked.set(None);
        self.session.delete_states().await?;
        self.session.finish_progress();
        Screen::print(&match self.options.json {
            true => self.json(&summary),
            false => self.report(&summary),
        })?;
        Ok(ExitCode::SUCCESS)
    }

    /// Locks writes of a shard, replays the rest of the journal, compares again, and swaps. Returns an
    /// exit code if data would be lost.
    async fn lock_and_swap(
        &self,
        owned: &'a OwnedShard,
        replay: &mut Replay,
        summary: &mut Summary,
    ) -> Result<Option<ExitCode>, Failure> {
        let shard = &owned.shard;
        self.locked.set(Some(owned));
        if replay.state().phase == Phase::Replay {
            replay.approach_end(shard).await?;
        }
        // Also in the phase `Locked`: the store may have refused an earlier run the lock alone.
        let state = replay.state();
        state.transition(shard, Phase::Locked, false).await?;
        let locked_at = Instant::now();
        while !replay.catch_up(shard).await?.is_empty() || has_outbox_entries(shard).await? {}
        summary.entries += replay.entries();
        if !self.is_recount() {
            summary.comparison.compare_locked(shard).await?;
        }
        if let Some(code) = self.reject_data_loss(&summary.comparison, summary)? {
            let state = replay.state();
            state.transition(shard, Phase::Replay, false).await?;
            return Ok(Some(code));
        }
        let keeps_audit_log = audit::is_complete(shard).await?;
        let state = replay.state();
        state
            .transition(shard, Phase::Delete, keeps_audit_log)
            .await?;
        swap(shard, state, self.session.has_entries).await?;
        summary.rebuilt += 1;
        summary.longest_lock = summary.longest_lock.max(locked_at.elapsed());
        Ok(None)
    }

    /// Returns whether the shadow has other points than the live data.
    fn is_recount(&self) -> bool {
        self.session.rules.is_some()
    }

    fn json(&self, summary: &Summary) -> String {
        let document = Document {
            comparison: (!self.is_recount()).then(|| summary.comparison.totals()),
            shards: summary.rebuilt + summary.rebuilt_before,
            entries: summary.entries,
            longest_lock_seconds: summary.longest_lock.as_secs_f64(),
            seconds: self.start.elapsed().as_secs_f64(),
        };
        serde_json::to_string(&document).unwrap_or_default()
    }

    fn report(&self, summary: &Summary) -> String {
        let (name, done) = match self.is_recount() {
            true => ("recount", "recounted"),
            false => ("rebuild", "rebuilt"),
        };
        if summary.rebuilt == 0 {
            return format!("completed an interrupted {name}");
        }
        let seconds = summary.longest_lock.as_secs_f64();
        let lock = match self.session.shards.len() {
            1 => format!("writes were locked for {seconds:.1} s"),
            _ => format!("writes of a shard were locked for at most {seconds:.1} s"),
        };
        let throughput = format_throughput(summary.entries, self.start);
        let result = match self.is_recount() {
            true => LIMITS.to_owned(),
            false => summary.comparison.report(),
        };
        let mut report = format!("{result}\n{done} from {throughput}; {lock}");
        if summary.rebuilt_before > 0 {
            let shards = count(summary.rebuilt_before, "shard");
            report.push_str(&format!("\n{shards} {done} before the interruption"));
        }
        report
    }

    /// Prints the values that the rebuild would delete and returns the exit code, unless `--discard`
    /// is set.
    fn reject_data_loss(
        &self,
        comparison: &Comparison,
        summary: &Summary,
    ) -> Result<Option<ExitCode>, Failure> {
        if self.options.discard || !print_data_loss(self.session, comparison)? {
            return Ok(None);
        }
        let excess = &comparison.findings.excess;
        let (changed, restart) = match summary.rebuilt + summary.rebuilt_before {
            0 => ("nothing was changed".to_owned(), ""),
            rebuilt => {
                let shards = self.session.shards.len();
                (
                    format!(
                        "{rebuilt} of {shards} shards are rebuilt, and nothing else was changed"
                    ),
                    ", or --fresh to start over",
                )
            }
        };
        let values = count(excess.len().try_into().unwrap_or(u64::MAX), "value");
        Screen::print_error(&format!(
            "{changed}: {values} would be lost; use --discard to rebuild anyway{restart}"
        ));
        Ok(Some(ExitCode::from(DIFFERENT)))
    }

    /// Unlocks writes after an error or an interruption, unless a swap has started. Returns whether it has.
    async fn unlock(&self) -> bool {
        match self.locked.get() {
            Some(OwnedShard { shard, state }) => state.clone().unlock(shard).await.unwrap_or(false),
            None => false,
        }
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

/// Returns whether changes wait in the outbox that are not in the journal yet.
async fn has_outbox_entries(shard: &Shard) -> Result<bool, Failure> {
    let outbox = shard.keys.outbox();
    let entries: u64 = shard.store.run(Command::new("XLEN").arg(&outbox)).await?;
    Ok(entries > 0)
}
