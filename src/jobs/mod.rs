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

/// The cron trigger that only completes pending changes and drains the outbox.
const EVERY_MINUTE: &str = "* * * * *";

/// Runs the jobs of a cron trigger within one budget, the ones that matter most first: the journal,
/// then boards that are lost if they expire before they are archived, then the copies for an outage.
/// Pending changes take what these leave: every reader sees them complete already. The rest, and a job
/// that fails, is due next time.
pub async fn run_scheduled(app: &App, cron: &str) {
    let Ok(run) = app.cron_run() else {
        return;
    };
    if cron == EVERY_MINUTE {
        run.budget.reserve(pending::RESERVED);
        drain(&run).await;
        run.budget.reserve(Cost::default());
        log_failure(pending::run(&run.deployment, &run.budget).await);
        return;
    }
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
    run.budget.reserve(later.plus(journal.unwrap_or_default()));
    log_failure(pending::run(&run.deployment, &run.budget).await);
    run.budget.reserve(later);
    drain(&run).await;
    run.budget.reserve(snapshots);
    if let Some(archive) = &run.archive {
        log_failure(archive::run(&run.deployment, archive, &run.budget).await);
    }
    run.budget.reserve(Cost::default());
    if let Some(snapshots) = saved {
        log_failure(snapshots::run(&run.deployment, snapshots, &run.budget).await);
    }
}

async fn drain(run: &CronRun) {
    if let Some(journal) = &run.journal {
        let shards = 0..run.deployment.config.shards;
        let batches = outbox::cron_batches(&run.deployment.config);
        let budget = Some(&*run.budget);
        let drained = outbox::drain(&run.deployment, journal, shards, batches, budget).await;
        log_failure(drained.map(|_| ()));
    }
}

fn log_failure(result: Result<(), Error>) {
    if let Err(error) = result {
        log::job(&error);
    }
}
