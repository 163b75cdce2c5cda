//! The calendar of one time zone: the day of an instant, and the start of a day.
//!
//! The platform supplies the offsets from UTC through [`Zone`]; the rest is arithmetic.

mod date;
mod instant;
mod period;

pub use date::Date;
pub use instant::Instant;
pub use period::Period;

use crate::error::Error;
use std::cell::RefCell;

/// The UTC offsets of a time zone, supplied by the platform.
pub trait Zone {
    /// Returns local time minus UTC at an instant, in milliseconds.
    fn offset(&self, at: Instant) -> i64;
}

/// UTC, the default time zone.
pub struct Utc;

impl Utc {
    /// Returns UTC by its name, where no other zone is known.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] for any other name.
    pub fn named(name: &str) -> Result<Box<dyn Zone>, Error> {
        match name {
            "UTC" => Ok(Box::new(Self)),
            _ => Err(Error::Misconfigured("TIMEZONE", "must be UTC".to_owned())),
        }
    }
}

impl Zone for Utc {
    fn offset(&self, _at: Instant) -> i64 {
        0
    }
}

/// The days of one time zone.
pub struct Calendar {
    name: String,
    zone: Box<dyn Zone>,
    /// Recently computed starts of days: most requests need the same few.
    starts: RefCell<Vec<(Date, Instant)>>,
}

const MAX_STARTS: usize = 32;

impl Calendar {
    /// Creates the calendar of a time zone with an IANA name.
    pub fn new(name: impl Into<String>, zone: Box<dyn Zone>) -> Self {
        let starts = RefCell::default();
        Self {
            name: name.into(),
            zone,
            starts,
        }
    }

    /// Returns the IANA name of the time zone.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the day that contains an instant.
    ///
    /// Days never overlap. If the clock is set back across midnight, the local date changes back
    /// for a while; that time belongs to the day that has already begun.
    #[must_use]
    pub fn date_at(&self, at: Instant) -> Date {
        if let Some(date) = self.cached_date(at) {
            return date;
        }
        let mut date = Date::from_local_millis(at.0 + self.zone.offset(at));
        while self.start_of(date.next()) <= at {
            date = date.next();
        }
        // The loop has cached the end of the day; `cached_date` also needs its start.
        self.start_of(date);
        date
    }

    /// Returns the first instant of a day: local midnight, or the next instant if the clock skips
    /// midnight.
    pub fn start_of(&self, date: Date) -> Instant {
        if let Some((_, start)) = self
            .starts
            .borrow()
            .iter()
            .find(|(cached, _)| *cached == date)
        {
            return *start;
        }
        let start = self.find_start(date.local_millis());
        let mut starts = self.starts.borrow_mut();
        if starts.len() >= MAX_STARTS {
            starts.remove(0);
        }
        starts.push((date, start));
        start
    }

    /// Returns the day that contains an instant if its start and end are cached.
    fn cached_date(&self, at: Instant) -> Option<Date> {
        let starts = self.starts.borrow();
        let cached = |date: Date| starts.iter().find(|(cached, _)| *cached == date);
        let day = starts.iter().find(|(date, start)| {
            *start <= at && cached(date.next()).is_some_and(|(_, end)| at < *end)
        });
        day.map(|(date, _)| *date)
    }

    /// Returns the first instant whose local time is `midnight` or later.
    ///
    /// No time zone changes its offset twice within two days. If the offsets one day before and
    /// one day after `midnight` differ, a binary search between them finds the change.
    fn find_start(&self, midnight: i64) -> Instant {
        const DAY: i64 = Date::MILLIS;
        let (mut before, mut after) = (midnight - DAY, midnight + DAY);
        let old = self.zone.offset(Instant(before));
        let new = self.zone.offset(Instant(after));
        let start = midnight - old;
        if old == new {
            return Instant(start);
        }
        while after - before > 1 {
            let middle = before + (after - before) / 2;
            if self.zone.offset(Instant(middle)) == old {
                before = middle;
            } else {
                after = middle;
            }
        }
        let change = after;
        if start < change {
            Instant(start)
        } else {
            Instant(change.max(midnight - new))
        }
    }
}

#[cfg(test)]
mod tests;
