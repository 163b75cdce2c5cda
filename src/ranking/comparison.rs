//! `GET /v1/ranking/{period}/users?ids=`: several users and their order among themselves.

use super::{PeriodView, Question, User, Which, json, total};
use crate::archive::Lookup;
use crate::calendar::Date;
use crate::config::Config;
use crate::error::Error;
use crate::query::Query;
use crate::redis::{Failure, Reply};
use crate::score::{Points, Score};
use serde::Serialize;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// On which board.
    pub which: Which,
    ids: Vec<String>,
}

/// What is answered.
#[derive(Debug, Serialize)]
struct View {
    period: PeriodView,
    total: u64,
    entries: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    position: Option<usize>,
    rank: Option<u64>,
    score: Points,
    user: User,
}

impl Comparison {
    /// Reads the question.
    ///
    /// # Errors
    ///
    /// As [`Which::read`].
    pub fn read(period: &str, query: &str, config: &Config, today: Date) -> Result<Self, Error> {
        let mut query = Query::parse(query, &["ids", "date", "group"]);
        let ids = query.ids();
        Ok(Self {
            which: Which::read(period, query, config, today)?,
            ids,
        })
    }
}

impl Question for Comparison {
    fn which(&self) -> &Which {
        &self.which
    }

    fn lookup(&self) -> Lookup<'_> {
        Lookup::Compare(&self.ids)
    }

    fn tell(&self, reply: &Reply, period: PeriodView, decimals: u32) -> Result<String, Failure> {
        let (scores, ranks) = (reply.at(2)?.list()?, reply.at(3)?.list()?);
        let columns = self
            .ids
            .iter()
            .zip(scores)
            .zip(ranks)
            .zip(reply.at(4)?.list()?);
        let rows = columns.map(|(((user, score), rank), profile)| -> Result<Row, Failure> {
            let rank = rank
                .some()
                .map(Reply::unsigned)
                .transpose()?
                .map(|rank| rank + 1);
            let score = score
                .some()
                .map(Reply::unsigned)
                .transpose()?
                .map_or(Points { steps: 0, decimals }, |score| {
                    Points::of(Score(score).points(), decimals)
                });
            Ok(Row {
                position: None,
                rank,
                score,
                user: User::stored(user, profile)?,
            })
        });
        // By rank, those without one last in the order asked. Inserting is enough for a hundred,
        // and the library's sorting alone would be 2 % of the bundle.
        let mut entries: Vec<Row> = Vec::new();
        for row in rows {
            let row: Row = row?;
            let not_after = |before: &Row| before.rank.is_some() && before.rank < row.rank;
            let place = match row.rank {
                Some(_) => entries.partition_point(not_after),
                None => entries.len(),
            };
            entries.insert(place, row);
        }
        for (row, position) in entries.iter_mut().zip(1..) {
            row.position = row.rank.map(|_| position);
        }
        Ok(json(&View {
            period,
            total: total(reply)?,
            entries,
        }))
    }
}
