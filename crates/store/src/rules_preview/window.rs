//! A part of the journal that is decided in a few requests: the operations of each member, by both sets of rules.
//!
//! The activity of a member is a call, because its order with that of others does not matter. The exceptions end a window:
//! a target that gains another registration after activity on it, and a followed user whose points decide whether they
//! receive.

use super::{JournalActivity, RuleSets};
use crate::count::{Plan, Receiver, Registrations, UserOperations};
use crate::keys::Keys;
use activity_rank_core::activity::Activity;
use activity_rank_core::calendar::{Calendar, Instant};
use activity_rank_core::content::member;
use serde_json::{Map, Value};

/// Entries of a window.
const MAX_ENTRIES: usize = 20_000;
/// Operations of one call: it blocks Redis for some milliseconds.
const MAX_OPERATIONS: usize = 200;

/// An entry of the journal.
pub enum Entry<'a> {
    /// An activity, counted or refused.
    Activity(JournalActivity<'a>),
    /// A change that activity depends on.
    Change(StateChange),
    /// Anything else.
    Other,
}

/// A change that activity depends on.
#[allow(missing_docs, reason = "the journal documents the fields")]
pub enum StateChange {
    /// The registration of a target; empty after its deletion.
    Target {
        member: String,
        author: String,
        text: String,
    },
    Profile {
        user: String,
        json: String,
        /// As in [`Self::Hidden`].
        hidden: String,
    },
    /// A moderator hides (`1`) or shows a user; empty if that stays.
    Hidden { user: String, hidden: String },
    /// The SHA-1 of a user, and the instant of the erasure.
    Erased { hash: String, at: i64 },
    /// The user becomes an account of a member, or leaves the former one if `of` is empty.
    Account {
        user: String,
        of: String,
        number: String,
        former: String,
    },
    /// The exclusions of a case that the user has from then on, as stored.
    Excluded {
        user: String,
        case: String,
        excluded: String,
    },
}

/// The consecutive operations of a user by one set of rules.
pub struct Group {
    /// The item of each operation.
    pub items: Vec<usize>,
    /// The operations.
    pub user: UserOperations,
}

/// Names with a text. A JSON object: any other map would be further code in the wasm.
#[derive(Default)]
pub struct Names(Map<String, Value>);

impl Names {
    /// Returns the text of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// Returns whether a name is known.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Sets the text of a name.
    pub fn insert(&mut self, name: &str, text: &str) {
        self.0.insert(name.to_owned(), text.into());
    }

    /// Removes a name, and returns its text; empty if it has none.
    pub fn remove(&mut self, name: &str) -> String {
        let text = self.0.remove(name);
        text.as_ref()
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    }

    /// Returns names and texts.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let names = self.0.iter();
        names.map(|(name, value)| (name.as_str(), value.as_str().unwrap_or_default()))
    }
}

/// A part of the journal.
#[derive(Default)]
pub struct Window {
    /// Changes that precede its activity.
    pub changes: Vec<StateChange>,
    /// The operations by each set of rules, in the order of the first one of each user.
    groups: [Vec<Group>; 2],
    /// Number of items.
    pub items: usize,
    /// When its last entry was processed, Unix ms.
    pub last_at: i64,
    /// The number of the last group of each user.
    last_groups: Map<String, Value>,
    /// Targets of its activity.
    targets: Names,
    /// Users without a profile who are followed.
    followed: Names,
    /// Users who may receive points.
    receivers: Names,
    entries: usize,
}

/// The state after the entries that were read.
#[derive(Default)]
pub struct State {
    /// The author of each target that has one.
    pub authors: Names,
    /// Users with a profile.
    pub profiles: Names,
    /// The member of an account.
    pub members: Names,
    /// Whether boards hide a user: `1` or `0` by a letter, `m` for a moderator and `u` for the user, and the user.
    pub hidden: Names,
}

impl State {
    /// Returns whether boards hide a user.
    #[must_use]
    pub fn is_hidden(&self, user: &str) -> bool {
        let hidden = |by| self.hidden.get(&format!("{by}{user}")) == Some("1");
        hidden('m') || hidden('u')
    }

    /// Returns whether a user is a member with accounts, whose refused activity is always in the journal.
    #[must_use]
    pub fn has_accounts(&self, user: &str) -> bool {
        self.members.iter().any(|(_, member)| member == user)
    }

    fn hide(&mut self, user: &str, by: char, hidden: &str) {
        if !hidden.is_empty() {
            self.hidden.insert(&format!("{by}{user}"), hidden);
        }
    }
}

