//! `GET /v1/users/{user}/card`, `card.svg`, `badge.svg` and `/u/{user}/share.svg`: what everyone may know of a member.

mod badge;
mod lang;
mod share;
mod svg;
mod width;

pub use lang::Lang;

use crate::board::{Standings, StandingsRequest, UserView};
use crate::calendar::{Date, Period};
use crate::config::{Branding, Config, Level};
use crate::error::Error;
use crate::history::{History, HistoryRequest};
use crate::object::Object;
use crate::profile::Profile;
use crate::query::Query;
use crate::score::Points;
use crate::streak::Streak;
use serde::Serialize;

/// The form of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardFormat {
    /// JSON.
    Json,
    /// A picture.
    Card,
    /// A picture of one line.
    Badge,
    /// A picture to share, 1200 by 630 pixels.
    Share,
}

/// A request for the card of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardRequest {
    /// The boards of all users.
    pub standings: StandingsRequest,
    /// The days of the streak.
    pub days: HistoryRequest,
    format: CardFormat,
    look: Look,
}

/// How a picture looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Look {
    /// `None` for that of the reader.
    theme: Option<Theme>,
    lang: Lang,
}

/// A colour scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Theme {
    Light,
    Dark,
}

/// The data of a card.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Card {
    /// The profile and the standings.
    pub standings: Standings,
    /// The history, where everyone may read it.
    pub history: Option<History>,
    /// The number of the user's achievements; `None` for a deployment without any.
    pub achievements: Option<usize>,
}

/// The texts that other sites show with a link to the page of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// The name of the profile, or the id.
    pub name: String,
    /// The best rank, the level and the current streak in sentences. Empty for a user without a rank.
    pub description: String,
}

/// What a card shows.
struct Facts<'a> {
    id: &'a str,
    site: &'a Branding,
    profile: Option<&'a Profile>,
    level: Option<&'a Level>,
    /// The periods, shortest first.
    places: Vec<(Period, Place)>,
    streak: Option<Streak>,
    achievements: Option<usize>,
}

#[derive(Debug, Serialize)]
struct View<'a> {
    user: UserView<'a>,
    standings: Object<&'static str, &'a Place>,
    streak: Option<Streak>,
    #[serde(skip_serializing_if = "Option::is_none")]
    achievements: Option<usize>,
}

/// The standing of the user on the board of a period.
#[derive(Debug, Serialize)]
struct Place {
    id: String,
    score: Points,
    rank: Option<u64>,
    total: u64,
}

impl CardFormat {
    /// Returns the path with the name of its parameter.
    #[must_use]
    pub fn pattern(self) -> &'static str {
        match self {
            Self::Json => "/v1/users/{user}/card",
            Self::Card => "/v1/users/{user}/card.svg",
            Self::Badge => "/v1/users/{user}/badge.svg",
            Self::Share => "/u/{user}/share.svg",
        }
    }
}

impl Theme {
    fn parameter(self) -> &'static str {
        match self {
            Self::Light => "&theme=light",
            Self::Dark => "&theme=dark",
        }
    }
}

impl Look {
    fn parse(query: &mut Query) -> Self {
        let theme = match query.get("theme") {
            None => Ok(None),
            Some("light") => Ok(Some(Theme::Light)),
            Some("dark") => Ok(Some(Theme::Dark)),
            Some(_) => Err("must be light or dark".to_owned()),
        };
        let lang = Lang::parse(query.get("lang"));
        Self {
            theme: query.check("/theme", theme).flatten(),
            lang: query.check("/lang", lang).unwrap_or_default(),
        }
    }
}

impl CardRequest {
    /// Parses the request.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] for an invalid path or query.
    pub fn parse(
        format: CardFormat,
        user: &str,
        query: &str,
        config: &Config,
        today: Date,
    ) -> Result<Self, Error> {
        let mut query = match format {
            CardFormat::Json => Query::parse(query, &[]),
            CardFormat::Card | CardFormat::Badge | CardFormat::Share => {
                Query::known(query, &["theme", "lang"])
            }
        };
        let (user, look) = (query.user(user), Look::parse(&mut query));
        query.finish()?;
        Ok(Self {
            standings: StandingsRequest::for_all_users(&user, config, today),
            days: HistoryRequest::recent(&user, config, today),
            format,
            look,
        })
    }

    /// Returns the path and query that all spellings of the request have in common.
    #[must_use]
    pub fn normal_form(&self) -> String {
        let Look { theme, lang } = self.look;
        let path = self.format.pattern().replace("{user}", &self.days.user);
        if self.format == CardFormat::Json {
            return path;
        }
        let theme = theme.map_or("", Theme::parameter);
        format!("{path}?lang={}{theme}", lang.tag())
    }

