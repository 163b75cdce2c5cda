//! Work outside of requests: scheduled jobs, and the queue.

pub mod archive;
pub mod message;
pub mod outbox;
pub mod pending;
pub mod replay;
pub mod snapshots;

use crate::app::{App, CronRun};
use crate::log;
use crate::platform::budget::Cost;
use activity_rank_core::error::Error;
use activity_rank_store::outbox::lengths;
use activity_rank_store::progress;

/// The cron trigger that only completes pending changes and drains the outbox.
const EVERY_MINUTE: &str = "* * * * *";

/// Runs the jobs of a cron trigger within one budget, the ones that matter most first: the journal,
/// then boards that are lost if they expire before they are archived, then the copies for an outage.
/// Pending changes take what these leave: every reader sees them complete already. The rest, and a job
/// that fails, is due next time.
///
/// On a deployment where nothing happens, a run reads that there is nothing to do and ends: one command
/// for each shard every minute, and three more every five minutes.
pub async fn run_scheduled(app: &App, cron: &str) {
    let Ok(run) = app.cron_run() else {
        return;
    };
    let ran = match cron {
        EVERY_MINUTE => run_every_minute(&run).await,
        _ => run_all(app, &run).await,
    };
    log_failure(ran);
}

async fn run_every_minute(run: &CronRun) -> Result<(), Error> {
    // Every change of visibility and every erasure has an entry, which stays while it is pending.
    if run.journal.is_some() {
        let shards = 0..run.deployment.config.shards;
        let lengths = lengths(&run.deployment, shards).await?;
        if lengths.iter().all(|(_, length)| *length == 0) {
            return Ok(());
        }
        run.budget.reserve(pending::RESERVED);
        drain(run, lengths).await;
    }
    run.budget.reserve(Cost::default());
    pending::run(&run.deployment, &run.budget).await
}

async fn run_all(app: &App, run: &CronRun) -> Result<(), Error> {
    // The drain of every minute has a budget of its own. Under constant load this one must not take
    // everything from the archive.
    let half = run.deployment.config.cron_budget / 2;
    let archive = run.archive.as_ref().map(|_| Cost::new(half, half));
    let saved = app.bindings.snapshots.as_ref();
    let snapshots = saved.map(|_| snapshots::cost(&run.deployment));
    let snapshots = snapshots.unwrap_or_default();
    let later = archive.unwrap_or_default().plus(snapshots);
    let journal = run.journal.as_ref();
    let journal = journal.map(|_| outbox::cron_cost(&run.deployment.config));
    let read = || progress::read(&run.deployment, run.journal.is_some());
    let mut progress = read().await?;
    if progress.iter().any(|progress| progress.is_pending) {
        run.budget.reserve(later.plus(journal.unwrap_or_default()));
        log_failure(pending::run(&run.deployment, &run.budget).await);
    }
    // An outbox of unknown length has at least one entry.
    let outboxes = progress.iter().map(|progress| progress.outbox.as_ref());
    let lengths = outboxes.map(|outbox| outbox.map_or(1, |outbox| outbox.length));
    let lengths: Vec<(u32, u64)> = (0..).zip(lengths).collect();
    if run.journal.is_some() && lengths.iter().any(|(_, length)| *length > 0) {
        run.budget.reserve(later);
        drain(run, lengths).await;
        progress = read().await?;
    }
    run.budget.reserve(snapshots);
    if let Some(archive) = &run.archive {
        log_failure(archive::run(&run.deployment, archive, &progress, &run.budget).await);
    }
    run.budget.reserve(Cost::default());
    match saved {
        Some(saved) => snapshots::run(&run.deployment, saved, &progress, &run.budget).await,
        None => Ok(()),
    }
}

async fn drain(run: &CronRun, lengths: Vec<(u32, u64)>) {
    if let Some(journal) = &run.journal {
        let batches = outbox::cron_batches(&run.deployment.config);
        let budget = Some(&*run.budget);
        let drained =
            outbox::drain_filled(&run.deployment, journal, lengths, batches, budget).await;
        log_failure(drained.map(|_| ()));
    }
}

fn log_failure(result: Result<(), Error>) {
    if let Err(error) = result {
        log::job(&error);
    }
}