impl Window {
    /// Returns whether an entry that was processed at an instant, Unix ms, must not join the window.
    #[must_use]
    pub fn ends_before(&self, entry: &Entry<'_>, applied_at: i64, state: &State) -> bool {
        if self.entries == 0 {
            return false;
        }
        let [last, at] = [self.last_at, applied_at].map(|at| Keys::undo_spans(Instant(at)));
        if self.entries >= MAX_ENTRIES || last != at {
            return true;
        }
        match entry {
            Entry::Activity(activity) => {
                let target = activity.target();
                let author = state.authors.get(&member(target));
                let is_followed = |user: &str| self.followed.contains(user);
                let follows_receiver = activity.action == "follow"
                    && !state.profiles.contains(target)
                    && (self.receivers.contains(target) || self.last_groups.contains_key(target));
                follows_receiver || is_followed(activity.user) || author.is_some_and(is_followed)
            }
            Entry::Change(change) => match change {
                StateChange::Target { member, .. } => self.targets.contains(member),
                StateChange::Profile { user, .. } => self.followed.contains(user),
                StateChange::Hidden { .. } => false,
                StateChange::Erased { .. }
                | StateChange::Excluded { .. }
                | StateChange::Account { .. } => true,
            },
            Entry::Other => false,
        }
    }

    /// Adds a change that activity depends on, and that was made at an instant, Unix ms.
    pub fn add_change(&mut self, mut change: StateChange, applied_at: i64, state: &mut State) {
        self.enter(applied_at);
        match &mut change {
            StateChange::Target { member, author, .. } => {
                if author.is_empty() {
                    state.authors.remove(member);
                } else {
                    state.authors.insert(member, author);
                }
            }
            StateChange::Profile { user, hidden, .. } => {
                state.hide(user, 'u', hidden);
                state.profiles.insert(user, "");
            }
            StateChange::Hidden { user, hidden } => {
                state.hide(user, 'm', hidden);
                return;
            }
            StateChange::Account {
                user, of, former, ..
            } => {
                *former = state.members.remove(user);
                if !of.is_empty() {
                    state.members.insert(user, of);
                }
            }
            StateChange::Erased { .. } | StateChange::Excluded { .. } => {}
        }
        self.changes.push(change);
    }

    /// Adds an activity that was processed at an instant, Unix ms. `account` is the number of the account that sent it.
    pub fn add(
        &mut self,
        activity: &Activity,
        (account, applied_at): (&str, i64),
        (sets, calendar): (&RuleSets, &Calendar),
        state: &State,
    ) {
        let (item, user) = (self.items, &activity.user);
        self.skip(applied_at);
        let Some(rules) = sets.rules(&activity.action) else {
            return;
        };
        let target = activity.on.as_ref().unwrap_or(&activity.target);
        if sets.config.has_content() {
            let target_member = member(target);
            if let Some(author) = state.authors.get(&target_member) {
                self.receivers.insert(author, "");
            }
            self.targets.insert(&target_member, "");
            if activity.action == "follow" {
                self.receivers.insert(target, "");
                if !state.profiles.contains(target) {
                    self.followed.insert(target, "");
                }
            }
        }
        let [groups, _] = &self.groups;
        let last = self.last_groups.get(user).and_then(Value::as_u64);
        let last = last.unwrap_or(u64::MAX) as usize;
        let has_room = |group: &Group| group.items.len() < MAX_OPERATIONS;
        let index = match groups.get(last).is_some_and(has_room) {
            true => last,
            false => groups.len(),
        };
        self.last_groups.insert(user.clone(), index.into());
        let now = Instant(applied_at);
        for (groups, rule) in self.groups.iter_mut().zip(rules) {
            let mut plan = Plan::new(&sets.config, calendar, now, 0);
            plan.add(0, activity, rule, &Registrations::default());
            let Some(mut planned) = plan.users.pop() else {
                continue;
            };
            for operation in &mut planned.operations {
                account.clone_into(&mut operation.account);
                if let Receiver::Target { registers, .. } = &mut operation.receiver {
                    // The journal has an entry of its own.
                    *registers = false;
                }
            }
            match groups.get_mut(index) {
                Some(group) => {
                    group.items.push(item);
                    group.user.operations.append(&mut planned.operations);
                }
                None => groups.push(Group {
                    items: vec![item],
                    user: planned,
                }),
            }
        }
    }

    /// Takes the operations by the set of rules with this index.
    pub fn take_groups(&mut self, index: usize) -> Vec<Group> {
        let groups = self.groups.get_mut(index);
        groups.map(std::mem::take).unwrap_or_default()
    }

    /// Adds an item that no rule decides.
    pub fn skip(&mut self, applied_at: i64) {
        self.items += 1;
        self.enter(applied_at);
    }

    /// Adds an entry, processed at an instant, Unix ms, that nothing depends on.
    pub fn enter(&mut self, applied_at: i64) {
        self.entries += 1;
        self.last_at = self.last_at.max(applied_at);
    }

    /// Returns whether the window has no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }
}
