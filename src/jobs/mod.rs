//! Work outside of requests: scheduled jobs, and the queue.

pub mod achievements;
pub mod archive;
pub mod fair_play;
pub mod pending;
pub mod receive;
pub mod replay;
pub mod rules_preview;
pub mod snapshots;
pub mod sums;
pub mod webhooks;

use crate::app::{App, CronRun, Outcome};
use crate::journal::drain::{self, Found};
use crate::journal::refusals;
use crate::log;
use crate::platform::analytics;
use crate::platform::budget::Cost;
use crate::platform::clock;
use activity_rank_core::calendar::Instant;
use activity_rank_core::error::Error;
use activity_rank_store::events;
use activity_rank_store::progress::{self, Progress, RecordedRun, wake_preview};

/// The least time between two recorded runs that go alike, in milliseconds: a little less than three intervals of
/// the trigger, which is not exact.
const RECORD_INTERVAL: i64 = 14 * 60_000;

/// The cost of the statement that deletes activities which did not count.
const DELETION: Cost = Cost::new(1, 1);

/// The cron trigger that only completes pending changes and drains the outbox.
const EVERY_MINUTE: &str = "* * * * *";

/// Runs the jobs of a cron trigger within one budget: what others receive, the journal, pending
/// changes, the sums of the journal, the search for cases, boards that are lost if they expire before they are archived, then
/// the copies for an outage.
/// Each leaves what the later ones need; pending changes take the rest, because every reader sees them
/// complete already. The rest of a job, and a job that fails, is due next time.
///
/// On a deployment where nothing happens, a run reads that there is nothing to do and ends: one command
/// for each shard every minute, one more for each of several shards, and three more every five minutes. Boards of content take two more for
/// each shard. With webhooks and with achievements, the run of every minute also sends a transaction each to the
/// database of the journal, and with `REFUSED_DAYS` and with `FAIR_PLAY` the others do.
///
/// A preview of rules that is running continues in the run of every minute, with what the other jobs leave.
pub async fn run_scheduled(app: &App, cron: &str) {
    let only_minute = cron == EVERY_MINUTE;
    let Ok(run) = app.cron_run(u32::from(!only_minute)) else {
        return;
    };
    let began = clock::now();
    receive::run_all(&run.deployment).await;
    let (mut last, mut drained, mut entries) = (None, Found::default(), 0);
    match read_progress(&run, only_minute).await {
        Ok(progress) => {
            let outboxes = progress.iter().filter_map(|shard| shard.outbox.as_ref());
            entries = outboxes.map(|outbox| outbox.length).sum();
            // Each minute: a version of the rules holds from 75 seconds after its publication.
            let definitions = progress.iter().map(|shard| &shard.definitions);
            let completed = events::complete(&run.deployment, definitions.collect(), began).await;
            run.log_failure(completed);
            last = Some(progress.first().and_then(|progress| progress.cron));
            let has_preview = progress.first().is_some_and(|first| first.has_preview);
            let result = run_jobs(app, &run, only_minute, progress).await;
            run.log_failure(result.map(|found| drained = found));
            if has_preview || drained.has_preview && !only_minute {
                // This run has taken the entry for the next run of every minute, or an earlier one was ended.
                run.log_failure(wake_preview(&run.deployment).await);
            }
        }
        Err(error) => run.log_failure(Err(error)),
    }
    if only_minute {
        run.budget
            .reserve(webhooks::reserved(&run.deployment.config));
        run.log_failure(achievements::run(&run).await);
        run.budget.reserve(Cost::default());
        run.log_failure(webhooks::run(&run, drained.is_complete).await);
        if drained.has_preview {
            run.log_failure(rules_preview::run(app, &run).await);
        }
    } else if let Some(last) = last {
        record(app, &run, last, began).await;
    }
    analytics::Scheduled {
        cron,
        outcome: run.outcome().name(),
        duration: clock::now().0 - began.0,
        requests: run.budget.spent_requests(),
        entries,
    }
    .write();
}

