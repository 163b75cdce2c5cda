//! `GET /v1/users/{user}/activity`: the activity of a user's last days.

use crate::board::UserView;
use crate::calendar::{Calendar, Date, Period};
use crate::config::Config;
use crate::error::Error;
use crate::moderation::Flags;
use crate::object::Object;
use crate::profile::Profile;
use crate::query::Query;
use crate::score::Points;
use serde::Serialize;

/// Days of history that are kept, including today.
pub const DAYS: i32 = 31;

/// Days of history of which an archive keeps the points, including today.
pub const ARCHIVED_DAYS: i32 = 366;

/// A request for the last days of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryRequest {
    /// The user.
    pub user: String,
    /// The current day of the deployment's time zone.
    pub today: Date,
    days: usize,
    /// Number of days that the deployment keeps.
    kept: i32,
}

/// The stored data of a user's last days.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// The profile.
    pub profile: Option<Profile>,
    /// The flags.
    pub flags: Flags,
    /// The totals of each of the last [`DAYS`], today first.
    pub recent: Vec<Vec<ActionTotal>>,
    /// The points of earlier days with points, in smallest steps.
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
}

#[derive(Debug, Serialize)]
struct Day<'a> {
    date: String,
    points: Points,
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

/// Runs of consecutive days with points.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Streak {
    /// The run that ends today, or yesterday while today has no points.
    current: usize,
    longest: usize,
}

impl HistoryRequest {
    /// Parses the request.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] for an invalid path or query, and for more days than are kept.
    pub fn parse(user: &str, query: &str, config: &Config, today: Date) -> Result<Self, Error> {
        let mut query = Query::parse(query, &["days"]);
        let has_archive = config.bound.archive && config.periods.contains(&Period::Day);
        let kept = if has_archive { ARCHIVED_DAYS } else { DAYS };
        let requested = query.get("days").and_then(|text| text.parse().ok());
        let user = query.user(user);
        let days = if requested.is_some_and(|days| (kept + 1..=ARCHIVED_DAYS).contains(&days)) {
            let detail = "must be at most 31: this deployment has no archive of day boards";
            query.check("/days", Err(detail.to_owned()))
        } else {
            let default = DAYS.unsigned_abs();
            Some(query.integer("days", 1..=kept.unsigned_abs(), default))
        };
        query.finish()?;
        Ok(Self {
            user,
            today,
            days: days.unwrap_or_default() as usize,
            kept,
        })
    }

    /// Returns the recent days, today first.
    pub fn dates(&self) -> impl Iterator<Item = Date> {
        let today = self.today;
        (0..DAYS).map(move |back| today.plus(-back))
    }

    /// Returns the first and the last of the older days; the last precedes the first if none is kept.
    #[must_use]
    pub fn older_days(&self) -> (Date, Date) {
        (self.today.plus(1 - self.kept), self.today.plus(-DAYS))
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
        let days = self.dates().zip(&history.recent);
        let mut days: Vec<Day<'_>> = days
            .map(|(date, totals)| Day::new(date, totals, access, decimals))
            .collect();
        for back in DAYS..self.kept {
            days.push(Day {
                date: self.today.plus(-back).to_string(),
                points: Points { steps: 0, decimals },
                actions: None,
            });
        }
        for (date, steps) in &history.older {
            let back = usize::try_from(self.today.days_since(*date)).ok();
            if let Some(day) = back.and_then(|back| days.get_mut(back)) {
                day.points.steps = *steps;
            }
        }
        let active: Vec<bool> = days.iter().map(|day| day.points.steps > 0).collect();
        days.truncate(self.days);
        let view = View {
            user: UserView::new(&self.user, history.profile.as_ref()),
            timezone: calendar.name(),
            days,
            streak: Streak::new(&active),
        };
        serde_json::to_string(&view).unwrap_or_default()
    }
}

impl<'a> Day<'a> {
    fn new(date: Date, totals: &'a [ActionTotal], access: Access, decimals: u32) -> Self {
        let points = |steps| Points { steps, decimals };
        // An undone adjustment leaves points without a count.
        let counted = totals.iter().filter(|total| total.count > 0);
        let actions = counted.map(|total| {
            let action = ActionView {
                count: total.count,
                points: points(total.steps),
            };
            (total.action.as_str(), action)
        });
        Self {
            date: date.to_string(),
            points: points(totals.iter().map(|total| total.steps).sum()),
            actions: match access {
                Access::Own => Some(Object(actions.collect())),
                Access::Public => None,
            },
        }
    }
}

impl Streak {
    /// Returns the streaks of days with or without points, today first.
    fn new(active: &[bool]) -> Self {
        let run = |days: &[bool]| days.iter().take_while(|active| **active).count();
        let ending_today = run(active);
        let ending_yesterday = active.get(1..).map_or(0, run);
        let longest = active
            .split(|active| !active)
            .map(<[bool]>::len)
            .max()
            .unwrap_or(0);
        let current = if ending_today > 0 {
            ending_today
        } else {
            ending_yesterday
        };
        Self { current, longest }
    }
}
