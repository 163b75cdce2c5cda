//! Query parameters: each known, each at most once, each within its range.

use crate::calendar::Date;
use crate::error::{Error, Faults};
use crate::id;
use crate::moderation::EntryId;
use percent_encoding::percent_decode_str;
use std::ops::RangeInclusive;

/// The parameters of one request, and what is wrong with them so far.
pub struct Query {
    pairs: Vec<(String, String)>,
    faults: Faults,
}

impl Query {
    /// Takes a query string apart; keeps a fault for each parameter that is not known, or is
    /// given twice.
    #[must_use]
    pub fn parse(query: &str, known: &[&str]) -> Self {
        let mut faults = Faults::default();
        let mut pairs: Vec<(String, String)> = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = decode(name);
            if pairs.iter().any(|(given, _)| *given == name) {
                let twice = Err::<(), _>("must be given once".to_owned());
                faults.check(&format!("/{name}"), twice);
            } else {
                pairs.push((name, decode(value)));
            }
        }
        faults.unknown(pairs.iter().map(|(name, _)| name), known);
        Self { pairs, faults }
    }

    /// A whole number within a range; the default where it is not given.
    pub fn whole(&mut self, name: &str, range: RangeInclusive<u32>, default: u32) -> u32 {
        let Some(text) = self.get(name) else {
            return default;
        };
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text
            .parse()
            .ok()
            .filter(|number| digits && range.contains(number));
        let (least, most) = range.into_inner();
        let number = number.ok_or_else(|| format!("must be a whole number, {least} to {most}"));
        self.faults
            .check(&format!("/{name}"), number)
            .unwrap_or(default)
    }

    /// The parameter `date`; today where it is not given.
    pub fn date(&mut self, today: Date) -> Date {
        self.day("date", today)
    }

    /// A day that is not after today; today where it is not given.
    pub fn day(&mut self, name: &str, today: Date) -> Date {
        let Some(text) = self.get(name) else {
            return today;
        };
        let date = match Date::parse(text) {
            None => Err("must be a day such as 2026-11-20".to_owned()),
            Some(date) if date > today => Err(format!("must not be after today, {today}")),
            Some(date) => Ok(date),
        };
        self.faults
            .check(&format!("/{name}"), date)
            .unwrap_or(today)
    }

    /// The parameter `group`.
    pub fn group(&mut self) -> Option<String> {
        let group = id::checked(self.get("group")?);
        self.faults.check("/group", group)
    }

    /// The parameter `ids`: up to 100 users, each named once in the order first asked.
    pub fn ids(&mut self) -> Vec<String> {
        const MOST: usize = 100;
        let asked: Vec<String> = self
            .get("ids")
            .unwrap_or_default()
            .split(',')
            .map(str::to_owned)
            .collect();
        let ids = if asked.len() > MOST {
            Err(format!("must be at most {MOST} ids, not {}", asked.len()))
        } else if asked.iter().all(|id| id::is_id(id)) {
            Ok(asked)
        } else {
            Err(format!("must be ids between commas; each {}", id::ID))
        };
        let mut once: Vec<String> = Vec::new();
        for id in self.faults.check("/ids", ids).unwrap_or_default() {
            if !once.contains(&id) {
                once.push(id);
            }
        }
        once
    }

    /// The parameter `before`: the id of an entry of the audit list.
    pub fn before(&mut self) -> Option<EntryId> {
        let before = self.get("before")?;
        let before = EntryId::parse(before)
            .ok_or_else(|| "must be the id of an entry such as 1795132800000-0".to_owned());
        self.faults.check("/before", before)
    }

    /// A user's id from the path.
    pub fn user(&mut self, user: &str) -> String {
        let user = id::checked(user);
        self.faults.check("/user", user).unwrap_or_default()
    }

    /// Keeps a fault found elsewhere in the request.
    pub fn check<T>(&mut self, pointer: &str, value: Result<T, String>) -> Option<T> {
        self.faults.check(pointer, value)
    }

    /// Ends the reading.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] with every fault kept.
    pub fn finish(self) -> Result<(), Error> {
        self.faults.or(Some(()))
    }

    fn get(&self, name: &str) -> Option<&str> {
        let pair = self.pairs.iter().find(|(given, _)| given == name);
        pair.map(|(_, value)| value.as_str())
    }
}

/// Percent-decoded text of a form; what is not UTF-8 becomes U+FFFD, which no value may hold.
fn decode(text: &str) -> String {
    percent_decode_str(&text.replace('+', " "))
        .decode_utf8_lossy()
        .into_owned()
}
