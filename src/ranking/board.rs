//! `GET /v1/ranking/{period}`: the top of a board.

use super::{Entry, PeriodView, Which, total};
use crate::archive::Lookup;
use crate::calendar::Date;
use crate::config::Config;
use crate::error::Error;
use crate::query::Query;
use crate::redis::{Command, Failure, Reply};
use crate::scripts;
use serde::Serialize;

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
pub struct View {
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
            query.whole("limit", 1..=100, 30),
            query.whole("offset", 0..=100_000, 0),
        );
        Ok(Self {
            which: Which::read(period, query, config, today)?,
            limit,
            offset,
        })
    }

    /// The same question always in the same words, whatever way it was asked.
    #[must_use]
    pub fn normal_form(&self) -> String {
        let (path, group) = (self.which.normal_form(), self.which.group_form());
        let Self { limit, offset, .. } = self;
        format!("{path}?limit={limit}&offset={offset}{group}")
    }

    /// The command that answers it.
    #[must_use]
    pub fn command(&self, config: &Config) -> Command {
        let command = self.which.command(&scripts::TOP, config);
        command
            .arg(&self.offset.to_string())
            .arg(&self.limit.to_string())
    }

    /// The same question to the archive.
    #[must_use]
    pub fn lookup(&self) -> Lookup<'_> {
        Lookup::Top(self.offset, self.limit)
    }

    /// The answer.
    ///
    /// # Errors
    ///
    /// [`Failure::Unavailable`] where the reply is not one of this script.
    pub fn view(&self, reply: &Reply, period: PeriodView, decimals: u32) -> Result<View, Failure> {
        let columns = [reply.at(2)?, reply.at(3)?, reply.at(4)?];
        let entries = Entry::rows(u64::from(self.offset) + 1, columns, decimals)?;
        Ok(View {
            period,
            total: total(reply)?,
            entries,
        })
    }
}
