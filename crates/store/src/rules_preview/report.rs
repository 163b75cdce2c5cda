//! The result of a preview: members who move, points by action, and activity that limits refuse.

use super::{ChangedField, RuleSets};
use crate::redis::{Reply, StoreError};
use activity_rank_core::activity::Activity;
use activity_rank_core::calendar::Instant;
use activity_rank_core::config::Rule;
use activity_rank_core::score::Points;
use serde::Serialize;
use serde_json::{Map, Value};

/// Outcomes of activity that a rule refuses.
pub const LIMITS: [&str; 4] = ["daily-cap", "pair-cap", "cooldown", "own-target"];

/// The decision of the counting script about an activity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// `counted`, `undone`, or why it did not count.
    pub outcome: String,
    /// The points of the user, in smallest steps.
    pub points: i64,
    /// The points of others, in smallest steps.
    pub received: i64,
}

impl Decision {
    /// Returns the decision about an activity that is the same by all rules.
    #[must_use]
    pub fn refused(outcome: &str) -> Self {
        Self {
            outcome: outcome.to_owned(),
            ..Self::default()
        }
    }
}

/// A value before and after.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Change<T> {
    /// Before.
    pub before: T,
    /// After.
    pub after: T,
}

/// The sums of both replays, by name: `like/activities`, `like/0/points` by the rules in force, `like/1/daily-cap` by the
/// changed ones.
#[derive(Clone, Debug, Default)]
pub struct Figures(Map<String, Value>);

/// Activities.
pub const ACTIVITIES: &str = "activities";
/// Activities whose decision differs.
const CHANGED: &str = "changed";
/// Activities of actions without a rule.
pub const UNKNOWN: &str = "unknown";
/// The end of the name of the refused activities of an action, of users without accounts.
pub const REFUSED: &str = "refused";

impl Figures {
    /// Returns the figures of a JSON object.
    #[must_use]
    pub fn new(values: Map<String, Value>) -> Self {
        Self(values)
    }

    /// Returns them as a JSON object.
    #[must_use]
    pub fn values(&self) -> &Map<String, Value> {
        &self.0
    }

    /// Returns a figure.
    #[must_use]
    pub fn get(&self, name: &str) -> i64 {
        self.0.get(name).and_then(Value::as_i64).unwrap_or_default()
    }

    /// Adds to a figure.
    pub fn increase(&mut self, name: &str, amount: i64) {
        let sum = self.get(name) + amount;
        self.0.insert(name.to_owned(), sum.into());
    }

    /// Adds an activity, with the decision by each set of rules.
    pub fn add(&mut self, activity: &Activity, decisions: [&Decision; 2]) {
        let action = &activity.action;
        self.increase(ACTIVITIES, 1);
        self.increase(&format!("{action}/{ACTIVITIES}"), 1);
        let [before, after] = decisions;
        if before != after {
            self.increase(CHANGED, 1);
        }
        for (set, decision) in decisions.into_iter().enumerate() {
            let mut increase = |name, amount| {
                if amount != 0 {
                    self.increase(&format!("{action}/{set}/{name}"), amount);
                }
            };
            increase("points", decision.points);
            increase("received", decision.received);
            match decision.outcome.as_str() {
                "undone" | "nothing-to-undo" => {}
                outcome => increase(outcome, 1),
            }
        }
    }

    /// Returns the actions.
    pub fn actions(&self) -> impl Iterator<Item = &str> {
        let end = "/activities";
        self.0.keys().filter_map(move |name| name.strip_suffix(end))
    }

    /// Returns a figure of an action by each set of rules.
    fn change<T>(&self, action: &str, name: &str, value: impl Fn(i64) -> T) -> Change<T> {
        let get = |set| value(self.get(&format!("{action}/{set}/{name}")));
        Change {
            before: get(0),
            after: get(1),
        }
    }

