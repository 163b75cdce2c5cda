//! The operations of a call: an activity, its undo, or an adjustment.

use super::record::{BoardSet, FoundRecord};
use activity_rank_core::account::Accounts;
use activity_rank_core::calendar::Instant;
use activity_rank_core::config::{ADJUST, Once};

/// The rule by which an operation counts, as it was when the operation was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleSnapshot {
    /// The action.
    pub action: String,
    /// The frequency at which it counts.
    pub once: Once,
    /// Points in smallest steps.
    pub points: i64,
    /// The most net points of a user and day in smallest steps; 0 for no cap.
    pub daily_cap: u64,
    /// The most net points in smallest steps that another one receives by the action on a day; 0 for no cap.
    pub pair_cap: u64,
    /// Milliseconds between two operations that count; 0 for none.
    pub cooldown: u64,
    /// Points in smallest steps that the target and its author receive.
    pub received: u64,
    /// Whether it counts for the author of the target.
    pub own: bool,
    /// Whether the activities of a target with the action are counted.
    pub is_counted: bool,
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Counts an activity.
    Count,
    /// Counts an activity on a day whose daily records may have expired.
    CountOld,
    /// Refuses an activity, because the user is its target.
    RefuseOwn,
    /// Undoes an activity or an adjustment.
    Undo,
    /// Adjusts points.
    Adjust,
}

/// The receiver of points for an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Receiver {
    /// No user and no target.
    None,
    /// A target, and its author.
    Target {
        /// The target.
        id: String,
        /// Whether an earlier call of the request registers it.
        registers: bool,
        /// With several shards what was read before: `number;authorship` of the registration.
        claim: Option<String>,
        /// With several shards the author.
        author: Option<String>,
        /// With several shards the member who receives, if that is limited.
        pair: Option<String>,
    },
    /// A user.
    User {
        /// The user.
        id: String,
        /// With several shards `;` for a user who is known, as it was read before.
        claim: Option<String>,
        /// As of a target.
        pair: Option<String>,
    },
    /// The end of the active record. A rebuild replays received points from their own journal entries, so this operation
    /// has no receiver.
    Recorded(String),
}

/// The reason of an adjustment or undo, and the actor of an adjustment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditDetails {
    /// The reason.
    pub reason: String,
    /// The actor as stored; empty if unknown.
    pub actor: String,
    /// Whether the user may read the reason in the journal.
    pub is_public: bool,
}

/// One operation.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The rule.
    pub rule: RuleSnapshot,
    /// The boards.
    pub boards: BoardSet,
    /// What it does.
    pub verb: Verb,
    /// The deduplication record, such as `like:post-7`.
    pub record: String,
    /// The instant.
    pub at: Instant,
    /// Where the instant comes from.
    pub timestamp: TimestampSource,
    /// The receiver of points for it.
    pub receiver: Receiver,
    /// Of an adjustment and its undo, for the audit log; of an undo with a reason, for the journal.
    pub audit: Option<AuditDetails>,
    /// The active record that an undo found.
    pub found: Option<FoundRecord>,
    /// Whether a rebuild replays it by later definitions of an event than its own.
    pub is_replayed: bool,
    /// The number of the account that sent it; empty for the member.
    pub account: String,
}

impl Operation {
    /// Returns whether the target of an activity is the user or one of their accounts, or has such an author, and the rule
    /// refuses that.
    pub(super) fn is_own(&self, user: &UserOperations) -> bool {
        let target = self.record.get(self.rule.action.len() + 1..);
        let (on, author) = match &self.receiver {
            Receiver::Target { id, author, .. } => (Some(id.as_str()), author.as_deref()),
            Receiver::User { id, .. } => (Some(id.as_str()), None),
            Receiver::None | Receiver::Recorded(_) => (None, None),
        };
        let mut named = [target, on, author].into_iter().flatten();
        let is_own = |id: &str| id == user.user || user.accounts.number_of(id).is_some();
        !self.rule.own && named.any(is_own)
    }
}

