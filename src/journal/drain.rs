//! Drains the outboxes of the shards to the journal.

use super::write;
use crate::archive;
use crate::platform::budget::{Budget, Cost};
use crate::platform::clock;
use crate::platform::d1::Database;
use crate::webhooks::reads_levels;
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;
use activity_rank_store::deployment::Deployment;
use activity_rank_store::outbox::{self, BATCH, Drained, OutboxEntry, PREVIEW};
use std::ops::Range;

/// The most batches of a run of cron, on all shards: 100,000 entries, by 201 requests.
const MAX_CRON_BATCHES: u32 = 100;

/// The cost of a batch: a request that reads it, a query that writes it, two that sum it up, one that empties the rows
/// of erased users, three that delete their achievements and one for previews of rules, and a request that removes the last
/// batch of the shard.
const BATCH_COST: Cost = Cost::new(3, 8);

/// The further cost of a batch with webhooks: a request that reads points, and three queries.
const WEBHOOKS_COST: Cost = Cost::new(1, 3);

/// The further cost of a batch with a search for cases: four queries that delete what is known of erased users.
const FAIR_PLAY_COST: Cost = Cost::new(0, 4);

/// The most batches of a request.
pub const REQUEST_BATCHES: u32 = 20;

/// The entries of a batch are halved after each failure of the store, down to fewer than this many.
const MIN_ENTRIES: usize = 125;

/// An outbox with more entries is long: the platform may end a run in the middle of a batch, for its processor time.
const LONG: u64 = 100;

/// The entries of the first batch after other drains of a long outbox were ended.
const LENGTHS: [usize; 4] = [BATCH, BATCH / 4, BATCH / 16, BATCH / 64];

/// Returns the most batches of a run of cron. 20 batches of one shard take 41 of 50 requests, and the
/// lengths of the outboxes one more. Webhooks about levels take one more for each batch.
#[must_use]
pub fn cron_batches(config: &Config) -> u32 {
    (config.cron_budget * 4 / 5 / batch_requests(config)).min(MAX_CRON_BATCHES)
}

/// Returns the requests of each batch.
fn batch_requests(config: &Config) -> u32 {
    2 + u32::from(reads_levels(config))
}

/// Returns the most entries that a run of cron moves.
#[must_use]
pub fn cron_entries(config: &Config) -> u64 {
    u64::from(cron_batches(config)) * BATCH as u64
}

/// The result of a drain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Whether the journal has every entry now.
    pub is_complete: bool,
    /// Whether a preview of rules is to continue.
    pub has_preview: bool,
}

/// Drains the outboxes of some shards, the longest first, by at most so many batches. Returns whether
/// the journal has every entry now.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the store or the database fails; the next run continues.
pub async fn drain(
    deployment: &Deployment,
    journal: &Database,
    shards: Range<u32>,
    batches: u32,
) -> Result<bool, Error> {
    let lengths = outbox::lengths(deployment, shards).await?;
    let found = drain_filled(deployment, journal, lengths, batches, None).await?;
    Ok(found.is_complete)
}

/// As [`drain`], of outboxes whose lengths are known, within a budget.
///
/// # Errors
///
/// As [`drain`].
pub async fn drain_filled(
    deployment: &Deployment,
    journal: &Database,
    mut lengths: Vec<(u32, u64)>,
    mut batches: u32,
    budget: Option<&Budget>,
) -> Result<Found, Error> {
    let mut found = Found {
        is_complete: true,
        has_preview: false,
    };
    while let Some(index) = longest(&lengths) {
        let (shard, length) = lengths.swap_remove(index);
        let mut drain = Drain {
            deployment,
            journal,
            shard,
            is_long: length > LONG,
            budget,
            has_preview: false,
        };
        found.is_complete &= drain.run(&mut batches).await?;
        found.has_preview |= drain.has_preview;
    }
    Ok(found)
}

/// Returns the index of the longest outbox that is not empty.
fn longest(lengths: &[(u32, u64)]) -> Option<usize> {
    let filled = lengths.iter().enumerate();
    let filled = filled.filter(|(_, (_, length))| *length > 0);
    let longest = filled.max_by_key(|(_, (_, length))| *length);
    longest.map(|(index, _)| index)
}

