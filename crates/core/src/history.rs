//! `GET /v1/users/{user}/activity`: the activity of a user's last days, or of a year.

use crate::board::UserView;
use crate::calendar::{Calendar, Date, Period};
use crate::config::Config;
use crate::error::Error;
use crate::moderation::Flags;
use crate::object::Object;
use crate::pause::Pauses;
use crate::profile::Profile;
use crate::query::Query;
use crate::score::Points;
use crate::streak::{Cover, Streak, StreakDay, streak_days};
use serde::Serialize;

/// Days of history that are kept, including today.
pub const DAYS: i32 = 31;

/// Days that streaks count and that a caller may request at most with an archive, including today.
pub const ARCHIVED_DAYS: i32 = 366;

/// The first year that may be requested: before it, nothing is counted.
const FIRST_YEAR: &str = "1970";

/// A request for the last days of a user, or for a year.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryRequest {
    /// The user.
    pub user: String,
    /// The current day of the deployment's time zone.
    pub today: Date,
    /// The first and the last of the days to return.
    shown: (Date, Date),
    /// Number of days that streaks count.
    kept: i32,
    /// Freezes of streaks in a month.
    freezes: u32,
    /// The first day whose points are read: `years` needs all.
    oldest: Date,
}

/// The stored data of a user's last days.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// The profile.
    pub profile: Option<Profile>,
    /// The flags.
    pub flags: Flags,
    /// The pauses.
    pub pauses: Pauses,
    /// The totals of each of the last [`DAYS`], today first.
    pub recent: Vec<Vec<ActionTotal>>,
    /// The points of earlier days with points, in smallest steps, the latest first.
    pub older: Vec<(Date, i64)>,
}

/// The part of a history that a caller may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everything: the caller is the user or a service.
    Own,
    /// The points by day, which the user has made public.
    Public,
}

/// Returns whether everyone may read the points by day of a user with this profile.
#[must_use]
pub fn is_public(profile: Option<&Profile>, flags: Flags) -> bool {
    profile.is_some_and(|profile| profile.public_activity) && !flags.is_hidden()
}

impl History {
    /// Returns whether everyone may read the points by day.
    #[must_use]
    pub fn is_public(&self) -> bool {
        is_public(self.profile.as_ref(), self.flags)
    }
}

/// A user's total of one action on one day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionTotal {
    /// The action.
    pub action: String,
    /// Number of activities, after undos.
    pub count: i64,
    /// Net points in smallest steps.
    pub steps: i64,
}

impl ActionTotal {
    /// Parses the stored text `count steps`.
    #[must_use]
    pub fn parse(action: &str, stored: &str) -> Option<Self> {
        let (count, steps) = stored.split_once(' ')?;
        Some(Self {
            action: action.to_owned(),
            count: count.parse().ok()?,
            steps: steps.parse().ok()?,
        })
    }
}

#[derive(Debug, Serialize)]
struct View<'a> {
    user: UserView<'a>,
    timezone: &'a str,
    days: Vec<Day<'a>>,
    streak: Streak,
    /// The years of days with points, the latest first; absent without an archive.
    #[serde(skip_serializing_if = "Option::is_none")]
    years: Option<Vec<String>>,
}

#[derive(Debug, Serialize)]
struct Day<'a> {
    date: String,
    points: Points,
    /// Whether a freeze or a pause covers the day.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    frozen: bool,
    /// Whether it is a pause.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    paused: bool,
    /// Absent for older days, and with [`Access::Public`].
    #[serde(skip_serializing_if = "Option::is_none")]
    actions: Option<Object<&'a str, ActionView>>,
}

/// The total of an action in a response.
#[derive(Debug, Serialize)]
pub struct ActionView {
    /// Number of activities, after undos.
    pub count: i64,
    /// Net points.
    pub points: Points,
}

