//! `GET /v1/ranking/{period}`, `/v1/content/{period}` and `/v1/authors/{period}`: a page of a board.

use super::{BoardId, BoardKind, BoardQuery, BoardRequest, BoardSlice};
use super::{EntryView, Heading, to_json};
use crate::calendar::{Date, Period};
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
    movement: bool,
}

#[derive(Debug, Serialize)]
struct View<'a> {
    #[serde(flatten)]
    heading: &'a Heading,
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
        let known = &kind.parameters(&["limit", "offset", "date", "group", "movement"]);
        let mut query = Query::parse(query, known);
        let limit = query.integer("limit", 1..=MAX_LIMIT, DEFAULT_LIMIT);
        let offset = query.integer("offset", 0..=MAX_OFFSET, 0);
        Ok(Self {
            movement: BoardId::movement(&mut query, period),
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
        let known = &kind.parameters(&["limit", "group", "movement"]);
        let mut query = Query::known(query, known);
        let limit = query.integer("limit", 1..=MAX_LIMIT, DEFAULT_LIMIT);
        Ok(Self {
            movement: BoardId::movement(&mut query, period),
            board: BoardId::parse(kind, period, query, config, today)?,
            limit,
            offset: 0,
        })
    }

    /// Returns the request for the first `limit` rows of the same board, with or without movement.
    #[must_use]
    pub fn first(&self, limit: u32, movement: bool) -> Self {
        Self::of(self.board.clone(), limit, movement)
    }

    /// Returns the request for the first `limit` rows of a board, with or without movement.
    #[must_use]
    pub fn of(board: BoardId, limit: u32, movement: bool) -> Self {
        Self {
            movement: movement && board.period != Period::All,
            board,
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
        let movement = self.movement_parameter();
        format!("{path}?limit={limit}&offset={offset}{movement}{group}")
    }

    /// Returns the normal form of a live request, which names the period without a date.
    #[must_use]
    pub fn live_normal_form(&self) -> String {
        let (period, group) = (self.board.period.name(), self.board.group_parameter());
        let (kind, limit) = (self.board.kind.path(), self.limit);
        let movement = self.movement_parameter();
        if let Some(event) = self.board.event() {
            return format!("/v1/{kind}/{event}/live?limit={limit}");
        }
        format!("/v1/{kind}/{period}/live?limit={limit}{movement}{group}")
    }

    fn movement_parameter(&self) -> &'static str {
        if self.movement { "&movement=true" } else { "" }
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

    fn movement(&self) -> bool {
        self.movement
    }

    /// Renders at most `limit` rows: the slice may answer a request for more.
    fn render(&self, slice: &BoardSlice, heading: &Heading, config: &Config) -> String {
        let rows = slice.rows.iter().take(self.limit as usize);
        to_json(&View {
            heading,
            total: slice.total,
            entries: rows.map(|row| self.entry(slice, row, config)).collect(),
        })
    }
}
