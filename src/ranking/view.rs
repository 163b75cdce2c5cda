//! The parts that answers about boards share.

use crate::calendar::{Calendar, Date, Instant, Period};
use crate::redis::{Failure, Reply};
use crate::score::{Points, Score};
use crate::users::Profile;
use serde::Serialize;

/// A period instance as answers show it.
#[derive(Clone, Debug, Serialize)]
pub struct PeriodView {
    kind: &'static str,
    id: String,
    start: Option<String>,
    end: Option<String>,
    timezone: String,
    /// Whether it has ended.
    pub closed: bool,
}

impl PeriodView {
    /// The instance of a kind that contains a day, seen at an instant.
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

/// A user with what their profile shows.
#[derive(Clone, Debug, Serialize)]
pub struct User {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    avatar: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hidden: Option<bool>,
}

impl User {
    /// A user and their profile; the id alone where there is none.
    #[must_use]
    pub fn new(id: &str, profile: Option<Profile>) -> Self {
        let Profile { name, avatar, url } = profile.unwrap_or_default();
        Self {
            id: id.to_owned(),
            name,
            avatar,
            url,
            hidden: None,
        }
    }

    /// The user as their own profile shows them: hidden by themself or not.
    #[must_use]
    pub fn hiding(mut self, hidden: bool) -> Self {
        self.hidden = hidden.then_some(true);
        self
    }

    /// A user and their profile as the store holds it.
    ///
    /// # Errors
    ///
    /// [`Failure::Unavailable`] where the reply is no profile.
    pub fn stored(id: &str, profile: &Reply) -> Result<Self, Failure> {
        Ok(Self::new(id, Profile::stored(profile)?))
    }
}

/// A row of a board.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    rank: u64,
    score: Points,
    user: User,
}

impl Entry {
    /// Rows from the users, scores and profiles that a script read; the first has this rank.
    ///
    /// # Errors
    ///
    /// [`Failure::Unavailable`] where the replies do not fit together.
    pub fn rows(
        first: u64,
        [users, scores, profiles]: [&Reply; 3],
        decimals: u32,
    ) -> Result<Vec<Self>, Failure> {
        let (users, scores, profiles) = (users.list()?, scores.list()?, profiles.list()?);
        let rows = users.iter().zip(scores).zip(profiles).zip(first..);
        rows.map(|(((user, score), profile), rank)| {
            let score = Points::of(Score(score.unsigned()?).points(), decimals);
            Ok(Self {
                rank,
                score,
                user: User::stored(user.text()?, profile)?,
            })
        })
        .collect()
    }

    /// The place, from 1.
    #[must_use]
    pub fn rank(&self) -> u64 {
        self.rank
    }

    /// The points.
    #[must_use]
    pub fn score(&self) -> Points {
        self.score
    }
}
