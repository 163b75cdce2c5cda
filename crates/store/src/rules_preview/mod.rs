//! Previews of rules: what points, caps, cooldowns and received points of other rules would change.
//!
//! The activity of a span is decided twice by the counting script, by the rules in force and by the changed ones, on scratch
//! keys that no service reads. The command line and the Worker read the journal and send requests each in their way; the rest
//! is here.
//!
//! - [`RuleSets`]: both sets of rules.
//! - [`walk`]: the journal as windows. [`window`]: a part of the journal, as operations. [`scratch`]: their decision by the
//!   service's scripts.
//! - [`report`]: the result.

pub mod report;
pub mod scratch;
pub mod walk;
pub mod window;

use activity_rank_core::activity::Activity;
use activity_rank_core::calendar::Instant;
use activity_rank_core::config::{ADJUST, Config, Rule};
use activity_rank_core::content::id_of_member;
use activity_rank_core::rules::{Change, FIELDS, FieldKind, Timeline, Version};
use activity_rank_core::score::Points;
use serde::Serialize;

use crate::stream::Received;

/// The first number of a scratch shard: deployments have fewer shards.
const FIRST_SHARD: u32 = 1_000_000;

/// Number of the version with the rules in force.
const IN_FORCE: u32 = 1;
/// Number of the version with the changes.
const CHANGED: u32 = 2;

/// The most Redis commands of an activity in both replays: a like takes about ten in each, and what others receive as many.
/// Activities of a member that share a call take fewer: the benchmark takes 4.
pub const ACTIVITY_COMMANDS: u64 = 40;

/// Returns the scratch shard for a random number.
#[must_use]
pub fn scratch_shard(random: u32) -> u32 {
    FIRST_SHARD + random / 2
}

/// The two sets of rules: those in force, then the changed ones.
pub struct RuleSets {
    /// The configuration that plans activity: one shard, with boards of all time alone.
    pub config: Config,
    timelines: [Timeline; 2],
    /// The instant of the configured rules.
    at: Instant,
}

/// A change of a field.
#[derive(Debug, Serialize)]
pub struct ChangedField {
    /// The action.
    pub action: String,
    /// The field.
    pub field: &'static str,
    /// Its value in force; `None` for none.
    pub before: Option<Points>,
    /// The changed value.
    pub after: Option<Points>,
}

/// Returns the version with some changes that holds at all times: the rules in force, or what is changed of them.
#[must_use]
pub fn version(is_changed: bool, changes: Vec<Change>) -> Version {
    Version {
        number: if is_changed { CHANGED } else { IN_FORCE },
        from: Instant(i64::MIN),
        takes_back: None,
        changes,
    }
}

impl RuleSets {
    /// Returns the rules by the version with those in force and the one with the changes, see [`version`]. The version in force
    /// has every field; the rest is as configured at an instant.
    #[must_use]
    pub fn new(config: Config, at: Instant, [in_force, changed]: [Version; 2]) -> Self {
        Self {
            config,
            timelines: [
                Timeline::new(vec![in_force.clone()]),
                Timeline::new(vec![in_force, changed]),
            ],
            at,
        }
    }

    /// Returns the rule of an action by each set; `None` for an action without a rule.
    #[must_use]
    pub fn rules(&self, action: &str) -> Option<[Rule; 2]> {
        let configured = self.config.rules.get(action, self.at)?;
        let [before, after] = &self.timelines;
        Some([before, after].map(|timeline| timeline.rule(action, self.at, *configured)))
    }

    /// Returns the fields that differ.
    #[must_use]
    pub fn changes(&self) -> Vec<ChangedField> {
        let mut changes = Vec::new();
        for action in self.config.rules.actions() {
            let Some([before, after]) = self.rules(action) else {
                continue;
            };
            for field in &FIELDS {
                let (before, after) = (field.value(&before), field.value(&after));
                let decimals = match field.kind {
                    FieldKind::Seconds => 0,
                    FieldKind::Points | FieldKind::Cap => self.config.layout.decimals,
                };
                let value = |value: Option<u64>| value.map(|value| Points::new(value, decimals));
                if before != after {
                    changes.push(ChangedField {
                        action: action.to_owned(),
                        field: field.name,
                        before: value(before),
                        after: value(after),
                    });
                }
            }
        }
        changes
    }
}

/// The fields of a journal entry of an activity, counted or refused.
#[allow(missing_docs, reason = "the journal documents the fields")]
pub struct JournalActivity<'a> {
    pub user: &'a str,
    pub action: &'a str,
    /// Action and target of the deduplication record.
    pub record: &'a str,
    pub undo: bool,
    pub at: Instant,
    /// Whether the caller or the queue has dated it, and whether it was queued.
    pub dated: bool,
    pub queued: bool,
    /// The points of others, as the end of the active record; for a refused activity the points that it would have given.
    pub received: &'a str,
    /// Of one that did not count: who would have received, if that is not the target.
    pub on: &'a str,
    /// The outcome of one that did not count; empty for others.
    pub refusal: &'a str,
    /// The number of the account that sent it; empty for none.
    pub account: &'a str,
}

impl<'a> JournalActivity<'a> {
    /// Returns the target of the deduplication record.
    #[must_use]
    pub fn target(&self) -> &'a str {
        self.record.split_once(':').unwrap_or_default().1
    }

    /// Returns the activity as it was sent; `None` for an adjustment, and for an action without a rule. The journal does not
    /// say who sent it: an activity that a cap refused is that of a member if only a member has this cap.
    #[must_use]
    pub fn sent(&self, sets: &RuleSets) -> Option<Activity> {
        if self.action == ADJUST {
            return None;
        }
        let [rule, _] = sets.rules(self.action)?;
        let target = self.record.strip_prefix(self.action)?.strip_prefix(':')?;
        let on = match self.on {
            "" => Received::parse(self.received)
                .and_then(|received| received.on)
                .unwrap_or_default(),
            on => on,
        };
        Some(Activity {
            user: self.user.to_owned(),
            action: self.action.to_owned(),
            target: target.to_owned(),
            undo: self.undo,
            source_gone: false,
            at: self.at,
            dated: self.dated,
            queued: self.queued,
            by_member: self.refusal == "daily-cap" && rule.cap(true) != rule.cap(false),
            groups: Vec::new(),
            on: Some(on)
                .filter(|on| !on.is_empty())
                .map(|on| id_of_member(on).to_owned()),
            author: None,
        })
    }
}
