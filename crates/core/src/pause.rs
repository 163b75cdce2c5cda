//! Pauses: days that a user declares beforehand, on which a missed day neither ends a streak nor uses a freeze.

use crate::calendar::Date;
use crate::error::{Error, FieldErrors};
use crate::id;
use crate::query::Query;
use serde_json::{Map, Value};

/// The days of the longest pause.
pub const MAX_DAYS: i32 = 92;

/// The days until the latest beginning of a pause.
pub const MAX_AHEAD: i32 = 366;

/// The most pauses of a user that are not over.
pub const MAX_PAUSES: usize = 4;

/// The days for which a pause that is over is kept: calendars count streaks over as many.
const KEPT_DAYS: i32 = 366;

/// A pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// The first day.
    pub from: Date,
    /// The last day.
    pub until: Date,
}

/// The pauses of a user in their order. No two of them share a day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pauses(Vec<Pause>);

/// The pauses of a user who has none.
pub static NO_PAUSES: Pauses = Pauses(Vec::new());

impl Pause {
    /// Parses a request body.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] lists every invalid field, and the user if it is invalid.
    pub fn parse(user: &str, body: &Value, today: Date) -> Result<(String, Self), Error> {
        let Value::Object(fields) = body else {
            return Err(Error::invalid("A pause is a JSON object."));
        };
        let mut errors = FieldErrors::default();
        errors.reject_unknown(fields.keys(), &["from", "until"]);
        let user = errors.check("/user", id::checked(user));
        let latest = today.plus(MAX_AHEAD);
        let from = errors.check("/from", day(fields, "from", today, latest));
        let first = from.unwrap_or(today);
        let last = from.unwrap_or(latest).plus(MAX_DAYS - 1);
        let until = errors.check("/until", day(fields, "until", first, last));
        let pause = || {
            let (from, until) = (from?, until?);
            Some((user?, Self { from, until }))
        };
        errors.finish(pause())
    }

    /// Parses the query of a request that ends pauses: the first day of one, or all.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] for an invalid user or query.
    pub fn parse_end(user: &str, query: &str) -> Result<(String, Option<Date>), Error> {
        let mut query = Query::parse(query, &["from"]);
        let user = query.user(user);
        let from = query.get("from").map(|text| {
            let from = Date::parse(text);
            from.ok_or_else(|| "must be a day such as 2026-11-20".to_owned())
        });
        let from = query.check("/from", from.transpose()).flatten();
        query.finish()?;
        Ok((user, from))
    }

    fn contains(&self, day: Date) -> bool {
        self.from <= day && day <= self.until
    }
}

/// Parses a day within bounds.
fn day(fields: &Map<String, Value>, name: &str, first: Date, last: Date) -> Result<Date, String> {
    let text = fields.get(name).and_then(Value::as_str).unwrap_or_default();
    let day = Date::parse(text).filter(|day| (first..=last).contains(day));
    day.ok_or_else(|| format!("must be a day from {first} to {last}"))
}

impl Pauses {
    /// Parses stored pauses, such as `2026-12-20/2027-01-03,2027-02-01/2027-02-01`. Skips what is not a pause: one damaged value
    /// must not make a calendar unavailable.
    #[must_use]
    pub fn parse(stored: &str) -> Self {
        let pause = |text: &str| {
            let (from, until) = text.split_once('/')?;
            let (from, until) = (Date::parse(from)?, Date::parse(until)?);
            Some(Pause { from, until })
        };
        Self(stored.split(',').filter_map(pause).collect())
    }

    /// Returns the pauses as they are stored; empty for none.
    #[must_use]
    pub fn stored(&self) -> String {
        let pauses = self.0.iter();
        let pauses: Vec<String> = pauses
            .map(|Pause { from, until }| format!("{from}/{until}"))
            .collect();
        pauses.join(",")
    }

    /// Returns whether a day is in a pause.
    #[must_use]
    pub fn contains(&self, day: Date) -> bool {
        self.0.iter().any(|pause| pause.contains(day))
    }

    /// Adds a pause, and removes the pauses that were over long ago. A pause that is there already changes nothing.
    ///
    /// # Errors
    ///
    /// [`Error::PauseConflict`] if another pause has a day of it, or too many are not over.
    pub fn add(&mut self, pause: Pause, today: Date) -> Result<(), Error> {
        if self.0.contains(&pause) {
            return Ok(());
        }
        let shares_day = |other: &Pause| other.from <= pause.until && pause.from <= other.until;
        if self.0.iter().any(shares_day) {
            return Err(Error::PauseConflict(
                "Another pause has some of these days: end it first.",
            ));
        }
        let ahead = self.0.iter().filter(|other| other.until >= today);
        if ahead.count() >= MAX_PAUSES {
            return Err(Error::PauseConflict(
                "A user has at most 4 pauses that are not over.",
            ));
        }
        let later = self.0.partition_point(|other| other.from < pause.from);
        self.0.insert(later, pause);
        self.forget_old(today);
        Ok(())
    }

    /// Ends the pause that begins on a day, or all: today is the first day without one. Days before today stay paused.
    pub fn end(&mut self, from: Option<Date>, today: Date) {
        for pause in &mut self.0 {
            if from.is_none_or(|from| pause.from == from) {
                pause.until = pause.until.min(today.plus(-1));
            }
        }
        self.forget_old(today);
    }

