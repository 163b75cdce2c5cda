//! `GET /v1/ranking/{period}`: the top of a board.

use super::{Entry, PeriodView, Question, Which, json, total};
use crate::archive::Lookup;
use crate::calendar::Date;
use crate::config::Config;
use crate::error::Error;
use crate::query::Query;
use crate::redis::{Failure, Reply};
use serde::Serialize;

/// The most entries of one answer, and how many there are where nobody says.
const MOST: u32 = 100;
const USUAL: u32 = 30;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    /// Of which board.
    pub which: Which,
    limit: u32,
    offset: u32,
}

/// What is answered.
#[derive(Debug, Serialize)]
struct View {
    period: PeriodView,
    total: u64,
    entries: Vec<Entry>,
}

impl Board {
    /// Reads the question.
    ///
    /// # Errors
    ///
    /// As [`Which::read`].
    pub fn read(period: &str, query: &str, config: &Config, today: Date) -> Result<Self, Error> {
        let mut query = Query::parse(query, &["limit", "offset", "date", "group"]);
        let (limit, offset) = (
            query.whole("limit", 1..=MOST, USUAL),
            query.whole("offset", 0..=100_000, 0),
        );
        Ok(Self {
            which: Which::read(period, query, config, today)?,
            limit,
            offset,
        })
    }

    /// Reads the question what a board is and becomes.
    ///
    /// # Errors
    ///
    /// As [`Which::read`].
    pub fn watched(period: &str, query: &str, config: &Config, today: Date) -> Result<Self, Error> {
        let mut query = Query::parse(query, &["limit", "group"]);
        let limit = query.whole("limit", 1..=MOST, USUAL);
        Ok(Self {
            which: Which::read(period, query, config, today)?,
            limit,
            offset: 0,
        })
    }

    /// The same question for another number of entries.
    #[must_use]
    pub fn first(&self, limit: u32) -> Self {
        let which = self.which.clone();
        Self {
            which,
            limit,
            offset: 0,
        }
    }

    /// How many entries are asked for.
    #[must_use]
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// The same question always in the same words, whatever way it was asked.
    #[must_use]
    pub fn normal_form(&self) -> String {
        let (path, group) = (self.which.normal_form(), self.which.group_form());
        let Self { limit, offset, .. } = self;
        format!("{path}?limit={limit}&offset={offset}{group}")
    }

    /// The same of what a board is and becomes: the board of now, whichever day that is.
    #[must_use]
    pub fn live_form(&self) -> String {
        let (period, group) = (self.which.period.name(), self.which.group_form());
        let limit = self.limit;
        format!("/v1/ranking/{period}/live?limit={limit}{group}")
    }
}

impl Question for Board {
    fn which(&self) -> &Which {
        &self.which
    }

    fn lookup(&self) -> Lookup<'_> {
        Lookup::Top(self.offset, self.limit)
    }

    fn tell(&self, reply: &Reply, period: PeriodView, decimals: u32) -> Result<String, Failure> {
        let columns = [reply.at(2)?, reply.at(3)?, reply.at(4)?];
        let mut entries = Entry::rows(u64::from(self.offset) + 1, columns, decimals)?;
        // The reply may be one to a longer question.
        entries.truncate(self.limit as usize);
        Ok(json(&View {
            period,
            total: total(reply)?,
            entries,
        }))
    }
}
