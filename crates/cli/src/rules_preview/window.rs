//! A part of the journal that is decided in a few requests: the operations of each member, by both sets of rules.
//!
//! The activity of a member is a call, because its order with that of others does not matter. The exceptions end a window:
//! a target that gains another registration after activity on it, and a followed user whose points decide whether they
//! receive.

use std::collections::{HashMap, HashSet};

use activity_rank_core::activity::Activity;
use activity_rank_core::calendar::Instant;
use activity_rank_core::config::ADJUST;
use activity_rank_core::content::{id_of_member, member};
use activity_rank_store::count::{
    Operation, Plan, Receiver, Registrations, TimestampSource, UserOperations, Verb,
};
use activity_rank_store::keys::Keys;

use super::rule_sets::RuleSets;
use crate::rebuild::journal::{self, Change, Entry};

/// Entries of a window.
const MAX_ENTRIES: usize = 20_000;
/// Operations of one call: it blocks Redis for some milliseconds.
const MAX_OPERATIONS: usize = 200;

/// A change that activity depends on.
#[allow(missing_docs, reason = "the journal documents the fields")]
pub enum StateChange {
    /// The registration of a target; empty after its deletion.
    Target {
        member: String,
        text: String,
    },
    Profile {
        user: String,
        json: String,
    },
    /// The SHA-1 of a user, and the instant of the erasure.
    Erased {
        hash: String,
        at: String,
    },
    Joined {
        user: String,
        of: String,
        number: String,
    },
    Detached {
        user: String,
        of: String,
    },
}

/// The consecutive operations of a user.
pub struct Group {
    /// The item of each operation.
    pub items: Vec<usize>,
    /// The operations by each set of rules.
    pub operations: [UserOperations; 2],
}

/// An activity of the journal.
pub struct Item {
    /// Number of its entry.
    pub entry: u64,
    /// The activity.
    pub activity: Activity,
    /// Whether the user was frozen: no rule decides that.
    pub is_frozen: bool,
}

/// A part of the journal.
#[derive(Default)]
pub struct Window {
    /// Changes that precede its activity.
    pub changes: Vec<StateChange>,
    /// The operations, in the order of the first one of each user.
    pub groups: Vec<Group>,
    /// Number of items.
    pub items: usize,
    /// When its last entry was processed, Unix ms.
    pub last_at: i64,
    /// The last group of each user.
    last_groups: HashMap<String, usize>,
    /// Targets of its activity.
    targets: HashSet<String>,
    /// Users without a profile who are followed.
    followed: HashSet<String>,
    /// Users who may receive points.
    receivers: HashSet<String>,
    entries: usize,
}

/// The state after the entries that were read.
#[derive(Default)]
pub struct State {
    /// The author of each target that has one.
    authors: HashMap<String, String>,
    /// Users with a profile.
    profiles: HashSet<String>,
    /// The member of an account.
    members: HashMap<String, String>,
    /// Users whom boards hide, and why: a moderator or the user.
    hidden: HashSet<(String, bool)>,
}

impl State {
    /// Returns whether boards hide a user.
    #[must_use]
    pub fn is_hidden(&self, user: &str) -> bool {
        [true, false]
            .iter()
            .any(|by| self.hidden.contains(&(user.to_owned(), *by)))
    }

    /// Returns whether a user is a member with accounts, whose refused activity is always in the journal.
    #[must_use]
    pub fn has_accounts(&self, user: &str) -> bool {
        self.members.values().any(|member| member == user)
    }

    fn hide(&mut self, user: &str, by_moderator: bool, hidden: &str) {
        let key = (user.to_owned(), by_moderator);
        match hidden {
            "1" => self.hidden.insert(key),
            "" => false,
            _ => self.hidden.remove(&key),
        };
    }
}

/// Returns an activity of the journal as it was sent; `None` for an adjustment. The journal does not say who sent it: an
/// activity that a cap refused is that of a member if only a member has this cap.
#[must_use]
pub fn sent(activity: &journal::Activity, sets: &RuleSets) -> Option<Activity> {
    let action = &activity.rule.action;
    if action == ADJUST || activity.audit.is_some() && activity.verb == Verb::Adjust {
        return None;
    }
    let [rule, _] = sets.rules(action)?;
    let target = activity.record.strip_prefix(action)?.strip_prefix(':')?;
    let received = activity.received.as_deref().unwrap_or_default();
    let on = match activity.on.as_str() {
        "" => received.splitn(4, ';').nth(3).unwrap_or_default(),
        on => on,
    };
    let is_capped = activity.refusal.as_deref() == Some("daily-cap");
    Some(Activity {
        user: activity.user.clone(),
        action: action.clone(),
        target: target.to_owned(),
        undo: activity.verb == Verb::Undo,
        source_gone: false,
        at: activity.at,
        dated: activity.dated != TimestampSource::Now,
        queued: activity.dated == TimestampSource::Queue,
        by_member: is_capped && rule.cap(true) != rule.cap(false),
        groups: Vec::new(),
        on: Some(on)
            .filter(|on| !on.is_empty())
            .map(|on| id_of_member(on).to_owned()),
        author: None,
    })
}

