//! Boards: which one a request reads, what it reads of it, and the data that comes back.
//!
//! A [`BoardRequest`] is parsed from a path and a query. Its [`BoardQuery`] goes to a source of
//! boards (Redis, the archive, a snapshot), each of which returns a [`BoardSlice`]; the request
//! renders the slice as the JSON of the response.

mod comparison;
mod hot;
mod page;
mod slice;
pub mod snapshot;
mod stale;
mod standing;
mod standings;
mod view;
mod winners;

pub use comparison::ComparisonRequest;
pub use hot::{HOT_DAYS, HotRequest};
pub use page::PageRequest;
pub use slice::{BoardQuery, BoardSlice, Content, Row};
pub use stale::CachedResponse;
pub use standing::StandingRequest;
pub use standings::{Friends, Standings, StandingsRequest};
pub use view::{EntryView, Heading, PeriodView, UserView};
pub use winners::{PastBoard, WINNERS, WinnersRequest};

use crate::calendar::{Calendar, Date, Instant, Period};
use crate::config::Config;
use crate::content;
use crate::error::Error;
use crate::id;
use crate::query::Query;
use crate::score::{Layout, Points, Score};
use serde::Serialize;

/// The name of the board of all users of all time, see [`BoardId::name`].
pub const ALL_TIME: &str = "a:all";

/// Seconds for which a cache may serve a board of a closed period: a late undo may still change it.
pub const CLOSED_MAX_AGE: u32 = 300;

/// The subject of a board: users or targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoardKind {
    /// Users, by the points of what they do.
    Members,
    /// Targets, by the points that they receive.
    Content,
    /// Users, by the points that their targets and they themselves receive.
    Authors,
    /// Users, by the points of what they do in an event.
    Event,
}

impl BoardKind {
    /// Returns what precedes the names of its boards.
    #[must_use]
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Members => "",
            Self::Content => "T",
            Self::Authors => "A",
            Self::Event => "E",
        }
    }

    /// Returns whether scores are plain points, and equal ones rank by member, descending in the order of
    /// bytes. Scores of members contain the order of arrival.
    #[must_use]
    pub fn is_plain(self) -> bool {
        match self {
            Self::Members | Self::Event => false,
            Self::Content | Self::Authors => true,
        }
    }

    /// Returns the points of a stored score.
    #[must_use]
    pub fn points(self, score: Score, layout: Layout) -> Points {
        let steps = match self.is_plain() {
            false => layout.points(score),
            true => score.0,
        };
        Points::new(steps, layout.decimals)
    }

    /// Removes the query parameters `group` and `movement` where boards have no groups, and `date` for events.
    fn parameters<'a>(self, all: &[&'a str]) -> Vec<&'a str> {
        let is_known = |name: &&str| match self {
            Self::Members => true,
            Self::Content | Self::Authors => !["group", "movement"].contains(name),
            Self::Event => !["date", "group", "movement"].contains(name),
        };
        all.iter().copied().filter(is_known).collect()
    }

    /// Returns the member of its boards for an id.
    #[must_use]
    pub fn member(self, id: &str) -> String {
        match self {
            Self::Content => content::member(id),
            Self::Members | Self::Authors | Self::Event => id.to_owned(),
        }
    }

    /// Returns the kind of the board with a name, see [`BoardId::name`].
    #[must_use]
    pub fn from_board_name(name: &str) -> Self {
        let mut kinds = [Self::Content, Self::Authors, Self::Event].into_iter();
        let found = kinds.find(|kind| name.starts_with(kind.prefix()));
        found.unwrap_or(Self::Members)
    }

    /// Returns the kind that a part of a path names: members unless it names another.
    #[must_use]
    pub fn from_path(part: &str) -> Self {
        match part {
            "content" => Self::Content,
            "authors" => Self::Authors,
            "events" => Self::Event,
            _ => Self::Members,
        }
    }

    /// Returns the part of paths that names it.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::Members => "ranking",
            Self::Content => "content",
            Self::Authors => "authors",
            Self::Event => "events",
        }
    }
}

/// The board of one period instance, of all users or of a group; or that of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardId {
    /// The subject.
    pub kind: BoardKind,
    /// The kind of period; all time for an event.
    pub period: Period,
    /// Any day of the period instance.
    pub date: Date,
    /// The group whose activity the board ranks, or the event; `None` for the board of all users.
    pub group: Option<String>,
}

