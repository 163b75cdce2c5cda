//! `GET /v1/ranking/{period}/winners`: the first three users of past boards.

use super::{BoardId, BoardKind, BoardSlice, EntryView, PeriodView, to_json};
use crate::calendar::{Calendar, Date, Instant};
use crate::config::Config;
use crate::error::Error;
use crate::query::Query;
use crate::score::Layout;
use serde::Serialize;

/// Number of users listed for each board.
pub const WINNERS: u32 = 3;

const MAX_LIMIT: u32 = 100;
const DEFAULT_LIMIT: u32 = 12;

/// Maximum number of past periods to read from the store: as many as a response can hold.
const MAX_PERIODS: usize = MAX_LIMIT as usize;

/// A request for the winners of past boards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WinnersRequest {
    /// The board before which the past boards lie.
    pub before: BoardId,
    /// Number of boards to return at most.
    pub limit: u32,
}

/// A past board: its first users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastBoard {
    /// First day of the period.
    pub first_day: Date,
    /// The first [`WINNERS`] rows.
    pub slice: BoardSlice,
    /// Whether the rows still lack profiles: the archive stores none.
    pub needs_profiles: bool,
}

#[derive(Debug, Serialize)]
struct View<'a> {
    boards: Vec<BoardView<'a>>,
}

#[derive(Debug, Serialize)]
struct BoardView<'a> {
    period: PeriodView,
    total: u64,
    entries: Vec<EntryView<'a>>,
}

impl WinnersRequest {
    /// Parses the request.
    ///
    /// # Errors
    ///
    /// As [`BoardId::parse`].
    pub fn parse(period: &str, query: &str, config: &Config, today: Date) -> Result<Self, Error> {
        let mut query = Query::parse(query, &["limit", "before", "group"]);
        let limit = query.integer("limit", 1..=MAX_LIMIT, DEFAULT_LIMIT);
        let before = query.day("before", today);
        let board = BoardId::parse(BoardKind::Members, period, query, config, today)?;
        Ok(Self {
            before: BoardId {
                date: before,
                ..board
            },
            limit,
        })
    }

    /// Returns the path and query that every spelling of this request has in common.
    #[must_use]
    pub fn normal_form(&self) -> String {
        let (path, group) = (self.before.path(), self.before.group_parameter());
        format!("{path}/winners?limit={}{group}", self.limit)
    }

    /// Returns the first days of the periods before, newest first; none for the period `all`.
    #[must_use]
    pub fn first_days(&self) -> Vec<Date> {
        let mut first_days = Vec::new();
        let mut days = self.before.period.days(self.before.date);
        while let Some((first, _)) = days.filter(|_| first_days.len() < MAX_PERIODS) {
            days = self.before.period.days(first.plus(-1));
            first_days.extend(days.map(|(first, _)| first));
        }
        first_days
    }

    /// Merges the boards that the store still has with those of the archive, newest first.
    ///
    /// A board of the store wins, because the archive may lag behind. With several shards the
    /// store may have lost a part of a board: then the one with more users wins.
    #[must_use]
    pub fn merge(
        &self,
        stored: Vec<PastBoard>,
        archived: Vec<PastBoard>,
        shards: u32,
    ) -> Vec<PastBoard> {
        let mut boards = stored;
        for past in archived {
            let index = boards.partition_point(|board| board.first_day > past.first_day);
            match boards
                .get_mut(index)
                .filter(|board| board.first_day == past.first_day)
            {
                Some(board) if shards > 1 && board.slice.total < past.slice.total => *board = past,
                Some(_) => {}
                None => boards.insert(index, past),
            }
        }
        boards.retain(|board| board.slice.total > 0);
        boards.truncate(self.limit as usize);
        boards
    }

    /// Renders the response body.
    #[must_use]
    pub fn render(
        &self,
        boards: &[PastBoard],
        calendar: &Calendar,
        now: Instant,
        layout: Layout,
    ) -> String {
        let mut views = Vec::new();
        for board in boards {
            let rows = board.slice.rows.iter();
            views.push(BoardView {
                period: PeriodView::new(self.before.period, board.first_day, calendar, now),
                total: board.slice.total,
                entries: rows
                    .map(|row| EntryView::new(BoardKind::Members, row, layout))
                    .collect(),
            });
        }
        to_json(&View { boards: views })
    }
}
