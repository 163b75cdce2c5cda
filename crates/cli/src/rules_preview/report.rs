//! The result of a preview: members who move, points by action, and activity that caps refuse.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use activity_rank_core::activity::Activity;
use activity_rank_core::board::BoardKind;
use activity_rank_core::calendar::{Date, Instant};
use activity_rank_core::config::Rule;
use activity_rank_core::score::Points;
use serde::Serialize;

use super::rule_sets::{ChangedField, RuleSets};
use super::scratch::Decision;
use crate::board::format_table;
use crate::count::count;
use crate::printable::printable;
use crate::rebuild::preview::{BoardPreview, Change, Ranked, Standing};

/// Outcomes of activity that a rule refuses.
const LIMITS: [&str; 4] = ["daily-cap", "pair-cap", "cooldown", "own-target"];

/// The figures of an action by one set of rules.
#[derive(Default)]
struct ActionFigures {
    points: i64,
    received: i64,
    counted: u64,
    /// The activities that an outcome has refused, and their users.
    refused: BTreeMap<String, (u64, HashSet<u32>)>,
}

/// The decisions of both replays, summed up.
#[derive(Default)]
pub struct Figures {
    actions: BTreeMap<String, [ActionFigures; 2]>,
    users: HashMap<String, u32>,
    /// The points of an action that a user has had on a day, at most.
    days: HashMap<(u32, String, Date), [i64; 2]>,
    /// Number of activities.
    pub activities: u64,
    /// Number of activities of actions without a rule.
    pub unknown: u64,
    /// Whether the journal has refused activity of users without accounts.
    pub has_refused: bool,
    /// Number of activities whose decision differs.
    changed: u64,
}

impl Figures {
    /// Adds an activity, with the decision by each set of rules.
    pub fn add(&mut self, activity: &Activity, date: Date, decisions: [&Decision; 2]) {
        let next = u32::try_from(self.users.len()).unwrap_or(u32::MAX);
        let user = *self.users.entry(activity.user.clone()).or_insert(next);
        self.activities += 1;
        let [before, after] = decisions;
        self.changed += u64::from(before != after);
        let figures = self.actions.entry(activity.action.clone()).or_default();
        for (figures, decision) in figures.iter_mut().zip(decisions) {
            figures.points += decision.points;
            figures.received += decision.received;
            match decision.outcome.as_str() {
                "counted" => figures.counted += 1,
                "undone" | "nothing-to-undo" => {}
                outcome => {
                    let refused = figures.refused.entry(outcome.to_owned()).or_default();
                    refused.0 += 1;
                    refused.1.insert(user);
                }
            }
        }
        if decisions.iter().any(|decision| decision.points > 0) {
            let day = (user, activity.action.clone(), date);
            let days = self.days.entry(day).or_default();
            for (points, decision) in days.iter_mut().zip(decisions) {
                *points += decision.points.max(0);
            }
        }
    }
}

/// The preview of changed rules.
#[derive(Serialize)]
pub struct Report {
    from: String,
    until: String,
    /// Number of activities.
    activities: u64,
    /// Number of activities whose decision differs.
    changed_activities: u64,
    changes: Vec<ChangedField>,
    boards: Vec<BoardPreview>,
    actions: Vec<ActionReport>,
    limits: Vec<LimitReport>,
    unknown: Vec<String>,
}

/// The points of an action.
#[derive(Serialize)]
struct ActionReport {
    action: String,
    points: Change<Points>,
    /// Percentage of the points of all actions.
    share: Change<f64>,
    received: Change<Points>,
    counted: Change<u64>,
}

/// The activities that a limit of an action refuses.
#[derive(Serialize)]
struct LimitReport {
    action: String,
    limit: String,
    /// Number of members whom it limits.
    members: Change<u64>,
    activities: Change<u64>,
}

