//! `activity-rank stats`: prints the numbers of the site.

use std::process::ExitCode;

use serde::{Deserialize, Deserializer};
use serde_json::Number;

use crate::args::{ServiceArgs, StatsArgs};
use crate::board::{format_table, print_with_key};
use crate::client::client;
use crate::failure::Failure;
use crate::printable::printable;

/// Response of the service.
#[derive(Debug, Deserialize)]
struct Stats {
    timezone: String,
    days: Vec<Day>,
    #[serde(default)]
    weeks: Vec<Active>,
    #[serde(default)]
    months: Vec<Active>,
    /// Absent without a journal, `null` before it has been summed up.
    #[serde(default, deserialize_with = "present")]
    as_of: Option<Option<String>>,
}

/// Parses a field that may be `null`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// The numbers of one day; those without a source are absent.
#[derive(Debug, Deserialize)]
struct Day {
    date: String,
    active: Option<u64>,
    new: Option<u64>,
    activities: Option<u64>,
    points: Option<Number>,
}

/// The active users of a week or month.
#[derive(Debug, Deserialize)]
struct Active {
    id: String,
    active: u64,
}

/// Reads the numbers and prints them.
///
/// # Errors
///
/// Returns [`Failure`] if the service gives no usable response or stdout fails.
pub async fn run(service: &ServiceArgs, args: &StatsArgs) -> Result<ExitCode, Failure> {
    let client = client(service)?;
    let mut url = client.url(&["v1", "stats"]);
    for (name, day) in [("from", &args.from), ("to", &args.to)] {
        if let Some(day) = day {
            url.query_pairs_mut().append_pair(name, day);
        }
    }
    print_with_key(&client, &url, args.json, text).await
}

fn text(stats: &Stats) -> String {
    let number = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
    // Zeros before the first sum say nothing.
    let is_summed = stats.as_of != Some(None);
    let sum = |number: String| if is_summed { number } else { String::new() };
    let days = stats.days.iter().map(|day| {
        let points = day.points.as_ref().map(Number::to_string);
        [
            printable(&day.date),
            number(day.active),
            sum(number(day.new)),
            sum(number(day.activities)),
            sum(points.unwrap_or_default()),
        ]
    });
    let periods = stats.weeks.iter().chain(&stats.months).map(|period| {
        let mut row = <[String; 5]>::default();
        let [id, active, ..] = &mut row;
        (*id, *active) = (printable(&period.id), period.active.to_string());
        row
    });
    let header = ["period", "active", "new", "activities", "points"];
    let table = format_table(header, days.chain(periods), 1..5);
    let mut first = printable(&stats.timezone);
    match &stats.as_of {
        Some(Some(as_of)) => first = format!("{first} · as of {}", printable(as_of)),
        Some(None) => {
            first.push_str(" · the journal is not summed up yet: cron does it within five minutes")
        }
        None => {}
    }
    format!("{first}\n\n{table}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_before_the_first_sum_are_blank() -> Result<(), serde_json::Error> {
        let stats = serde_json::from_str(
            r#"{"timezone":"UTC","days":[{"date":"2026-11-20","active":12,"new":0,"activities":0,"points":0,
                "actions":{}}],"as_of":null}"#,
        )?;
        assert_eq!(
            text(&stats),
            "UTC · the journal is not summed up yet: cron does it within five minutes\n\n \
             period      active  new  activities  points\n 2026-11-20      12"
        );
        Ok(())
    }

    #[test]
    fn absent_numbers_are_blank() -> Result<(), serde_json::Error> {
        let stats = serde_json::from_str(r#"{"timezone":"UTC","days":[{"date":"2026-11-20"}]}"#)?;
        let expected = "UTC\n\n period      active  new  activities  points\n 2026-11-20";
        assert_eq!(text(&stats), expected);
        Ok(())
    }
}
