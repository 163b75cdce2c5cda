//! `GET /v1/stats`: numbers of the site by day, week and month.

use crate::calendar::{Calendar, Date, Instant, Period};
use crate::config::{ADJUST, Config};
use crate::error::Error;
use crate::query::Query;
use crate::score::Points;

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
        let mut days = String::new();
        for back in 0..=self.to.days_since(self.from) {
            let date = self.to.plus(-back).to_string();
            let mut day = String::new();
            push(&mut day, "date", &quoted(&date));
            if let Some(active) = active.next() {
                push(&mut day, "active", &active.to_string());
            }
            if let Some(sums) = sums {
                push_sums(&mut day, sums, &date, config.layout.decimals);
            }
            push_object(&mut days, &day);
        }
        let mut body = String::new();
        push(&mut body, "timezone", &quoted(calendar.name()));
        push(&mut body, "days", &format!("[{days}]"));
        for (period, name) in [(Period::Week, "weeks"), (Period::Month, "months")] {
            if !config.periods.contains(&period) {
                continue;
            }
            let mut list = String::new();
            for ((_, first), active) in of(period) {
                let mut one = String::new();
                push(&mut one, "id", &quoted(&period.id(*first)));
                push(&mut one, "active", &active.to_string());
                push_object(&mut list, &one);
            }
            push(&mut body, name, &format!("[{list}]"));
        }
        if let Some(sums) = sums {
            let as_of = sums.as_of.map(|instant| quoted(&instant.to_string()));
            push(&mut body, "as_of", as_of.as_deref().unwrap_or("null"));
        }
        format!("{{{body}}}")
    }
}

/// Adds the numbers of a day from the journal.
fn push_sums(day: &mut String, sums: &Sums, date: &str, decimals: u32) {
    let points = |steps| Points { steps, decimals }.to_json();
    let (mut new, mut activities, mut steps, mut actions) = (0, 0, 0, String::new());
    let start = sums.rows.partition_point(|sum| sum.date.as_str() < date);
    let rows = sums.rows.iter().skip(start);
    for sum in rows.take_while(|sum| sum.date == date) {
        steps += sum.steps;
        if sum.action.is_empty() {
            new = sum.count;
        } else if sum.count > 0 {
            let mut total = String::new();
            push(&mut total, "count", &sum.count.to_string());
            push(&mut total, "points", &points(sum.steps));
            push(&mut actions, &sum.action, &format!("{{{total}}}"));
            if sum.action != ADJUST {
                activities += sum.count;
            }
        }
    }
    push(day, "new", &new.to_string());
    push(day, "activities", &activities.to_string());
    push(day, "points", &points(steps));
    push(day, "actions", &format!("{{{actions}}}"));
}

/// Adds a member to a JSON object. No name and no text of this response has a character that JSON escapes;
/// serializers of its types would take more space in the wasm.
fn push(object: &mut String, name: &str, value: &str) {
    if !object.is_empty() {
        object.push(',');
    }
    object.push_str(&quoted(name));
    object.push(':');
    object.push_str(value);
}

/// Adds an object to a JSON array.
fn push_object(array: &mut String, members: &str) {
    if !array.is_empty() {
        array.push(',');
    }
    array.push('{');
    array.push_str(members);
    array.push('}');
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Vars;
    use serde_json::json;

    fn date(text: &str) -> Date {
        Date::parse(text).unwrap()
    }

    fn config(periods: &str) -> Config {
        let vars = json!({"UPSTASH_REDIS_REST_URL": "https://store",
            "UPSTASH_REDIS_REST_TOKEN": "token", "PERIODS": periods});
        Config::parse(&Vars::new(vars.as_object().unwrap().clone())).unwrap()
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
    fn invalid_range_is_rejected() {
        for query in [
            "from=2025-11-19",
            "from=2026-11-19&to=2026-11-18",
            "to=2026-11-21",
            "from=",
            "date=2026-11-20",
        ] {
            assert!(parse(query).is_err(), "{query}");
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
