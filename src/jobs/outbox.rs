//! Drains the outboxes of the shards to the journal.

use crate::journal;
use crate::platform::budget::{Budget, Cost};
use crate::platform::d1::Database;
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;
use activity_rank_store::deployment::Deployment;
use activity_rank_store::outbox::{self, BATCH};
use std::ops::Range;

/// The most batches of a run of cron, on all shards: 100,000 entries, by 201 requests.
const MAX_CRON_BATCHES: u32 = 100;

/// The cost of a batch: a request that reads it, a query that writes it and one that empties the rows
/// of erased users, and a request that removes the last batch of the shard.
const BATCH_COST: Cost = Cost::new(3, 2);

/// The most batches of a request.
pub const REQUEST_BATCHES: u32 = 20;

/// The entries of a batch are halved after each failure of the store, down to fewer than this many.
const MIN_ENTRIES: usize = 125;

/// Returns the most batches of a run of cron. 20 batches of one shard take 41 of 50 requests, and the
/// lengths of the outboxes one more.
#[must_use]
pub fn cron_batches(config: &Config) -> u32 {
    (config.cron_budget * 2 / 5).min(MAX_CRON_BATCHES)
}

/// Returns the requests of a run of cron that moves the most batches of one shard.
#[must_use]
pub fn cron_cost(config: &Config) -> Cost {
    Cost::new(2 * cron_batches(config) + 2, 0)
}

/// Returns the most entries that a run of cron moves.
#[must_use]
pub fn cron_entries(config: &Config) -> u64 {
    u64::from(cron_batches(config)) * BATCH as u64
}

/// Drains the outboxes of some shards, the longest first, by at most so many batches and within a
/// budget. Returns whether they are empty now.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the store or the database fails; the next run continues.
pub async fn drain(
    deployment: &Deployment,
    journal: &Database,
    shards: Range<u32>,
    mut batches: u32,
    budget: Option<&Budget>,
) -> Result<bool, Error> {
    let mut lengths = outbox::lengths(deployment, shards).await?;
    let mut empty = true;
    while let Some(index) = longest(&lengths) {
        let (shard, _) = lengths.swap_remove(index);
        empty &= drain_shard(deployment, journal, shard, &mut batches, budget).await?;
    }
    Ok(empty)
}

/// Returns the index of the longest outbox that is not empty.
fn longest(lengths: &[(u32, u64)]) -> Option<usize> {
    let filled = lengths.iter().enumerate();
    let filled = filled.filter(|(_, (_, length))| *length > 0);
    let longest = filled.max_by_key(|(_, (_, length))| *length);
    longest.map(|(index, _)| index)
}

async fn drain_shard(
    deployment: &Deployment,
    journal: &Database,
    shard: u32,
    batches: &mut u32,
    budget: Option<&Budget>,
) -> Result<bool, Error> {
    let (mut done, mut length) = (Vec::new(), BATCH);
    let may_continue = || budget.is_none_or(|budget| budget.allows(BATCH_COST));
    while *batches > 0 && may_continue() {
        *batches -= 1;
        let entries = match outbox::advance(deployment, shard, &done, length).await {
            Ok(entries) => entries,
            Err(Error::StoreUnavailable(_)) if length >= MIN_ENTRIES => {
                length /= 2;
                continue;
            }
            Err(error) => return Err(error),
        };
        if entries.is_empty() {
            return Ok(true);
        }
        done = journal::write(journal, &deployment.config, shard, &entries).await?;
        if entries.len() < length && done.len() == entries.len() {
            outbox::remove(deployment, shard, &done).await?;
            return Ok(true);
        }
    }
    if !done.is_empty() {
        outbox::remove(deployment, shard, &done).await?;
    }
    Ok(false)
}