impl Report {
    /// Returns the report of a span. Lists at most `limit` moves of each board.
    #[must_use]
    pub fn new(
        sets: &RuleSets,
        figures: &Figures,
        [from, until]: [Instant; 2],
        boards: [(&str, BoardKind, [Ranked; 2]); 2],
        limit: usize,
    ) -> Self {
        let decimals = sets.config.layout.decimals;
        let has_content = sets.config.has_content();
        let boards = boards.into_iter();
        let boards = boards.filter(|(_, kind, _)| *kind == BoardKind::Members || has_content);
        let boards = boards.map(|(name, kind, [before, after])| {
            let last = before.len().max(after.len()) as u64 + 1;
            let order = |old: &Standing, new: &Standing| {
                let [before, after] = [old.0, new.0].map(|rank| rank.unwrap_or(last));
                Reverse((before.abs_diff(after), (old.1 - new.1).unsigned_abs()))
            };
            BoardPreview::new((name, kind), [&before, &after], decimals, limit, order)
        });
        Self {
            from: from.to_string(),
            until: until.to_string(),
            activities: figures.activities,
            changed_activities: figures.changed,
            changes: sets.changes(),
            boards: boards.collect(),
            actions: figures.action_reports(decimals),
            limits: figures.limit_reports(),
            unknown: figures.unknown(sets),
        }
    }

    /// Formats the report as text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut parts = vec![self.summary()];
        if self.boards.iter().all(|board| board.changed == 0) {
            parts.push("Nothing changes: no member's rank or points differ.".to_owned());
        } else {
            parts.extend(self.boards.iter().map(BoardPreview::text));
        }
        let pair = |before: String, after: String| match before == after {
            true => before,
            false => format!("{before} → {after}"),
        };
        let points = |change: &Change<Points>| {
            let text = |points: &Points| serde_json::to_string(points).unwrap_or_default();
            pair(text(&change.before), text(&change.after))
        };
        let number =
            |change: &Change<u64>| pair(change.before.to_string(), change.after.to_string());
        if !self.actions.is_empty() {
            let rows = self.actions.iter().map(|action| {
                let share = |share: f64| format!("{share:.1} %");
                [
                    printable(&action.action),
                    number(&action.counted),
                    points(&action.points),
                    pair(share(action.share.before), share(action.share.after)),
                    points(&action.received),
                ]
            });
            let header = ["action", "counted", "points", "of all points", "received"];
            parts.push(format_table(header, rows, 0..0));
        }
        if !self.limits.is_empty() {
            let rows = self.limits.iter().map(|limit| {
                [
                    printable(&limit.action),
                    limit.limit.clone(),
                    number(&limit.members),
                    number(&limit.activities),
                ]
            });
            let header = ["action", "limit", "members", "refused"];
            parts.push(format_table(header, rows, 0..0));
        }
        if !self.unknown.is_empty() {
            parts.push(self.unknown.join("\n"));
        }
        parts.join("\n\n")
    }

    fn summary(&self) -> String {
        let value = |value: &Option<Points>| {
            let text = value
                .as_ref()
                .and_then(|points| serde_json::to_string(points).ok());
            text.unwrap_or("none".to_owned())
        };
        let changes = self.changes.iter().map(|change| {
            let (before, after) = (value(&change.before), value(&change.after));
            format!("{}.{} {before} → {after}", change.action, change.field)
        });
        let changes = changes.collect::<Vec<_>>().join(", ");
        let changes = match changes.as_str() {
            "" => "the rules in force have these values already",
            changes => changes,
        };
        format!(
            "{changes}\n{} from {} until {}, {} decided otherwise",
            match self.activities {
                1 => "1 activity".to_owned(),
                number => count(number, "activitie"),
            },
            self.from,
            self.until,
            self.changed_activities
        )
    }
}