    /// Removes pauses without days, and pauses whose last day no calendar counts.
    fn forget_old(&mut self, today: Date) {
        let first = today.plus(1 - KEPT_DAYS);
        let is_kept = |pause: &Pause| pause.from <= pause.until && pause.until >= first;
        self.0.retain(is_kept);
    }

    /// Replaces the pauses from a day on by others, which were stored on this day. Earlier days stay paused.
    pub fn replace(&mut self, day: Date, stored: &Self) {
        for pause in &mut self.0 {
            pause.until = pause.until.min(day.plus(-1));
        }
        self.0.retain(|pause| pause.from <= pause.until);
        self.0.extend_from_slice(&stored.0);
    }

    /// Renders the response body. Ids need no escapes.
    #[must_use]
    pub fn render(&self, user: &str) -> String {
        let pauses = self.0.iter();
        let pauses: Vec<String> = pauses
            .map(|Pause { from, until }| format!("{{\"from\":\"{from}\",\"until\":\"{until}\"}}"))
            .collect();
        let pauses = pauses.join(",");
        format!("{{\"user\":{{\"id\":\"{user}\"}},\"pauses\":[{pauses}]}}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    const TODAY: &str = "2026-11-20";

    fn date(text: &str) -> Date {
        Date::parse(text).unwrap()
    }

    fn pause(from: &str, until: &str) -> Pause {
        let (from, until) = (date(from), date(until));
        Pause { from, until }
    }

    #[test]
    fn last_possible_pause_is_accepted() {
        let body = json!({"from": "2027-11-21", "until": "2028-02-20"});
        let parsed = Ok(("42".to_owned(), pause("2027-11-21", "2028-02-20")));
        assert_eq!(Pause::parse("42", &body, date(TODAY)), parsed);
    }

    #[test]
    fn pauses_share_no_day() {
        let (mut pauses, today) = (Pauses::default(), date(TODAY));
        let mut add = |from, until| {
            let added = pauses.add(pause(from, until), today);
            (added.map_err(|error| error.status()), pauses.stored())
        };
        let first = "2026-12-20/2027-01-03".to_owned();
        for _ in 0..2 {
            let added = add("2026-12-20", "2027-01-03");
            assert_eq!(added, (Ok(()), first.clone()));
        }
        for (from, until) in [
            ("2026-12-20", "2026-12-20"),
            ("2027-01-03", "2027-01-04"),
            ("2026-12-01", "2027-01-30"),
        ] {
            assert_eq!(add(from, until), (Err(409), first.clone()));
        }
        let both = format!("2026-12-19/2026-12-19,{first}");
        assert_eq!(add("2026-12-19", "2026-12-19"), (Ok(()), both));
        for day in ["2027-01-04", "2027-01-05"] {
            assert_eq!(add(day, day).0, Ok(()));
        }
        assert_eq!(add("2027-01-06", "2027-01-06").0, Err(409));
    }

    #[test]
    fn ended_pause_keeps_its_days() {
        let stored = "2025-11-18/2025-11-19,2025-11-20/2025-11-20,2026-11-10/2026-11-30,\
                      2026-12-01/2026-12-01,2026-12-20/2026-12-21";
        let end = |from: Option<&str>| {
            let mut pauses = Pauses::parse(stored);
            pauses.end(from.map(date), date(TODAY));
            pauses.stored()
        };
        let begun = "2025-11-20/2025-11-20,2026-11-10/2026-11-19";
        assert_eq!(end(None), begun);
        assert_eq!(
            end(Some("2026-11-10")),
            format!("{begun},2026-12-01/2026-12-01,2026-12-20/2026-12-21")
        );
        assert_eq!(
            end(Some("2026-12-01")),
            "2025-11-20/2025-11-20,2026-11-10/2026-11-30,2026-12-20/2026-12-21"
        );
        // A pause that begins today has no day before.
        let mut pauses = Pauses::parse("2026-11-20/2026-11-30");
        pauses.end(None, date(TODAY));
        assert_eq!(pauses, Pauses::default());
        assert_eq!(pauses.stored(), "");
    }

    #[test]
    fn damaged_pauses_are_skipped() {
        for stored in [
            "",
            ",",
            "2026-11-20",
            "2026-11-20/",
            "a/b,2026-02-30/2026-03-01",
        ] {
            assert_eq!(Pauses::parse(stored), Pauses::default(), "{stored}");
        }
    }

    proptest! {
        /// Each write comes on a later day. The journal has what is stored after each.
        #[test]
        fn journal_keeps_every_paused_day(
            writes in prop::collection::vec((0..200, 0..60, 1..20, prop::bool::ANY), 1..12),
        ) {
            let (mut today, mut stored, mut all) = (date(TODAY), Pauses::default(), Pauses::default());
            let mut paused = Vec::new();
            for (later, ahead, length, adds) in writes {
                let before = today;
                today = today.plus(later);
                paused.extend((0..later).map(|day| before.plus(day)).filter(|day| stored.contains(*day)));
                if adds {
                    let from = today.plus(ahead);
                    let _ = stored.add(Pause { from, until: from.plus(length - 1) }, today);
                } else {
                    stored.end(None, today);
                }
                prop_assert_eq!(&Pauses::parse(&stored.stored()), &stored);
                all.replace(today, &stored);
            }
            let first = date(TODAY);
            for day in (0..).map(|day| first.plus(day)).take_while(|day| *day < today) {
                prop_assert_eq!(all.contains(day), paused.contains(&day));
                if day > today.plus(-KEPT_DAYS) {
                    prop_assert_eq!(stored.contains(day), paused.contains(&day));
                }
            }
        }
    }
}
