//! Instants that a test knows only about.

/// An instant that is known to lie between two others: of an activity without `at` the test
/// knows only when it asked and when it was answered. Unix milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Not before this.
    pub first: i64,
    /// Not after this.
    pub last: i64,
}

impl Moment {
    /// One that is known.
    #[must_use]
    pub fn exact(at: i64) -> Self {
        Self {
            first: at,
            last: at,
        }
    }

    /// The later of two.
    pub(super) fn later(self, other: Self) -> Self {
        Self {
            first: self.first.max(other.first),
            last: self.last.max(other.last),
        }
    }

    /// Whether it is before another.
    ///
    /// # Panics
    ///
    /// When that is not sure.
    pub(super) fn is_before(self, other: Self) -> bool {
        let sure = (self.last < other.first, self.first < other.last);
        assert_eq!(
            sure.0, sure.1,
            "the test's own fault: {self:?} or {other:?} first?"
        );
        sure.0
    }

    /// Whether it may be this instant.
    #[must_use]
    pub fn contains(self, at: i64) -> bool {
        (self.first..=self.last).contains(&at)
    }
}
