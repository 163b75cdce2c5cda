//! `GET /v1/ranking/{period}/users/{user}`: the standing of one user.

use super::{BoardId, BoardQuery, BoardRequest, BoardSlice, EntryView, PeriodView, UserView};
use super::{Row, to_json};
use crate::calendar::Date;
use crate::config::Config;
use crate::error::Error;
use crate::query::Query;
use crate::score::Points;
use serde::Serialize;

/// A request for one standing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandingRequest {
    board: BoardId,
    user: String,
    around: u32,
}

#[derive(Debug, Serialize)]
struct View<'a> {
    period: &'a PeriodView,
    user: UserView<'a>,
    rank: Option<u64>,
    score: Points,
    total: u64,
    percentile: Option<f64>,
    next: Option<Next>,
    around: Vec<EntryView<'a>>,
}

/// The next rank above.
#[derive(Debug, Serialize)]
struct Next {
    rank: u64,
    score: Points,
    /// Points that take this rank: the difference and one smallest step, because the user who
    /// reached a score first ranks higher.
    points: Points,
}

impl StandingRequest {
    /// Parses the request.
    ///
    /// # Errors
    ///
    /// As [`BoardId::parse`].
    pub fn parse(
        period: &str,
        user: &str,
        query: &str,
        config: &Config,
        today: Date,
    ) -> Result<Self, Error> {
        let mut query = Query::parse(query, &["around", "date", "group"]);
        let (user, around) = (query.user(user), query.integer("around", 0..=25, 0));
        Ok(Self {
            board: BoardId::parse(period, query, config, today)?,
            user,
            around,
        })
    }

    fn is_around(&self, row: &Row, rank: u64) -> bool {
        self.around > 0 && row.rank.abs_diff(rank) <= self.around.into()
    }
}

impl BoardRequest for StandingRequest {
    fn board(&self) -> &BoardId {
        &self.board
    }

    /// Returns the query; it reads one neighbor even if none is requested, for `next`.
    fn query(&self) -> BoardQuery<'_> {
        BoardQuery::Standing {
            user: &self.user,
            neighbors: self.around.max(1),
        }
    }

    fn render(&self, slice: &BoardSlice, period: &PeriodView, decimals: u32) -> String {
        let points = |row: &Row| Points::new(row.score.points(), decimals);
        let Some(row) = slice.row_of(&self.user) else {
            return to_json(&View {
                period,
                user: UserView::new(&self.user, slice.unranked_profile(&self.user)),
                rank: None,
                score: Points { steps: 0, decimals },
                total: slice.total,
                percentile: None,
                next: None,
                around: Vec::new(),
            });
        };
        let above = slice.rows.iter().find(|other| other.rank + 1 == row.rank);
        let next = above.map(|above| Next {
            rank: above.rank,
            score: points(above),
            points: Points {
                steps: points(above).steps - points(row).steps + 1,
                decimals,
            },
        });
        let around = slice
            .rows
            .iter()
            .filter(|other| self.is_around(other, row.rank));
        to_json(&View {
            period,
            user: UserView::new(&self.user, row.profile.as_ref()),
            rank: Some(row.rank),
            score: points(row),
            total: slice.total,
            percentile: Some(percentile(row.rank, slice.total)),
            next,
            around: around.map(|row| EntryView::new(row, decimals)).collect(),
        })
    }
}

/// Returns 100 × (total − rank + 1) / total, rounded to one decimal.
fn percentile(rank: u64, total: u64) -> f64 {
    let share = (total + 1).saturating_sub(rank) as f64 / total.max(1) as f64;
    (share * 1000.0).round() / 10.0
}
