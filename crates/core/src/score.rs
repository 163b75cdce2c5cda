//! Points and order of arrival packed into one exact number.
//!
//! Redis stores scores as 64-bit floats, which represent every integer below 2^53 exactly. A score
//! has points above `ORDER_BITS` bits of order: 23 bits of points above 30 bits by default. The order
//! counts down, so the earlier of two users with equal points has the higher score.
//!
//! ```text
//! orders = 2^ORDER_BITS
//! score  = points * orders + (orders - 1 - order)      1 <= points < 2^53 / orders      0 <= order < orders
//! ```
//!
//! The order counter of a board is its member `#`, which is not a valid user id. As a member, it
//! cannot expire without the board. Its score is the next order number: at most orders - 1, and so
//! below the score of every user. Beyond, a fraction counts the changes. The first changes, as many as
//! there are orders, keep their exact order; later users with equal points are ordered by id. No activity
//! is rejected.

use std::ops::RangeInclusive;

/// Bits of the integers that a float represents exactly.
const EXACT_BITS: u32 = 53;

/// How the boards of a deployment store points. `score.lua` repeats it for scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bits of order below the points: one of [`Self::ORDER_BITS`].
    pub order_bits: u32,
    /// Decimal places of points: one of [`Self::DECIMALS`]. A step is 10^-`decimals` points.
    pub decimals: u32,
}

impl Layout {
    /// Possible bits of order.
    pub const ORDER_BITS: RangeInclusive<u32> = 16..=30;
    /// Possible decimal places.
    pub const DECIMALS: RangeInclusive<u32> = 0..=4;
    /// The layout of a deployment that does not configure it.
    pub const DEFAULT: Self = Self {
        order_bits: 30,
        decimals: 0,
    };

    /// Returns the maximum points of a score, in smallest steps.
    #[must_use]
    pub fn max_points(self) -> u64 {
        (1 << (EXACT_BITS - self.order_bits)) - 1
    }

    /// Returns the number of changes of a board that keep their exact order.
    #[must_use]
    pub fn orders(self) -> u64 {
        1 << self.order_bits
    }

    /// Returns the number of smallest steps in a point.
    #[must_use]
    pub fn unit(self) -> u64 {
        10u64.pow(self.decimals)
    }

    /// Packs points and order of arrival; `None` if either is out of range.
    #[must_use]
    pub fn pack(self, points: u64, order: u64) -> Option<Score> {
        let in_range = (1..=self.max_points()).contains(&points) && order < self.orders();
        in_range.then(|| Score(points * self.orders() + (self.orders() - 1 - order)))
    }

    /// Returns the points of a score, in smallest steps.
    #[must_use]
    pub fn points(self, score: Score) -> u64 {
        score.0 >> self.order_bits
    }

    /// Returns the order of arrival at the points of a score.
    #[must_use]
    pub fn order(self, score: Score) -> u64 {
        self.orders() - 1 - score.0 % self.orders()
    }

    /// Converts points to smallest steps; `None` if they have more decimal places.
    #[must_use]
    pub fn steps(self, points: f64) -> Option<f64> {
        let scaled = points * self.unit() as f64;
        // The rounding error of a decimal fraction in binary is far below this tolerance.
        let tolerance = 1e-6 + scaled.abs() * 1e-15;
        let exact = (scaled - scaled.round()).abs() <= tolerance;
        exact.then_some(scaled.round())
    }
}

/// A score as the board stores it. Higher is better. Scores are unique until the order counter
/// reaches its maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score(pub u64);

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
}