/// The drain of one shard.
struct Drain<'a> {
    deployment: &'a Deployment,
    journal: &'a Database,
    shard: u32,
    is_long: bool,
    budget: Option<&'a Budget>,
    has_preview: bool,
}

impl Drain<'_> {
    /// Moves batches to the journal. Returns whether the journal has every entry now.
    ///
    /// An entry that others are still to receive stays in the outbox. The next drain finds it in the journal already.
    ///
    /// While a change of visibility or an erasure is pending, the last entry stays in the outbox. So
    /// the length of the outbox alone shows the run of every minute that there is work. The next
    /// drain finds the entry in the journal already.
    ///
    /// A drain of a long outbox that ended before it removed a batch makes the first batch of the next one smaller, so
    /// that the same entries are not written forever.
    async fn run(&mut self, batches: &mut u32) -> Result<bool, Error> {
        let settled = archive::settled_before(&self.deployment.calendar, clock::now());
        let settled = settled.to_string();
        let (mut ids, mut last, mut late, mut length) = (Vec::new(), String::new(), false, BATCH);
        let mut cost = match self.deployment.config.webhooks.is_empty() {
            true => BATCH_COST,
            false => BATCH_COST.plus(WEBHOOKS_COST),
        };
        if self.deployment.config.fair_play.is_some() {
            cost = cost.plus(FAIR_PLAY_COST);
        }
        let may_continue = || self.budget.is_none_or(|budget| budget.allows(cost));
        let mut end = false;
        while !end && *batches > 0 && may_continue() {
            *batches -= 1;
            let drained = Drained {
                ids: &ids,
                last: &last,
                late,
                is_long: self.is_long,
            };
            let next = outbox::advance(self.deployment, self.shard, drained, length).await;
            let mut batch = match next {
                Ok(batch) => batch,
                Err(Error::StoreUnavailable(_)) if length >= MIN_ENTRIES => {
                    length /= 2;
                    continue;
                }
                Err(error) => return Err(error),
            };
            if batch.ended > 0 {
                let index = LENGTHS.len().saturating_sub(1).min(batch.ended as usize);
                length = LENGTHS.get(index).copied().unwrap_or(BATCH).min(length);
                batch.entries.truncate(length);
            }
            let entries = &batch.entries;
            self.has_preview |= entries.iter().any(|entry| entry.field("did") == PREVIEW);
            if entries.is_empty() {
                end = true;
                ids = Vec::new();
                late = false;
                break;
            }
            let written = write(self.journal, self.deployment, self.shard, &batch).await?;
            end = entries.len() < length && written == entries.len();
            late = entries.iter().any(|entry| is_late(entry, &settled));
            let written = entries.get(..written).unwrap_or_default();
            if let Some(entry) = written.last() {
                last.clone_from(&entry.id);
            }
            let kept = usize::from(batch.is_pending);
            let config = &self.deployment.config;
            let removed = written.iter().take(written.len() - kept);
            let removed = removed.filter(|entry| batch.is_received(entry, config));
            ids = removed.map(|entry| entry.id.clone()).collect();
        }
        if late || !ids.is_empty() {
            let drained = Drained {
                ids: &ids,
                last: &last,
                late,
                is_long: self.is_long,
            };
            outbox::remove(self.deployment, self.shard, drained).await?;
        }
        Ok(end)
    }
}

/// Returns whether an entry changed a board that had settled before its change: the archive may have
/// it already. A change of visibility or an erasure concerns every board, a registration,
/// an award, a pause or a case none.
fn is_late(entry: &OutboxEntry, settled: &str) -> bool {
    match (entry.field("date"), entry.field("did")) {
        ("", "profile") => !entry.field("hidden").is_empty(),
        ("", "target" | "list" | "award" | "withdraw" | "pause" | "exclude") => false,
        ("", "dismiss" | "reopen" | PREVIEW) => false,
        ("", _) => true,
        (date, _) => date < settled,
    }
}
