//! Points and order of arrival in one exact number.
//!
//! Redis keeps scores as 64-bit floats, which hold every integer below 2^53 exactly. A board
//! uses those bits so: 23 bits of points above 30 bits of order, the order counted down, so that
//! of equal points the one that came first has the higher score.
//!
//! ```text
//! score = points * 2^30 + (2^30 - 1 - order)      1 <= points < 2^23      0 <= order < 2^30
//! ```
//!
//! The order counter of a board is a member of the board: it cannot expire without it. Its score
//! is the next order number, at most 2^30 - 1 and so under every user. Once there it stays: the
//! 2^30 changes before keep their exact order, later equals tie by id, and nothing is refused.

/// The member that holds a board's order counter; no user id can contain `#`.
pub const COUNTER: &str = "#";

/// The most points a score holds, in smallest steps.
pub const MAX_POINTS: u64 = (1 << 23) - 1;

/// How many changes of a board keep their exact order.
pub const ORDERS: u64 = 1 << 30;

/// A score as the board holds it: higher is better, and no two are equal before order runs out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score(pub u64);

impl Score {
    /// Packs points and order of arrival; `None` where either does not fit.
    #[must_use]
    pub fn pack(points: u64, order: u64) -> Option<Self> {
        let fits = (1..=MAX_POINTS).contains(&points) && order < ORDERS;
        fits.then(|| Self(points * ORDERS + (ORDERS - 1 - order)))
    }

    /// The points, in smallest steps.
    #[must_use]
    pub fn points(self) -> u64 {
        self.0 / ORDERS
    }

    /// The order of arrival at these points.
    #[must_use]
    pub fn order(self) -> u64 {
        ORDERS - 1 - self.0 % ORDERS
    }
}

/// An amount of points as the API shows it: exact, with as many decimals as it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Points {
    /// The amount in smallest steps.
    pub steps: i64,
    /// How many decimals of a point a step is.
    pub decimals: u32,
}

impl serde::Serialize for Points {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let steps_per_point = 10i64.pow(self.decimals);
        if self.steps % steps_per_point == 0 {
            serializer.serialize_i64(self.steps / steps_per_point)
        } else {
            // Below 2^53 with at most two decimals: the shortest text of the float is exact.
            serializer.serialize_f64(self.steps as f64 / steps_per_point as f64)
        }
    }
}
