//! `GET /v1/users/{user}/activity`: what a user's last days held.

use crate::calendar::{Calendar, Date};
use crate::error::Error;
use crate::keys::Keys;
use crate::pairs::Pairs;
use crate::query::Query;
use crate::ranking::User;
use crate::redis::{Command, Failure, Reply};
use crate::score::Points;
use serde::Serialize;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    user: String,
    days: usize,
    today: Date,
}

/// What is answered.
#[derive(Debug, Serialize)]
pub struct View {
    user: User,
    timezone: String,
    days: Vec<Day>,
    streak: Streak,
}

#[derive(Debug, Serialize)]
struct Day {
    date: String,
    points: Points,
    actions: Pairs<String, Action>,
}

#[derive(Debug, Serialize)]
struct Action {
    count: i64,
    points: Points,
}

/// Runs of consecutive days with points.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Streak {
    /// The one that ends today, or yesterday while today has no points.
    current: usize,
    longest: usize,
}

impl History {
    /// Reads the question.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] for faults of path and query.
    pub fn read(user: &str, query: &str, today: Date) -> Result<Self, Error> {
        let mut query = Query::parse(query, &["days"]);
        let most = Keys::HISTORY_DAYS.unsigned_abs();
        let (user, days) = (query.user(user), query.whole("days", 1..=most, most));
        query.finish()?;
        Ok(Self {
            user,
            days: days as usize,
            today,
        })
    }

    /// The commands that answer it: all days held, because streaks need them.
    #[must_use]
    pub fn commands(&self, keys: &Keys) -> Vec<Command> {
        let profile = Command::new("HGET").arg(&keys.profiles()).arg(&self.user);
        let days = self
            .dates()
            .map(|date| Command::new("HGETALL").arg(&keys.history(&date.to_string(), &self.user)));
        [profile].into_iter().chain(days).collect()
    }

    /// The answer, from the replies to them.
    ///
    /// # Errors
    ///
    /// [`Failure::Unavailable`] where a reply is not one of these commands.
    pub fn view(
        &self,
        replies: &[Reply],
        calendar: &Calendar,
        decimals: u32,
    ) -> Result<View, Failure> {
        let (profile, held) = replies.split_first().unwrap_or((&Reply::Nil, &[]));
        let days = self
            .dates()
            .zip(held)
            .map(|(date, reply)| Day::read(date, reply, decimals));
        let mut days = days.collect::<Result<Vec<_>, _>>()?;
        let active: Vec<bool> = days.iter().map(|day| day.points.steps > 0).collect();
        days.truncate(self.days);
        let user = User::stored(&self.user, profile)?;
        let timezone = calendar.name().to_owned();
        Ok(View {
            user,
            timezone,
            days,
            streak: Streak::of(&active),
        })
    }

    /// The days held, today first.
    fn dates(&self) -> impl Iterator<Item = Date> {
        let today = self.today;
        (0..Keys::HISTORY_DAYS).map(move |back| today.plus(-back))
    }
}

impl Day {
    fn read(date: Date, reply: &Reply, decimals: u32) -> Result<Self, Failure> {
        let mut actions = Vec::new();
        let mut total = 0;
        for pair in reply.list()?.chunks(2) {
            let [action, held] = pair else { continue };
            let held = held.text()?;
            let parts = held.split_once(' ').and_then(|(count, steps)| {
                Some((count.parse::<i64>().ok()?, steps.parse::<i64>().ok()?))
            });
            let (count, steps) =
                parts.ok_or_else(|| Failure::Unavailable("unexpected day".to_owned()))?;
            total += steps;
            let points = Points { steps, decimals };
            // What is left of adjustments that were taken back has points alone.
            if count > 0 {
                actions.push((action.text()?.to_owned(), Action { count, points }));
            }
        }
        let points = Points {
            steps: total,
            decimals,
        };
        Ok(Self {
            date: date.to_string(),
            points,
            actions: Pairs(actions),
        })
    }
}

impl Streak {
    /// Of days with or without points, today first.
    fn of(active: &[bool]) -> Self {
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
