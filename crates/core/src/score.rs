//! Points and order of arrival packed into one exact number.
//!
//! Redis stores scores as 64-bit floats, which represent every integer below 2^53 exactly. A score
//! has 23 bits of points above 30 bits of order. The order counts down, so the earlier of two users
//! with equal points has the higher score.
//!
//! ```text
//! score = points * 2^30 + (2^30 - 1 - order)      1 <= points < 2^23      0 <= order < 2^30
//! ```
//!
//! The order counter of a board is its member `#`, which is not a valid user id. As a member, it
//! cannot expire without the board. Its score is the next order number: at most 2^30 - 1, and so
//! below the score of every user. At that maximum it stays. The first 2^30 changes keep their exact
//! order; later users with equal points are ordered by id. No activity is rejected.

/// Maximum points of a score, in smallest steps.
pub const MAX_POINTS: u64 = (1 << 23) - 1;

/// Number of changes of a board that keep their exact order.
pub const ORDERS: u64 = 1 << 30;

/// A score as the board stores it. Higher is better. Scores are unique until the order counter
/// reaches its maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score(pub u64);

impl Score {
    /// Packs points and order of arrival; `None` if either is out of range.
    #[must_use]
    pub fn pack(points: u64, order: u64) -> Option<Self> {
        let in_range = (1..=MAX_POINTS).contains(&points) && order < ORDERS;
        in_range.then(|| Self(points * ORDERS + (ORDERS - 1 - order)))
    }

    /// Returns the points, in smallest steps.
    #[must_use]
    pub fn points(self) -> u64 {
        self.0 / ORDERS
    }

    /// Returns the order of arrival at these points.
    #[must_use]
    pub fn order(self) -> u64 {
        ORDERS - 1 - self.0 % ORDERS
    }
}

/// An amount of points as the API returns it: exact, without trailing zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Points {
    /// The amount in smallest steps.
    pub steps: i64,
    /// Decimal places of points: a step is 10^-`decimals` points.
    pub decimals: u32,
}

impl Points {
    /// Returns the points of a score or rule, which are far below `i64::MAX`.
    #[must_use]
    pub fn new(steps: u64, decimals: u32) -> Self {
        let steps = i64::try_from(steps).unwrap_or(i64::MAX);
        Self { steps, decimals }
    }

    /// Returns the amount as a JSON number.
    #[must_use]
    pub fn to_json(self) -> String {
        serde_json::to_string(&self).unwrap_or_default()
    }
}

/// Converts points to smallest steps; `None` if they have more decimal places than `decimals`.
#[must_use]
pub fn steps(points: f64, decimals: u32) -> Option<f64> {
    let scaled = points * f64::from(10u32.pow(decimals));
    // The rounding error of a decimal fraction in binary is far below this tolerance.
    let exact = (scaled - scaled.round()).abs() <= 1e-6;
    exact.then_some(scaled.round())
}

impl serde::Serialize for Points {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let steps_per_point = 10i64.pow(self.decimals);
        if self.steps % steps_per_point == 0 {
            serializer.serialize_i64(self.steps / steps_per_point)
        } else {
            // Below 2^53 and with at most two decimals, the shortest text of the float is exact.
            serializer.serialize_f64(self.steps as f64 / steps_per_point as f64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn packed_score_unpacks_exactly(points in 1..=MAX_POINTS, order in 0..ORDERS) {
            let score = Score::pack(points, order).unwrap();
            prop_assert_eq!((score.points(), score.order()), (points, order));
        }

        #[test]
        fn scores_and_increments_are_exact_floats(
            (points, order) in (1..=MAX_POINTS, 0..ORDERS),
            (other_points, other_order) in (1..=MAX_POINTS, 0..ORDERS),
        ) {
            let score = Score::pack(points, order).unwrap().0;
            let other = Score::pack(other_points, other_order).unwrap().0;
            prop_assert!(score < 1 << 53);
            prop_assert_eq!(score as f64 as u64, score);
            let increment = other as f64 - score as f64;
            prop_assert_eq!((score as f64 + increment) as u64, other);
        }

        #[test]
        fn scores_sort_by_points_then_arrival(
            (points, order) in (1..=MAX_POINTS, 0..ORDERS),
            (other_points, other_order) in (1..=MAX_POINTS, 0..ORDERS),
        ) {
            let score = Score::pack(points, order).unwrap();
            let other = Score::pack(other_points, other_order).unwrap();
            let expected = points.cmp(&other_points).then(other_order.cmp(&order));
            prop_assert_eq!(score.cmp(&other), expected);
        }

        #[test]
        fn scores_exceed_the_order_counter(points in 1..=MAX_POINTS, order in 0..ORDERS) {
            let highest_counter = ORDERS - 1;
            prop_assert!(Score::pack(points, order).unwrap().0 > highest_counter);
        }
    }

    #[test]
    fn score_capacity_is_as_documented() {
        const { assert!(MAX_POINTS >= 8_000_000) };
        const { assert!(ORDERS >= 1_000_000_000) };
        assert!(Score::pack(MAX_POINTS, ORDERS - 1).is_some());
    }

    #[test]
    fn out_of_range_values_are_not_packed() {
        assert_eq!(Score::pack(0, 0), None);
        assert_eq!(Score::pack(MAX_POINTS + 1, 0), None);
        assert_eq!(Score::pack(1, ORDERS), None);
    }

    #[test]
    fn points_serialize_without_loss() {
        let json = |steps, decimals| serde_json::to_string(&Points { steps, decimals }).unwrap();
        assert_eq!(json(12, 0), "12");
        assert_eq!(json(1200, 2), "12");
        assert_eq!(json(1250, 2), "12.5");
        assert_eq!(json(-5, 2), "-0.05");
        assert_eq!(json(838_860_707, 2), "8388607.07");
    }
}
