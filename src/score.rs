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
//! The order counter of a board is its member `#`, which no user id can be: it cannot expire alone. Its score
//! is the next order number, at most 2^30 - 1 and so under every user. Once there it stays: the
//! 2^30 changes before keep their exact order, later equals tie by id, and nothing is refused.

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

impl Points {
    /// What a board or rule holds; no score comes near the end of the range.
    #[must_use]
    pub fn of(steps: u64, decimals: u32) -> Self {
        let steps = i64::try_from(steps).unwrap_or(i64::MAX);
        Self { steps, decimals }
    }
}

/// A number of points in smallest steps; `None` where it is finer than that.
#[must_use]
pub fn steps(points: f64, decimals: u32) -> Option<f64> {
    let scaled = points * f64::from(10u32.pow(decimals));
    // What a decimal fraction loses in binary is far below this.
    let fits = (scaled - scaled.round()).abs() <= 1e-6;
    fits.then_some(scaled.round())
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn packing_loses_nothing(points in 1..=MAX_POINTS, order in 0..ORDERS) {
            let score = Score::pack(points, order).unwrap();
            prop_assert_eq!((score.points(), score.order()), (points, order));
        }

        #[test]
        fn a_float_holds_every_score_and_every_step_between_two(
            (points, order) in (1..=MAX_POINTS, 0..ORDERS),
            (other_points, other_order) in (1..=MAX_POINTS, 0..ORDERS),
        ) {
            let score = Score::pack(points, order).unwrap().0;
            let other = Score::pack(other_points, other_order).unwrap().0;
            prop_assert!(score < 1 << 53);
            prop_assert_eq!(score as f64 as u64, score);
            let step = other as f64 - score as f64;
            prop_assert_eq!((score as f64 + step) as u64, other);
        }

        #[test]
        fn more_points_rank_higher_and_of_equals_the_earlier(
            (points, order) in (1..=MAX_POINTS, 0..ORDERS),
            (other_points, other_order) in (1..=MAX_POINTS, 0..ORDERS),
        ) {
            let score = Score::pack(points, order).unwrap();
            let other = Score::pack(other_points, other_order).unwrap();
            let by_rule = (points, std::cmp::Reverse(order)).cmp(&(other_points, std::cmp::Reverse(other_order)));
            prop_assert_eq!(score.cmp(&other), by_rule);
        }

        #[test]
        fn every_score_lies_above_the_order_counter(points in 1..=MAX_POINTS, order in 0..ORDERS) {
            let highest_counter = ORDERS - 1;
            prop_assert!(Score::pack(points, order).unwrap().0 > highest_counter);
        }
    }

    #[test]
    fn a_score_holds_eight_million_steps_and_a_board_a_billion_changes() {
        const { assert!(MAX_POINTS >= 8_000_000) };
        const { assert!(ORDERS >= 1_000_000_000) };
        assert!(Score::pack(MAX_POINTS, ORDERS - 1).is_some());
    }

    #[test]
    fn what_does_not_fit_is_not_packed() {
        assert_eq!(Score::pack(0, 0), None);
        assert_eq!(Score::pack(MAX_POINTS + 1, 0), None);
        assert_eq!(Score::pack(1, ORDERS), None);
    }

    #[test]
    fn points_are_shown_without_loss() {
        let shown = |steps, decimals| serde_json::to_string(&Points { steps, decimals }).unwrap();
        assert_eq!(shown(12, 0), "12");
        assert_eq!(shown(1200, 2), "12");
        assert_eq!(shown(1250, 2), "12.5");
        assert_eq!(shown(-5, 2), "-0.05");
        assert_eq!(shown(838_860_707, 2), "8388607.07");
    }
}
