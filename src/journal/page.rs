//! `GET /v1/journal`: what was done, from the first on.

use crate::archive::{self, Statement};
use crate::calendar::Period;
use crate::config::Config;
use crate::error::Error;
use crate::keys::Keys;
use crate::pairs::Pairs;
use crate::query::Query;
use crate::redis::{Failure, Reply};
use serde::Serialize;
use std::ops::Range;

/// What is asked: entries after a number, of all shards or of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    after: u32,
    limit: u32,
    shard: Option<u32>,
}

/// How long is kept what entries write, in seconds.
#[derive(Serialize)]
struct Kept {
    /// Of each kind; nothing for ever.
    boards: Pairs<&'static str, Option<u64>>,
    histories: u64,
    marks: u64,
    undos: u64,
}

impl Page {
    /// Reads the question.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] for faults of the query.
    pub fn read(query: &str) -> Result<Self, Error> {
        let mut query = Query::parse(query, &["after", "limit", "shard"]);
        let after = query.whole("after", 0..=u32::MAX, 0);
        let limit = query.whole("limit", 1..=5000, 1000);
        let shard = query.whole("shard", 0..=63, u32::MAX);
        let shard = (shard != u32::MAX).then_some(shard);
        query.finish()?;
        Ok(Self {
            after,
            limit,
            shard,
        })
    }

    /// The shards it is about.
    #[must_use]
    pub fn shards(&self, config: &Config) -> Range<u32> {
        let first = self.shard.unwrap_or(0);
        let end = self.shard.map_or(config.shards, |shard| shard + 1);
        first..end.min(config.shards)
    }

    /// The statement that answers it: numbers, and entries as the answer has them.
    #[must_use]
    pub fn statement(&self, config: &Config) -> Statement {
        let sql = "SELECT n, '{\"n\":' || n || ',\"shard\":' || shard || ',\"id\":\"' || id || '\",' \
             || substr(entry, 2) FROM journal WHERE site = ?1 AND n > ?2 AND entry <> '{}' \
             AND (?4 IS NULL OR shard = ?4) ORDER BY n LIMIT ?3";
        let (site, after, limit) = (archive::site(config), self.after, self.limit);
        let values = vec![site.into(), after.into(), limit.into(), self.shard.into()];
        Statement::new(sql, values)
    }

    /// The answer. Where the outbox has `more`, there is a next page in any case.
    ///
    /// # Errors
    ///
    /// [`Failure::Unavailable`] where the rows are others.
    pub fn view(&self, rows: &Reply, more: bool, config: &Config) -> Result<String, Failure> {
        let rows = rows.list()?;
        let entries = rows.iter().map(|row| row.at(1)?.text());
        let entries = entries.collect::<Result<Vec<_>, _>>()?.join(",");
        let next = match rows.last() {
            Some(last) if more || rows.len() >= self.limit as usize => {
                last.at(0)?.unsigned()?.to_string()
            }
            None if more => self.after.to_string(),
            Some(_) | None => "null".to_owned(),
        };
        let seconds = |kind: Period| (kind.name(), config.keep.board_seconds(kind));
        let kept = Kept {
            boards: Pairs(Period::ALL.map(seconds).to_vec()),
            histories: Keys::SPAN_SECONDS,
            marks: config.keep.marks_seconds(),
            undos: Keys::SPAN_SECONDS,
        };
        let kept = serde_json::to_string(&kept).unwrap_or_default();
        let stamp = serde_json::to_string(&config.stamp()).unwrap_or_default();
        // No prefix has a character that JSON writes otherwise.
        let prefix = &config.prefix;
        Ok(format!(
            "{{\"prefix\":\"{prefix}\",\"stamp\":{stamp},\"keep\":{kept},\"entries\":[{entries}],\"next\":{next}}}"
        ))
    }
}
