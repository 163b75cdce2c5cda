//! The operations of one call: each rule, set of boards, user and day listed once, and the
//! operations in their order.

use super::record::{ActiveRecord, BoardTargets};
use crate::redis::StoreError;
use activity_rank_core::calendar::{Date, Instant};
use activity_rank_core::config::Once;
use activity_rank_core::content::member;

/// Operations, and the lists they share.
#[derive(Default)]
pub struct Operations {
    pub(super) rules: Vec<RuleSnapshot>,
    pub(super) targets: Vec<BoardTargets>,
    pub(super) users: Vec<String>,
    /// Index of the user, and the day.
    pub(super) days: Vec<(usize, Date)>,
    pub(super) operations: Vec<IndexedOperation>,
    /// Of an adjustment, for the audit log.
    pub audit: Option<AuditDetails>,
}

/// What the audit log says of an adjustment beside its effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditDetails {
    /// The reason.
    pub reason: String,
    /// The actor as stored; empty if unknown.
    pub actor: String,
}

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
    /// Milliseconds between two operations that count; 0 for none.
    pub cooldown: u64,
    /// Points in smallest steps that the target and its author receive.
    pub received: u64,
    /// Whether it counts for the author of the target.
    pub own: bool,
}

/// The receiver of points for an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Receiver {
    /// No user and no target.
    None,
    /// A target, and its author.
    Target(String),
    /// A user.
    User(String),
    /// The end of the active record. A rebuild replays received points from journal entries of their own, so the
    /// operation has no receiver.
    Recorded(String),
}

impl Receiver {
    /// Returns the argument of the script: a letter, and the member of the target or the user.
    #[must_use]
    pub fn argument(&self) -> String {
        match self {
            Self::None => String::new(),
            Self::Target(id) => format!("t{}", member(id)),
            Self::User(id) => format!("u{id}"),
            Self::Recorded(received) => format!("r{received}"),
        }
    }
}

/// One operation.
pub struct Operation<'a> {
    /// The user.
    pub user: &'a str,
    /// The rule.
    pub rule: RuleSnapshot,
    /// The boards.
    pub targets: BoardTargets,
    /// The verb of `count.lua`.
    pub verb: &'static str,
    /// The deduplication record, such as `like:post-7`.
    pub record: String,
    /// The instant.
    pub at: Instant,
    /// Where the instant comes from.
    pub timestamp: TimestampSource,
    /// The receiver of points for it.
    pub receiver: Receiver,
    /// With several shards what was read of the receiver: `number;authorship` of a target's registration, or `;` for a
    /// user.
    pub claim: String,
    /// Whether an earlier call of the request registers the target.
    pub registers: bool,
}

/// An operation whose parts are indexes into the shared lists.
pub(super) struct IndexedOperation {
    pub(super) rule: usize,
    pub(super) targets: usize,
    pub(super) day: usize,
    pub(super) verb: &'static str,
    pub(super) record: String,
    pub(super) at: Instant,
    pub(super) timestamp: TimestampSource,
    pub(super) receiver: Receiver,
    pub(super) claim: String,
    pub(super) registers: bool,
}

/// Where the instant of an operation comes from. The numbers are arguments of the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimestampSource {
    /// It happens now.
    Now = 0,
    /// The caller dated it.
    Caller = 1,
    /// The Worker dated it before it queued it.
    Queue = 2,
}

impl Operations {
    /// Appends an operation.
    pub fn push(&mut self, operation: Operation<'_>) {
        let user = index_of(&mut self.users, operation.user.to_owned());
        let indexed = IndexedOperation {
            rule: index_of(&mut self.rules, operation.rule),
            day: index_of(&mut self.days, (user, operation.targets.date)),
            targets: index_of(&mut self.targets, operation.targets),
            verb: operation.verb,
            record: operation.record,
            at: operation.at,
            timestamp: operation.timestamp,
            receiver: operation.receiver,
            claim: operation.claim,
            registers: operation.registers,
        };
        self.operations.push(indexed);
    }

    /// Adds the boards that an active record names, for the undo with a number from 1.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] if the record is not valid.
    pub fn add_targets_of_record(&mut self, number: u64, record: &str) -> Result<(), StoreError> {
        let targets = ActiveRecord::parse(record).map(|record| record.targets);
        let index = usize::try_from(number).ok();
        let undo = index.and_then(|index| self.operations.get(index.checked_sub(1)?));
        let day = undo.and_then(|undo| self.days.get(undo.day));
        let (Some(targets), Some((user, _))) = (targets, day) else {
            let cause = format!("unexpected deduplication record of undo {number}");
            return Err(StoreError::Unavailable(cause));
        };
        let user = *user;
        index_of(&mut self.days, (user, targets.date));
        index_of(&mut self.targets, targets);
        Ok(())
    }

    /// Returns the number of operations.
    #[must_use]
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Returns whether there are no operations.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Returns the boards of the first operation.
    #[must_use]
    pub fn first_targets(&self) -> Option<&BoardTargets> {
        self.targets.get(self.operations.first()?.targets)
    }
}

/// Returns the index of an item in a list; appends it if it is missing.
fn index_of<T: PartialEq>(list: &mut Vec<T>, item: T) -> usize {
    if let Some(index) = list.iter().position(|known| *known == item) {
        return index;
    }
    list.push(item);
    list.len() - 1
}
