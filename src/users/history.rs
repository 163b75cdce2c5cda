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

/// The actions of a day, each with count and points as they are kept.
type Done<'a> = Vec<(&'a str, &'a str)>;

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
        let spans = self
            .spans()
            .map(|span| Command::new("HGETALL").arg(&keys.history(span, &self.user)));
        [profile].into_iter().chain(spans).collect()
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
            .zip(self.by_day(held)?)
            .map(|(date, done)| Day::read(date, done, decimals));
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

    /// The spans of the days held.
    fn spans(&self) -> impl Iterator<Item = i32> {
        let first = self.today.plus(1 - Keys::HISTORY_DAYS);
        Keys::span(first)..=Keys::span(self.today)
    }

    /// What was done on each of the days held.
    fn by_day<'a>(&self, spans: &'a [Reply]) -> Result<Vec<Done<'a>>, Failure> {
        let mut days = Vec::new();
        days.resize_with(self.dates().count(), Done::new);
        for (span, reply) in self.spans().zip(spans) {
            for pair in reply.list()?.chunks(2) {
                let [field, held] = pair else { continue };
                let field = Keys::of_history(span, field.text()?);
                let (date, action) = field.ok_or_else(unexpected)?;
                let back = usize::try_from(self.today.days_since(date)).ok();
                // The rest of the first span is of days before.
                if let Some(day) = back.and_then(|back| days.get_mut(back)) {
                    day.push((action, held.text()?));
                }
            }
        }
        Ok(days)
    }

    /// The days held, today first.
    fn dates(&self) -> impl Iterator<Item = Date> {
        let today = self.today;
        (0..Keys::HISTORY_DAYS).map(move |back| today.plus(-back))
    }
}

impl Day {
    fn read(date: Date, done: Done<'_>, decimals: u32) -> Result<Self, Failure> {
        let mut actions = Vec::new();
        let mut total = 0;
        for (action, held) in done {
            let parts = held.split_once(' ').and_then(|(count, steps)| {
                Some((count.parse::<i64>().ok()?, steps.parse::<i64>().ok()?))
            });
            let (count, steps) = parts.ok_or_else(unexpected)?;
            total += steps;
            let points = Points { steps, decimals };
            // What is left of adjustments that were taken back has points alone.
            if count > 0 {
                actions.push((action.to_owned(), Action { count, points }));
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

fn unexpected() -> Failure {
    Failure::Unavailable("unexpected history".to_owned())
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
