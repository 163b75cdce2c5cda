//! Streaks of achievements: the rule of calendars, on the days that the tallies have.
//!
//! A row that gives a day its first points reaches each step up to the length of the run around that day, as it is at that
//! row: with the days that have points by then, and the pauses that the journal has by then.
//!
//! A run is that of a number of days with points before the day and after it: as many as the longest step needs, and 31
//! for the gaps of a month, see [`Achievements::days_around`](activity_rank_core::config::Achievements::days_around). Freezes count from the
//! first of these days. So a row reaches the same steps in whichever transaction it is, and members of many years cost no
//! more.

use super::{RUNNING, changes};
use crate::archive::deployment_id;
use crate::platform::d1::Statement;
use activity_rank_core::calendar::Date;
use activity_rank_core::config::{Achievement, Config};
use activity_rank_core::pause::Pauses;
use activity_rank_core::streak::{Cover, Run, length_around};

/// The day that SQLite calls 0, in days since 1970-01-01.
const FIRST_DAY: i32 = -2_440_588;

/// The days that the next rows give their first points or take the last, and the days with points around them.
const TURNED: &str = "turned AS (SELECT achievement, member, n, at, day, after > 0 AS begins FROM running \
    WHERE kind IN ('days', 'weeks') AND (before > 0) <> (after > 0)), \
    near AS (SELECT achievement, member, MIN(day) AS first, MAX(day) AS last FROM turned \
    GROUP BY achievement, member HAVING MAX(begins))";

/// Rows of six words: `n`, instant, kind, achievement, member and value, by member, achievement and `n`. The kind is `v` for
/// the position, `+` for a day or days with points, `-` for a day without, and `p` for the day of an entry and the pauses
/// from then on, before the achievements of the member.
const ROWS: &str = "SELECT n || ' ' || at || ' ' || kind || ' ' || achievement || ' ' || member || ' ' || value AS text \
    FROM (SELECT 0 AS n, 0 AS at, 'v' AS kind, '' AS achievement, '' AS member, n || ' ' || version AS value \
    FROM achievements_read WHERE site = ?1 \
    UNION ALL SELECT n, at, iif(begins, '+', '-'), achievement, member, day FROM turned JOIN near USING (achievement, member) \
    UNION ALL SELECT 0, 0, '+', achievement, member, IFNULL((SELECT group_concat(day) FROM ( \
    SELECT day FROM achievement_tallies AS tally WHERE site = ?1 AND tally.member = near.member \
    AND tally.achievement = near.achievement AND value > 0 AND day BETWEEN first AND last \
    UNION ALL SELECT * FROM (SELECT day FROM achievement_tallies AS tally WHERE site = ?1 AND tally.member = near.member \
    AND tally.achievement = near.achievement AND value > 0 AND day < first ORDER BY day DESC LIMIT ?4) \
    UNION ALL SELECT * FROM (SELECT day FROM achievement_tallies AS tally WHERE site = ?1 AND tally.member = near.member \
    AND tally.achievement = near.achievement AND value > 0 AND day > last ORDER BY day LIMIT ?4))), '') FROM near \
    UNION ALL SELECT journal.n, 0, 'p', '', user, (entry ->> 'day') || ' ' || (entry ->> 'pauses') \
    FROM (SELECT DISTINCT member FROM near) CROSS JOIN journal ON site = ?1 AND user = member \
    AND entry ->> 'did' = 'pause' AND journal.n <= (SELECT MAX(n) FROM next)) ORDER BY member, achievement, n";

/// Added to the query of a member, in the form of [`ROWS`]: the pauses, and then for each streak the days with points until
/// today.
pub const MEMBER: &str = " UNION ALL SELECT n || ' 0 p  ' || user || ' ' || (entry ->> 'day') || ' ' || (entry ->> 'pauses'), n \
    FROM journal WHERE site = ?1 AND user = ?2 AND entry ->> 'did' = 'pause' \
    UNION ALL SELECT '0 0 + ' || id || ' ' || ?2 || ' ' || IFNULL((SELECT group_concat(day) FROM (SELECT day \
    FROM achievement_tallies AS tally WHERE site = ?1 AND member = ?2 AND achievement = id AND value > 0 \
    AND day <= CAST(julianday(?5) + 0.5 AS INTEGER) ORDER BY day DESC LIMIT ?6)), ''), 9e15 FROM def \
    WHERE kind IN ('days', 'weeks') ORDER BY n";

/// Returns the batch of so many rows, without streaks.
pub fn plain_batch(rows: u32) -> String {
    format!("{{\"rows\":{rows}}}")
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
    at: &'a str,
    kind: &'a str,
    achievement: &'a str,
    member: &'a str,
    value: &'a str,
}

