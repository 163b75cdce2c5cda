//! Turns journal entries into steps: calls of the service's own scripts on the shadow.
//!
//! Consecutive activities of one hour share a call, because a call has one lifetime for all it
//! writes. Moderation, profiles, adjustments and erasures are calls of their own. Commands before a
//! call prepare the shadow: they delete expired keys, set the list of archived boards and record the
//! hashes of new users.

use std::collections::HashSet;

use activity_rank_core::calendar::Instant;
use activity_rank_store::count::{CallHeader, Operation, Operations, Receiver};
use activity_rank_store::keys::Keys;
use serde_json::Value;

use super::expiry::{ExpiryTracker, boards};
use super::journal::{Activity, Change, Entry, Verb};
use super::retention::Retention;
use crate::archive::store::sha1_hex;

/// Operations in one call: it blocks Redis for some milliseconds.
const MAX_OPERATIONS: usize = 200;
/// Milliseconds of activity in one call.
const HOUR: i64 = 3_600_000;
/// Argument of the service's scripts: the journal already has the change.
const NOT_JOURNALED: &str = "0";
/// Argument of the scripts that change boards: names of the index whose keys the next step declares.
pub const NAMES: &str = "500";
/// Argument of `profiles.lua`: a service sends the profile.
const NOT_A_MEMBER: &str = "0";

/// A call on the shadow.
pub struct Step {
    /// Number of the last entry that is complete after the step; `None` for a preparing command.
    pub entry: Option<u64>,
    /// Number of entries that the step completes.
    pub entries: u64,
    /// The call.
    pub call: ScriptCall,
}

/// The script or command of a step.
pub enum ScriptCall {
    /// The counting script.
    Count {
        /// The operations in order.
        operations: Operations,
        /// Time of the operations, Unix ms.
        then: i64,
        /// For each operation its user, or an empty string if it gives no points.
        users: Vec<String>,
    },
    /// A script that changes all boards of a user.
    AllBoards {
        /// The script.
        script: AllBoardsScript,
        /// Time of the change, Unix ms.
        then: i64,
        /// The user.
        user: String,
        /// Keys that the next step of the change needs, as the last script requested them; empty before
        /// the change begins.
        requested: Vec<String>,
    },
    /// A Redis command.
    Command {
        /// Name of the command.
        name: &'static str,
        /// The key.
        key: String,
        /// Arguments after the key.
        args: Vec<String>,
    },
}

/// Scripts that change all boards of a user.
#[allow(missing_docs, reason = "the journal documents the fields")]
pub enum AllBoardsScript {
    Moderate {
        hidden: String,
        frozen: String,
        reason: String,
    },
    Profile {
        json: String,
        hidden: String,
    },
    Erase,
}

/// The arguments that all calls of a run share.
pub struct CallContext {
    /// Keys of the shadow.
    pub keys: Keys,
    /// Schema fingerprint.
    pub fingerprint: String,
    /// Lifetimes of stored data.
    pub retention: Retention,
    /// Current time, Unix ms.
    pub now: i64,
}

/// A call in the form of `replay.lua`.
pub struct EncodedCall {
    /// Name of the script.
    pub script: &'static str,
    /// Keys of the script.
    pub keys: Vec<String>,
    /// Arguments of the script.
    pub args: Vec<String>,
}

impl Step {
    /// Returns a preparing command.
    #[must_use]
    pub fn command(name: &'static str, key: String, args: Vec<String>) -> Self {
        Self {
            entry: None,
            entries: 0,
            call: ScriptCall::Command { name, key, args },
        }
    }

    /// Returns the users of [`ScriptCall::Count`].
    #[must_use]
    pub fn users(&self) -> &[String] {
        match &self.call {
            ScriptCall::Count { users, .. } => users,
            ScriptCall::AllBoards { .. } | ScriptCall::Command { .. } => &[],
        }
    }

    /// Encodes the call.
    #[must_use]
    pub fn encode(&self, context: &CallContext) -> EncodedCall {
        match &self.call {
            ScriptCall::Count {
                operations, then, ..
            } => {
                let (keys, args) = operations.call(&CallHeader {
                    keys: context.keys.clone(),
                    fingerprint: context.fingerprint.clone(),
                    now: Instant(context.now),
                    effective: Instant(*then),
                    lifetimes: context.retention.rest(*then, context.now),
                    standings: false,
                    journal_flag: NOT_JOURNALED,
                    shard: None,
                });
                let script = "count";
                EncodedCall { script, keys, args }
            }
            ScriptCall::AllBoards {
                script,
                then,
                user,
                requested,
            } => script.encode(context, *then, user, requested),
            ScriptCall::Command { name, key, args } => EncodedCall {
                script: "run",
                keys: vec![key.clone()],
                args: [(*name).to_owned()]
                    .into_iter()
                    .chain(args.clone())
                    .collect(),
            },
        }
    }

