//! Sums up the journal by day and action.

use crate::app::CronRun;
use crate::journal::sums;
use crate::platform::budget::Cost;
use crate::platform::d1::Database;
use activity_rank_core::calendar::Instant;
use activity_rank_core::error::Error;
use activity_rank_store::progress::{self, Progress};

/// The cost of a run that adds one part: a transaction, and a request that records the run.
pub const COST: Cost = sums::COST.plus(Cost::new(1, 0));

/// Adds the rows that the journal has received since the last run. `drained` is the instant until which
/// it has all changes, if that is known.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the store or the database fails; the next run continues.
pub async fn run(
    run: &CronRun,
    journal: &Database,
    progress: &[Progress],
    drained: Option<Instant>,
) -> Result<(), Error> {
    let mut last = Vec::new();
    let mut is_due = false;
    for (shard, progress) in (0..).zip(progress) {
        let outbox = progress.outbox.as_ref();
        if outbox.is_some_and(|outbox| outbox.last == progress.summed) {
            continue;
        }
        is_due = true;
        // Later entries have a later id.
        if let Some(outbox) = outbox.filter(|outbox| outbox.length == 0) {
            last.push((shard, outbox.last.as_str()));
        }
    }
    if !is_due {
        return Ok(());
    }
    let deployment = &run.deployment;
    while sums::add(journal, &deployment.config, drained).await? {
        if !run.budget.allows(COST) {
            return Ok(());
        }
    }
    if last.is_empty() {
        return Ok(());
    }
    progress::record_sums(deployment, &last).await
}
