//! Does the journal of a shard again on its shadow, page by page.

use std::collections::HashSet;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use super::apply::Applier;
use super::begin::{Begun, Shard};
use super::journal::{Journal, Page};
use super::place::Place;
use super::state::{State, other_settings};
use super::steps::Steps;
use crate::call_error::CallError;
use crate::count::count;
use crate::failure::Failure;

/// The journal of a shard and how far it has been done.
pub struct Replay {
    journal: Journal,
    applier: Applier,
    /// The stamp of the site.
    stamp: String,
    start: Instant,
}

impl Replay {
    /// Goes on where a shard is.
    ///
    /// # Errors
    ///
    /// What the journal can fail with.
    pub async fn resume(begun: &Begun, shard: &Shard) -> Result<Self, Failure> {
        let (place, state) = (&shard.place, shard.state.clone());
        let end = state.entry;
        let mut replay = Self {
            journal: begun.journal.clone(),
            stamp: state.stamp.clone(),
            applier: Applier::new(Steps::new(place.keys.clone(), begun.keep), state),
            start: Instant::now(),
        };
        // What has been done tells what was forgotten, and who is known.
        let mut next = Some(0);
        while let Some(after) = next.filter(|next| *next < end) {
            let page = replay.page(place, after).await?;
            replay.applier.skip(&page.entries);
            next = page.next;
        }
        Ok(replay)
    }

    /// How far it is.
    pub fn state(&mut self) -> &mut State {
        &mut self.applier.state
    }

    /// How far it is, for who needs no more.
    #[must_use]
    pub fn into_state(self) -> State {
        self.applier.state
    }

    /// Entries done by this run.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.applier.entries
    }

    /// Does nearly all there is, while the service goes on: what came meanwhile is little, what comes
    /// then, less.
    ///
    /// # Errors
    ///
    /// As [`Replay::catch_up`].
    pub async fn draw_near(&mut self, place: &Place) -> Result<(), Failure> {
        for _ in 0..3 {
            if self.catch_up(place).await?.is_empty() {
                break;
            }
        }
        Ok(())
    }

    /// Does all there is, and says whom that was about.
    ///
    /// # Errors
    ///
    /// [`Failure`] where service or store do not answer, or an entry cannot be done.
    pub async fn catch_up(&mut self, place: &Place) -> Result<HashSet<String>, Failure> {
        self.applier.changed.clear();
        let mut page = self.page(place, self.applier.state.entry).await?;
        loop {
            let (entries, next) = (std::mem::take(&mut page.entries), page.next);
            let until = entries.last().map(|entry| entry.now);
            let Some(next) = next else {
                self.applier.apply(place, entries).await?;
                self.show(place, until);
                return Ok(std::mem::take(&mut self.applier.changed));
            };
            // The next comes while this one is done.
            let coming = page_of(&self.journal, place, &self.stamp, next);
            let (coming, done) = tokio::join!(coming, self.applier.apply(place, entries));
            done?;
            page = coming?;
            self.show(place, until);
        }
    }

    async fn page(&self, place: &Place, after: u64) -> Result<Page, Failure> {
        page_of(&self.journal, place, &self.stamp, after).await
    }

    fn show(&self, place: &Place, until: Option<i64>) {
        let entries = self.entries();
        place.moved(|| {
            let rate = entries as f64 / self.start.elapsed().as_secs_f64().max(0.001);
            let until = until.and_then(|until| Timestamp::from_millisecond(until).ok());
            let until = until.map(|until| format!(", until {until:.0}"));
            let (entries, until) = (entries_of(entries), until.unwrap_or_default());
            format!("{entries}, {rate:.0}/s{until}")
        });
    }
}

/// A page of the journal of a shard, if it still is that of the site with this stamp.
async fn page_of(
    journal: &Journal,
    place: &Place,
    stamp: &str,
    after: u64,
) -> Result<Page, Failure> {
    let live = &place.live;
    let waiting = |failure: &CallError, wait: Duration| {
        live.progress.waiting(&failure.to_string(), wait);
    };
    let page = journal.page(Some(live.shard), after, waiting).await?;
    let now = page.stamp.to_string();
    if now == stamp && page.prefix == live.prefix {
        return Ok(page);
    }
    Err(other_settings(
        &format!("{} {stamp}", live.prefix),
        &format!("{} {now}", page.prefix),
    ))
}

/// How many entries a run did, and how fast.
#[must_use]
pub fn figures(entries: u64, start: Instant) -> String {
    let seconds = start.elapsed().as_secs_f64();
    let rate = entries as f64 / seconds.max(0.001);
    format!("{} in {seconds:.1} s ({rate:.0}/s)", entries_of(entries))
}

/// `1 entry`, `5,792 entries`.
fn entries_of(number: u64) -> String {
    match number {
        1 => "1 entry".to_owned(),
        number => count(number, "entrie"),
    }
}