impl serde::Serialize for Points {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let steps_per_point = 10i64.pow(self.decimals);
        if self.steps % steps_per_point == 0 {
            serializer.serialize_i64(self.steps / steps_per_point)
        } else {
            // Below 2^53 and with at most four decimals, the shortest text of the float is exact.
            serializer.serialize_f64(self.steps as f64 / steps_per_point as f64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn layout(order_bits: u32, decimals: u32) -> Layout {
        Layout {
            order_bits,
            decimals,
        }
    }

    prop_compose! {
        /// A layout, and points and orders of two scores.
        fn scores()(order_bits in Layout::ORDER_BITS)(
            layout in Just(layout(order_bits, 0)),
            points in [1..=layout(order_bits, 0).max_points(), 1..=layout(order_bits, 0).max_points()],
            orders in [0..layout(order_bits, 0).orders(), 0..layout(order_bits, 0).orders()],
        ) -> (Layout, [u64; 2], [u64; 2]) {
            (layout, points, orders)
        }
    }

    proptest! {
        #[test]
        fn packed_score_unpacks_exactly((layout, [points, _], [order, _]) in scores()) {
            let score = layout.pack(points, order).unwrap();
            prop_assert_eq!((layout.points(score), layout.order(score)), (points, order));
        }

        /// Rules, levels, adjustments and events are shown, stored and journaled as points.
        #[test]
        fn serialized_points_parse_back(
            (layout, [steps, _], _) in scores(),
            decimals in Layout::DECIMALS,
            negative: bool,
        ) {
            let layout = Layout { decimals, ..layout };
            let steps = if negative { -(steps as i64) } else { steps as i64 };
            let json = serde_json::to_string(&Points { steps, decimals }).unwrap();
            let points = crate::json::read(json.as_bytes()).unwrap().as_f64().unwrap();
            prop_assert_eq!(layout.steps(points), Some(steps as f64), "{}", json);
        }

        #[test]
        fn scores_and_increments_are_exact_floats((layout, points, orders) in scores()) {
            let score = layout.pack(points[0], orders[0]).unwrap().0;
            let other = layout.pack(points[1], orders[1]).unwrap().0;
            prop_assert!(score < 1 << 53);
            prop_assert_eq!(score as f64 as u64, score);
            let increment = other as f64 - score as f64;
            prop_assert_eq!((score as f64 + increment) as u64, other);
        }

        #[test]
        fn scores_sort_by_points_then_arrival((layout, points, orders) in scores()) {
            let score = layout.pack(points[0], orders[0]).unwrap();
            let other = layout.pack(points[1], orders[1]).unwrap();
            let expected = points[0].cmp(&points[1]).then(orders[1].cmp(&orders[0]));
            prop_assert_eq!(score.cmp(&other), expected);
        }

        #[test]
        fn scores_exceed_the_order_counter((layout, [points, _], [order, _]) in scores()) {
            let highest_counter = layout.orders() - 1;
            prop_assert!(layout.pack(points, order).unwrap().0 > highest_counter);
        }

        #[test]
        fn steps_and_points_convert_both_ways(
            order_bits in Layout::ORDER_BITS,
            decimals in Layout::DECIMALS,
            share in 0..=1u64 << 37,
        ) {
            let layout = layout(order_bits, decimals);
            let steps = share % (layout.max_points() + 1);
            let points = serde_json::to_value(Points::new(steps, decimals)).unwrap();
            prop_assert_eq!(layout.steps(points.as_f64().unwrap()), Some(steps as f64));
            let finer = points.as_f64().unwrap() + 0.1 / layout.unit() as f64;
            prop_assert_eq!(layout.steps(finer), None);
        }
    }

    #[test]
    fn capacity_is_as_documented() {
        let capacity = |order_bits| {
            let layout = layout(order_bits, 0);
            (layout.max_points(), layout.orders())
        };
        assert_eq!(capacity(30), (8_388_607, 1_073_741_824));
        assert_eq!(capacity(20), (8_589_934_591, 1_048_576));
        assert_eq!(capacity(16), (137_438_953_471, 65_536));
    }

    #[test]
    fn out_of_range_values_are_not_packed() {
        for order_bits in Layout::ORDER_BITS {
            let layout = layout(order_bits, 0);
            let (max, orders) = (layout.max_points(), layout.orders());
            assert!(layout.pack(max, orders - 1).is_some());
            assert_eq!(layout.pack(0, 0), None);
            assert_eq!(layout.pack(max + 1, 0), None);
            assert_eq!(layout.pack(1, orders), None);
        }
    }

    #[test]
    fn points_serialize_without_loss() {
        let json = |steps, decimals| serde_json::to_string(&Points { steps, decimals }).unwrap();
        assert_eq!(json(12, 0), "12");
        assert_eq!(json(1200, 2), "12");
        assert_eq!(json(1250, 2), "12.5");
        assert_eq!(json(-5, 2), "-0.05");
        assert_eq!(json(838_860_707, 2), "8388607.07");
        assert_eq!(json(137_438_953_471, 4), "13743895.3471");
    }
}
