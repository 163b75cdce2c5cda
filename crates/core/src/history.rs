//! `GET /v1/users/{user}/activity`: the activity of a user's last days.

use crate::board::UserView;
use crate::calendar::{Calendar, Date};
use crate::error::Error;
use crate::object::Object;
use crate::profile::Profile;
use crate::query::Query;
use crate::score::Points;
use serde::Serialize;

/// Days of history that are kept, including today.
pub const DAYS: i32 = 31;

/// A request for the last days of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryRequest {
    /// The user.
    pub user: String,
    /// The current day of the deployment's time zone.
    pub today: Date,
    days: usize,
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
    actions: Object<&'a str, Action>,
}

#[derive(Debug, Serialize)]
struct Action {
    count: i64,
    points: Points,
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
    /// [`Error::InvalidRequest`] for an invalid path or query.
    pub fn parse(user: &str, query: &str, today: Date) -> Result<Self, Error> {
        let mut query = Query::parse(query, &["days"]);
        let max = DAYS.unsigned_abs();
        let (user, days) = (query.user(user), query.integer("days", 1..=max, max));
        query.finish()?;
        Ok(Self {
            user,
            today,
            days: days as usize,
        })
    }

    /// Returns the days kept, today first.
    pub fn dates(&self) -> impl Iterator<Item = Date> {
        let today = self.today;
        (0..DAYS).map(move |back| today.plus(-back))
    }

    /// Renders the response body from the totals of each of [`Self::dates`].
    #[must_use]
    pub fn render(
        &self,
        profile: Option<&Profile>,
        days: &[Vec<ActionTotal>],
        calendar: &Calendar,
        decimals: u32,
    ) -> String {
        let days = self.dates().zip(days);
        let mut days: Vec<Day<'_>> = days
            .map(|(date, totals)| Day::new(date, totals, decimals))
            .collect();
        let active: Vec<bool> = days.iter().map(|day| day.points.steps > 0).collect();
        days.truncate(self.days);
        let view = View {
            user: UserView::new(&self.user, profile),
            timezone: calendar.name(),
            days,
            streak: Streak::new(&active),
        };
        serde_json::to_string(&view).unwrap_or_default()
    }
}

impl<'a> Day<'a> {
    fn new(date: Date, totals: &'a [ActionTotal], decimals: u32) -> Self {
        let points = |steps| Points { steps, decimals };
        // An undone adjustment leaves points without a count.
        let counted = totals.iter().filter(|total| total.count > 0);
        let actions = counted.map(|total| {
            let action = Action {
                count: total.count,
                points: points(total.steps),
            };
            (total.action.as_str(), action)
        });
        Self {
            date: date.to_string(),
            points: points(totals.iter().map(|total| total.steps).sum()),
            actions: Object(actions.collect()),
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
