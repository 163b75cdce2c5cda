//! `GET /v1/digest/{week}`: the digest of a week, and the feeds of past weeks.

mod feed;

pub use feed::{FeedFormat, FeedRequest};

use crate::board::snapshot::calendar_boards;
use crate::board::{
    BoardId, BoardKind, BoardRequest, BoardSlice, EntryView, PageRequest, PeriodView,
};
use crate::calendar::{Date, Period};
use crate::config::{Branding, Config};
use crate::error::Error;
use crate::query::Query;
use crate::stats::{Sums, SumsView};
use serde::Serialize;

/// Rows of each list of winners.
const WINNERS: u32 = 3;

/// Rows of the board of members among which movers are found.
const MEMBERS: u32 = 100;

/// Members listed as movers.
const MOVERS: usize = 5;

/// A request for the digest of a week.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DigestRequest {
    /// The pages to read: of members with movement, then where they are kept of content and of authors.
    pub pages: Vec<PageRequest>,
    /// The first day of the week.
    pub first: Date,
}

#[derive(Debug, Serialize)]
struct View<'a> {
    period: &'a PeriodView,
    total: u64,
    winners: Vec<EntryView<'a>>,
    movers: Vec<EntryView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Vec<EntryView<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    authors: Option<Vec<EntryView<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    numbers: Option<SumsView<'a>>,
    #[serde(skip_serializing_if = "Branding::is_empty")]
    site: &'a Branding,
}

impl DigestRequest {
    /// Parses the request.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] for an invalid week, [`Error::NotFound`] for a week that has not begun and where boards of
    /// weeks are switched off.
    pub fn parse(week: &str, config: &Config, today: Date) -> Result<Self, Error> {
        let mut query = Query::known("", &[]);
        let first = Period::Week.first_day(week);
        let first = first.ok_or_else(|| "must be a week such as 2026-W47".to_owned());
        let first = query.check("/week", first);
        check_weeks(query, config, today)?;
        match first {
            Some(first) if first <= today => Ok(Self {
                pages: boards(config, first).into_iter().map(page).collect(),
                first,
            }),
            Some(_) | None => Err(Error::NotFound("The week has not begun.".to_owned())),
        }
    }

    /// Returns the path that every spelling of this request has in common.
    #[must_use]
    pub fn normal_form(&self) -> String {
        path(self.first)
    }

    /// Returns the last day of the week.
    #[must_use]
    pub fn last(&self) -> Date {
        self.first.plus(6)
    }

    /// Renders the response body from the answers to [`Self::pages`], and with a journal from the sums of the week
    /// where everyone may read them.
    #[must_use]
    pub fn render(
        &self,
        slices: &[BoardSlice],
        sums: Option<&Sums>,
        period: &PeriodView,
        config: &Config,
    ) -> String {
        let rows_of = |kind| {
            let mut pages = self.pages.iter().zip(slices);
            let (page, slice) = pages.find(|(page, _)| page.board.kind == kind)?;
            let rows = slice.rows.iter().take(WINNERS as usize);
            Some(rows.map(|row| page.entry(slice, row, config)).collect())
        };
        let members = self.pages.iter().zip(slices).next();
        let days = (self.first.to_string(), self.last().to_string());
        let decimals = config.layout.decimals;
        let view = View {
            period,
            total: members.map_or(0, |(_, slice)| slice.total),
            winners: rows_of(BoardKind::Members).unwrap_or_default(),
            movers: members.map_or_else(Vec::new, |(page, slice)| movers(page, slice, config)),
            content: rows_of(BoardKind::Content),
            authors: rows_of(BoardKind::Authors),
            numbers: sums.map(|sums| SumsView::from_days(sums, (&days.0, &days.1), decimals)),
            site: &config.site,
        };
        serde_json::to_string(&view).unwrap_or_default()
    }
}

/// Returns the users who have risen most since the week before.
fn movers<'a>(page: &PageRequest, slice: &'a BoardSlice, config: &'a Config) -> Vec<EntryView<'a>> {
    let mut risen = Vec::new();
    for row in &slice.rows {
        let previous = slice.previous_rank(&row.user).flatten();
        if let Some(rise) = previous.and_then(|previous| previous.checked_sub(row.rank)) {
            // Of equal rises, the one that ends higher comes first.
            let index = risen.partition_point(|(other, _)| *other >= rise);
            risen.insert(index, (rise, row));
        }
    }
    risen.retain(|(rise, _)| *rise > 0);
    let rows = risen.into_iter().take(MOVERS);
    rows.map(|(_, row)| page.entry(slice, row, config))
        .collect()
}

/// Checks a query, and that there are boards of weeks.
fn check_weeks(query: Query, config: &Config, today: Date) -> Result<(), Error> {
    BoardId::parse(
        BoardKind::Members,
        Period::Week.name(),
        query,
        config,
        today,
    )
    .map(|_| ())
}

/// Returns the boards of a week.
fn boards(config: &Config, first: Date) -> Vec<BoardId> {
    let mut boards = calendar_boards(config, first);
    boards.retain(|board| board.period == Period::Week);
    boards
}

fn page(board: BoardId) -> PageRequest {
    match board.kind {
        BoardKind::Members => PageRequest::of(board, MEMBERS, true),
        BoardKind::Content | BoardKind::Authors | BoardKind::Event => {
            PageRequest::of(board, WINNERS, false)
        }
    }
}

fn path(first: Date) -> String {
    format!("/v1/digest/{}", Period::Week.id(first))
}
