//! The journal of all shards in the order of time.

use std::collections::VecDeque;

use activity_rank_core::calendar::Instant;

use crate::failure::Failure;
use crate::progress::Progress;
use crate::rebuild::journal::{Change, Entry, Journal};
use crate::rebuild::settings::Settings;
use crate::request_error::RequestError;

/// Entries that are read ahead, of all shards.
const AHEAD: usize = 20_000;

/// The journal of all shards in the order of time.
pub struct Entries<'a> {
    journal: &'a Journal,
    progress: &'a Progress,
    settings: &'a Settings,
    shards: Vec<ShardEntries>,
}

/// The next entries of a shard.
struct ShardEntries {
    entries: VecDeque<Entry>,
    /// Number after which the next page starts; `None` at the end.
    next: Option<u64>,
}

impl<'a> Entries<'a> {
    /// Returns the entries of a deployment with these settings.
    #[must_use]
    pub fn new(journal: &'a Journal, progress: &'a Progress, settings: &'a Settings) -> Self {
        let shards = (0..settings.shards).map(|_| ShardEntries {
            entries: VecDeque::new(),
            next: Some(0),
        });
        Self {
            journal,
            progress,
            settings,
            shards: shards.collect(),
        }
    }

    /// Reads pages ahead. Afterwards every shard has an entry, or has no more.
    ///
    /// # Errors
    ///
    /// [`Failure`] if the service does not respond, or its settings have changed.
    pub async fn read_ahead(&mut self) -> Result<(), Failure> {
        let notify = |error: &RequestError, wait| self.progress.retrying(&error.to_string(), wait);
        let ahead = AHEAD / self.shards.len().max(1);
        for (index, shard) in (0..).zip(&mut self.shards) {
            while let Some(after) = shard.next.filter(|_| shard.entries.len() <= ahead) {
                let page = self.journal.page(Some(index), after, notify).await?;
                if page.settings != *self.settings {
                    let message = "the settings of the service have changed: run the preview again";
                    return Err(Failure::Usage(message.to_owned()));
                }
                shard.entries.extend(page.entries);
                shard.next = page.next;
            }
        }
        Ok(())
    }

    /// Returns whether all pages are read.
    #[must_use]
    pub fn is_read(&self) -> bool {
        self.shards.iter().all(|shard| shard.next.is_none())
    }

    /// Returns the shard of the next entry; `None` if a shard has to be read before, or at the end. A registration precedes
    /// activity of the same instant on other shards, as in a request.
    fn next_shard(&self) -> Option<usize> {
        let mut shards = self.shards.iter();
        if shards.any(|shard| shard.entries.is_empty() && shard.next.is_some()) {
            return None;
        }
        let order = |entry: &Entry| {
            let is_activity = matches!(entry.change, Change::Activity(_) | Change::Refused(_));
            (entry.applied_at, is_activity, entry.number)
        };
        let shards = self.shards.iter().enumerate();
        let first =
            shards.filter_map(|(index, shard)| Some((order(shard.entries.front()?), index)));
        first.min().map(|(_, index)| index)
    }

    /// Returns the next entry, unless a shard has to be read before.
    #[must_use]
    pub fn peek(&self) -> Option<&Entry> {
        self.shards.get(self.next_shard()?)?.entries.front()
    }

    /// Removes the entry that [`Self::peek`] returns.
    pub fn pop(&mut self) -> Option<Entry> {
        let shard = self.next_shard()?;
        self.shards.get_mut(shard)?.entries.pop_front()
    }
}

/// Returns the number of activities of a span. Only the entries from its first instant on are read.
///
/// # Errors
///
/// [`Failure`] if the service does not respond.
pub async fn count_activities(
    journal: &Journal,
    [from, until]: [Instant; 2],
    progress: &Progress,
) -> Result<u64, Failure> {
    let notify = |error: &RequestError, wait| progress.retrying(&error.to_string(), wait);
    let (mut next, mut activities) = (Some(journal.last_number(from, notify).await?), 0);
    while let Some(after) = next {
        let page = journal.page(None, after, notify).await?;
        let of_span = page.entries.iter().filter(|entry| match &entry.change {
            Change::Activity(activity) | Change::Refused(activity) => {
                (from..until).contains(&activity.at)
            }
            _ => false,
        });
        activities += of_span.count() as u64;
        next = page.next;
    }
    Ok(activities)
}
