//! Input of the model: activities, rules and instants.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::calendar::rfc3339;

/// User, action and target: the identity by which activities are deduplicated.
pub type DedupKey = (String, String, String);

/// One activity.
#[derive(Clone, Debug, PartialEq)]
pub struct Activity {
    /// The id of the user.
    pub user: String,
    /// The action.
    pub action: String,
    /// The target of the action.
    pub target: String,
    /// Whether it undoes the activity.
    pub undo: bool,
    /// The instant given by a service, in Unix milliseconds.
    pub at: Option<i64>,
    /// The groups on whose boards it counts too.
    pub groups: Vec<String>,
}

impl Activity {
    /// Returns the identity for deduplication. The target of a visit is reduced to its path.
    #[must_use]
    pub fn dedup_key(&self) -> DedupKey {
        let target = match self.action.as_str() {
            "visit" => {
                let path = self.target.split(['?', '#']).next().unwrap_or_default();
                match path.strip_suffix('/') {
                    Some(path) if !path.is_empty() => path,
                    _ => path,
                }
            }
            _ => &self.target,
        };
        (self.user.clone(), self.action.clone(), target.to_owned())
    }

    /// Returns the body for `POST /v1/activity`.
    #[must_use]
    pub fn json(&self) -> Value {
        // Numeric users are sent as JSON integers, which the API accepts too.
        let user = self
            .user
            .parse::<u64>()
            .map_or(json!(self.user), |number| json!(number));
        let mut body = json!({ "user": user, "action": self.action, "target": self.target });
        if self.undo {
            body["undo"] = json!(true);
        }
        if let Some(at) = self.at {
            body["at"] = json!(rfc3339(at));
        }
        if !self.groups.is_empty() {
            body["groups"] = json!(self.groups);
        }
        body
    }
}

/// The rule of one action; points in smallest steps, cooldown in milliseconds.
#[derive(Clone, Debug, Default)]
pub struct Rule {
    /// The points of each activity that counts.
    pub points: u64,
    /// Whether it counts once per day; otherwise it counts once until it is undone.
    pub daily: bool,
    /// Whether it can be undone.
    pub undo: bool,
    /// The maximum points of a user per day.
    pub daily_cap: Option<u64>,
    /// The minimum time between two activities that count.
    pub cooldown: Option<i64>,
}

impl Rule {
    /// Creates a rule without limits. Only actions that do not count daily can be undone.
    #[must_use]
    pub fn new(points: u64, daily: bool) -> Self {
        Self {
            points,
            daily,
            undo: !daily,
            ..Self::default()
        }
    }

    /// Returns the default rules for a number of steps per point.
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

/// The bounds of an instant, in Unix milliseconds. The test does not know when exactly an activity
/// without `at` happened, only when it sent the request and received the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstantRange {
    /// The earliest possible instant.
    pub first: i64,
    /// The latest possible instant.
    pub last: i64,
}

impl InstantRange {
    /// Returns the range of a known instant.
    #[must_use]
    pub fn exact(at: i64) -> Self {
        Self {
            first: at,
            last: at,
        }
    }

    /// Returns the range of the later of two instants.
    pub(super) fn later(self, other: Self) -> Self {
        Self {
            first: self.first.max(other.first),
            last: self.last.max(other.last),
        }
    }

    /// Returns whether this instant is before another.
    ///
    /// # Panics
    ///
    /// Panics when the ranges overlap, so that the order is unknown.
    pub(super) fn is_before(self, other: Self) -> bool {
        let (surely, possibly) = (self.last < other.first, self.first < other.last);
        assert_eq!(
            surely, possibly,
            "bug in the test: the order of {self:?} and {other:?} is unknown"
        );
        surely
    }

    /// Returns whether the range contains an instant.
    #[must_use]
    pub fn contains(self, at: i64) -> bool {
        (self.first..=self.last).contains(&at)
    }
}
