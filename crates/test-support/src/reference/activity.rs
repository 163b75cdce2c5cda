//! Input of the model: activities, rules and instants.

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use unicode_normalization::UnicodeNormalization;
use url::Url;

use super::calendar::rfc3339;

/// User, action and target: the identity by which activities are deduplicated.
pub type DedupKey = (String, String, String);

/// One activity.
#[derive(Clone, Debug, Default, PartialEq)]
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
    /// Whether the user sends it, and not a service.
    pub by_member: bool,
    /// The target that receives, if it is another one.
    pub on: Option<String>,
    /// The author with whom the target that receives is registered.
    pub author: Option<String>,
}

impl Activity {
    /// Returns the identity for deduplication. The target of a visit is the normal form of its path.
    pub fn dedup_key(&self) -> DedupKey {
        let target = match self.action.as_str() {
            "visit" => normal_path(&self.target),
            _ => self.target.clone(),
        };
        (self.user.clone(), self.action.clone(), target)
    }

    /// Returns the body for `POST /v1/activity`.
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
        for (field, value) in [("on", &self.on), ("author", &self.author)] {
            if let Some(value) = value {
                body[field] = json!(value);
            }
        }
        body
    }
}

/// Returns the normal form of a path, of which no reserved character is escaped.
///
/// # Panics
///
/// Panics when the text is not a path.
fn normal_path(target: &str) -> String {
    let mut url = Url::parse(&format!("http://x{}", target.trim())).expect("a path");
    let decoded = percent_decode_str(url.path()).decode_utf8().expect("UTF-8");
    let decoded: String = decoded.nfc().collect();
    let segments = decoded.split('/').filter(|segment| !segment.is_empty());
    url.set_path("");
    let mut path = url.path_segments_mut().expect("a base");
    path.clear().extend(segments);
    drop(path);
    url.path().to_owned()
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
    /// The maximum points of a user per day for what the user sends.
    pub member_cap: Option<u64>,
    /// The maximum points that each other user receives from a user per day.
    pub pair_cap: Option<u64>,
    /// Whether it does not count if the target is the user.
    pub others_only: bool,
    /// Whether an activity may name another target that receives.
    pub on: bool,
    /// The minimum time between two activities that count.
    pub cooldown: Option<i64>,
    /// The points that the target and its author receive.
    pub received: u64,
}

impl Rule {
    /// Creates a rule without limits. Only actions that do not count daily can be undone.
    pub fn new(points: u64, daily: bool) -> Self {
        Self {
            points,
            daily,
            undo: !daily,
            ..Self::default()
        }
    }

    /// Returns the default rules for a number of steps per point.
    pub fn defaults(steps: u64) -> BTreeMap<String, Self> {
        let defaults = [
            ("visit", 1, 200),
            ("like", 2, 100),
            ("bookmark", 2, 100),
            ("follow", 2, 100),
            ("comment", 3, 90),
            ("publish", 10, 0),
        ];
        let rule = |(name, points, member_cap): (&str, u64, u64)| {
            let rule = Self {
                member_cap: Some(member_cap * steps),
                others_only: points == 2,
                on: name == "comment",
                received: if (2..=3).contains(&points) {
                    points * steps
                } else {
                    0
                },
                ..Self::new(points * steps, name == "visit")
            };
            (name.to_owned(), rule)
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
    pub fn exact(at: i64) -> Self {
        Self {
            first: at,
            last: at,
        }
    }

    /// Returns the range of the later of two instants.
    pub fn later(self, other: Self) -> Self {
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
    pub fn is_before(self, other: Self) -> bool {
        let (surely, possibly) = (self.last < other.first, self.first < other.last);
        assert_eq!(
            surely, possibly,
            "bug in the test: the order of {self:?} and {other:?} is unknown"
        );
        surely
    }

    /// Returns whether the range contains an instant.
    pub fn contains(self, at: i64) -> bool {
        (self.first..=self.last).contains(&at)
    }
}

/// A published version of the rules.
#[derive(Clone, Debug, Default)]
pub struct Version {
    /// The instant from which it holds, Unix ms.
    pub from: i64,
    /// The number of the version that it ends.
    pub takes_back: Option<u64>,
    /// Its changes: action, field, and value in smallest steps or seconds, or none for no cap.
    pub changes: Vec<(String, &'static str, Option<u64>)>,
}

impl Version {
    /// Changes a rule of an action.
    ///
    /// # Panics
    ///
    /// Panics for an unknown field.
    pub fn change(&self, action: &str, rule: &mut Rule) {
        for (_, field, value) in self.changes.iter().filter(|(of, ..)| of == action) {
            match *field {
                "points" => rule.points = value.expect("points"),
                "daily_cap" => rule.daily_cap = *value,
                "member_cap" => rule.member_cap = *value,
                "cooldown" => rule.cooldown = value.map(|seconds| seconds as i64 * 1000),
                "received" => rule.received = value.expect("points"),
                other => panic!("unknown field {other}"),
            }
        }
    }
}
