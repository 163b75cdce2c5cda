//! Snapshots of boards: the KV namespace `SNAPSHOTS`.
//!
//! Some values hold the current boards of a deployment, see [`activity_rank_core::board::snapshot`], one the groups
//! and events whose boards these are, and another the instant until which cached responses may show a user who has been hidden.
//! Any location may see a change up to a minute late.

use activity_rank_core::board::snapshot::{Plan, answer, listed_events, parse_groups};
use activity_rank_core::board::{BoardId, BoardQuery, BoardSlice};
use activity_rank_core::calendar::{Date, Instant};
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;
use activity_rank_core::event::Event;
use std::cell::Cell;
use worker::{Env, KvStore};

const DAY_SECONDS: u64 = 86_400;

/// Milliseconds for which the record of a hiding covers the next ones. Half of it is the time that the hiding may take
/// after its record, and by which clocks may differ.
pub const HIDING_MARGIN: i64 = 10_000;

thread_local! {
    /// The last hidden-until instant that this isolate has written.
    static HIDDEN_UNTIL: Cell<i64> = const { Cell::new(0) };
}

/// The namespace.
pub struct Snapshots(KvStore);

impl Snapshots {
    /// Returns the namespace; `None` if it is not bound.
    #[must_use]
    pub fn bound(env: &Env) -> Option<Self> {
        env.kv("SNAPSHOTS").ok().map(Self)
    }

    /// Replaces a value of a deployment.
    ///
    /// # Errors
    ///
    /// [`Error::StoreUnavailable`] if the namespace fails.
    pub async fn save(&self, deployment: &str, number: usize, value: String) -> Result<(), Error> {
        self.put(&value_key(deployment, number), value).await
    }

    /// Answers a query from current boards, each with the instant at which it was read, or `None` if the snapshots
    /// lack it.
    ///
    /// # Errors
    ///
    /// As [`Self::save`].
    pub async fn find(
        &self,
        (deployment, config): (&str, &Config),
        today: Date,
        boards: &[&BoardId],
        query: &BoardQuery<'_>,
    ) -> Result<Vec<Option<(Instant, BoardSlice)>>, Error> {
        let mut list = String::new();
        if boards.iter().any(|board| board.group.is_some()) {
            list = self.list(deployment).await?;
        }
        let ids = listed_events(&list).map(|(id, _)| format!(" {id}"));
        let (groups, events) = (parse_groups(&list), ids.collect::<String>());
        let names: Vec<String> = boards.iter().map(|board| board.name()).collect();
        let plan = Plan::new(config, today, &groups, &events);
        let mut found = vec![None; names.len()];
        for number in plan.values_of(boards) {
            let value = self.get(&value_key(deployment, number)).await?;
            let answer = value.and_then(|value| answer(&value, &names, query));
            let Some((made, boards)) = answer else {
                continue;
            };
            for (slot, board) in found.iter_mut().zip(boards) {
                if let Some(board) = board {
                    *slot = Some((made, board));
                }
            }
        }
        Ok(found)
    }

    /// Returns the definition of an event whose board is in the values.
    ///
    /// # Errors
    ///
    /// As [`Self::save`].
    pub async fn find_event(&self, deployment: &str, id: &str) -> Result<Option<Event>, Error> {
        let list = self.list(deployment).await?;
        let json = listed_events(&list).find(|(listed, _)| *listed == id);
        Ok(json.and_then(|(_, json)| Event::from_stored(id, json)))
    }

    async fn list(&self, deployment: &str) -> Result<String, Error> {
        let list = self.get(&groups_key(deployment)).await?;
        Ok(list.unwrap_or_default())
    }

    /// Replaces the list of groups and events whose boards are in the values.
    ///
    /// # Errors
    ///
    /// As [`Self::save`].
    pub async fn save_list(&self, deployment: &str, list: String) -> Result<(), Error> {
        self.put(&groups_key(deployment), list).await
    }

    /// Records that responses made before `until` may show a user who is hidden.
    ///
    /// KV accepts one write a second for a key: a recent write covers the next ones.
    ///
    /// # Errors
    ///
    /// As [`Self::save`].
    pub async fn set_hidden_until(
        &self,
        deployment: &str,
        now: Instant,
        until: Instant,
    ) -> Result<(), Error> {
        if HIDDEN_UNTIL.get() - now.0 > (until.0 - now.0) / 2 {
            return Ok(());
        }
        self.put(&hiding_key(deployment), until.0.to_string())
            .await?;
        HIDDEN_UNTIL.set(until.0);
        Ok(())
    }

    /// Returns the last recorded instant; 0 if there is none.
    ///
    /// # Errors
    ///
    /// As [`Self::save`].
    pub async fn hidden_until(&self, deployment: &str) -> Result<Instant, Error> {
        let until = self.get(&hiding_key(deployment)).await?;
        Ok(Instant(
            until.and_then(|until| until.parse().ok()).unwrap_or(0),
        ))
    }

    async fn get(&self, key: &str) -> Result<Option<String>, Error> {
        let text = self.0.get(key).text().await;
        text.map_err(|error| unavailable(&error.to_string()))
    }

    async fn put(&self, key: &str, value: String) -> Result<(), Error> {
        let put = self.0.put(key, value);
        let put = put.map_err(|error| unavailable(&error.to_string()))?;
        let done = put.expiration_ttl(DAY_SECONDS).execute().await;
        done.map_err(|error| unavailable(&error.to_string()))
    }
}

fn value_key(deployment: &str, number: usize) -> String {
    format!("boards {number} {deployment}")
}

fn groups_key(deployment: &str) -> String {
    format!("groups {deployment}")
}

fn hiding_key(deployment: &str) -> String {
    format!("hiding {deployment}")
}

fn unavailable(cause: &str) -> Error {
    Error::StoreUnavailable(format!("SNAPSHOTS: {cause}"))
}