impl Figures {
    fn action_reports(&self, decimals: u32) -> Vec<ActionReport> {
        let all = [0, 1].map(|index| {
            let figures = self.actions.values().filter_map(|sets| sets.get(index));
            figures.map(|figures| figures.points).sum::<i64>()
        });
        let reports = self.actions.iter().map(|(action, [before, after])| {
            let points = |get: fn(&ActionFigures) -> i64| Change {
                before: Points {
                    steps: get(before),
                    decimals,
                },
                after: Points {
                    steps: get(after),
                    decimals,
                },
            };
            let [all_before, all_after] = all;
            let share = |points: i64, all: i64| match all {
                0 => 0.0,
                all => (1000.0 * points as f64 / all as f64).round() / 10.0,
            };
            ActionReport {
                action: action.clone(),
                points: points(|figures| figures.points),
                share: Change {
                    before: share(before.points, all_before),
                    after: share(after.points, all_after),
                },
                received: points(|figures| figures.received),
                counted: Change {
                    before: before.counted,
                    after: after.counted,
                },
            }
        });
        reports.collect()
    }

    fn limit_reports(&self) -> Vec<LimitReport> {
        let mut reports = Vec::new();
        for (action, sets) in &self.actions {
            for limit in LIMITS {
                let [before, after] = [0, 1].map(|index: usize| {
                    let refused = sets.get(index).and_then(|sets| sets.refused.get(limit));
                    refused.map_or((0, 0), |(number, users)| (*number, users.len() as u64))
                });
                if before.0 + after.0 > 0 {
                    reports.push(LimitReport {
                        action: action.clone(),
                        limit: limit.to_owned(),
                        members: Change {
                            before: before.1,
                            after: after.1,
                        },
                        activities: Change {
                            before: before.0,
                            after: after.0,
                        },
                    });
                }
            }
        }
        reports
    }

    /// Returns what cannot be known, a sentence each.
    fn unknown(&self, sets: &RuleSets) -> Vec<String> {
        let mut lines = Vec::new();
        if self.unknown > 0 {
            let activities = match self.unknown {
                1 => "1 activity".to_owned(),
                number => count(number, "activitie"),
            };
            lines.push(format!(
                "Left out: {activities} of actions that no longer have a rule."
            ));
        }
        for action in self.actions.keys() {
            let Some([before, after]) = sets.rules(action) else {
                continue;
            };
            if before.member_cap != after.member_cap {
                lines.push(format!(
                    "{action}: the journal does not say whether a member sent an activity. Changes of member_cap apply only \
                     to activity that a cap refused then."
                ));
            }
            if self.has_refused {
                continue;
            }
            let limits = |rule: &Rule| (rule.cooldown, rule.pair_cap, rule.received);
            let has_limit = before.cooldown.is_some() || before.pair_cap.is_some();
            if has_limit && limits(&before) != limits(&after) {
                lines.push(format!(
                    "{action}: the journal lacks activity that a limit refused then (JOURNAL_REFUSED is off), so it does not \
                     count here by the changed rules either. How much is unknown."
                ));
            }
            let Some(cap) = before.cap(true) else {
                continue;
            };
            let reached = self.days.iter().filter(|((_, of, _), [points, _])| {
                of == action && points.unsigned_abs() + before.points > cap
            });
            let reached: Vec<i64> = reached.map(|(_, [_, after])| *after).collect();
            if reached.is_empty() {
                continue;
            }
            let days = count(reached.len() as u64, "day");
            let bound = after.cap(true).map(|cap| {
                let left = reached.iter().map(|points| cap as i64 - points);
                left.map(|left| left.max(0)).sum()
            });
            let decimals = sets.config.layout.decimals;
            let bound = match bound {
                Some(0) => continue,
                Some(steps) => {
                    let points = serde_json::to_string(&Points { steps, decimals });
                    format!("at most {} points", points.unwrap_or_default())
                }
                None => "an unknown number of points, as the changed rule has no cap".to_owned(),
            };
            lines.push(format!(
                "{action}: members reached the cap on {days}. The journal lacks activity that it refused then \
                 (JOURNAL_REFUSED is off): {bound} more by the changed rules."
            ));
        }
        lines
    }
}
