//! Streaks of achievements: the rule of calendars, on the days that the tallies have.
//!
//! A row that gives a day its first points reaches each step up to the length of the run around that day, as it is at that
//! row: with the days that have points by then, and the pauses that the journal has by then.
//!
//! A run is that of a number of days with points before the day and after it: as many as the longest step needs, and those of
//! a month, see [`Achievements::days_around`](activity_rank_core::config::Achievements::days_around). Freezes count from the
//! first of these days. So a row reaches the same steps in whichever transaction it is, and members of many years cost no
//! more.

use super::{RUNNING, changes};
use crate::archive::deployment_id;
use crate::platform::d1::Statement;
use activity_rank_core::calendar::Date;
use activity_rank_core::config::{Achievement, Config};
use activity_rank_core::pause::{NO_PAUSES, Pauses};
use activity_rank_core::streak::{Cover, Run, length_around};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The day that SQLite calls 0, in days since 1970-01-01.
const FIRST_DAY: i32 = -2_440_588;

/// The days that the next rows give their first points or take the last, and the days with points around them.
const TURNED: &str = "turned AS (SELECT achievement, member, n, at, day, after > 0 AS begins FROM running \
    WHERE kind IN ('days', 'weeks') AND (before > 0) <> (after > 0)), \
    near AS (SELECT achievement, member, MIN(day) AS first, MAX(day) AS last FROM turned \
    GROUP BY achievement, member HAVING MAX(begins))";

/// Rows of six words: `n`, instant, kind, achievement, member and value. The kind is `v` for the position, `+` for a day or
/// days with points, `-` for a day without, and `p` for the day of an entry and the pauses from then on.
const ROWS: &str = "SELECT '0 0 v - - ' || n || ' ' || version AS text FROM achievements_read WHERE site = ?1 \
    UNION ALL SELECT n || ' ' || at || iif(begins, ' + ', ' - ') || achievement || ' ' || member || ' ' || day \
    FROM turned JOIN near USING (achievement, member) \
    UNION ALL SELECT '0 0 + ' || achievement || ' ' || member || ' ' || IFNULL((SELECT group_concat(day) FROM ( \
    SELECT day FROM achievement_tallies AS tally WHERE site = ?1 AND tally.member = near.member \
    AND tally.achievement = near.achievement AND value > 0 AND day BETWEEN first AND last \
    UNION ALL SELECT * FROM (SELECT day FROM achievement_tallies AS tally WHERE site = ?1 AND tally.member = near.member \
    AND tally.achievement = near.achievement AND value > 0 AND day < first ORDER BY day DESC LIMIT ?4) \
    UNION ALL SELECT * FROM (SELECT day FROM achievement_tallies AS tally WHERE site = ?1 AND tally.member = near.member \
    AND tally.achievement = near.achievement AND value > 0 AND day > last ORDER BY day LIMIT ?4))), '') FROM near \
    UNION ALL SELECT journal.n || ' 0 p - ' || user || ' ' || (entry ->> 'day') || ' ' || (entry ->> 'pauses') \
    FROM (SELECT DISTINCT member FROM near) CROSS JOIN journal ON site = ?1 AND user = member \
    AND entry ->> 'did' = 'pause' AND journal.n <= (SELECT MAX(n) FROM next)";

/// Added to the query of a member: the pauses, and for each streak the days with points until today.
pub const MEMBER: &str = " UNION ALL SELECT n || ' 0 p - ' || user || ' ' || (entry ->> 'day') || ' ' || (entry ->> 'pauses') \
    FROM journal WHERE site = ?1 AND user = ?2 AND entry ->> 'did' = 'pause' \
    UNION ALL SELECT '0 0 + ' || id || ' ' || ?2 || ' ' || IFNULL((SELECT group_concat(day) FROM (SELECT day \
    FROM achievement_tallies AS tally WHERE site = ?1 AND member = ?2 AND achievement = id AND value > 0 \
    AND day <= CAST(julianday(?5) + 0.5 AS INTEGER) ORDER BY day DESC LIMIT ?6)), '') FROM def \
    WHERE kind IN ('days', 'weeks')";

/// Returns the batch of so many rows, without streaks.
pub fn plain_batch(rows: u32) -> String {
    json!({"rows": rows}).to_string()
}

/// Returns the statement that reads what [`evaluate`] needs of a batch; `None` without streaks.
pub fn read(config: &Config, batch: &str) -> Option<Statement> {
    let days = config.achievements.days_around()?;
    let sql = format!("{}, {RUNNING}, {TURNED} {ROWS}", changes());
    let values = vec![
        deployment_id(config).into(),
        batch.into(),
        config.achievements.definitions().into(),
        days.into(),
    ];
    Some(Statement::new(&sql, values))
}

/// A row of [`ROWS`].
struct Row<'a> {
    n: i64,
    at: i64,
    kind: &'a str,
    achievement: &'a str,
    member: &'a str,
    value: &'a str,
}

