//! `GET /v1/journal`: a page of the journal, oldest entry first.

use crate::archive::deployment_id;
use crate::platform::d1::{Columns, Database, FromRow, Statement};
use activity_rank_core::calendar::Period;
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;
use activity_rank_core::object::Object;
use activity_rank_core::query::Query;
use activity_rank_store::fingerprint::stamp;
use activity_rank_store::keys::Keys;
use serde::Serialize;
use std::ops::Range;

/// A request for a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalRequest {
    after: u32,
    limit: u32,
    shard: Option<u32>,
}

/// The entries of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page(Vec<Entry>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    n: u64,
    /// The entry as JSON.
    entry: String,
}

impl FromRow for Entry {
    fn from_row(mut columns: Columns) -> Option<Self> {
        Some(Self {
            n: columns.integer(0)?,
            entry: columns.text(1)?,
        })
    }
}

/// The lifetimes of what entries wrote, in seconds.
#[derive(Serialize)]
struct Lifetimes {
    /// By period; `None` for no limit.
    boards: Object<&'static str, Option<u64>>,
    histories: u64,
    marks: u64,
    undos: u64,
}

impl JournalRequest {
    /// Parses the request.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] for an invalid query.
    pub fn parse(query: &str) -> Result<Self, Error> {
        let mut query = Query::parse(query, &["after", "limit", "shard"]);
        let after = query.integer("after", 0..=u32::MAX, 0);
        let limit = query.integer("limit", 1..=5000, 1000);
        let shard = query.integer("shard", 0..=63, u32::MAX);
        query.finish()?;
        Ok(Self {
            after,
            limit,
            shard: (shard != u32::MAX).then_some(shard),
        })
    }

    /// Returns the shards that the page covers.
    #[must_use]
    pub fn shards(&self, config: &Config) -> Range<u32> {
        let first = self.shard.unwrap_or(0);
        let end = self.shard.map_or(config.shards, |shard| shard + 1);
        first..end.min(config.shards)
    }

    /// Reads the page.
    ///
    /// # Errors
    ///
    /// [`Error::StoreUnavailable`] if the database fails.
    pub async fn read(&self, journal: &Database, config: &Config) -> Result<Page, Error> {
        journal.query(self.statement(config)).await.map(Page)
    }

    /// Returns the statement that reads the page.
    #[must_use]
    pub fn statement(&self, config: &Config) -> Statement {
        // `+` keeps the database from an index that is not in the order of the page.
        let sql = "SELECT n, '{\"n\":' || n || ',\"shard\":' || shard || ',\"id\":\"' || id || '\",' \
             || substr(entry, 2) AS entry FROM journal WHERE +site = ?1 AND n > ?2 \
             AND journal.entry <> '{}' AND (?4 IS NULL OR shard = ?4) ORDER BY n LIMIT ?3";
        let values = vec![
            deployment_id(config).into(),
            self.after.into(),
            self.limit.into(),
            self.shard.into(),
        ];
        Statement::new(sql, values)
    }

    /// Renders the response body. If the outbox has `more` entries, there is a next page in any case.
    #[must_use]
    pub fn render(&self, Page(rows): &Page, more: bool, config: &Config) -> String {
        let entries: Vec<&str> = rows.iter().map(|row| row.entry.as_str()).collect();
        let next = match rows.last() {
            Some(last) if more || rows.len() >= self.limit as usize => last.n.to_string(),
            None if more => self.after.to_string(),
            Some(_) | None => "null".to_owned(),
        };
        let seconds = |period: Period| (period.name(), config.keep.board_seconds(period));
        let keep = Lifetimes {
            boards: Object(Period::ALL.map(seconds).to_vec()),
            histories: Keys::SPAN_SECONDS,
            marks: config.keep.records_seconds(),
            undos: Keys::SPAN_SECONDS,
        };
        let keep = serde_json::to_string(&keep).unwrap_or_default();
        let stamp = serde_json::to_string(&stamp(config)).unwrap_or_default();
        // A prefix has no character that JSON escapes.
        let (prefix, entries) = (&config.prefix, entries.join(","));
        format!(
            "{{\"prefix\":\"{prefix}\",\"stamp\":{stamp},\"keep\":{keep},\"entries\":[{entries}],\"next\":{next}}}"
        )
    }
}