    /// Adds the data that the script has requested in the second element of its reply.
    ///
    /// # Errors
    ///
    /// A message for a request that the script cannot make.
    pub fn supply(&mut self, requested: &Value) -> Result<(), String> {
        let invalid = || format!("unexpected request {requested} of a script");
        let items = requested.as_array().ok_or_else(invalid)?;
        match &mut self.call {
            ScriptCall::Count { operations, .. } => {
                for item in items {
                    let operation = item.get(0).and_then(Value::as_u64);
                    let record = item.get(1).and_then(Value::as_str);
                    let (Some(operation), Some(record)) = (operation, record) else {
                        return Err(invalid());
                    };
                    operations
                        .add_targets_of_record(operation, record)
                        .map_err(|_| invalid())?;
                }
            }
            ScriptCall::AllBoards { requested, .. } => {
                let names = items.iter().map(|name| name.as_str().map(str::to_owned));
                *requested = names.collect::<Option<_>>().ok_or_else(invalid)?;
            }
            ScriptCall::Command { .. } => return Err(invalid()),
        }
        Ok(())
    }
}

impl Step {
    /// Continues a change that an earlier run has begun on the shadow, and whose next write the store
    /// refused: `settle.lua` completes it first.
    ///
    /// # Errors
    ///
    /// A message for a step that begins no change.
    pub fn complete_change(&mut self, shadow: &Keys) -> Result<(), String> {
        match &mut self.call {
            ScriptCall::AllBoards {
                then,
                user,
                requested,
                ..
            } => {
                *requested = shadow.own_keys(user, Instant(*then));
                Ok(())
            }
            ScriptCall::Count { .. } | ScriptCall::Command { .. } => {
                Err("a change of visibility is incomplete".to_owned())
            }
        }
    }
}

impl AllBoardsScript {
    fn encode(
        &self,
        context: &CallContext,
        then: i64,
        user: &str,
        requested: &[String],
    ) -> EncodedCall {
        let mut keys = context.keys.moderation_keys();
        let mut args = vec![context.fingerprint.clone()];
        if !requested.is_empty() {
            keys.extend_from_slice(requested);
            args.extend(["step", NAMES].map(str::to_owned));
            let script = "settle";
            return EncodedCall { script, keys, args };
        }
        args.push(then.to_string());
        let mut push = |words: &[&str]| args.extend(words.iter().map(|word| (*word).to_owned()));
        let script = match self {
            Self::Moderate {
                hidden,
                frozen,
                reason,
            } => {
                push(&[user, hidden, frozen, reason, NOT_JOURNALED, NAMES]);
                "moderate"
            }
            Self::Profile { json, hidden } => {
                push(&[NOT_JOURNALED, NOT_A_MEMBER, NAMES, user, json, hidden]);
                "profiles"
            }
            Self::Erase => {
                keys.extend(context.keys.own_keys(user, Instant(then)));
                push(&[user, NOT_JOURNALED, "1", NAMES]);
                "erase"
            }
        };
        EncodedCall { script, keys, args }
    }
}

/// Collects entries into steps.
pub struct Planner {
    keys: Keys,
    /// Lifetimes of stored data.
    pub retention: Retention,
    expiries: ExpiryTracker,
    users: NewUsers,
    /// Archived boards as the shadow lists them for the next call; `None` if unknown.
    archived: Option<Vec<String>>,
    open: Option<OpenCall>,
    steps: Vec<Step>,
}

/// A counting call that accepts more operations.
struct OpenCall {
    hour: i64,
    then: i64,
    entry: u64,
    operations: Operations,
    users: Vec<String>,
}

impl Planner {
    /// Returns a planner for a shadow.
    #[must_use]
    pub fn new(keys: Keys, retention: Retention) -> Self {
        Self {
            keys,
            retention,
            expiries: ExpiryTracker::default(),
            users: NewUsers::default(),
            archived: None,
            open: None,
            steps: Vec::new(),
        }
    }

    /// Records expiries and users of an entry that an earlier run has applied.
    pub fn skip(&mut self, entry: &Entry) {
        match &entry.change {
            Change::Activity(activity) => {
                let now = entry.applied_at;
                self.expiries
                    .expired_before(activity, now, &self.retention, &self.keys);
                self.users.add_stored(&activity.user);
            }
            Change::Moderate { user, .. } | Change::Profile { user, .. } => {
                self.users.add_stored(user);
            }
            Change::Erase { .. } => {}
        }
    }