/// Records a run for the metrics. With a journal the last record is known: a run that went as that one did is
/// recorded once in a quarter of an hour.
async fn record(app: &App, cron: &CronRun, last: Option<RecordedRun>, began: Instant) {
    let run = RecordedRun {
        began,
        duration: clock::now().0 - began.0,
        succeeded: cron.outcome() == Outcome::Ok,
    };
    let is_due = last.is_none_or(|last| {
        began.0 - last.began.0 >= RECORD_INTERVAL || last.succeeded != run.succeeded
    });
    if !is_due || cron.outcome() == Outcome::Misconfigured {
        return;
    }
    // Its requests are not in the budget, which may be spent.
    let Ok(deployment) = app.job_deployment() else {
        return;
    };
    if let Err(error) = progress::record_cron(deployment, run).await {
        log::job(&error);
    }
}

/// Runs the jobs of every minute, or all. Returns what the drain of the outboxes has found.
async fn run_jobs(
    app: &App,
    run: &CronRun,
    only_minute: bool,
    mut progress: Vec<Progress>,
) -> Result<Found, Error> {
    let mut archive = run.archive.as_ref();
    let mut saved = app.bindings.snapshots.as_ref();
    let (mut later, mut snapshots_cost) = (Cost::default(), Cost::default());
    if only_minute {
        (archive, saved) = (None, None);
        let config = &run.deployment.config;
        later = webhooks::reserved(config).plus(achievements::reserved(config));
    }
    if saved.is_some() {
        snapshots_cost = snapshots::cost(&run.deployment);
        later = snapshots_cost;
    }
    if archive.is_some() {
        // The drain of every minute has a budget of its own. Under constant load this one must not take
        // everything from the archive.
        let half = run.deployment.config.cron_budget / 2;
        later = later.plus(Cost::new(half, half));
    }
    let (mut sums_cost, mut drained) = (Cost::default(), Some(clock::now()));
    let mut found = Found {
        is_complete: true,
        has_preview: false,
    };
    if run.journal.is_some() && !only_minute {
        sums_cost = sums::COST;
    }
    if let Some(journal) = &run.journal {
        let mut lengths = Vec::new();
        for (shard, progress) in (0..).zip(&progress) {
            // An outbox of unknown length has at least one entry.
            let length = progress.outbox.as_ref().map_or(1, |outbox| outbox.length);
            if length > 0 {
                lengths.push((shard, length));
            }
        }
        if !lengths.is_empty() {
            let mut reserved = later.plus(sums_cost);
            if progress.iter().any(|progress| progress.is_pending) {
                reserved = reserved.plus(pending::RESERVED);
            }
            run.budget.reserve(reserved);
            let batches = drain::cron_batches(&run.deployment.config);
            let budget = Some(&*run.budget);
            let result =
                drain::drain_filled(&run.deployment, journal, lengths, batches, budget).await;
            found.is_complete = false;
            run.log_failure(result.map(|drained| found = drained));
            if !found.is_complete {
                drained = None;
            }
            if !only_minute {
                progress = read_progress(run, false).await?;
            }
        } else if only_minute {
            // Every change of visibility and every erasure has an entry, which stays while it is pending.
            return Ok(found);
        }
    }
    run.budget.reserve(later.plus(sums_cost));
    if progress.iter().any(|progress| progress.is_pending) {
        run.log_failure(pending::run(&run.deployment, &run.budget).await);
    }
    run.budget.reserve(later);
    if let Some(journal) = run.journal.as_ref().filter(|_| !only_minute) {
        run.log_failure(sums::run(run, journal, &progress, drained).await);
    }
    if let Some(journal) = run.journal.as_ref().filter(|_| !only_minute)
        && let Some(statement) = refusals::delete_old(&run.deployment, clock::now())
        && run.budget.allows(DELETION)
    {
        run.log_failure(journal.run(&[statement]).await.map(|_| ()));
    }
    if let Some(journal) = run.journal.as_ref().filter(|_| !only_minute) {
        run.log_failure(fair_play::run(run, journal).await);
    }
    run.budget.reserve(snapshots_cost);
    if let Some(archive) = archive {
        run.log_failure(archive::run(&run.deployment, archive, &progress, &run.budget).await);
    }
    run.budget.reserve(Cost::default());
    if let Some(saved) = saved {
        snapshots::run(&run.deployment, saved, &progress, &run.budget).await?;
    }
    Ok(found)
}

/// Reads the progress of the jobs, or only what the run of every minute needs. Without a journal nothing shows which boards
/// have changed.
async fn read_progress(run: &CronRun, only_minute: bool) -> Result<Vec<Progress>, Error> {
    match run.journal.is_some() && !only_minute {
        true => progress::read(&run.deployment).await,
        false => progress::read_minute(&run.deployment).await,
    }
}
