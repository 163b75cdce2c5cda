//! Snapshots of boards: the KV namespace `SNAPSHOTS`.
//!
//! One value holds the current boards of a deployment, another the instant until which cached
//! responses may show a user who has been hidden. Any location may see a change up to a minute late.

use activity_rank_core::board::{BoardSlice, Row};
use activity_rank_core::calendar::Instant;
use activity_rank_core::error::Error;
use activity_rank_core::object::Object;
use activity_rank_core::profile::Profile;
use activity_rank_core::score::Score;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::cell::Cell;
use worker::{Env, KvStore};

const DAY_SECONDS: u64 = 86_400;

thread_local! {
    /// The last hidden-until instant that this isolate has written.
    static HIDDEN_UNTIL: Cell<i64> = const { Cell::new(0) };
}

/// The namespace.
pub struct Snapshots(KvStore);

/// A board as the value stores it: nil, total, users, scores and profiles as JSON.
#[derive(Serialize, Deserialize)]
struct StoredBoard((), u64, Vec<String>, Vec<u64>, Vec<Option<String>>);

/// The value of all boards.
#[derive(Serialize)]
struct Boards<'a> {
    made: i64,
    boards: Object<&'a str, StoredBoard>,
}

impl Snapshots {
    /// Returns the namespace; `None` if it is not bound.
    #[must_use]
    pub fn bound(env: &Env) -> Option<Self> {
        env.kv("SNAPSHOTS").ok().map(Self)
    }

    /// Replaces the boards of a deployment.
    ///
    /// # Errors
    ///
    /// [`Error::StoreUnavailable`] if the namespace fails.
    pub async fn save(
        &self,
        deployment: &str,
        made: Instant,
        boards: &[(String, BoardSlice)],
    ) -> Result<(), Error> {
        let stored = boards
            .iter()
            .map(|(name, slice)| (name.as_str(), encode(slice)));
        let value = Boards {
            made: made.0,
            boards: Object(stored.collect()),
        };
        let value = serde_json::to_string(&value).unwrap_or_default();
        self.put(&boards_key(deployment), value).await
    }

    /// Returns the first rows of boards, `None` for a board that was not saved, and when they were read.
    ///
    /// # Errors
    ///
    /// As [`Self::save`].
    pub async fn find(
        &self,
        deployment: &str,
        names: &[String],
    ) -> Result<Option<(Instant, Vec<Option<BoardSlice>>)>, Error> {
        let text = self.get(&boards_key(deployment)).await?;
        let decode = || {
            let mut value: Map<String, Value> = serde_json::from_slice(text?.as_bytes()).ok()?;
            let made = Instant(value.get("made")?.as_i64()?);
            let boards = value.get_mut("boards")?;
            let board = |name| decode(serde_json::from_value(boards.get_mut(name)?.take()).ok()?);
            Some((made, names.iter().map(board).collect()))
        };
        Ok(decode())
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

fn boards_key(deployment: &str) -> String {
    format!("boards {deployment}")
}

fn hiding_key(deployment: &str) -> String {
    format!("hiding {deployment}")
}

fn unavailable(cause: &str) -> Error {
    Error::StoreUnavailable(format!("SNAPSHOTS: {cause}"))
}

fn encode(slice: &BoardSlice) -> StoredBoard {
    let profile = |row: &Row| serde_json::to_string(row.profile.as_ref()?).ok();
    let rows = &slice.rows;
    StoredBoard(
        (),
        slice.total,
        rows.iter().map(|row| row.user.clone()).collect(),
        rows.iter().map(|row| row.score.0).collect(),
        rows.iter().map(profile).collect(),
    )
}

fn decode(StoredBoard((), total, users, scores, profiles): StoredBoard) -> Option<BoardSlice> {
    let mut rows = Vec::new();
    for (((user, score), profile), rank) in users.into_iter().zip(scores).zip(profiles).zip(1..) {
        rows.push(Row {
            rank,
            score: Score(score),
            user,
            profile: match profile {
                Some(json) => Some(Profile::from_json(&json)?),
                None => None,
            },
            content: None,
        });
    }
    Some(BoardSlice {
        total,
        rows,
        ..BoardSlice::default()
    })
}
