//! Lifetimes of stored data, and the rest of them for data that is replayed.

use activity_rank_core::calendar::Period;
use activity_rank_store::count::Lifetimes;
use serde::Deserialize;

/// TTL in seconds of shadow keys whose live keys have expired. It is longer than any real lifetime, so
/// it identifies them, and they survive an interrupted rebuild.
pub const EXPIRED_TTL: u64 = 4_000_000_000;

/// Lifetimes in seconds that the service is configured with.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Retention {
    boards: BoardRetention,
    histories: u64,
    marks: u64,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct BoardRetention {
    day: Option<u64>,
    week: Option<u64>,
    month: Option<u64>,
    year: Option<u64>,
    all: Option<u64>,
}

impl Retention {
    /// Returns the lifetime of a board in seconds, or `None` for a permanent board.
    #[must_use]
    pub fn board(&self, period: Period) -> Option<u64> {
        match period {
            Period::Day => self.boards.day,
            Period::Week => self.boards.week,
            Period::Month => self.boards.month,
            Period::Year => self.boards.year,
            Period::All => self.boards.all,
        }
    }

    /// Returns the lifetime of active records in seconds, from the first activity that counts on a day
    /// of UTC.
    #[must_use]
    pub fn active_records(&self) -> u64 {
        self.marks
    }

    /// Returns the rest of each lifetime at `now` for data written at `then`, both in Unix ms. It is
    /// [`EXPIRED_TTL`] if nothing is left.
    #[must_use]
    pub fn rest(&self, then: i64, now: i64) -> Lifetimes {
        let age = u64::try_from((now - then) / 1000).unwrap_or(0);
        let rest = |seconds: u64| match seconds.saturating_sub(age) {
            0 => EXPIRED_TTL,
            rest => rest,
        };
        Lifetimes {
            days: rest(self.histories),
            records: rest(self.marks),
            boards: Period::ALL.map(|period| self.board(period).map_or(0, rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000;
    const NOW: i64 = 1_795_132_800_000;

    /// Returns the default lifetimes.
    fn default_retention() -> Retention {
        let days = |days: u64| Some(days * 86_400);
        Retention {
            boards: BoardRetention {
                day: days(31),
                week: days(91),
                month: days(366),
                year: days(731),
                all: None,
            },
            histories: 62 * 86_400,
            marks: 401 * 86_400,
        }
    }

    #[test]
    fn rest_of_lifetime_decreases_with_age() {
        let retention = default_retention();
        let rest = retention.rest(NOW - 40 * DAY, NOW);
        assert_eq!(
            rest.boards,
            [EXPIRED_TTL, 51 * 86_400, 326 * 86_400, 691 * 86_400, 0]
        );
        assert_eq!(rest.days, 22 * 86_400);
        assert_eq!(retention.rest(NOW - 62 * DAY, NOW).days, EXPIRED_TTL);
        assert_eq!(rest.records, 361 * 86_400);
        // A clock that runs ahead extends no lifetime.
        assert_eq!(retention.rest(NOW + 5000, NOW).days, 62 * 86_400);
        let longest = 36_500 * 86_400;
        assert!(EXPIRED_TTL > longest);
    }
}
