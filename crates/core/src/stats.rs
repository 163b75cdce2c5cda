//! `GET /v1/stats`: numbers of the site by day, week and month.

use crate::calendar::{Calendar, Date, Instant, Period};
use crate::config::{ADJUST, Config};
use crate::error::Error;
use crate::history::ActionView;
use crate::object::Object;
use crate::query::Query;
use crate::score::Points;
use serde::Serialize;

/// The most days of a response.
const MAX_DAYS: i32 = 366;
const DEFAULT_DAYS: i32 = 30;

/// A request for the numbers of some days, and of the weeks and months that contain them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatsRequest {
    /// The first day.
    pub from: Date,
    /// The last day.
    pub to: Date,
}

/// The total of one action on one day, or the new members of a day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sum {
    /// The day.
    pub date: String,
    /// The action; empty for the members whose first counted activity was on that day.
    pub action: String,
    /// Activities, after undos, or members.
    pub count: i64,
    /// Net points in smallest steps.
    pub steps: i64,
}

/// The totals of several days, from the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sums {
    /// The sums of each day and action, ordered by both.
    pub rows: Vec<Sum>,
    /// The instant until which they have all changes; `None` if nothing has been summed up.
    pub as_of: Option<Instant>,
}

#[derive(Debug, Serialize)]
struct View<'a> {
    timezone: &'a str,
    days: Vec<DayView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weeks: Option<Vec<PeriodView>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    months: Option<Vec<PeriodView>>,
    /// Absent without a journal, `null` before it has been summed up.
    #[serde(skip_serializing_if = "Option::is_none")]
    as_of: Option<Option<String>>,
}

/// The numbers of a day.
#[derive(Debug, Serialize)]
struct DayView<'a> {
    date: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    active: Option<u64>,
    #[serde(flatten)]
    sums: Option<SumsView<'a>>,
}

/// The numbers of some days from the journal.
#[derive(Debug, Serialize)]
pub struct SumsView<'a> {
    new: i64,
    activities: i64,
    points: Points,
    actions: Object<&'a str, ActionView>,
}

/// The active users of a week or month.
#[derive(Debug, Serialize)]
struct PeriodView {
    id: String,
    active: u64,
}

impl StatsRequest {
    /// Parses the request.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] for an invalid query.
    pub fn parse(query: &str, today: Date) -> Result<Self, Error> {
        let mut query = Query::parse(query, &["from", "to"]);
        let to = query.day("to", today);
        let from = match query.get("from") {
            Some(_) => query.day("from", today),
            None => to.plus(1 - DEFAULT_DAYS),
        };
        let before = to.days_since(from);
        if before < 0 {
            query.check("/from", Err::<(), _>(format!("must not be after to, {to}")));
        } else if before >= MAX_DAYS {
            let detail = format!("must be at most {} days before to", MAX_DAYS - 1);
            query.check("/from", Err::<(), _>(detail));
        }
        query.finish()?;
        Ok(Self { from, to })
    }

    /// Returns the path and query that every spelling of this request has in common.
    #[must_use]
    pub fn normal_form(&self) -> String {
        format!("/v1/stats?from={}&to={}", self.from, self.to)
    }

    /// Returns the boards that show who was active: each kept period, and the first day of its instance,
    /// newest first.
    #[must_use]
    pub fn boards(&self, config: &Config) -> Vec<(Period, Date)> {
        let mut boards = Vec::new();
        for period in [Period::Day, Period::Week, Period::Month] {
            let mut days = period.days(self.to);
            while let Some((first, end)) = days.filter(|_| config.periods.contains(&period)) {
                if end <= self.from {
                    break;
                }
                boards.push((period, first));
                days = period.days(first.plus(-1));
            }
        }
        boards
    }

