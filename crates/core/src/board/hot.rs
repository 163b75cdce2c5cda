//! `GET /v1/content/hot`: the targets that receive most at present.

use super::{BoardId, BoardKind, EntryView, Row, to_json};
use crate::calendar::Date;
use crate::config::Config;
use crate::error::Error;
use crate::query::Query;
use crate::score::{Layout, Score};
use serde::Serialize;

/// The days that count. A point of the last one counts 64, of each day before half as much, and of the first
/// one 1: sums are integers.
pub const HOT_DAYS: i32 = 7;
const UNIT: u64 = 1 << (HOT_DAYS - 1);

const MAX_LIMIT: u32 = 100;
const DEFAULT_LIMIT: u32 = 30;

/// A request for the targets that receive most at present.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HotRequest {
    /// The board of the last day.
    board: BoardId,
    /// Number of targets to return at most.
    pub limit: u32,
}

#[derive(Debug, Serialize)]
struct View<'a> {
    entries: Vec<EntryView<'a>>,
}

impl HotRequest {
    /// Parses the request.
    ///
    /// # Errors
    ///
    /// As [`BoardId::parse`]: it needs boards of content of days.
    pub fn parse(query: &str, config: &Config, today: Date) -> Result<Self, Error> {
        let mut query = Query::parse(query, &["limit"]);
        let limit = query.integer("limit", 1..=MAX_LIMIT, DEFAULT_LIMIT);
        let board = BoardId::parse(BoardKind::Content, "day", query, config, today)?;
        Ok(Self { board, limit })
    }

    /// Returns the names of the boards, the last day first.
    pub fn boards(&self) -> impl Iterator<Item = String> {
        let day = |ago: i32| BoardId {
            date: self.board.date.plus(-ago),
            ..self.board.clone()
        };
        (0..HOT_DAYS).map(move |ago| day(ago).name())
    }

    /// Returns the path and query that every spelling of this request has in common.
    #[must_use]
    pub fn normal_form(&self) -> String {
        format!("{}/hot?limit={}", self.board.path(), self.limit)
    }

    /// Renders the response body from rows whose scores are 64 times the sums in smallest steps. Scores are
    /// rounded to three decimals.
    #[must_use]
    pub fn render(&self, rows: Vec<Row>, layout: Layout) -> String {
        // In thousandths of points, rounded.
        let unit = UNIT * layout.unit();
        let thousandths = |score: u64| (score.saturating_mul(1000) + unit / 2) / unit;
        let rows = rows.into_iter().map(|row| Row {
            score: Score(thousandths(row.score.0)),
            ..row
        });
        let rows: Vec<Row> = rows.collect();
        let layout = Layout {
            decimals: 3,
            ..layout
        };
        let entry = |row| EntryView::new(self.board.kind, row, layout);
        to_json(&View {
            entries: rows.iter().map(entry).collect(),
        })
    }
}
