//! `GET /v1/ranking/{period}/users/{user}` and its like for content and authors: one standing.

use super::view::subject;
use super::{BoardId, BoardKind, BoardQuery, BoardRequest, BoardSlice, Content};
use super::{EntryView, Heading, Row, UserView, to_json};
use crate::calendar::Date;
use crate::config::Config;
use crate::content::{TargetView, checked_id};
use crate::error::Error;
use crate::query::Query;
use crate::score::{Layout, Points};
use serde::Serialize;

/// A request for one standing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandingRequest {
    board: BoardId,
    user: String,
    around: u32,
    movement: bool,
}

#[derive(Debug, Serialize)]
struct View<'a> {
    #[serde(flatten)]
    heading: &'a Heading,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<UserView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<TargetView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<UserView<'a>>,
    #[serde(flatten)]
    standing: BoardStanding,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_level: Option<NextLevel<'a>>,
    around: Vec<EntryView<'a>>,
}

/// The standing of a user or of a target on a board.
#[derive(Debug, Serialize)]
pub struct BoardStanding {
    rank: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_rank: Option<Option<u64>>,
    /// `None` if it is not known.
    score: Option<Points>,
    total: u64,
    percentile: Option<f64>,
    next: Option<Next>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

/// Why the standing of a user or target is not known while the store is unavailable: they are not among the rows of
/// the snapshot.
pub const NOT_IN_SNAPSHOT: &str = "not-in-snapshot";

/// The next rank above.
#[derive(Debug, Serialize)]
struct Next {
    rank: u64,
    score: Points,
    /// Points that take this rank: the difference, and one smallest step where that only ties.
    points: Points,
}

/// The next level above.
#[derive(Debug, Serialize)]
pub struct NextLevel<'a> {
    name: &'a str,
    /// Points that reach it.
    points: Points,
}

impl<'a> NextLevel<'a> {
    /// Returns the level above all-time points, in smallest steps; `None` at the last one.
    #[must_use]
    pub fn above(steps: u64, config: &'a Config) -> Option<Self> {
        let level = config.levels.above(steps)?;
        Some(Self {
            name: &level.name,
            points: Points::new(level.steps - steps, config.layout.decimals),
        })
    }
}

impl StandingRequest {
    /// Parses the request.
    ///
    /// # Errors
    ///
    /// As [`BoardId::parse`].
    pub fn parse(
        kind: BoardKind,
        period: &str,
        user: &str,
        query: &str,
        config: &Config,
        today: Date,
    ) -> Result<Self, Error> {
        let mut query = Query::parse(
            query,
            &kind.parameters(&["around", "date", "group", "movement"]),
        );
        let user = match kind {
            BoardKind::Content => query.check("/target", checked_id(user)).unwrap_or_default(),
            BoardKind::Members | BoardKind::Authors | BoardKind::Event => query.user(user),
        };
        let around = query.integer("around", 0..=25, 0);
        Ok(Self {
            movement: BoardId::movement(&mut query, period),
            board: BoardId::parse(kind, period, query, config, today)?,
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

    fn movement(&self) -> bool {
        self.movement
    }

    fn render(&self, slice: &BoardSlice, heading: &Heading, config: &Config) -> String {
        let layout = config.layout;
        let kind = self.board.kind;
        let (row, content) = match slice.row_of(&self.user) {
            Some(row) => (Some(row), row.content.as_deref()),
            None => (None, slice.target.as_deref()),
        };
        let profile = match row {
            Some(row) => row.profile.as_ref(),
            None => slice.unranked_profile(&self.user),
        };
        let nothing = Content::default();
        let content = match kind {
            BoardKind::Members | BoardKind::Authors | BoardKind::Event => None,
            BoardKind::Content => content.or(Some(&nothing)),
        };
        let (user, target, author) = subject(&self.user, profile, content);
        let level = slice.level(&self.user, &config.levels);
        let all_time = slice.all_time_points(&self.user);
        let next_level = all_time.and_then(|steps| NextLevel::above(steps, config));
        let around = slice.rows.iter().filter(|other| {
            let rank = row.map(|row| row.rank);
            rank.is_some_and(|rank| self.is_around(other, rank))
        });
        to_json(&View {
            heading,
            user: user.map(|user| user.with_level(level)),
            target,
            author,
            standing: BoardStanding::new(kind, &self.user, slice, layout)
                .with_previous_rank(self.previous_rank(slice, &self.user)),
            next_level,
            around: around.map(|row| self.entry(slice, row, config)).collect(),
        })
    }
}

impl BoardStanding {
    /// Returns the standing of a user or of a target. The slice has their row, if there is one, and the row above.
    #[must_use]
    pub fn new(kind: BoardKind, id: &str, slice: &BoardSlice, layout: Layout) -> Self {
        let points = |row: &Row| kind.points(row.score, layout);
        let row = slice.row_of(id);
        let above = row.and_then(|row| {
            let mut rows = slice.rows.iter();
            Some((row, rows.find(|other| other.rank + 1 == row.rank)?))
        });
        let next = above.map(|(row, above)| Next {
            rank: above.rank,
            score: points(above),
            points: Points {
                steps: points(above).steps - points(row).steps + extra_step(kind, id, above),
                decimals: layout.decimals,
            },
        });
        let is_unknown = slice.is_unknown(id);
        let zero = || (!is_unknown).then(|| Points::new(0, layout.decimals));
        Self {
            rank: row.map(|row| row.rank),
            previous_rank: None,
            score: row.map(points).or_else(zero),
            total: slice.total,
            percentile: row.map(|row| percentile(row.rank, slice.total)),
            next,
            reason: is_unknown.then_some(NOT_IN_SNAPSHOT),
        }
    }

    /// Adds the rank in the period before: `None` to leave it out.
    #[must_use]
    pub fn with_previous_rank(self, previous_rank: Option<Option<u64>>) -> Self {
        Self {
            previous_rank,
            ..self
        }
    }
}

/// Returns the step above equal points that the rank of a row takes: members who reach a score first rank
/// higher, targets and authors with the higher id do.
fn extra_step(kind: BoardKind, id: &str, above: &Row) -> i64 {
    let wins_ties = kind.is_plain() && id > above.user.as_str();
    i64::from(!wins_ties)
}

/// Returns 100 × (total − rank + 1) / total, rounded to one decimal.
fn percentile(rank: u64, total: u64) -> f64 {
    let share = (total + 1).saturating_sub(rank) as f64 / total.max(1) as f64;
    (share * 1000.0).round() / 10.0
}
