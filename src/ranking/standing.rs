//! `GET /v1/ranking/{period}/users/{user}`: where one user stands.

use super::{Entry, PeriodView, Question, User, Which, json, total};
use crate::archive::Lookup;
use crate::calendar::Date;
use crate::config::Config;
use crate::error::Error;
use crate::query::Query;
use crate::redis::{Failure, Reply};
use crate::score::Points;
use serde::Serialize;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandingQuery {
    /// On which board.
    pub which: Which,
    user: String,
    around: u32,
}

/// What is answered.
#[derive(Debug, Serialize)]
struct View {
    period: PeriodView,
    user: User,
    rank: Option<u64>,
    score: Points,
    total: u64,
    percentile: Option<f64>,
    next: Option<Next>,
    around: Vec<Entry>,
}

/// The place above.
#[derive(Debug, Serialize)]
struct Next {
    rank: u64,
    score: Points,
    /// Points that would take it: those between and a smallest step, because of equals the
    /// one that came first ranks higher.
    points: Points,
}

impl StandingQuery {
    /// Reads the question.
    ///
    /// # Errors
    ///
    /// As [`Which::read`].
    pub fn read(
        period: &str,
        user: &str,
        query: &str,
        config: &Config,
        today: Date,
    ) -> Result<Self, Error> {
        let mut query = Query::parse(query, &["around", "date", "group"]);
        let (user, around) = (query.user(user), query.whole("around", 0..=25, 0));
        Ok(Self {
            which: Which::read(period, query, config, today)?,
            user,
            around,
        })
    }
}

impl Question for StandingQuery {
    fn which(&self) -> &Which {
        &self.which
    }

    fn lookup(&self) -> Lookup<'_> {
        // The one above is needed for the points to the next place, also with no neighbours.
        Lookup::Standing(&self.user, self.around.max(1))
    }

    fn tell(&self, reply: &Reply, period: PeriodView, decimals: u32) -> Result<String, Failure> {
        let total = total(reply)?;
        let user = User::stored(&self.user, reply.at(2)?)?;
        let Some(rank) = reply.at(3)?.some() else {
            let (rank, percentile, next, around) = (None, None, None, Vec::new());
            let score = Points { steps: 0, decimals };
            return Ok(json(&View {
                period,
                user,
                rank,
                score,
                total,
                percentile,
                next,
                around,
            }));
        };
        let rank = rank.unsigned()? + 1;
        let first = reply.at(4)?.unsigned()? + 1;
        let columns = [reply.at(5)?, reply.at(6)?, reply.at(7)?];
        let mut around = Entry::rows(first, columns, decimals)?;
        let score_at = |rank: u64| {
            around
                .iter()
                .find(|row| row.rank() == rank)
                .map(Entry::score)
        };
        let score = score_at(rank)
            .ok_or_else(|| Failure::Unavailable("a standing without its own row".to_owned()))?;
        let next = score_at(rank - 1).map(|above| Next {
            rank: rank - 1,
            score: above,
            points: Points {
                steps: above.steps - score.steps + 1,
                decimals,
            },
        });
        let percentile = Some(percentile(rank, total));
        around.retain(|row| self.around > 0 && row.rank().abs_diff(rank) <= self.around.into());
        Ok(json(&View {
            period,
            user,
            rank: Some(rank),
            score,
            total,
            percentile,
            next,
            around,
        }))
    }
}

/// 100 × (total − rank + 1) / total to one decimal.
fn percentile(rank: u64, total: u64) -> f64 {
    let share = (total + 1).saturating_sub(rank) as f64 / total.max(1) as f64;
    (share * 1000.0).round() / 10.0
}