impl BoardId {
    /// Parses the period or event of a path and the query parameters `date` and, for members, `group`.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] for an invalid query or an unknown period,
    /// [`Error::NotFound`] for a period that is switched off.
    pub fn parse(
        kind: BoardKind,
        period: &str,
        mut query: Query,
        config: &Config,
        today: Date,
    ) -> Result<Self, Error> {
        if kind == BoardKind::Event {
            let event = query.check("/event", id::checked(period));
            query.finish()?;
            return Ok(Self::for_event(event.unwrap_or_default()));
        }
        let (date, group) = (query.date(today), query.group());
        let names = Period::ALL.map(Period::name).join(", ");
        let known = Period::parse(period).ok_or_else(|| format!("must be one of {names}"));
        let known = query.check("/period", known);
        query.finish()?;
        let periods = match kind {
            BoardKind::Members | BoardKind::Event => &config.periods,
            BoardKind::Content | BoardKind::Authors => &config.content_periods,
        };
        if periods.is_empty() {
            return Err(Error::no_content());
        }
        match known {
            Some(period) if periods.contains(&period) => Ok(Self {
                kind,
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
    /// `d:2026-11-20:eu` for the group `eu`; boards of content and of authors begin with a capital letter,
    /// `Td:2026-11-20` and `Ad:2026-11-20`; the board of an event is `E::hackathon`.
    ///
    /// Redis keys, the archive and snapshots contain it.
    #[must_use]
    pub fn name(&self) -> String {
        if let (BoardKind::Event, Some(event)) = (self.kind, &self.group) {
            return event_board_name(event);
        }
        let name = board_name(self.period, self.date, self.group.as_deref());
        format!("{}{name}", self.kind.prefix())
    }

    /// Returns the board of an event.
    #[must_use]
    pub fn for_event(event: String) -> Self {
        Self {
            kind: BoardKind::Event,
            period: Period::All,
            date: Date::from_local_millis(0),
            group: Some(event),
        }
    }

    /// Returns the event, if the board is that of one.
    #[must_use]
    pub fn event(&self) -> Option<&str> {
        self.group
            .as_deref()
            .filter(|_| self.kind == BoardKind::Event)
    }

    /// Returns the board of the period before, with the same subject and group; `None` for all time.
    #[must_use]
    pub fn previous(&self) -> Option<Self> {
        let (first, _) = self.period.days(self.date)?;
        Some(Self {
            date: first.plus(-1),
            ..self.clone()
        })
    }

    /// Returns the period as responses show it.
    #[must_use]
    pub fn period_view(&self, calendar: &Calendar, now: Instant) -> PeriodView {
        PeriodView::new(self.period, self.date, calendar, now)
    }

    /// Returns the path of a request's normal form.
    fn path(&self) -> String {
        let (kind, name) = (self.kind.path(), self.period.name());
        if let Some(event) = self.event() {
            return format!("/v1/{kind}/{event}/ranking");
        }
        format!("/v1/{kind}/{name}/{}", self.period.id(self.date))
    }

    /// Takes the query parameter `movement`. All time has no period before: there it adds nothing.
    fn movement(query: &mut Query, period: &str) -> bool {
        query.flag("movement") && period != Period::All.name()
    }

    /// Returns the last query parameter of a request's normal form: the group, if there is one.
    fn group_parameter(&self) -> String {
        let group = self.group.as_ref().filter(|_| self.event().is_none());
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

/// Returns the name of the board of an event; see [`BoardId::name`].
#[must_use]
pub fn event_board_name(event: &str) -> String {
    format!("{}::{event}", BoardKind::Event.prefix())
}

/// Returns the event of a board name; `None` for any other board.
#[must_use]
pub fn event_of_board_name(name: &str) -> Option<&str> {
    name.strip_prefix(BoardKind::Event.prefix())?
        .strip_prefix("::")
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

    /// Returns whether the response shows the ranks of the period before. Never for all time.
    fn movement(&self) -> bool;

    /// Returns the board that [`BoardSlice::previous`] is about, if the response shows its ranks.
    fn previous_board(&self) -> Option<BoardId> {
        self.movement().then(|| self.board().previous())?
    }

    /// Returns the field `previous_rank` of a user: `None` to leave it out.
    fn previous_rank(&self, slice: &BoardSlice, user: &str) -> Option<Option<u64>> {
        self.movement().then(|| slice.previous_rank(user))?
    }

    /// Returns the entry of a row.
    fn entry<'a>(&self, slice: &BoardSlice, row: &'a Row, config: &'a Config) -> EntryView<'a> {
        let entry = EntryView::new(self.board().kind, row, config.layout);
        entry
            .with_previous_rank(self.previous_rank(slice, &row.user))
            .with_level(slice.level(&row.user, &config.levels))
    }

    /// Renders the response body from the data that answers [`Self::query`].
    fn render(&self, slice: &BoardSlice, heading: &Heading, config: &Config) -> String;
}

fn to_json(view: &impl Serialize) -> String {
    serde_json::to_string(view).unwrap_or_default()
}