    /// Adds the steps of an entry other than an erasure.
    pub fn add(&mut self, entry: Entry) {
        let (number, then) = (entry.number, entry.applied_at);
        let (script, user) = match entry.change {
            Change::Activity(activity) => return self.count(number, then, activity),
            Change::Moderate {
                user,
                hidden,
                frozen,
                reason,
            } => {
                let script = AllBoardsScript::Moderate {
                    hidden,
                    frozen,
                    reason,
                };
                (script, user)
            }
            Change::Profile { user, json, hidden } => {
                (AllBoardsScript::Profile { json, hidden }, user)
            }
            Change::Erase { .. } => return,
        };
        self.close();
        self.users.add(&user);
        self.store_users();
        self.push_all_boards(number, then, script, user);
    }

    /// Adds the erasure of a user. The caller has looked up the user by the hash of the entry.
    pub fn erase(&mut self, entry: u64, then: i64, user: String) {
        self.close();
        self.push_all_boards(entry, then, AllBoardsScript::Erase, user);
    }

    /// Adds a command that completes an entry.
    pub fn complete_with(&mut self, entry: u64, mut step: Step) {
        self.close();
        (step.entry, step.entries) = (Some(entry), 1);
        self.steps.push(step);
    }

    /// Returns the steps of all added entries in order.
    pub fn take(&mut self) -> Vec<Step> {
        self.close();
        std::mem::take(&mut self.steps)
    }

    fn push_all_boards(&mut self, entry: u64, then: i64, script: AllBoardsScript, user: String) {
        self.steps.push(Step {
            entry: Some(entry),
            entries: 1,
            call: ScriptCall::AllBoards {
                script,
                then,
                user,
                requested: Vec::new(),
            },
        });
    }

    fn count(&mut self, entry: u64, then: i64, activity: Activity) {
        let expired = self
            .expiries
            .expired_before(&activity, then, &self.retention, &self.keys);
        let archived = self.archived_boards(&activity);
        let (hour, is_adjustment) = (then.div_euclid(HOUR), activity.reason.is_some());
        let has_room = self
            .open
            .as_ref()
            .is_some_and(|open| open.hour == hour && open.operations.len() < MAX_OPERATIONS);
        let archived_changes = self.archived.as_ref() != Some(&archived);
        if !has_room || is_adjustment || !expired.is_empty() || archived_changes {
            self.close();
        }
        for key in expired {
            self.steps.push(Step::command("UNLINK", key, Vec::new()));
        }
        if archived_changes {
            let key = self.keys.archived();
            for key in [&key].into_iter().chain(&archived) {
                let step = Step::command("UNLINK", key.clone(), Vec::new());
                self.steps.push(step);
            }
            if !archived.is_empty() {
                self.steps
                    .push(Step::command("SADD", key, archived.clone()));
            }
            self.archived = Some(archived);
        }
        self.users.add(&activity.user);
        let open = self.open.get_or_insert_with(|| OpenCall {
            hour,
            then,
            entry,
            operations: Operations::default(),
            users: Vec::new(),
        });
        open.entry = entry;
        // The latest time of the call: no key may expire earlier than it did.
        open.then = open.then.max(then);
        open.users.push(match activity.verb {
            Verb::Count | Verb::Adjust => activity.user.clone(),
            Verb::Undo => String::new(),
        });
        open.operations.reason = activity.reason;
        open.operations.push(Operation {
            user: &activity.user,
            rule: activity.rule,
            targets: activity.boards,
            verb: activity.verb.script_arg(),
            record: activity.record,
            at: activity.at,
            timestamp: activity.dated,
            receiver: Receiver::None,
            author: None,
            claim: String::new(),
        });
        if is_adjustment {
            self.close();
        }
    }

    /// Returns the boards of an activity that were archived and deleted at its time.
    fn archived_boards(&self, activity: &Activity) -> Vec<String> {
        if activity.skipped.is_empty() {
            return Vec::new();
        }
        boards(activity)
            .into_iter()
            .filter(|(position, ..)| activity.skipped.contains(position))
            .map(|(_, _, name)| self.keys.board_named(&name))
            .collect()
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else {
            return;
        };
        self.store_users();
        self.steps.push(Step {
            entry: Some(open.entry),
            entries: open.users.len().try_into().unwrap_or(0),
            call: ScriptCall::Count {
                operations: open.operations,
                then: open.then,
                users: open.users,
            },
        });
    }

    /// Stores the hashes of new users in the shadow: the entry of an erasure has only a hash.
    fn store_users(&mut self) {
        let new = self.users.take();
        if !new.is_empty() {
            let key = self.keys.user_hashes();
            self.steps.push(Step::command("HSET", key, new));
        }
    }
}