/// Returns the rows in the order of the journal.
fn parse(rows: &[String]) -> Vec<Row<'_>> {
    let row = |text| {
        let mut words = str::splitn(text, 6, ' ');
        let mut next = || words.next();
        Some(Row {
            n: next()?.parse().ok()?,
            at: next()?.parse().ok()?,
            kind: next()?,
            achievement: next()?,
            member: next()?,
            value: next()?,
        })
    };
    let mut rows: Vec<Row<'_>> = rows.iter().filter_map(|text| row(text)).collect();
    rows.sort_by_key(|row| row.n);
    rows
}

/// Returns the days of a row.
fn days(value: &str) -> impl Iterator<Item = Date> {
    let numbers = value.split(',').filter_map(|day| day.parse().ok());
    numbers.filter_map(|day: i32| Date::numbered(day + FIRST_DAY))
}

/// Replaces the pauses of a member by those of an entry, from its day on.
fn replace(pauses: &mut Pauses, value: &str) {
    let (day, stored) = value.split_once(' ').unwrap_or_default();
    if let Some(day) = Date::parse(day) {
        pauses.replace(day, &Pauses::parse(stored));
    }
}

/// What is known of members at a row.
#[derive(Default)]
struct Known<'a> {
    days: BTreeMap<(&'a str, &'a str), BTreeSet<Date>>,
    pauses: BTreeMap<&'a str, Pauses>,
}

impl<'a> Known<'a> {
    fn apply(&mut self, row: &Row<'a>) {
        if row.kind == "p" {
            replace(self.pauses.entry(row.member).or_default(), row.value);
            return;
        }
        let known = self.days.entry((row.achievement, row.member)).or_default();
        for day in days(row.value) {
            match row.kind {
                "+" => known.insert(day),
                _ => known.remove(&day),
            };
        }
    }
}

/// Returns the batch of so many rows for the transaction: the position that was read, and each step of a streak at the first
/// row that reaches it.
pub fn evaluate(config: &Config, rows: u32, read: &[String]) -> String {
    let around = config.achievements.days_around().unwrap_or_default();
    let around = usize::try_from(around).unwrap_or(usize::MAX);
    let (mut seen, mut known) = ("", Known::default());
    let (mut reached, mut steps) = (Vec::new(), HashSet::new());
    for row in parse(read) {
        if row.kind == "v" {
            seen = row.value;
            continue;
        }
        known.apply(&row);
        let achievement = config.achievements.get(row.achievement);
        let Some(achievement) = achievement.filter(|_| row.kind == "+" && row.n > 0) else {
            continue;
        };
        let length = known.length(achievement, &row, (around, config.streak_freezes));
        for step in &achievement.steps {
            if *step <= length && steps.insert((row.achievement, row.member, *step)) {
                reached.push(json!([row.achievement, row.member, step, row.at, row.n]));
            }
        }
    }
    json!({"rows": rows, "seen": seen, "reached": reached}).to_string()
}

impl Known<'_> {
    /// Returns the length of the run around the day of a row.
    fn length(
        &self,
        achievement: &Achievement,
        row: &Row<'_>,
        (around, freezes): (usize, u32),
    ) -> u64 {
        let all = self.days.get(&(row.achievement, row.member));
        let Some(((all, day), unit)) = all.zip(days(row.value).next()).zip(achievement.streak())
        else {
            return 0;
        };
        let mut near: Vec<Date> = all.range(..day).rev().take(around).copied().collect();
        near.reverse();
        near.extend(all.range(day..).take(around + 1));
        let pauses = self.pauses.get(row.member).unwrap_or(&NO_PAUSES);
        let cover = Cover { freezes, pauses };
        length_around(day, near.into_iter(), unit, cover) as u64
    }
}

/// Replaces the rows of [`MEMBER`] by the values of the streaks.
pub fn values_of_member(config: &Config, today: Date, rows: Vec<String>) -> Vec<String> {
    let (mut pauses, mut values) = (Pauses::default(), Vec::new());
    let read = parse(&rows);
    for row in read.iter().filter(|row| row.kind == "p") {
        replace(&mut pauses, row.value);
    }
    let (freezes, pauses) = (config.streak_freezes, &pauses);
    for row in read.iter().filter(|row| row.kind == "+") {
        let achievement = config.achievements.get(row.achievement);
        if let Some(unit) = achievement.and_then(Achievement::streak) {
            let days: BTreeSet<Date> = days(row.value).collect();
            let cover = Cover { freezes, pauses };
            let run = Run::new(days.into_iter(), today, unit, cover);
            values.push(format!("v {} {}", row.achievement, run.current));
        }
    }
    values.extend(
        rows.into_iter()
            .filter(|row| !row.starts_with(char::is_numeric)),
    );
    values
}
