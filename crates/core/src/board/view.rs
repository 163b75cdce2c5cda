//! The parts that responses about boards and users share.

use super::{BoardKind, Content, Row};
use crate::calendar::{Calendar, Date, Instant, Period};
use crate::config::Level;
use crate::content::TargetView;
use crate::profile::Profile;
use crate::score::{Layout, Points};
use serde::Serialize;
use serde_json::Value;

/// A period instance in a response.
#[derive(Clone, Debug, Serialize)]
pub struct PeriodView {
    kind: &'static str,
    id: String,
    start: Option<String>,
    end: Option<String>,
    timezone: String,
    /// Whether the period has ended.
    pub closed: bool,
}

impl PeriodView {
    /// Returns the instance of a period that contains a day, as of the instant `now`.
    #[must_use]
    pub fn new(period: Period, date: Date, calendar: &Calendar, now: Instant) -> Self {
        let bounds = period.days(date);
        let bounds = bounds.map(|(first, end)| (calendar.start_of(first), calendar.start_of(end)));
        Self {
            kind: period.name(),
            id: period.id(date),
            start: bounds.map(|(start, _)| start.to_string()),
            end: bounds.map(|(_, end)| end.to_string()),
            timezone: calendar.name().to_owned(),
            closed: bounds.is_some_and(|(_, end)| end <= now),
        }
    }
}

/// The field `period` or `event` of a response about a board.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Heading {
    /// A period instance.
    Period(PeriodView),
    /// An event, as [`crate::event::Event::view`] returns it.
    Event(Value),
}

impl Heading {
    /// Returns whether the board does not change any more, but for late activity.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        match self {
            Self::Period(period) => period.closed,
            Self::Event(event) => event.get("state").and_then(Value::as_str) == Some("final"),
        }
    }

    /// Returns the instant from which an event is final; empty for a period.
    #[must_use]
    pub fn final_at(&self) -> &str {
        match self {
            Self::Period(_) => "",
            Self::Event(event) => {
                let final_at = event.get("final_at").and_then(Value::as_str);
                final_at.unwrap_or_default()
            }
        }
    }
}

/// A user in a response: the id and what the profile shows.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct UserView<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    avatar: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hidden: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<&'a Level>,
    #[serde(skip_serializing_if = "Option::is_none")]
    public_activity: Option<bool>,
}

impl<'a> UserView<'a> {
    /// Returns a user with a profile, or with the id alone.
    #[must_use]
    pub fn new(id: &'a str, profile: Option<&'a Profile>) -> Self {
        let part = |part: fn(&Profile) -> &Option<String>| part(profile?).as_deref();
        Self {
            id,
            name: part(|profile| &profile.name),
            avatar: part(|profile| &profile.avatar),
            url: part(|profile| &profile.url),
            hidden: None,
            level: None,
            public_activity: None,
        }
    }

    /// Returns a user as the response to a request for their profile.
    #[must_use]
    pub fn from_profile(id: &'a str, profile: &'a Profile, hidden: bool) -> Self {
        Self {
            public_activity: profile.public_activity.then_some(true),
            ..Self::new(id, Some(profile)).with_hidden(hidden)
        }
    }

    /// Sets the level.
    #[must_use]
    pub fn with_level(self, level: Option<&'a Level>) -> Self {
        Self { level, ..self }
    }

    /// Adds `"hidden": true` if the user opted out of boards.
    #[must_use]
    pub fn with_hidden(self, hidden: bool) -> Self {
        Self {
            hidden: hidden.then_some(true),
            ..self
        }
    }
}

/// A row of a board in a response: a user, or a target and its author.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct EntryView<'a> {
    rank: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_rank: Option<Option<u64>>,
    score: Points,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<UserView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<TargetView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<UserView<'a>>,
}

impl<'a> EntryView<'a> {
    /// Returns the entry of a row.
    #[must_use]
    pub fn new(kind: BoardKind, row: &'a Row, layout: Layout) -> Self {
        let (user, target, author) =
            subject(&row.user, row.profile.as_ref(), row.content.as_deref());
        Self {
            rank: row.rank,
            previous_rank: None,
            score: kind.points(row.score, layout),
            user,
            target,
            author,
        }
    }

    /// Sets the level of the user.
    #[must_use]
    pub fn with_level(self, level: Option<&'a Level>) -> Self {
        Self {
            user: self.user.map(|user| user.with_level(level)),
            ..self
        }
    }

    /// Sets the rank in the period before, `Some(None)` for null; `None` leaves the field out.
    #[must_use]
    pub fn with_previous_rank(self, previous_rank: Option<Option<u64>>) -> Self {
        Self {
            previous_rank,
            ..self
        }
    }
}

/// The fields `user`, `target` and `author` of a response.
type Subject<'a> = (
    Option<UserView<'a>>,
    Option<TargetView<'a>>,
    Option<UserView<'a>>,
);

/// Returns a user; with `content`, a target and its author instead.
#[must_use]
pub fn subject<'a>(
    id: &'a str,
    profile: Option<&'a Profile>,
    content: Option<&'a Content>,
) -> Subject<'a> {
    let Some(Content { target, author }) = content else {
        return (Some(UserView::new(id, profile)), None, None);
    };
    let author = author.as_ref();
    let author = author.map(|(id, profile)| UserView::new(id, profile.as_ref()));
    (None, Some(TargetView::new(id, target)), author)
}