impl HistoryRequest {
    /// Parses the request.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] for an invalid path or query, and for more days than are kept.
    pub fn parse(user: &str, query: &str, config: &Config, today: Date) -> Result<Self, Error> {
        let mut query = Query::parse(query, &["days", "year"]);
        let kept = days_kept(config);
        let user = query.user(user);
        let shown = match query.get("year").map(str::to_owned) {
            None => last_days(&mut query, kept, today),
            Some(year) => days_of_year(&mut query, &year, kept, today),
        };
        query.finish()?;
        Ok(Self {
            user,
            today,
            shown,
            kept,
            freezes: config.streak_freezes,
            oldest: Period::Year.first_day(FIRST_YEAR).unwrap_or(today),
        })
    }

    /// Returns a request for the days that are kept without an archive. Its streaks are those of all days kept.
    #[must_use]
    pub fn recent(user: &str, config: &Config, today: Date) -> Self {
        let kept = days_kept(config);
        Self {
            user: user.to_owned(),
            today,
            shown: (today.plus(1 - DAYS), today),
            kept,
            freezes: config.streak_freezes,
            oldest: today.plus(1 - kept),
        }
    }

    /// Returns the recent days, today first.
    pub fn dates(&self) -> impl Iterator<Item = Date> {
        let today = self.today;
        (0..DAYS).map(move |back| today.plus(-back))
    }

    /// Returns the first and the last of the older days to read; the last precedes the first if none is kept.
    #[must_use]
    pub fn older_days(&self) -> (Date, Date) {
        (self.oldest, self.today.plus(-DAYS))
    }

    /// Returns the days whose points are known and the points in smallest steps, the latest first.
    fn points<'a>(&self, history: &'a History) -> impl Iterator<Item = (Date, i64)> + use<'a> {
        let today = self.today;
        let recent = (0..).zip(&history.recent).map(move |(back, totals)| {
            let steps = totals.iter().map(|total| total.steps).sum();
            (today.plus(-back), steps)
        });
        recent.chain(history.older.iter().copied())
    }

    /// Returns the points of all days that streaks or the response need in smallest steps, today first. Freezes of the
    /// response depend on all days that are known.
    fn steps(&self, history: &History) -> Vec<i64> {
        let known = history.older.last().map_or(self.today, |(date, _)| *date);
        let first = self.shown.0.min(self.today.plus(1 - self.kept)).min(known);
        let mut days = vec![0; days_between(first, self.today) + 1];
        for (date, steps) in self.points(history) {
            if let Some(day) = days.get_mut(days_between(date, self.today)) {
                *day = steps;
            }
        }
        days
    }

    /// Returns the freezes and pauses that cover missed days.
    fn cover<'a>(&self, history: &'a History) -> Cover<'a> {
        Cover {
            freezes: self.freezes,
            pauses: &history.pauses,
        }
    }

    /// Returns the streaks of days with these points, today first.
    fn streak_of(&self, steps: &[i64], history: &History) -> Streak {
        let kept = self.kept.unsigned_abs() as usize;
        let counted = steps.get(..kept).unwrap_or(steps);
        Streak::new(counted, self.today, self.cover(history))
    }

    /// Returns the streaks.
    #[must_use]
    pub fn streak(&self, history: &History) -> Streak {
        self.streak_of(&self.steps(history), history)
    }

    /// Returns the years of days with points, the latest first.
    fn years(&self, history: &History) -> Vec<String> {
        let mut years = Vec::new();
        for (date, steps) in self.points(history) {
            let year = Period::Year.id(date);
            if steps > 0 && years.last() != Some(&year) {
                years.push(year);
            }
        }
        years
    }

    /// Renders the response body.
    #[must_use]
    pub fn render(
        &self,
        history: &History,
        access: Access,
        calendar: &Calendar,
        decimals: u32,
    ) -> String {
        let steps = self.steps(history);
        let (first, last) = self.shown;
        let counted = streak_days(&steps, self.today, self.cover(history));
        let days = (0..)
            .zip(steps.iter().zip(&counted))
            .skip(days_between(last, self.today))
            .take(days_between(first, last) + 1);
        let days = days.map(|(back, (steps, counted))| Day {
            date: self.today.plus(-back).to_string(),
            points: Points {
                steps: *steps,
                decimals,
            },
            frozen: *counted == StreakDay::Frozen,
            paused: *counted == StreakDay::Frozen
                && history.pauses.contains(self.today.plus(-back)),
            actions: match access {
                Access::Own => {
                    let day = history.recent.get(back.unsigned_abs() as usize);
                    day.map(|totals| actions(totals, decimals))
                }
                Access::Public => None,
            },
        });
        let view = View {
            user: UserView::new(&self.user, history.profile.as_ref()),
            timezone: calendar.name(),
            days: days.collect(),
            streak: self.streak_of(&steps, history),
            years: (self.kept > DAYS).then(|| self.years(history)),
        };
        serde_json::to_string(&view).unwrap_or_default()
    }
}

