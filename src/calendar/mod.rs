//! The calendar of one time zone: which day an instant falls on, and when a day starts.
//!
//! Everything here is arithmetic. What only the platform knows, the offset from UTC at an
//! instant, comes in through [`Zone`].

mod date;
mod instant;
mod period;
#[cfg(test)]
mod tests;

pub use date::Date;
pub use instant::Instant;
pub use period::Period;

use std::cell::RefCell;

/// The one thing a platform must tell about a time zone.
pub trait Zone {
    /// Local time minus UTC at an instant, in milliseconds.
    fn offset(&self, at: Instant) -> i64;
}

/// UTC, for sites that set no time zone.
pub struct Utc;

impl Zone for Utc {
    fn offset(&self, _at: Instant) -> i64 {
        0
    }
}

/// Days of one time zone.
pub struct Calendar {
    name: String,
    zone: Box<dyn Zone>,
    /// Starts of days lately asked for: requests ask for the same few again and again.
    starts: RefCell<Vec<(Date, Instant)>>,
}

const STARTS_KEPT: usize = 32;

impl Calendar {
    /// The calendar of the time zone with this IANA name.
    pub fn new(name: impl Into<String>, zone: Box<dyn Zone>) -> Self {
        let starts = RefCell::default();
        Self {
            name: name.into(),
            zone,
            starts,
        }
    }

    /// The IANA name of the time zone.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The day an instant falls on.
    ///
    /// Days follow each other without overlap, also where a clock set back at midnight shows
    /// the end of the day before a second time: that hour belongs to the day that had begun.
    #[must_use]
    pub fn date_at(&self, at: Instant) -> Date {
        if let Some(date) = self.lately(at) {
            return date;
        }
        let mut date = Date::of_local_millis(at.0 + self.zone.offset(at));
        while self.start_of(date.next()) <= at {
            date = date.next();
        }
        // Leaves both ends of the day at hand for `lately`.
        self.start_of(date);
        date
    }

    /// The first instant of a day: local midnight, or where the clock skips it, what comes next.
    pub fn start_of(&self, date: Date) -> Instant {
        if let Some((_, start)) = self
            .starts
            .borrow()
            .iter()
            .find(|(known, _)| *known == date)
        {
            return *start;
        }
        let start = self.find_start(date.local_millis());
        let mut starts = self.starts.borrow_mut();
        if starts.len() >= STARTS_KEPT {
            starts.remove(0);
        }
        starts.push((date, start));
        start
    }

    /// The day whose start and end are both at hand and lie around an instant.
    fn lately(&self, at: Instant) -> Option<Date> {
        let starts = self.starts.borrow();
        let known = |date: Date| starts.iter().find(|(known, _)| *known == date);
        let today = starts.iter().find(|(date, start)| {
            *start <= at && known(date.next()).is_some_and(|(_, end)| at < *end)
        });
        today.map(|(date, _)| *date)
    }

    /// The first instant whose local time is `midnight` or later.
    ///
    /// No zone changes its offset twice within two days, so the offsets a day before and a day
    /// after tell whether there is a change near, and halving finds it.
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
