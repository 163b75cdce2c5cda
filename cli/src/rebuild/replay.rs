//! Does the journal again on the shadow, page by page.

use std::collections::HashSet;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use super::apply::Applier;
use super::journal::{Journal, Page};
use super::place::Place;
use super::state::State;
use super::steps::Steps;
use crate::call_error::CallError;
use crate::count::count;
use crate::failure::Failure;

/// The journal and how far it has been done.
pub struct Replay {
    journal: Journal,
    applier: Applier,
    start: Instant,
}

impl Replay {
    /// Goes on where the state is.
    ///
    /// # Errors
    ///
    /// What the journal can fail with.
    pub async fn resume(
        place: &Place,
        journal: Journal,
        first: Page,
        state: State,
    ) -> Result<Self, Failure> {
        let (end, steps) = (state.entry, Steps::new(place.keys.clone(), first.keep));
        let mut replay = Self {
            journal,
            applier: Applier::new(steps, state),
            start: Instant::now(),
        };
        // What has been done tells what was forgotten, and who is known.
        let mut page = first;
        loop {
            replay.applier.skip(&page.entries);
            match page.next.filter(|next| *next < end) {
                Some(next) => page = replay.page(place, next).await?,
                None => return Ok(replay),
            }
        }
    }

    /// How far it is.
    pub fn state(&mut self) -> &mut State {
        &mut self.applier.state
    }

    /// Entries done by this run.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.applier.entries
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
            let coming = self.journal.page(next, waiting(place));
            let (coming, done) = tokio::join!(coming, self.applier.apply(place, entries));
            done?;
            page = coming?;
            self.show(place, until);
        }
    }

    /// How many entries this run did, and how fast.
    #[must_use]
    pub fn figures(&self, start: Instant) -> String {
        let seconds = start.elapsed().as_secs_f64();
        let rate = self.entries() as f64 / seconds.max(0.001);
        let entries = entries_of(self.entries());
        format!("{entries} in {seconds:.1} s ({rate:.0}/s)")
    }

    async fn page(&self, place: &Place, after: u64) -> Result<Page, Failure> {
        self.journal.page(after, waiting(place)).await
    }

    fn show(&self, place: &Place, until: Option<i64>) {
        let entries = self.entries();
        place.moved(0, || {
            let rate = entries as f64 / self.start.elapsed().as_secs_f64().max(0.001);
            let until = until.and_then(|until| Timestamp::from_millisecond(until).ok());
            let until = until.map(|until| format!(", until {until:.0}"));
            let (entries, until) = (entries_of(entries), until.unwrap_or_default());
            format!("{entries}, {rate:.0}/s{until}")
        });
    }
}

/// `1 entry`, `5,792 entries`.
fn entries_of(number: u64) -> String {
    match number {
        1 => "1 entry".to_owned(),
        number => count(number, "entrie"),
    }
}

fn waiting(place: &Place) -> impl Fn(&CallError, Duration) {
    |failure, wait| place.live.progress.waiting(&failure.to_string(), wait)
}
