//! Boards: which one a request reads, what it reads of it, and the data that comes back.
//!
//! A [`BoardRequest`] is parsed from a path and a query. Its [`BoardQuery`] goes to a source of
//! boards (Redis, the archive, a snapshot), each of which returns a [`BoardSlice`]; the request
//! renders the slice as the JSON of the response.

mod comparison;
mod page;
mod slice;
mod stale;
mod standing;
mod view;
mod winners;

pub use comparison::ComparisonRequest;
pub use page::PageRequest;
pub use slice::{BoardQuery, BoardSlice, Row};
pub use stale::CachedResponse;
pub use standing::StandingRequest;
pub use view::{EntryView, PeriodView, UserView};
pub use winners::{PastBoard, WINNERS, WinnersRequest};

use crate::calendar::{Calendar, Date, Instant, Period};
use crate::config::Config;
use crate::error::Error;
use crate::query::Query;
use serde::Serialize;

/// The board of one period instance, of all users or of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardId {
    /// The kind of period.
    pub period: Period,
    /// Any day of the period instance.
    pub date: Date,
    /// The group whose activity the board ranks; `None` for the board of all users.
    pub group: Option<String>,
}

impl BoardId {
    /// Parses the period of a path and the query parameters `date` and `group`.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] for an invalid query or an unknown period,
    /// [`Error::NotFound`] for a period that is switched off.
    pub fn parse(
        period: &str,
        mut query: Query,
        config: &Config,
        today: Date,
    ) -> Result<Self, Error> {
        let (date, group) = (query.date(today), query.group());
        let names = Period::ALL.map(Period::name).join(", ");
        let known = Period::parse(period).ok_or_else(|| format!("must be one of {names}"));
        let known = query.check("/period", known);
        query.finish()?;
        match known {
            Some(period) if config.periods.contains(&period) => Ok(Self {
                period,
                date,
                group,
            }),
            Some(_) | None => Err(Error::NotFound(format!(
                "The period {period} is switched off."
            ))),
        }
    }

    /// Returns the name that identifies the board within a deployment: `d:2026-11-20`, or
    /// `d:2026-11-20:eu` for the group `eu`.
    ///
    /// Redis keys, the archive and snapshots contain it.
    #[must_use]
    pub fn name(&self) -> String {
        board_name(self.period, self.date, self.group.as_deref())
    }

    /// Returns the period as responses show it.
    #[must_use]
    pub fn period_view(&self, calendar: &Calendar, now: Instant) -> PeriodView {
        PeriodView::new(self.period, self.date, calendar, now)
    }

    /// Returns the path of a request's normal form.
    fn path(&self) -> String {
        let (name, id) = (self.period.name(), self.period.id(self.date));
        format!("/v1/ranking/{name}/{id}")
    }

    /// Returns the last query parameter of a request's normal form: the group, if there is one.
    fn group_parameter(&self) -> String {
        let group = self.group.as_ref();
        group
            .map(|group| format!("&group={group}"))
            .unwrap_or_default()
    }
}

/// Returns the name of the board of a period, of all users or of a group; see [`BoardId::name`].
#[must_use]
pub fn board_name(period: Period, date: Date, group: Option<&str>) -> String {
    let (letter, id) = (period.letter(), period.id(date));
    match group {
        Some(group) => format!("{letter}:{id}:{group}"),
        None => format!("{letter}:{id}"),
    }
}

/// Parses a board name into its period, the period's first day and the group (empty for all users).
///
/// Returns `None` for a text that is no board name, and for the board of all time, which has no
/// first day.
#[must_use]
pub fn parse_board_name(name: &str) -> Option<(Period, Date, &str)> {
    let mut parts = name.splitn(3, ':');
    let period = Period::from_letter(parts.next()?.chars().next()?)?;
    let date = period.first_day(parts.next()?)?;
    Some((period, date, parts.next().unwrap_or_default()))
}

/// A request that reads one board.
pub trait BoardRequest {
    /// Returns the board.
    fn board(&self) -> &BoardId;

    /// Returns what the request reads of the board.
    fn query(&self) -> BoardQuery<'_>;

    /// Renders the response body from the data that answers [`Self::query`].
    fn render(&self, slice: &BoardSlice, period: &PeriodView, decimals: u32) -> String;
}

fn to_json(view: &impl Serialize) -> String {
    serde_json::to_string(view).unwrap_or_default()
}