    /// Renders the response body from the number of users on each of [`Self::boards`], and with a
    /// journal from its sums.
    #[must_use]
    pub fn render(
        &self,
        boards: &[((Period, Date), u64)],
        sums: Option<&Sums>,
        calendar: &Calendar,
        config: &Config,
    ) -> String {
        let of = |period: Period| boards.iter().filter(move |((kind, _), _)| *kind == period);
        let mut active = of(Period::Day).map(|(_, active)| *active);
        let days = (0..=self.to.days_since(self.from)).map(|back| {
            let date = self.to.plus(-back).to_string();
            DayView {
                active: active.next(),
                sums: sums
                    .map(|sums| SumsView::from_days(sums, (&date, &date), config.layout.decimals)),
                date,
            }
        });
        let actives = |period: Period| {
            let actives = of(period).map(|((_, first), active)| PeriodView {
                id: period.id(*first),
                active: *active,
            });
            config.periods.contains(&period).then(|| actives.collect())
        };
        let view = View {
            timezone: calendar.name(),
            days: days.collect(),
            weeks: actives(Period::Week),
            months: actives(Period::Month),
            as_of: sums.map(|sums| sums.as_of.map(|instant| instant.to_string())),
        };
        serde_json::to_string(&view).unwrap_or_default()
    }
}

impl<'a> SumsView<'a> {
    /// Adds up the sums from a first day to a last one.
    #[must_use]
    pub fn from_days(sums: &'a Sums, (first, last): (&str, &str), decimals: u32) -> Self {
        let points = |steps| Points { steps, decimals };
        let (mut new, mut activities, mut steps) = (0, 0, 0);
        let mut actions: Vec<(&str, ActionView)> = Vec::new();
        let start = sums.rows.partition_point(|sum| sum.date.as_str() < first);
        let rows = sums.rows.iter().skip(start);
        for sum in rows.take_while(|sum| sum.date.as_str() <= last) {
            steps += sum.steps;
            if sum.action.is_empty() {
                new += sum.count;
                continue;
            }
            let index = actions.partition_point(|(name, _)| *name < sum.action.as_str());
            match actions.get_mut(index) {
                Some((name, total)) if *name == sum.action => {
                    total.count += sum.count;
                    total.points.steps += sum.steps;
                }
                Some(_) | None => {
                    let total = ActionView {
                        count: sum.count,
                        points: points(sum.steps),
                    };
                    actions.insert(index, (&sum.action, total));
                }
            }
        }
        actions.retain(|(_, total)| total.count > 0);
        for (name, total) in &actions {
            if *name != ADJUST {
                activities += total.count;
            }
        }
        Self {
            new,
            activities,
            points: points(steps),
            actions: Object(actions),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::Utc;
    use crate::config::Vars;
    use serde_json::json;

    fn date(text: &str) -> Date {
        Date::parse(text).unwrap()
    }

    fn config(periods: &str) -> Config {
        let vars = json!({"UPSTASH_REDIS_REST_URL": "https://store",
            "UPSTASH_REDIS_REST_TOKEN": "token", "PERIODS": periods});
        Config::parse(&Vars::new(vars.as_object().unwrap().clone()), Utc::named).unwrap()
    }

    fn parse(query: &str) -> Result<String, Error> {
        let request = StatsRequest::parse(query, date("2026-11-20"));
        request.map(|request| request.normal_form())
    }

    #[test]
    fn range_is_the_last_30_days_by_default() {
        for (query, form) in [
            ("", "from=2026-10-22&to=2026-11-20"),
            ("to=2026-03-01", "from=2026-01-31&to=2026-03-01"),
            ("from=2026-11-20", "from=2026-11-20&to=2026-11-20"),
            ("from=2025-11-20", "from=2025-11-20&to=2026-11-20"),
        ] {
            assert_eq!(parse(query), Ok(format!("/v1/stats?{form}")), "{query}");
        }
    }

    #[test]
    fn boards_are_those_that_contain_a_day() {
        let request = StatsRequest {
            from: date("2026-10-31"),
            to: date("2026-11-02"),
        };
        let boards = request.boards(&config("day,week,month,all"));
        let ids: Vec<String> = boards.iter().map(|(period, day)| period.id(*day)).collect();
        let expected = [
            "2026-11-02",
            "2026-11-01",
            "2026-10-31",
            "2026-W45",
            "2026-W44",
            "2026-11",
            "2026-10",
        ];
        assert_eq!(ids, expected);
        assert_eq!(request.boards(&config("year,all")), []);
    }
}
