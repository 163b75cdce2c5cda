//! Drains the outboxes of the shards to the journal.

use crate::journal;
use crate::platform::d1::Database;
use activity_rank_core::error::Error;
use activity_rank_store::deployment::Deployment;
use activity_rank_store::outbox::{self, BATCH};
use std::ops::Range;

/// The most batches of a run of cron, on all shards: 100,000 entries, by 201 requests. Cloudflare's
/// free plan allows 50 requests and queries, and refuses the next one: then a run moves
/// [`FREE_PLAN_ENTRIES`].
pub const CRON_BATCHES: u32 = 100;

/// The entries that a run moves within 50 requests and queries: 20 batches take 41, and the lengths
/// of the outboxes one more.
pub const FREE_PLAN_ENTRIES: u64 = 20 * BATCH as u64;

/// The most batches of a request.
pub const REQUEST_BATCHES: u32 = 20;

/// The entries of a batch are halved after each failure of the store, down to fewer than this many.
const MIN_ENTRIES: usize = 125;

/// Drains the outboxes of some shards, the longest first, by at most so many batches. Returns whether
/// they are empty now.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the store or the database fails; the next run continues.
pub async fn drain(
    deployment: &Deployment,
    journal: &Database,
    shards: Range<u32>,
    mut batches: u32,
) -> Result<bool, Error> {
    let mut lengths = outbox::lengths(deployment, shards).await?;
    let mut empty = true;
    while let Some(index) = longest(&lengths) {
        let (shard, _) = lengths.swap_remove(index);
        empty &= drain_shard(deployment, journal, shard, &mut batches).await?;
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
) -> Result<bool, Error> {
    let (mut done, mut length) = (Vec::new(), BATCH);
    while *batches > 0 {
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
