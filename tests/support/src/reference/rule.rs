//! What actions are worth.

use std::collections::BTreeMap;

/// What one action is worth; points in smallest steps, cooldown in milliseconds.
#[derive(Clone, Debug, Default)]
pub struct Rule {
    /// Each time.
    pub points: u64,
    /// Whether it counts once a day, and not once while it stands.
    pub per_day: bool,
    /// Whether it can be taken back.
    pub undo: bool,
    /// The most points of it that a user can have in a day.
    pub daily_cap: Option<u64>,
    /// The least time between two that count.
    pub cooldown: Option<i64>,
}

impl Rule {
    /// One without limits; what counts once while it stands can be taken back.
    #[must_use]
    pub fn new(points: u64, per_day: bool) -> Self {
        Self {
            points,
            per_day,
            undo: !per_day,
            ..Self::default()
        }
    }

    /// The default rules, where a point has so many steps.
    #[must_use]
    pub fn defaults(steps: u64) -> BTreeMap<String, Self> {
        let defaults = [
            ("visit", 1),
            ("like", 2),
            ("bookmark", 2),
            ("follow", 2),
            ("comment", 3),
            ("publish", 10),
        ];
        let rule = |(name, points): (&str, u64)| {
            (name.to_owned(), Self::new(points * steps, name == "visit"))
        };
        defaults.into_iter().map(rule).collect()
    }
}
