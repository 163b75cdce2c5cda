//! How long what entries write is kept, and how much of that is left today.

use activity_rank::activity::Lifetimes;
use activity_rank::calendar::Period;
use serde::Deserialize;

/// What has run out lives on so long, in seconds: longer than anything may, so that it is told by
/// it, and so long that nothing is lost while a rebuild goes on, or waits to be gone on with.
pub const RUN_OUT: u64 = 4_000_000_000;

/// Lifetimes in seconds, as the service keeps them.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Keep {
    boards: Boards,
    histories: u64,
    marks: u64,
    undos: u64,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct Boards {
    day: Option<u64>,
    week: Option<u64>,
    month: Option<u64>,
    year: Option<u64>,
    all: Option<u64>,
}

impl Keep {
    /// How long a board is kept; none for ever.
    #[must_use]
    pub fn board(&self, kind: Period) -> Option<u64> {
        match kind {
            Period::Day => self.boards.day,
            Period::Week => self.boards.week,
            Period::Month => self.boards.month,
            Period::Year => self.boards.year,
            Period::All => self.boards.all,
        }
    }

    /// How long standing marks are kept after a user's last counted activity.
    #[must_use]
    pub fn marks(&self) -> u64 {
        self.marks
    }

    /// What is left of it where something was written then: Unix ms.
    #[must_use]
    pub fn left(&self, then: i64, now: i64) -> Lifetimes {
        let age = u64::try_from((now - then) / 1000).unwrap_or(0);
        let left = |seconds: u64| match seconds.saturating_sub(age) {
            0 => RUN_OUT,
            left => left,
        };
        Lifetimes {
            days: left(self.histories),
            marks: left(self.marks),
            undos: left(self.undos),
            boards: Period::ALL.map(|kind| self.board(kind).map_or(0, left)),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// That of a service with the usual settings.
    pub(in crate::rebuild) fn usual() -> Keep {
        let days = |days: u64| Some(days * 86_400);
        Keep {
            boards: Boards {
                day: days(31),
                week: days(91),
                month: days(366),
                year: days(731),
                all: None,
            },
            histories: 62 * 86_400,
            marks: 400 * 86_400,
            undos: 62 * 86_400,
        }
    }

    #[test]
    fn what_was_written_long_ago_has_less_left_and_what_has_run_out_is_told_apart() {
        let now = 1_795_132_800_000;
        let left = usual().left(now - 40 * 86_400_000, now);
        assert_eq!(
            left.boards,
            [RUN_OUT, 51 * 86_400, 326 * 86_400, 691 * 86_400, 0]
        );
        assert_eq!((left.days, left.undos), (22 * 86_400, 22 * 86_400));
        assert_eq!(usual().left(now - 62 * 86_400_000, now).days, RUN_OUT);
        assert_eq!(left.marks, 360 * 86_400);
        // A clock that runs ahead makes nothing live longer.
        assert_eq!(usual().left(now + 5000, now).days, 62 * 86_400);
        let longest = 36_500 * 86_400;
        assert!(RUN_OUT > longest);
    }
}
