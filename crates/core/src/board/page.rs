//! `GET /v1/ranking/{period}`, `/v1/content/{period}` and `/v1/authors/{period}`: a page of a board.

use super::{BoardId, BoardKind, BoardQuery, BoardRequest, BoardSlice};
use super::{EntryView, PeriodView, to_json};
use crate::calendar::Date;
use crate::config::Config;
use crate::error::Error;
use crate::query::Query;
use serde::Serialize;

const MAX_LIMIT: u32 = 100;
const DEFAULT_LIMIT: u32 = 30;
const MAX_OFFSET: u32 = 100_000;

/// A request for a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// The board.
    pub board: BoardId,
    limit: u32,
    offset: u32,
}

#[derive(Debug, Serialize)]
struct View<'a> {
    period: &'a PeriodView,
    total: u64,
    entries: Vec<EntryView<'a>>,
}

impl PageRequest {
    /// Parses the request.
    ///
    /// # Errors
    ///
    /// As [`BoardId::parse`].
    pub fn parse(
        kind: BoardKind,
        period: &str,
        query: &str,
        config: &Config,
        today: Date,
    ) -> Result<Self, Error> {
        let known = kind.parameters(&["limit", "offset", "date", "group"]);
        let mut query = Query::parse(query, known);
        let limit = query.integer("limit", 1..=MAX_LIMIT, DEFAULT_LIMIT);
        let offset = query.integer("offset", 0..=MAX_OFFSET, 0);
        Ok(Self {
            board: BoardId::parse(kind, period, query, config, today)?,
            limit,
            offset,
        })
    }

    /// Parses the request for a live board, which is always the current one from its top.
    ///
    /// # Errors
    ///
    /// As [`BoardId::parse`].
    pub fn parse_live(
        kind: BoardKind,
        period: &str,
        query: &str,
        config: &Config,
        today: Date,
    ) -> Result<Self, Error> {
        let mut query = Query::parse(query, kind.parameters(&["limit", "group"]));
        let limit = query.integer("limit", 1..=MAX_LIMIT, DEFAULT_LIMIT);
        Ok(Self {
            board: BoardId::parse(kind, period, query, config, today)?,
            limit,
            offset: 0,
        })
    }

    /// Returns the request for the first `limit` rows of the same board.
    #[must_use]
    pub fn first(&self, limit: u32) -> Self {
        Self {
            board: self.board.clone(),
            limit,
            offset: 0,
        }
    }

    /// Returns the number of rows requested.
    #[must_use]
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// Returns the path and query that every spelling of this request has in common.
    #[must_use]
    pub fn normal_form(&self) -> String {
        let (path, group) = (self.board.path(), self.board.group_parameter());
        let Self { limit, offset, .. } = self;
        format!("{path}?limit={limit}&offset={offset}{group}")
    }

    /// Returns the normal form of a live request, which names the period without a date.
    #[must_use]
    pub fn live_normal_form(&self) -> String {
        let (period, group) = (self.board.period.name(), self.board.group_parameter());
        let (kind, limit) = (self.board.kind.path(), self.limit);
        format!("/v1/{kind}/{period}/live?limit={limit}{group}")
    }
}

impl BoardRequest for PageRequest {
    fn board(&self) -> &BoardId {
        &self.board
    }

    fn query(&self) -> BoardQuery<'_> {
        BoardQuery::Page {
            offset: self.offset,
            limit: self.limit,
        }
    }

    /// Renders at most `limit` rows: the slice may answer a request for more.
    fn render(&self, slice: &BoardSlice, period: &PeriodView, decimals: u32) -> String {
        let rows = slice.rows.iter().take(self.limit as usize);
        to_json(&View {
            period,
            total: slice.total,
            entries: rows
                .map(|row| EntryView::new(self.board.kind, row, decimals))
                .collect(),
        })
    }
}
