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

/// What is asked: entries after a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    after: u32,
    limit: u32,
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
        let mut query = Query::parse(query, &["after", "limit"]);
        let after = query.whole("after", 0..=u32::MAX, 0);
        let limit = query.whole("limit", 1..=5000, 1000);
        query.finish()?;
        Ok(Self { after, limit })
    }

    /// The statement that answers it: numbers, and entries as the answer has them.
    #[must_use]
    pub fn statement(&self, config: &Config) -> Statement {
        let sql = "SELECT n, '{\"n\":' || n || ',\"shard\":' || shard || ',\"id\":\"' || id || '\",' \
             || substr(entry, 2) FROM journal WHERE site = ?1 AND n > ?2 AND entry <> '{}' \
             ORDER BY n LIMIT ?3";
        let site = archive::site(config);
        Statement::new(sql, vec![site.into(), self.after.into(), self.limit.into()])
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