impl<'a> Row<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let mut words = text.splitn(6, ' ');
        let mut next = || words.next();
        Some(Self {
            n: next()?.parse().ok()?,
            at: next()?,
            kind: next()?,
            achievement: next()?,
            member: next()?,
            value: next()?,
        })
    }
}

/// The days and pauses of a streak at a row.
#[derive(Default)]
struct Known {
    /// The days with points in their order.
    days: Vec<Date>,
    pauses: Pauses,
}

impl Known {
    /// Adds days with points, or removes them. Returns the last of them.
    fn change(&mut self, row: &Row<'_>) -> Option<Date> {
        let mut last = None;
        for number in row.value.split(',') {
            let Some(day) = number.parse().ok() else {
                continue;
            };
            last = Date::numbered(FIRST_DAY.saturating_add(day));
            let Some(day) = last else { continue };
            match (self.days.binary_search(&day), row.kind) {
                (Err(index), "+") => self.days.insert(index, day),
                (Ok(index), "-") => {
                    self.days.remove(index);
                }
                (Ok(_) | Err(_), _) => {}
            }
        }
        last
    }

    /// Replaces the pauses from the day of an entry on by the pauses that it has.
    fn pause(&mut self, value: &str) {
        let (day, stored) = value.split_once(' ').unwrap_or_default();
        if let Some(day) = Date::parse(day) {
            self.pauses.replace(day, &Pauses::parse(stored));
        }
    }

    fn cover(&self, config: &Config) -> Cover<'_> {
        Cover {
            freezes: config.streak_freezes,
            pauses: &self.pauses,
        }
    }

    /// Returns the length of the run around a day with points.
    fn length(&self, day: Date, achievement: &Achievement, config: &Config) -> Option<u64> {
        let around = usize::try_from(config.achievements.days_around()?).ok()?;
        let index = self.days.binary_search(&day).ok()?;
        let end = (index + around + 1).min(self.days.len());
        let near = self.days.get(index.saturating_sub(around)..end)?;
        let length = length_around(day, near, achievement.streak()?, self.cover(config));
        u64::try_from(length).ok()
    }
}

/// Returns the batch of so many rows for the transaction: the position that was read, and each step of a streak at the first
/// row that reaches it.
pub fn evaluate(config: &Config, rows: u32, read: &[String]) -> String {
    let (mut seen, mut reached) = ("", String::new());
    // The member and achievement of the last row, and the pauses of the member with their rows.
    let (mut last, mut pauses) = (("", ""), Vec::new());
    let (mut known, mut applied, mut longest) = (Known::default(), 0, 0);
    for row in read.iter().filter_map(|text| Row::parse(text)) {
        if last.0 != row.member {
            pauses.clear();
        }
        if last != (row.member, row.achievement) {
            last = (row.member, row.achievement);
            (known, applied, longest) = (Known::default(), 0, 0);
        }
        match row.kind {
            "v" => seen = row.value,
            "p" => pauses.push((row.n, row.value)),
            _ => {
                while let Some((_, value)) = pauses.get(applied).filter(|(n, _)| *n <= row.n) {
                    known.pause(value);
                    applied += 1;
                }
                let day = known.change(&row).filter(|_| row.n > 0);
                let Some((day, achievement)) = day.zip(config.achievements.get(row.achievement))
                else {
                    continue;
                };
                let length = known.length(day, achievement, config).unwrap_or(0);
                for step in achievement.steps.iter().filter(|step| **step > longest) {
                    if *step <= length {
                        let comma = if reached.is_empty() { "" } else { "," };
                        reached.push_str(&format!(
                            "{comma}[\"{}\",\"{}\",{step},{},{}]",
                            row.achievement, row.member, row.at, row.n
                        ));
                    }
                }
                longest = longest.max(length);
            }
        }
    }
    format!("{{\"rows\":{rows},\"seen\":\"{seen}\",\"reached\":[{reached}]}}")
}

/// Replaces the rows of [`MEMBER`] by the values of the streaks.
pub fn values_of_member(config: &Config, today: Date, rows: Vec<String>) -> Vec<String> {
    let (mut known, mut values) = (Known::default(), Vec::new());
    for text in rows {
        let Some(row) = Row::parse(&text) else {
            values.push(text);
            continue;
        };
        if row.kind == "p" {
            known.pause(row.value);
            continue;
        }
        known.days.clear();
        known.change(&row);
        let achievement = config.achievements.get(row.achievement);
        if let Some(unit) = achievement.and_then(Achievement::streak) {
            let run = Run::new(&known.days, today, unit, known.cover(config));
            values.push(format!("v {} {}", row.achievement, run.current));
        }
    }
    values
}