/// Returns the first and the last day for the parameter `days`.
fn last_days(query: &mut Query, kept: i32, today: Date) -> (Date, Date) {
    let requested = query.get("days").and_then(|text| text.parse().ok());
    let days = if requested.is_some_and(|days| (kept + 1..=ARCHIVED_DAYS).contains(&days)) {
        let detail = "must be at most 31: this deployment has no archive of day boards";
        query.check::<u32>("/days", Err(detail.to_owned()));
        1
    } else {
        query.integer("days", 1..=kept.unsigned_abs(), DAYS.unsigned_abs())
    };
    (today.plus(1 - i32::try_from(days).unwrap_or(DAYS)), today)
}

/// Returns the first and the last day of a year until today.
fn days_of_year(query: &mut Query, year: &str, kept: i32, today: Date) -> (Date, Date) {
    let this_year = Period::Year.id(today);
    let is_valid = (FIRST_YEAR..=this_year.as_str()).contains(&year);
    let days = Period::Year
        .first_day(year)
        .and_then(|day| Period::Year.days(day));
    let days = if query.get("days").is_some() {
        Err("must be given without `days`".to_owned())
    } else if kept <= DAYS {
        Err("this deployment has no archive of day boards".to_owned())
    } else {
        let days = days.filter(|_| is_valid);
        days.ok_or_else(|| format!("must be a year from {FIRST_YEAR} to {this_year}"))
    };
    let (first, next) = query.check("/year", days).unwrap_or((today, today.next()));
    (first, next.plus(-1).min(today))
}

/// Returns the number of days from one to another; a number beyond all days if it is later.
fn days_between(from: Date, to: Date) -> usize {
    usize::try_from(to.days_since(from)).unwrap_or(usize::MAX)
}

/// Returns the days that streaks count in a deployment.
fn days_kept(config: &Config) -> i32 {
    let has_archive = config.bound.archive && config.periods.contains(&Period::Day);
    if has_archive { ARCHIVED_DAYS } else { DAYS }
}

/// Returns the totals of a day by action, most points first: Redis stores them in no order.
fn actions(totals: &[ActionTotal], decimals: u32) -> Object<&str, ActionView> {
    let mut counted: Vec<&ActionTotal> = Vec::new();
    // An undone adjustment leaves points without a count.
    for total in totals.iter().filter(|total| total.count > 0) {
        let precedes = |other: &&ActionTotal| match other.steps == total.steps {
            true => other.action < total.action,
            false => other.steps > total.steps,
        };
        counted.insert(counted.partition_point(precedes), total);
    }
    let actions = counted.into_iter().map(|total| {
        let points = Points {
            steps: total.steps,
            decimals,
        };
        let count = total.count;
        (total.action.as_str(), ActionView { count, points })
    });
    Object(actions.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn actions_with_most_points_are_first() {
        let stored = [
            ("visit", "2 2"),
            ("like", "1 2"),
            ("undone", "0 9"),
            ("publish", "1 10"),
        ];
        let totals: Vec<_> = stored
            .iter()
            .map(|(action, stored)| ActionTotal::parse(action, stored).unwrap())
            .collect();
        let view = serde_json::to_string(&actions(&totals, 0)).unwrap();
        let expected = [
            ("publish", json!({ "count": 1, "points": 10 })),
            ("like", json!({ "count": 1, "points": 2 })),
            ("visit", json!({ "count": 2, "points": 2 })),
        ];
        let members = expected.map(|(action, total)| format!("\"{action}\":{total}"));
        assert_eq!(view, format!("{{{}}}", members.join(",")));
    }
}