impl Window {
    /// Returns whether an entry must not join the window.
    #[must_use]
    pub fn ends_before(&self, entry: &Entry, state: &State) -> bool {
        if self.entries == 0 {
            return false;
        }
        let [last, at] = [self.last_at, entry.applied_at].map(|at| Keys::undo_spans(Instant(at)));
        if self.entries >= MAX_ENTRIES || last != at {
            return true;
        }
        match &entry.change {
            Change::Target(registration) => self.targets.contains(&registration.target),
            Change::ModerateTarget { target, .. } => self.targets.contains(target),
            Change::Profile { user, .. } => self.followed.contains(user),
            Change::Account { .. } | Change::Erase { .. } => true,
            Change::Activity(activity) | Change::Refused(activity) => {
                let target = activity.record.split_once(':').map_or("", |(_, id)| id);
                let author = state.authors.get(&member(target));
                let is_followed =
                    |user: &String| !self.followed.is_empty() && self.followed.contains(user);
                let follows_receiver = activity.rule.action == "follow"
                    && !state.profiles.contains(target)
                    && (self.receivers.contains(target) || self.last_groups.contains_key(target));
                follows_receiver || is_followed(&activity.user) || author.is_some_and(is_followed)
            }
            _ => false,
        }
    }

    /// Adds a change that activity depends on.
    pub fn add_change(&mut self, entry: &Entry, state: &mut State) {
        self.entries += 1;
        self.last_at = self.last_at.max(entry.applied_at);
        match &entry.change {
            Change::Target(registration) => {
                let (member, author) = (&registration.target, &registration.user);
                match author.as_str() {
                    "" => state.authors.remove(member),
                    author => state.authors.insert(member.clone(), author.to_owned()),
                };
                self.changes.push(StateChange::Target {
                    member: member.clone(),
                    text: registration.text.clone(),
                });
            }
            Change::ModerateTarget { target, verb, .. } if verb == "e" => {
                state.authors.remove(target);
                self.changes.push(StateChange::Target {
                    member: target.clone(),
                    text: String::new(),
                });
            }
            Change::Profile {
                user, json, hidden, ..
            } => {
                state.hide(user, false, hidden);
                state.profiles.insert(user.clone());
                self.changes.push(StateChange::Profile {
                    user: user.clone(),
                    json: json.clone(),
                });
            }
            Change::Moderate { user, hidden, .. } => state.hide(user, true, hidden),
            Change::Account {
                user, of, account, ..
            } => {
                let former = state.members.remove(user).unwrap_or_default();
                let (user, of) = (user.clone(), of.clone());
                self.changes.push(if of.is_empty() {
                    StateChange::Detached { user, of: former }
                } else {
                    state.members.insert(user.clone(), of.clone());
                    let number = account.clone();
                    StateChange::Joined { user, of, number }
                });
            }
            Change::Erase { hash, .. } => self.changes.push(StateChange::Erased {
                hash: hash.clone(),
                at: entry.applied_at.to_string(),
            }),
            _ => {}
        }
    }

    /// Adds an activity that was processed at an instant, Unix ms. `account` is the number of the account that sent it.
    pub fn add(
        &mut self,
        activity: &Activity,
        account: &str,
        applied_at: i64,
        sets: &RuleSets,
        state: &State,
    ) {
        let (item, user) = (self.items, &activity.user);
        self.items += 1;
        self.entries += 1;
        self.last_at = self.last_at.max(applied_at);
        let Some(rules) = sets.rules(&activity.action) else {
            return;
        };
        let target = activity.on.as_ref().unwrap_or(&activity.target);
        if sets.config.has_content() {
            let target_member = member(target);
            if let Some(author) = state.authors.get(&target_member) {
                self.receivers.insert(author.clone());
            }
            self.targets.insert(target_member);
            if activity.action == "follow" {
                self.receivers.insert(target.clone());
                if !state.profiles.contains(target) {
                    self.followed.insert(target.clone());
                }
            }
        }
        let now = Instant(applied_at);
        let operations = rules.map(|rule| {
            let mut plan = Plan::new(&sets.config, &sets.calendar, now, 0);
            plan.add(0, activity, rule, &Registrations::default());
            let operations = plan.users.into_iter().flat_map(|user| user.operations);
            operations.map(|operation| Operation {
                account: account.to_owned(),
                receiver: match operation.receiver {
                    // The journal has an entry of its own.
                    Receiver::Target {
                        id,
                        claim,
                        author,
                        pair,
                        ..
                    } => Receiver::Target {
                        id,
                        registers: false,
                        claim,
                        author,
                        pair,
                    },
                    receiver => receiver,
                },
                ..operation
            })
        });
        let last = self.last_groups.get(user).copied();
        let has_room = |index: &usize| {
            let group = self.groups.get(*index);
            group.is_some_and(|group| group.items.len() < MAX_OPERATIONS)
        };
        let index = last.filter(has_room).unwrap_or(self.groups.len());
        if index == self.groups.len() {
            self.groups.push(Group {
                items: Vec::new(),
                operations: [(); 2].map(|()| UserOperations::new(user, Vec::new())),
            });
            self.last_groups.insert(user.clone(), index);
        }
        if let Some(group) = self.groups.get_mut(index) {
            group.items.push(item);
            for (known, added) in group.operations.iter_mut().zip(operations) {
                known.operations.extend(added);
            }
        }
    }

    /// Adds an item that no rule decides.
    pub fn skip(&mut self) {
        self.items += 1;
        self.entries += 1;
    }

    /// Returns whether the window has no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }
}