/// Users of the shadow, and the users among them without a stored hash.
#[derive(Debug, Default)]
struct NewUsers {
    known: HashSet<String>,
    new: Vec<String>,
}

impl NewUsers {
    fn add_stored(&mut self, user: &str) {
        self.known.insert(user.to_owned());
    }

    fn add(&mut self, user: &str) {
        if self.known.insert(user.to_owned()) {
            self.new.extend([sha1_hex(user), user.to_owned()]);
        }
    }

    /// Returns hash and id of each new user as arguments of HSET.
    fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rebuild::journal::tests::entry;
    use crate::rebuild::retention::tests::default_retention;
    use serde_json::json;

    const NOW: i64 = 1_795_132_800_000;
    /// Stores the hash of user 42.
    const NEW_USER: &str = "HSET 92cfceb39d57d914ed8b14d0e37643de0797ae56 42 {ar:0}~q";
    const CLEAR_ARCHIVED: &str = "UNLINK {ar:0}~a";

    /// Returns each step as "entries to entry script", or the words of a preparing command.
    fn steps(entries: &[Value]) -> Vec<String> {
        let context = CallContext {
            keys: Keys::new("ar", 0).shadow(),
            fingerprint: "v1".to_owned(),
            retention: default_retention(),
            now: NOW,
        };
        let mut planner = Planner::new(context.keys.clone(), default_retention());
        for (number, fields) in (1..).zip(entries) {
            planner.add(entry(number, fields.clone()).unwrap());
        }
        let describe = |step: Step| {
            let call = step.encode(&context);
            match step.entry {
                Some(entry) => format!("{} to {entry} {}", step.entries, call.script),
                None => [call.args, call.keys].concat().join(" "),
            }
        };
        planner.take().into_iter().map(describe).collect()
    }

    fn at(hours: i64) -> Value {
        json!({"now": (NOW + hours * HOUR).to_string()})
    }

    #[test]
    fn activities_of_an_hour_share_a_call() {
        assert_eq!(
            steps(&[at(0), at(0), at(1), at(0), at(0)]),
            [
                CLEAR_ARCHIVED,
                NEW_USER,
                "2 to 2 count",
                "1 to 3 count",
                "2 to 5 count"
            ]
        );
        let many: Vec<Value> = (0..MAX_OPERATIONS + 1).map(|_| at(0)).collect();
        assert_eq!(steps(&many)[2..], ["200 to 200 count", "1 to 201 count"]);
    }

    #[test]
    fn expired_board_is_deleted_before_reuse() {
        let steps = steps(&[at(0), at(24 * 31), at(24 * 31)]);
        assert_eq!(
            steps[3..],
            ["UNLINK {ar:0}~bd:2026-11-20", "2 to 3 count"],
            "{steps:?}"
        );
    }

    #[test]
    fn archived_boards_are_set_per_call() {
        let skipped = json!({"groups": "eu", "kinds": "da", "skipped": "1,3"});
        assert_eq!(
            steps(&[skipped.clone(), skipped, at(0)]),
            [
                CLEAR_ARCHIVED,
                "UNLINK {ar:0}~bd:2026-11-20",
                "UNLINK {ar:0}~bd:2026-11-20:eu",
                "SADD {ar:0}~bd:2026-11-20 {ar:0}~bd:2026-11-20:eu {ar:0}~a",
                NEW_USER,
                "2 to 2 count",
                CLEAR_ARCHIVED,
                "1 to 3 count",
            ]
        );
    }

    #[test]
    fn adjustments_and_moderation_get_own_calls() {
        let steps = steps(&[
            json!({"did": "profile", "json": "{}"}),
            at(0),
            json!({"did": "adjust", "reason": "Case"}),
            at(0),
            json!({"did": "moderate", "hidden": "1", "frozen": "0", "user": "7"}),
        ]);
        assert_eq!(
            steps,
            [
                NEW_USER,
                "1 to 1 profiles",
                CLEAR_ARCHIVED,
                "1 to 2 count",
                "1 to 3 count",
                "1 to 4 count",
                "HSET 902ba3cda1883801594b6e1b452790cc53948fda 7 {ar:0}~q",
                "1 to 5 moderate",
            ]
        );
    }

    #[test]
    fn user_is_new_once() {
        let mut users = NewUsers::default();
        users.add_stored("7");
        for user in ["42", "7", "42"] {
            users.add(user);
        }
        let hash = "92cfceb39d57d914ed8b14d0e37643de0797ae56";
        assert_eq!(users.take(), [hash, "42"]);
        users.add("42");
        assert!(users.take().is_empty());
    }
}