/// Where the instant of an operation comes from. The numbers are those of the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimestampSource {
    /// It happens now.
    Now = 0,
    /// The caller dated it.
    Caller = 1,
    /// The Worker dated it before it queued it.
    Queue = 2,
}

/// The operations of one user in their order: one call.
#[derive(Clone, Debug)]
pub struct UserOperations {
    /// The user.
    pub user: String,
    /// The operations.
    pub operations: Vec<Operation>,
    /// The index of each activity in its request; empty in a rebuild.
    pub items: Vec<usize>,
    /// The accounts of the user, as far as they are known.
    pub accounts: Accounts,
    /// The shard, if it is not that of the plan: of a member by whose account the operations were sent.
    pub home: Option<u32>,
}

impl UserOperations {
    /// Returns the operations of a user of whom no accounts are known.
    #[must_use]
    pub fn new(user: &str, operations: Vec<Operation>) -> Self {
        Self {
            user: user.to_owned(),
            operations,
            items: Vec::new(),
            accounts: Accounts::default(),
            home: None,
        }
    }

    /// Returns the authors and followed users who receive for the operations, each with the place for their member, where
    /// that is limited and not known yet.
    pub(super) fn unknown_receivers(&mut self) -> Vec<(String, &mut Option<String>)> {
        let has_exclusions = self.accounts.exclusions().next().is_some();
        let operations = self.operations.iter_mut();
        let limited = operations.filter(|operation| has_exclusions || operation.rule.pair_cap > 0);
        let receivers = limited.filter_map(|operation| match &mut operation.receiver {
            Receiver::Target { author, pair, .. } if pair.is_none() => {
                Some((author.clone()?, pair))
            }
            Receiver::User { id, pair, claim } if pair.is_none() => {
                claim.as_ref().map(|_| (id.clone(), pair))
            }
            _ => None,
        });
        receivers.collect()
    }

    /// Returns whether the user has accounts or exclusions.
    pub(super) fn has_accounts(&self) -> bool {
        self.accounts != Accounts::default()
    }

    /// Moves the operations of an account to its member, whose shard this is.
    pub fn move_to(&mut self, member: &str, number: &str, home: u32) {
        member.clone_into(&mut self.user);
        for operation in &mut self.operations {
            number.clone_into(&mut operation.account);
        }
        self.home = Some(home);
    }

    /// Removes the items and their operations.
    pub(super) fn take(&mut self) -> (Vec<usize>, Vec<Operation>) {
        let items = std::mem::take(&mut self.items);
        (items, std::mem::take(&mut self.operations))
    }

    /// Adds items and their operations, in the order of the request.
    pub(super) fn merge(&mut self, (items, operations): (Vec<usize>, Vec<Operation>)) {
        for (item, operation) in items.into_iter().zip(operations) {
            let index = self.items.partition_point(|own| *own < item);
            self.items.insert(index, item);
            self.operations.insert(index, operation);
        }
    }

    /// Returns whether the only operation is an adjustment or its undo.
    #[must_use]
    pub fn is_adjustment(&self) -> bool {
        let mut operations = self.operations.iter();
        operations.any(|operation| operation.rule.action == ADJUST)
    }

    /// Sets the active records that undos have found, by the numbers of their operations from 1. Returns whether all of
    /// them are valid.
    #[must_use]
    pub fn set_found(&mut self, records: Vec<(u64, String)>) -> bool {
        records.into_iter().all(|(number, text)| {
            let index = usize::try_from(number).ok();
            let index = index.and_then(|number| number.checked_sub(1));
            let operation = index.and_then(|index| self.operations.get_mut(index));
            match (operation, FoundRecord::parse(text)) {
                (Some(operation), Some(found)) => {
                    operation.found = Some(found);
                    true
                }
                (Some(_) | None, _) => false,
            }
        })
    }
}
