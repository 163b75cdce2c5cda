//! Drains the outboxes of all shards to the journal.

use crate::journal;
use crate::platform::d1::Database;
use activity_rank_core::error::Error;
use activity_rank_store::deployment::Deployment;
use activity_rank_store::outbox::{self, BATCH};
use std::ops::Range;

/// Batches of a shard in one run: the next run continues.
const MAX_BATCHES: u32 = 25;

/// The entries of a batch are halved after each failure of the store, down to fewer than this many.
const MIN_ENTRIES: usize = 125;

/// Drains the outboxes of all shards.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the store or the database fails; the next run continues.
pub async fn drain(deployment: &Deployment, journal: &Database) -> Result<(), Error> {
    let shards = 0..deployment.config.shards;
    drain_shards(deployment, journal, shards).await.map(|_| ())
}

/// Drains the outboxes of some shards. Returns whether they are empty now.
///
/// # Errors
///
/// As [`drain`].
pub async fn drain_shards(
    deployment: &Deployment,
    journal: &Database,
    shards: Range<u32>,
) -> Result<bool, Error> {
    let mut empty = true;
    for shard in shards {
        empty &= drain_shard(deployment, journal, shard).await?;
    }
    Ok(empty)
}

async fn drain_shard(
    deployment: &Deployment,
    journal: &Database,
    shard: u32,
) -> Result<bool, Error> {
    let (mut done, mut length) = (Vec::new(), BATCH);
    for _ in 0..MAX_BATCHES {
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
    outbox::remove(deployment, shard, &done).await?;
    Ok(false)
}