    /// Returns the limits of the report, and what cannot be known, by the results of the calls of
    /// [`limit_calls`](super::scratch::limit_calls).
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] for other results.
    pub fn limits(
        &self,
        sets: &RuleSets,
        results: Vec<Reply>,
    ) -> Result<(Vec<LimitReport>, Vec<Unknown>), StoreError> {
        let mut results = results.into_iter();
        let mut next = || results.next().unwrap_or_default().into_list();
        let (mut limits, mut unknown) = (Vec::new(), Vec::new());
        if self.get(UNKNOWN) > 0 {
            unknown.push(Unknown::NoRule {
                activities: self.get(UNKNOWN),
            });
        }
        for action in self.actions() {
            for limit in LIMITS {
                let members = next()?;
                let activities = self.change(action, limit, |number| number);
                if activities.before + activities.after == 0 {
                    continue;
                }
                let mut words = members.into_iter();
                let mut count = || words.next().unwrap_or_default().integer();
                limits.push(LimitReport {
                    action: action.to_owned(),
                    limit,
                    members: Change {
                        before: count()?,
                        after: count()?,
                    },
                    activities,
                    first: words
                        .map(|member| Ok(member.into_text()?.unwrap_or_default()))
                        .collect::<Result<_, StoreError>>()?,
                });
            }
            let Some([before, after]) = sets.rules(action) else {
                continue;
            };
            let cap = match before.cap(true) {
                Some(_) => Some(next()?),
                None => None,
            };
            let action = action.to_owned();
            let caps = |rule: &Rule| (rule.points, rule.daily_cap, rule.member_cap);
            let has_member_cap = [before, after]
                .iter()
                .any(|rule| rule.cap(true) != rule.cap(false));
            if has_member_cap && caps(&before) != caps(&after) {
                let action = action.clone();
                unknown.push(Unknown::MemberCap { action });
            }
            // Refused activity of another action does not say that the journal has that of this one.
            if self.get(&format!("{action}/{REFUSED}")) > 0 {
                continue;
            }
            let limits = |rule: &Rule| (rule.cooldown, rule.pair_cap, rule.received);
            let has_limit = before.cooldown.is_some() || before.pair_cap.is_some();
            if has_limit && limits(&before) != limits(&after) {
                let action = action.clone();
                unknown.push(Unknown::Limit { action });
            }
            if let Some([days, left]) = cap.as_deref()
                && let (days @ 1.., left) = (days.integer()?, left.integer()?)
                && left != 0
            {
                let decimals = sets.config.layout.decimals;
                let points = (left > 0).then_some(Points {
                    steps: left,
                    decimals,
                });
                unknown.push(Unknown::DailyCap {
                    action,
                    days,
                    points,
                });
            }
        }
        Ok((limits, unknown))
    }

    fn action_reports(&self, decimals: u32) -> Vec<ActionReport> {
        let points = |steps| Points { steps, decimals };
        let sum = |set| {
            let steps = self
                .actions()
                .map(|action| self.get(&format!("{action}/{set}/points")));
            steps.sum::<i64>()
        };
        let all = [sum(0), sum(1)];
        // In tenths of a percent.
        let share = |steps: i64, all: i64| Points {
            steps: (2000 * steps + all).checked_div(2 * all).unwrap_or(0),
            decimals: 1,
        };
        let reports = self.actions().map(|action| {
            let steps = self.change(action, "points", |steps| steps);
            let [all_before, all_after] = all;
            ActionReport {
                action: action.to_owned(),
                points: self.change(action, "points", points),
                share: Change {
                    before: share(steps.before, all_before),
                    after: share(steps.after, all_after),
                },
                received: self.change(action, "received", points),
                counted: self.change(action, "counted", |number| number),
            }
        });
        reports.collect()
    }
}

/// The preview of changed rules.
#[derive(Serialize)]
pub struct Report {
    /// The first instant of the span.
    pub from: String,
    /// The first instant after it.
    pub until: String,
    /// Number of activities.
    pub activities: i64,
    /// Number of activities whose decision differs.
    pub changed_activities: i64,
    /// The fields that differ.
    pub changes: Vec<ChangedField>,
    /// The boards of members and of authors.
    pub boards: Vec<BoardPreview>,
    /// The actions.
    pub actions: Vec<ActionReport>,
    /// The limits that refuse activity.
    pub limits: Vec<LimitReport>,
    /// The gaps of the journal.
    pub unknown: Vec<Unknown>,
}

/// The moves on one board.
#[derive(Debug, Serialize)]
pub struct BoardPreview {
    /// The name.
    pub board: String,
    /// Number of members after the change.
    pub members: usize,
    /// Number of members whose rank or points change.
    pub changed: usize,
    /// The sum of all points.
    pub points: Change<Points>,
    /// The first moves.
    pub moves: Vec<Move>,
}

/// A member whose rank or points change.
#[derive(Debug, Serialize)]
pub struct Move {
    /// The user, or the target of a board of content.
    pub id: String,
    /// The rank, if the board has the member.
    pub rank: Change<Option<u64>>,
    /// The points.
    pub points: Change<Points>,
}

/// The points of an action.
#[derive(Serialize)]
pub struct ActionReport {
    /// The action.
    pub action: String,
    /// The points of its senders.
    pub points: Change<Points>,
    /// Percentage of the points of all actions.
    pub share: Change<Points>,
    /// The points of others.
    pub received: Change<Points>,
    /// Number of counted activities.
    pub counted: Change<i64>,
}

/// The activities that a limit of an action refuses.
#[derive(Serialize)]
pub struct LimitReport {
    /// The action.
    pub action: String,
    /// The outcome.
    pub limit: &'static str,
    /// Number of members whom it limits.
    pub members: Change<i64>,
    /// Number of activities.
    pub activities: Change<i64>,
    /// The members whom it limits most by the changed rules.
    pub first: Vec<String>,
}

/// A gap of the journal: the result lacks some activity.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Unknown {
    /// Activities of actions that no longer have a rule are left out.
    NoRule {
        /// Their number.
        activities: i64,
    },
    /// The journal does not say whether a member sent an activity, a cap binds members only, and points or caps change.
    MemberCap {
        /// The action.
        action: String,
    },
    /// The journal lacks activity that a cooldown or a cap of pairs refused.
    Limit {
        /// The action.
        action: String,
    },
    /// Members have reached the daily cap, and the journal lacks activity that it refused.
    DailyCap {
        /// The action.
        action: String,
        /// Number of days on which a member has reached it.
        days: i64,
        /// The most points of that activity by the changed rules; `None` if that is unknown.
        points: Option<Points>,
    },
}

impl Report {
    /// Returns the report of a span.
    #[must_use]
    pub fn new(
        sets: &RuleSets,
        figures: &Figures,
        [from, until]: [Instant; 2],
        boards: Vec<BoardPreview>,
        (limits, unknown): (Vec<LimitReport>, Vec<Unknown>),
    ) -> Self {
        Self {
            from: from.to_string(),
            until: until.to_string(),
            activities: figures.get(ACTIVITIES),
            changed_activities: figures.get(CHANGED),
            changes: sets.changes(),
            boards,
            actions: figures.action_reports(sets.config.layout.decimals),
            limits,
            unknown,
        }
    }
}
