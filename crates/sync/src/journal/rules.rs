//! The rules of a recount: what an action gives at an instant.
//!
//! A recount is an entry of the journal, with the rules as JSON: it holds for all entries before it on the same shard.
//! The JSON has points in smallest steps and instants, so it does not depend on default rules or a time zone.

use std::collections::BTreeMap;

use activity_rank_core::calendar::Instant;
use activity_rank_core::config::Rules;
use serde::{Deserialize, Serialize};

/// The points of each action, by the instant from which its rule applies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecountRules(BTreeMap<String, Vec<(Option<i64>, Given)>>);

/// The points of an activity, in smallest steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    /// The points of the user.
    pub points: i64,
    /// The points that its target and the author of the target receive.
    pub received: i64,
}

/// The recounts of a shard: the number of the last entry that each concerns, ascending.
#[derive(Clone, Debug, Default)]
pub struct Recounts(pub Vec<(u64, RecountRules)>);

impl Recounts {
    /// Returns what an activity gives; `None` if no recount has changed it. Later rules precede earlier ones.
    #[must_use]
    pub fn given(&self, entry: u64, action: &str, at: Instant) -> Option<Given> {
        let later = self.0.iter().rev().filter(|(last, _)| entry <= *last);
        later
            .filter_map(|(_, rules)| rules.given(action, at))
            .next()
    }
}

impl RecountRules {
    /// Returns what an action gives at an instant; `None` if the rules do not say.
    #[must_use]
    pub fn given(&self, action: &str, at: Instant) -> Option<Given> {
        let mut rules = self.0.get(action)?.iter().rev();
        let current = rules.find(|(from, _)| from.is_none_or(|from| from <= at.0));
        current.map(|(_, given)| *given)
    }
}

impl From<&Rules> for RecountRules {
    fn from(rules: &Rules) -> Self {
        let steps = |points: u64| i64::try_from(points).unwrap_or(i64::MAX);
        let dated = |action: &str| {
            let dated = rules.dated(action).map(|(from, rule)| {
                let given = Given {
                    points: steps(rule.points),
                    received: steps(rule.received),
                };
                (from.map(|from| from.0), given)
            });
            (action.to_owned(), dated.collect())
        };
        Self(rules.actions().map(dated).collect())
    }
}