    /// Returns whether it shows the number of achievements: a badge has no place for it.
    #[must_use]
    pub fn shows_achievements(&self) -> bool {
        self.format != CardFormat::Badge
    }

    /// Returns the media type; `None` for JSON.
    #[must_use]
    pub fn picture_type(&self) -> Option<&'static str> {
        match self.format {
            CardFormat::Json => None,
            CardFormat::Card | CardFormat::Badge | CardFormat::Share => {
                Some("image/svg+xml; charset=utf-8")
            }
        }
    }

    /// Returns the error of a card that does not exist: it is the same for a hidden and for an unknown user.
    #[must_use]
    pub fn not_found(&self) -> Error {
        Error::NotFound(format!("The user {} has no card.", self.days.user))
    }

    /// Renders the response body.
    #[must_use]
    pub fn render(&self, card: &Card, config: &Config) -> String {
        let facts = self.facts(card, config);
        match self.format {
            CardFormat::Json => facts.json(),
            CardFormat::Card => svg::render(&facts, self.look),
            CardFormat::Badge => badge::render(&facts, self.look),
            CardFormat::Share => share::render(&facts, self.look),
        }
    }

    /// Returns what a page about the user says of them.
    #[must_use]
    pub fn preview(&self, card: &Card, config: &Config) -> Preview {
        let facts = self.facts(card, config);
        Preview {
            name: facts.name().to_owned(),
            description: facts.summary(self.look.lang),
        }
    }

    fn facts<'a>(&'a self, card: &'a Card, config: &'a Config) -> Facts<'a> {
        let standings = &card.standings;
        let (user, layout) = (&self.days.user, config.layout);
        let boards = self.standings.boards.iter().zip(&standings.slices);
        let places = boards.filter_map(|(board, slice)| {
            let slice = slice.as_ref()?;
            let row = slice.row_of(user);
            let steps = row.map_or(0, |row| layout.points(row.score));
            let place = Place {
                id: board.period.id(board.date),
                score: Points::new(steps, layout.decimals),
                rank: row.map(|row| row.rank),
                total: slice.total,
            };
            Some((board.period, place))
        });
        let all_time = self.standings.all_time(standings, config);
        Facts {
            id: user,
            site: &config.site,
            profile: standings.profile.as_ref(),
            level: all_time.and_then(|steps| config.levels.at(steps)),
            places: places.collect(),
            streak: card.history.as_ref().map(|days| self.days.streak(days)),
            achievements: card.achievements,
        }
    }
}

impl Facts<'_> {
    /// Returns the name of the profile, or the id.
    fn name(&self) -> &str {
        let name = self.profile.and_then(|profile| profile.name.as_deref());
        name.unwrap_or(self.id)
    }

    /// Returns the number of achievements, if there are any.
    fn earned(&self) -> Option<usize> {
        self.achievements.filter(|count| *count > 0)
    }

    /// Returns the place of the week, or of the shortest period without boards of weeks.
    fn main_standing(&self) -> Option<&(Period, Place)> {
        let mut places = self.places.iter();
        let week = places.find(|(period, _)| *period == Period::Week);
        week.or(self.places.first())
    }

    /// Returns the rank of the week, or without one the best rank of another period.
    fn best_standing(&self) -> Option<&(Period, Place)> {
        let main = self.main_standing();
        main.filter(|(_, place)| place.rank.is_some()).or_else(|| {
            let ranked = self.places.iter().filter(|(_, place)| place.rank.is_some());
            ranked.min_by_key(|(_, place)| place.rank)
        })
    }

    /// Returns the best rank, the level and the current streak in sentences; an empty text without a rank.
    fn summary(&self, lang: Lang) -> String {
        let Some((period, place)) = self.best_standing() else {
            return String::new();
        };
        let place = lang.place(*period, place);
        let level = self.level.map(|level| level.name.clone());
        let streak = self.streak.filter(|streak| streak.current > 0);
        let streak = streak.map(|streak| lang.streak(streak));
        let all: Vec<String> = [Some(place), level, streak].into_iter().flatten().collect();
        all.join(". ")
    }

    fn json(&self) -> String {
        let places = self.places.iter();
        let view = View {
            user: UserView::new(self.id, self.profile).with_level(self.level),
            standings: Object(
                places
                    .map(|(period, place)| (period.name(), place))
                    .collect(),
            ),
            streak: self.streak,
            achievements: self.achievements,
        };
        serde_json::to_string(&view).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
