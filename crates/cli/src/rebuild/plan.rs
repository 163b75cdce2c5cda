//! Turns journal entries into steps: calls of the service's own scripts on the shadow.
//!
//! Consecutive activities of one user in an hour share a call, because a call has one lifetime for all it writes. What
//! others received in the same hour is a call before these. Moderation, profiles, adjustments and erasures are calls of
//! their own.
//! Commands before a call prepare the shadow: they delete expired keys, set the list of archived boards and
//! record the hashes of new users. Others write registrations of targets and lists of authors.
//!
//! Any step may be sent again after a refused write, so each is idempotent. What others received has no
//! deduplication record: its script applies an entry once, by its number.

use std::collections::{HashMap, HashSet};

use activity_rank_core::account::Accounts;
use activity_rank_core::calendar::Instant;
use activity_rank_core::event::Definitions;
use activity_rank_core::rules::StoredVersion;
use activity_rank_store::accounts::account_keys;
use activity_rank_store::count::{
    CallHeader, FoundRecord, Operation, Receiver, UserOperations, Verb,
};
use activity_rank_store::fingerprint::Participant;
use activity_rank_store::keys::Keys;
use activity_rank_store::receive::Call;
use activity_rank_store::stream::COUNTED;
use serde::Deserialize;
use serde_json::Value;

use super::account::Exclusions;
use super::expiry::{ChangedBoards, ExpiryTracker};
use super::journal::{Activity, Change, Entry, Receipt, Registration};
use super::retention::{EXPIRED_TTL, Retention};
use super::rules::Recounts;
use super::store::sha1_hex;

/// Entries in one call: it blocks Redis for some milliseconds.
const MAX_ENTRIES: u64 = 200;
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
        /// The operations of a user.
        operations: UserOperations,
        /// Time of the operations, Unix ms.
        then: i64,
        /// The definitions of events.
        definitions: Definitions,
    },
    /// The script that gives others what they receive.
    Receive {
        /// Each with number and part of its entry.
        receipts: Vec<((u64, u64), Receipt)>,
        /// Time of the change, Unix ms.
        then: i64,
    },
    /// The script that makes a user an account, or sets exclusions.
    Account {
        /// Its arguments after the actor.
        args: Vec<String>,
        /// The actor as the audit log stores it.
        actor: String,
        /// Time of the change, Unix ms.
        then: i64,
    },
    /// The script of awards.
    Award {
        /// Its arguments after the actor.
        args: [String; 6],
        /// The actor as the audit log stores it.
        actor: String,
        /// Time of the change, Unix ms.
        then: i64,
    },
    /// A script that changes all boards of a user or target.
    AllBoards {
        /// The script.
        script: AllBoardsScript,
        /// Time of the change, Unix ms.
        then: i64,
        /// The user, or a tab and the member of a target.
        participant: String,
        /// Keys that the next step of the change needs, as the last script requested them; empty before
        /// the change begins.
        requested: Vec<String>,
    },
    /// Keeps a board that was archived and deleted, for a recount: as the archive has it, but for what the recount changes.
    Keep {
        /// Its name.
        name: String,
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

/// Scripts that change all boards of a user or target.
#[allow(missing_docs, reason = "the journal documents the fields")]
pub enum AllBoardsScript {
    Moderate {
        hidden: String,
        frozen: String,
        reason: String,
        actor: String,
    },
    Profile {
        json: String,
        hidden: String,
        actor: String,
    },
    ModerateTarget {
        verb: String,
        reason: String,
        actor: String,
        /// The author of a target that is deleted.
        author: Option<String>,
    },
    Erase {
        actor: String,
    },
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
    /// The shard.
    pub shard: u32,
    /// Number of shards.
    pub shards: u32,
}

impl CallContext {
    /// Returns the keys that the erasure of a user, or the deletion of a target, needs beside those of every change.
    /// With several shards a target lies on another one than its author, whose journal has its change.
    fn keys_of_erased(&self, participant: &str, then: i64) -> Vec<String> {
        let Participant::User(user) = Participant::parse(participant) else {
            return vec![self.keys.register()];
        };
        let mut keys = self.keys.own_keys(user, Instant(then));
        keys.push(self.keys.targets_of(user));
        keys.extend((self.shards == 1).then(|| self.keys.register()));
        keys
    }
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
        Self::preparing(ScriptCall::Command { name, key, args })
    }

    fn preparing(call: ScriptCall) -> Self {
        Self {
            entry: None,
            entries: 0,
            call,
        }
    }

    /// Returns for each operation of [`ScriptCall::Count`] its user, or an empty string if it gives no points.
    #[must_use]
    pub fn users(&self) -> Vec<String> {
        let ScriptCall::Count { operations, .. } = &self.call else {
            return Vec::new();
        };
        let user = |operation: &Operation| match operation.verb {
            Verb::Undo => String::new(),
            _ => operations.user.clone(),
        };
        operations.operations.iter().map(user).collect()
    }

    /// Returns whether the script will request the record of an undo: it may have counted in an event that is open.
    #[must_use]
    pub fn requests_record(&self) -> bool {
        match &self.call {
            ScriptCall::Count {
                operations,
                definitions,
                ..
            } => {
                let mut undos = operations.operations.iter();
                definitions.events().next().is_some()
                    && undos.any(|undo| undo.verb == Verb::Undo && undo.found.is_none())
            }
            ScriptCall::Receive { .. }
            | ScriptCall::Account { .. }
            | ScriptCall::Award { .. }
            | ScriptCall::AllBoards { .. }
            | ScriptCall::Keep { .. }
            | ScriptCall::Command { .. } => false,
        }
    }

    /// Encodes the call.
    #[must_use]
    pub fn encode(&self, context: &CallContext) -> EncodedCall {
        match &self.call {
            ScriptCall::Count {
                operations,
                then,
                definitions,
                ..
            } => {
                let header = CallHeader {
                    keys: context.keys.clone(),
                    fingerprint: context.fingerprint.clone(),
                    now: Instant(context.now),
                    effective: Instant(*then),
                    lifetimes: context.retention.rest(*then, context.now),
                    standings: false,
                    journal: false,
                    content: false,
                    refused: false,
                    definitions: definitions.clone(),
                };
                let call = header.encode(operations);
                EncodedCall {
                    script: match operations.is_adjustment() {
                        true => "adjust",
                        false => "count",
                    },
                    keys: call.keys,
                    args: call.arguments,
                }
            }
            ScriptCall::Receive { receipts, then } => {
                let lifetimes = context.retention.rest(*then, context.now).boards;
                let (shadow, now) = (context.keys.clone(), Instant(context.now));
                let mut call = Call::new(shadow, context.shard, now, lifetimes, false);
                for (number, receipt) in receipts {
                    let (boards, receivers) = (&receipt.boards, (&*receipt.target, &*receipt.user));
                    let periods = &boards.content;
                    let action = receipt.activity.as_ref().map(|(action, _)| action.as_str());
                    let counts = (action.unwrap_or_default(), receipt.counts);
                    let amounts = (receipt.points, counts);
                    call.push_entry(*number, receivers, amounts, periods, boards.date);
                }
                let (keys, json) = call.encode();
                EncodedCall {
                    script: "receive",
                    keys,
                    args: vec![context.fingerprint.clone(), json],
                }
            }
            ScriptCall::Account { args, actor, then } => {
                let then = then.to_string();
                let first = [&context.fingerprint, &then, NOT_JOURNALED, actor];
                EncodedCall {
                    script: "account",
                    keys: account_keys(&context.keys),
                    args: [&first.map(str::to_owned)[..], args].concat(),
                }
            }
            ScriptCall::Award { args, actor, then } => {
                let then = then.to_string();
                let first = [&context.fingerprint, &then, NOT_JOURNALED, actor];
                EncodedCall {
                    script: "award",
                    keys: account_keys(&context.keys),
                    args: [&first.map(str::to_owned)[..], args].concat(),
                }
            }
            ScriptCall::AllBoards {
                script,
                then,
                participant,
                requested,
            } => script.encode(context, *then, participant, requested),
            ScriptCall::Keep { name } => {
                let keys = &context.keys;
                EncodedCall {
                    script: "keep",
                    keys: vec![
                        keys.index(),
                        keys.board_named(name),
                        keys.corrected_board(name),
                    ],
                    args: vec![
                        (EXPIRED_TTL * 1000).to_string(),
                        format!("{name}{}", Keys::CORRECTED),
                    ],
                }
            }
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

    /// Adds the data that the script has requested in its reply.
    ///
    /// # Errors
    ///
    /// A message for a reply that requests nothing.
    pub fn supply(&mut self, reply: &Value) -> Result<(), String> {
        let invalid = || format!("unexpected script reply {reply}");
        match &mut self.call {
            ScriptCall::Count { operations, .. } => {
                let records = reply.get(2).filter(|_| reply[1] == "records");
                let records = records.map(Vec::deserialize);
                let records = records.ok_or_else(invalid)?.map_err(|_| invalid())?;
                if !operations.set_found(records) {
                    return Err(invalid());
                }
            }
            ScriptCall::AllBoards { requested, .. } => {
                let names = reply.get(1).and_then(Value::as_array);
                let names = names
                    .filter(|names| !names.is_empty())
                    .ok_or_else(invalid)?;
                let names = names.iter().map(|name| name.as_str().map(str::to_owned));
                *requested = names.collect::<Option<_>>().ok_or_else(invalid)?;
            }
            ScriptCall::Receive { .. }
            | ScriptCall::Account { .. }
            | ScriptCall::Award { .. }
            | ScriptCall::Keep { .. }
            | ScriptCall::Command { .. } => {
                return Err(invalid());
            }
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
    pub fn complete_change(&mut self, context: &CallContext) -> Result<(), String> {
        match &mut self.call {
            ScriptCall::AllBoards {
                then,
                participant,
                requested,
                ..
            } => {
                *requested = context.keys_of_erased(participant, *then);
                Ok(())
            }
            ScriptCall::Count { .. }
            | ScriptCall::Receive { .. }
            | ScriptCall::Account { .. }
            | ScriptCall::Award { .. }
            | ScriptCall::Keep { .. }
            | ScriptCall::Command { .. } => Err("a change of visibility is incomplete".to_owned()),
        }
    }
}

impl AllBoardsScript {
    fn encode(
        &self,
        context: &CallContext,
        then: i64,
        participant: &str,
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
                actor,
            } => {
                push(&[participant, hidden, frozen, reason, actor]);
                push(&[NOT_JOURNALED, NAMES]);
                "moderate"
            }
            Self::Profile {
                json,
                hidden,
                actor,
            } => {
                push(&[
                    NOT_JOURNALED,
                    NOT_A_MEMBER,
                    NAMES,
                    actor,
                    participant,
                    json,
                    hidden,
                ]);
                "profiles"
            }
            Self::ModerateTarget {
                verb,
                reason,
                actor,
                author,
            } => {
                let shadow = &context.keys;
                keys.push(shadow.register());
                keys.extend(author.iter().map(|author| shadow.targets_of(author)));
                let member = participant.trim_start_matches('\t');
                push(&[member, verb, reason, actor, NOT_JOURNALED, NAMES]);
                "moderate_target"
            }
            Self::Erase { actor } => {
                keys.extend(context.keys_of_erased(participant, then));
                push(&[participant, actor, NOT_JOURNALED, "1", NAMES]);
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
    /// The recounts of the shard.
    pub recounts: Recounts,
    shard: u32,
    shards: u32,
    expiries: ExpiryTracker,
    users: NewUsers,
    /// The last number of a registration that the shard has given.
    registrations: u64,
    /// Archived boards as the shadow lists them for the next call; `None` if unknown.
    archived: Option<Vec<String>>,
    /// The definitions by which the current entry counts in events.
    definitions: Definitions,
    /// The accounts of users, as the shadow's flags have them.
    accounts: HashMap<String, Accounts>,
    /// The exclusions of users.
    exclusions: Exclusions,
    /// The recounts of events: number of the entry, event and line of its definition.
    event_recounts: Vec<(u64, String, String)>,
    open: Option<OpenCall>,
    steps: Vec<Step>,
}

/// A counting call that accepts more entries.
struct OpenCall {
    hour: i64,
    then: i64,
    entry: u64,
    entries: u64,
    /// The consecutive operations of each user.
    operations: Vec<UserOperations>,
    /// Each with number and part of its entry.
    receipts: Vec<((u64, u64), Receipt)>,
    /// The events that were open.
    events: Vec<String>,
    definitions: Definitions,
}

impl OpenCall {
    /// Adds an operation to those of its user, if the operation before it is the user's too.
    fn push(&mut self, user: &str, operation: Operation) {
        let last = self.operations.last_mut();
        match last.filter(|last| last.user == user) {
            Some(last) => last.operations.push(operation),
            None => self
                .operations
                .push(UserOperations::new(user, vec![operation])),
        }
    }
}

impl Planner {
    /// Returns a planner for the shadow of a shard.
    #[must_use]
    pub fn new(keys: Keys, retention: Retention, shard: u32, shards: u32) -> Self {
        Self {
            keys,
            retention,
            recounts: Recounts::default(),
            shard,
            shards,
            expiries: ExpiryTracker::default(),
            users: NewUsers::default(),
            registrations: 0,
            archived: None,
            definitions: Definitions::default(),
            accounts: HashMap::new(),
            exclusions: Exclusions::default(),
            event_recounts: Vec::new(),
            open: None,
            steps: Vec::new(),
        }
    }

    /// Records expiries, users and numbers of registrations of an entry that an earlier run has applied.
    pub fn skip(&mut self, entry: &Entry) {
        let now = entry.applied_at;
        match &entry.change {
            Change::Activity(activity) => {
                self.expiries
                    .expired_before(activity, now, &self.retention, &self.keys);
                self.keep_number(received_number(activity));
                self.users.add_stored(&activity.user);
            }
            Change::Receive(receipt) => {
                let boards = ChangedBoards::for_receipt(receipt);
                self.expiries
                    .expired_boards(&boards, now, &self.retention, &self.keys);
                self.users.add_stored(&receipt.user);
            }
            Change::Target(registration) => {
                self.keep_number(&registration.number);
                self.users.add_stored(&registration.user);
            }
            Change::Account {
                user, of, account, ..
            } => {
                self.users.add_stored(user);
                self.set_account(user, of, account);
            }
            Change::Exclude {
                user,
                case,
                excluded,
                ..
            } => {
                self.users.add_stored(user);
                self.set_exclusions(user, case, excluded);
            }
            Change::List { user, .. }
            | Change::Award { user, .. }
            | Change::Case { user, .. }
            | Change::Moderate { user, .. }
            | Change::Pause { user, .. }
            | Change::Profile { user, .. } => self.users.add_stored(user),
            Change::Event { definitions, .. } => self.definitions = definitions.clone(),
            Change::ModerateTarget { .. }
            | Change::Erase { .. }
            | Change::Refused(_)
            | Change::Rules(_)
            | Change::Accounts(_)
            | Change::Nothing => {}
        }
    }

    /// Records of whom a user is an account; an empty member for none.
    fn set_account(&mut self, user: &str, member: &str, account: &str) {
        match member {
            "" => self.accounts.remove(user),
            member => {
                let accounts = Accounts::new(&format!(">{account} {member}"));
                self.accounts.insert(user.to_owned(), accounts)
            }
        };
    }

    /// Records the exclusions of a case. The lists of accounts follow a rebuild.
    fn set_exclusions(&mut self, user: &str, case: &str, excluded: &str) {
        let exclusions = self.exclusions.set(user, case, excluded);
        let text = match exclusions.is_empty() {
            true => String::new(),
            false => format!("0 {}", exclusions.join(" ")),
        };
        self.accounts.insert(user.to_owned(), Accounts::new(&text));
    }

    /// Forgets accounts and exclusions of a user who is erased.
    pub fn forget_accounts(&mut self, user: &str) {
        self.accounts.remove(user);
        self.exclusions.forget(user);
    }

    /// Adds a call of the script of accounts, whose second argument after the actor is a user.
    fn change_account(&mut self, number: u64, args: Vec<String>, actor: String, then: i64) {
        let user = args.get(1).map_or("", String::as_str);
        self.users.add(user);
        self.store_users();
        self.steps.push(Step {
            entry: Some(number),
            entries: 1,
            call: ScriptCall::Account { args, actor, then },
        });
    }

    /// Records a recount of an event: the line of its definition holds for all entries before.
    pub fn add_recount(&mut self, entry: u64, event: &str, line: &str) {
        let recount = (entry, event.to_owned(), line.to_owned());
        self.event_recounts.push(recount);
    }

    /// Sets the definitions of events by which the entries after one of them count.
    pub fn begin_events(&mut self, entry: u64) {
        self.definitions = self.definitions_after(entry, &self.definitions);
        self.store_definitions();
    }

    /// Returns definitions with those of later recounts.
    fn definitions_after(&self, entry: u64, stored: &Definitions) -> Definitions {
        let mut lines: Vec<(String, String)> = Vec::new();
        for (_, event, line) in self.event_recounts.iter().filter(|(n, ..)| *n > entry) {
            lines.retain(|(other, _)| other != event);
            lines.push((event.clone(), line.clone()));
        }
        stored.overlaid(&lines)
    }

    /// Returns whether a later recount counts an event again.
    fn is_recounted(&self, entry: u64, event: &str) -> bool {
        let mut recounts = self.event_recounts.iter();
        recounts.any(|(n, other, _)| *n > entry && other == event)
    }

    /// Stores the definitions for the counting script.
    fn store_definitions(&mut self) {
        let text = self.definitions.text();
        if !text.is_empty() {
            let field = vec![Keys::DEFINITIONS.to_owned(), text.to_owned()];
            let step = Step::command("HSET", self.keys.users(), field);
            self.steps.push(step);
        }
    }

    /// Adds the steps of an entry other than an erasure and the moderation of a target.
    pub fn add(&mut self, entry: Entry) {
        let (number, then) = (entry.completes, entry.applied_at);
        let (script, user) = match entry.change {
            Change::Activity(activity) => return self.count(number, then, activity),
            Change::Receive(receipt) => {
                let id = (entry.number, entry.part);
                return self.receive((id, number), then, receipt);
            }
            Change::Target(registration) => return self.register(number, registration),
            Change::List {
                user,
                listed,
                instant,
            } => return self.list(number, &user, listed, instant),
            Change::Pause { user, pauses } => return self.pause(number, &user, pauses),
            Change::Event {
                event,
                json,
                definitions,
                reason,
                actor,
                ..
            } => {
                let version = audited_version(&json, &reason, &actor, then);
                return self.define(number, (event, json), &definitions, version);
            }
            Change::Account {
                user,
                of,
                account,
                actor,
            } => {
                self.close();
                self.set_account(&user, &of, &account);
                let verb = if of.is_empty() { "detach" } else { "join" };
                let args = vec![verb.to_owned(), user, of, account];
                return self.change_account(number, args, actor, then);
            }
            Change::Exclude {
                user,
                case,
                excluded,
                reason,
                actor,
            } => {
                self.close();
                self.set_exclusions(&user, &case, &excluded);
                let excluded = format!("={excluded}");
                let args = vec!["exclude".to_owned(), user, excluded, case, reason];
                return self.change_account(number, args, actor, then);
            }
            Change::Case {
                verb,
                user,
                case,
                reason,
                actor,
            } => {
                self.close();
                let args = vec![verb, user, String::new(), case, reason];
                return self.change_account(number, args, actor, then);
            }
            Change::Award {
                verb,
                user,
                achievement,
                steps,
                values,
                reason,
                actor,
            } => {
                self.close();
                self.users.add(&user);
                self.store_users();
                return self.steps.push(Step {
                    entry: Some(number),
                    entries: 1,
                    call: ScriptCall::Award {
                        args: [verb, user, achievement, steps, values, reason],
                        actor,
                        then,
                    },
                });
            }
            Change::Moderate {
                user,
                hidden,
                frozen,
                reason,
                actor,
            } => {
                let script = AllBoardsScript::Moderate {
                    hidden,
                    frozen,
                    reason,
                    actor,
                };
                (script, user)
            }
            Change::Profile {
                user,
                json,
                hidden,
                actor,
            } => {
                let script = AllBoardsScript::Profile {
                    json,
                    hidden,
                    actor,
                };
                (script, user)
            }
            Change::Refused(_) if self.open.is_some() => {
                return self.complete_with(number, Vec::new());
            }
            // A recount holds for the entries before, and changes nothing itself.
            Change::Refused(_) | Change::Rules(_) | Change::Accounts(_) | Change::Nothing => {
                let step = Step::command("EXISTS", self.keys.users(), Vec::new());
                return self.complete_with(number, vec![step]);
            }
            Change::ModerateTarget { .. } | Change::Erase { .. } => return,
        };
        self.close();
        self.users.add(&user);
        self.change_all_boards(number, then, script, user);
    }

    /// Adds a script that changes all boards of a user, or of a target as a tab and its member. The caller has looked
    /// up the user of an erasure by the hash of the entry, and the author of a target that is deleted.
    pub fn change_all_boards(
        &mut self,
        entry: u64,
        then: i64,
        script: AllBoardsScript,
        participant: String,
    ) {
        self.close();
        self.store_users();
        self.steps.push(Step {
            entry: Some(entry),
            entries: 1,
            call: ScriptCall::AllBoards {
                script,
                then,
                participant,
                requested: Vec::new(),
            },
        });
    }

    /// Adds commands that complete an entry. The open call, which does not depend on them, follows.
    pub fn complete_with(&mut self, entry: u64, mut commands: Vec<Step>) {
        if let Some(open) = &mut self.open {
            open.entry = entry;
            open.entries += 1;
        } else {
            self.store_users();
            if let Some(last) = commands.last_mut() {
                (last.entry, last.entries) = (Some(entry), 1);
            }
        }
        self.steps.extend(commands);
    }

    /// Returns the steps of all added entries in order.
    pub fn take(&mut self) -> Vec<Step> {
        self.close();
        std::mem::take(&mut self.steps)
    }

    fn count(&mut self, entry: u64, then: i64, mut activity: Activity) {
        let (action, at) = (&activity.rule.action, activity.at);
        if activity.verb == Verb::Count
            && let Some(given) = self.recounts.given(entry, action, at)
        {
            activity.rule.points = given.points;
            activity.received = activity
                .received
                .map(|received| recount_received(&received, given.received));
        }
        let expired = self
            .expiries
            .expired_before(&activity, then, &self.retention, &self.keys);
        let archived = ChangedBoards::for_activity(&activity).archived();
        self.keep_number(received_number(&activity));
        let mut is_replayed = activity.verb == Verb::Undo;
        if let (Verb::Adjust, Some(event)) = (activity.verb, &activity.boards.event)
            && self.is_recounted(entry, event)
        {
            is_replayed = true;
            activity.rule.points = activity.applied.unwrap_or(activity.rule.points);
        }
        let is_adjustment = activity.audit.is_some();
        self.users.add(&activity.user);
        // A recount between the activity and its undo may have changed the points of the record.
        let is_known =
            !is_adjustment && self.recounts.0.iter().all(|(recount, _)| *recount > entry);
        let found = activity.undone.filter(|_| is_known).map(|(at, points)| {
            let given = self.recounts.given(entry, &activity.rule.action, at);
            let points = given.map_or(points, |given| given.points);
            FoundRecord::parse(activity.boards.record(at, points))
        });
        let found = found.flatten();
        let has_events = self.definitions.events().next().is_some();
        // A step that requests a record ends its request: the steps before it are complete then.
        let is_alone =
            is_adjustment || activity.verb == Verb::Undo && found.is_none() && has_events;
        if is_alone {
            self.close();
        }
        let open = self.open_call(entry, then, expired, archived);
        let operation = Operation {
            rule: activity.rule,
            boards: activity.boards,
            verb: activity.verb,
            record: activity.record,
            at: activity.at,
            timestamp: activity.dated,
            receiver: match (activity.verb, activity.received) {
                (Verb::Count, Some(received)) => Receiver::Recorded(received),
                // An entry of its own has what an undo took back.
                _ => Receiver::None,
            },
            audit: activity.audit,
            found,
            is_replayed,
            account: String::new(),
        };
        open.push(&activity.user, operation);
        if is_alone {
            self.close();
        }
    }

    /// Adds what others receive by an entry with this number and part, and the number of the last one that is complete with it.
    fn receive(&mut self, (id, completes): ((u64, u64), u64), then: i64, mut receipt: Receipt) {
        if let Some((action, at)) = &receipt.activity
            && let Some(given) = self.recounts.given(id.0, action, *at)
        {
            let sign = match receipt.counts {
                0 => receipt.points.signum(),
                counts => counts,
            };
            receipt.points = sign * given.received;
        }
        let boards = ChangedBoards::for_receipt(&receipt);
        let expired = self
            .expiries
            .expired_boards(&boards, then, &self.retention, &self.keys);
        let archived = boards.archived();
        self.users.add(&receipt.user);
        let open = self.open_call(completes, then, expired, archived);
        open.receipts.push((id, receipt));
    }

    fn register(&mut self, entry: u64, registration: Registration) {
        let Registration {
            target,
            user,
            number,
            instant,
            text,
        } = registration;
        self.users.add(&user);
        self.keep_number(&number);
        let counter = ["#".to_owned(), self.registrations.to_string()];
        let fields = [target.clone(), text].into_iter().chain(counter);
        let mut commands = vec![Step::command(
            "HSET",
            self.keys.register(),
            fields.collect(),
        )];
        if self.shards == 1 && !user.is_empty() {
            let list = self.keys.targets_of(&user);
            commands.push(Step::command("ZADD", list, vec![instant, target]));
        }
        self.complete_with(entry, commands);
    }

    fn list(&mut self, entry: u64, user: &str, listed: String, instant: String) {
        self.users.add(user);
        let list = self.keys.targets_of(user);
        let command = match instant.is_empty() {
            true => Step::command("ZREM", list, vec![listed]),
            false => Step::command("ZADD", list, vec![instant, listed]),
        };
        self.complete_with(entry, vec![command]);
    }

    fn pause(&mut self, entry: u64, user: &str, pauses: String) {
        self.users.add(user);
        let (users, field) = (self.keys.users(), Keys::pauses_field(user));
        let command = match pauses.is_empty() {
            true => Step::command("HDEL", users, vec![field]),
            false => Step::command("HSET", users, vec![field, pauses]),
        };
        self.complete_with(entry, vec![command]);
    }

    /// Changes an event. The calls after it count by the new definitions.
    fn define(
        &mut self,
        entry: u64,
        (event, json): (String, String),
        definitions: &Definitions,
        audited: Option<Vec<String>>,
    ) {
        self.close();
        self.definitions = self.definitions_after(entry, definitions);
        self.store_definitions();
        let (events, board) = (self.keys.events(), self.keys.event_board(&event));
        let mut commands = Vec::new();
        let defined = self.definitions.event(&event);
        // A later recount defines the event again, for all entries before it.
        match defined.map(|counted| counted.expiry.to_string()) {
            None if json.is_empty() => commands.push(Step::command("UNLINK", board, Vec::new())),
            None => {}
            Some(expiry) => commands.push(Step::command("EXPIREAT", board, vec![expiry])),
        }
        if self.shard == 0 {
            commands.push(match json.is_empty() {
                true => Step::command("HDEL", events, vec![event]),
                false => Step::command("HSET", events, vec![event, json]),
            });
            let log = self.keys.audit_log();
            commands.extend(audited.map(|fields| Step::command("XADD", log, fields)));
        }
        if commands.is_empty() {
            commands.push(Step::command("EXISTS", self.keys.users(), Vec::new()));
        }
        self.complete_with(entry, commands);
    }

    /// Records the number of a registration, if this shard has given it.
    fn keep_number(&mut self, number: &str) {
        let (shard, count) = number.split_once('.').unwrap_or(("", number));
        if self.shards == 1 || shard.parse() == Ok(self.shard) {
            let count = count.parse().unwrap_or(0);
            self.registrations = self.registrations.max(count);
        }
    }

    /// Returns the call that an entry belongs to. Before it, steps delete expired keys and set the archived boards.
    fn open_call(
        &mut self,
        entry: u64,
        then: i64,
        expired: Vec<String>,
        archived: Vec<String>,
    ) -> &mut OpenCall {
        let hour = then.div_euclid(HOUR);
        let has_room = self
            .open
            .as_ref()
            .is_some_and(|open| open.hour == hour && open.entries < MAX_ENTRIES);
        let archived_changes = self.archived.as_ref() != Some(&archived);
        let events = self.definitions.events();
        let events = events.filter(|event| event.is_open(Instant(then)));
        let events: Vec<String> = events.map(|event| event.id.to_owned()).collect();
        let counts_elsewhere = self.open.as_ref().is_some_and(|open| open.events != events);
        if !has_room || !expired.is_empty() || archived_changes || counts_elsewhere {
            self.close();
        }
        let has_expired = !expired.is_empty();
        let boards: Vec<String> = archived
            .iter()
            .map(|name| self.keys.board_named(name))
            .collect();
        for key in expired.into_iter().filter(|key| !boards.contains(key)) {
            self.steps.push(Step::command("UNLINK", key, Vec::new()));
        }
        if archived_changes || has_expired {
            let kept = archived.iter().cloned();
            self.steps
                .extend(kept.map(|name| Step::preparing(ScriptCall::Keep { name })));
        }
        if archived_changes {
            let key = self.keys.archived();
            self.steps
                .push(Step::command("UNLINK", key.clone(), Vec::new()));
            if !archived.is_empty() {
                self.steps
                    .push(Step::command("SADD", key, archived.clone()));
            }
            self.archived = Some(archived);
        }
        let open = self.open.get_or_insert_with(|| OpenCall {
            hour,
            then,
            entry,
            entries: 0,
            operations: Vec::new(),
            receipts: Vec::new(),
            events,
            definitions: self.definitions.clone(),
        });
        open.entry = entry;
        open.entries += 1;
        // The latest time of the call: no key may expire earlier than it did.
        open.then = open.then.max(then);
        open
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else {
            return;
        };
        self.store_users();
        let (receipts, then) = (open.receipts, open.then);
        let mut calls = Vec::new();
        if !receipts.is_empty() {
            calls.push(ScriptCall::Receive { receipts, then });
        }
        for mut operations in open.operations {
            // After an account was detached, its activity counts for the account itself.
            if let Some(accounts) = self.accounts.get(&operations.user) {
                operations.accounts.clone_from(accounts);
            }
            calls.push(ScriptCall::Count {
                operations,
                then,
                definitions: open.definitions.clone(),
            });
        }
        let steps = calls.into_iter().map(|call| Step {
            entry: None,
            entries: 0,
            call,
        });
        self.steps.extend(steps);
        // The last step completes the entries of all.
        if let Some(last) = self.steps.last_mut() {
            (last.entry, last.entries) = (Some(open.entry), open.entries);
        }
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

/// Returns the end of an active record with other points; empty if there are none and the target is not counted.
fn recount_received(received: &str, points: i64) -> String {
    let rest = received.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let is_counted = rest
        .split(['>', ';'])
        .next()
        .is_some_and(|letters| letters.contains(COUNTED));
    match received.is_empty() || points == 0 && !is_counted {
        true => String::new(),
        false => format!("{points}{rest}"),
    }
}

/// Returns the arguments of `XADD` for the entry of the audit log about a version of the rules, as `define.lua` writes it; `None`
/// for an event, and for an entry of the journal from before the audit log had versions.
fn audited_version(json: &str, reason: &str, actor: &str, then: i64) -> Option<Vec<String>> {
    let (action, version) = StoredVersion::parse(json)?.audited();
    let (then, version) = (then.to_string(), version.to_string());
    let fields = [
        ["at", &then],
        ["subject", ""],
        ["action", action],
        ["version", &version],
        ["reason", reason],
        ["actor", actor],
    ];
    let fields = ["*"].into_iter().chain(fields.into_iter().flatten());
    (!reason.is_empty()).then(|| fields.map(str::to_owned).collect())
}

/// Returns the number of the registration for which others received points; empty for none.
fn received_number(activity: &Activity) -> &str {
    let received = activity.received.as_deref().unwrap_or_default();
    received.split(';').nth(1).unwrap_or_default()
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

    /// Adds a user; the author of a target may be empty.
    fn add(&mut self, user: &str) {
        if !user.is_empty() && self.known.insert(user.to_owned()) {
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
    use crate::rebuild::samples::{default_retention, entry};
    use serde_json::json;

    const NOW: i64 = 1_795_132_800_000;
    /// Stores the hash of user 42.
    const NEW_USER: &str = "HSET 92cfceb39d57d914ed8b14d0e37643de0797ae56 42 {ar:0}2q";
    const CLEAR_ARCHIVED: &str = "UNLINK {ar:0}2a";

    /// Returns each step as "entries to entry script", or the words of a preparing command.
    fn steps(entries: &[Value]) -> Vec<String> {
        let context = CallContext {
            keys: Keys::building("ar", 0, 2),
            fingerprint: "v1".to_owned(),
            retention: default_retention(),
            now: NOW,
            shard: 0,
            shards: 1,
        };
        let mut planner = Planner::new(context.keys.clone(), default_retention(), 0, 1);
        for (number, fields) in (1..).zip(entries) {
            planner.add(entry(number, fields.clone()).unwrap());
        }
        let describe = |step: Step| {
            let call = step.encode(&context);
            match step.entry {
                Some(entry) => format!("{} to {entry} {}", step.entries, call.script),
                None if call.script == "receive" => call.script.to_owned(),
                None => [call.args, call.keys].concat().join(" "),
            }
        };
        planner.take().into_iter().map(describe).collect()
    }

    fn at(hours: i64) -> Value {
        json!({"now": (NOW + hours * HOUR).to_string()})
    }

    #[test]
    fn recount_keeps_that_a_target_is_counted() {
        for (received, points, expected) in [
            ("2wa;17;1", 4, "4wa;17;1"),
            ("2wa;17;1", 0, ""),
            ("2wan;17;1", 0, "0wan;17;1"),
            ("0n;17;", 0, "0n;17;"),
            ("2wan>0a4d;17;1", 0, "0wan>0a4d;17;1"),
            ("", 3, ""),
        ] {
            assert_eq!(recount_received(received, points), expected, "{received}");
        }
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
        let many: Vec<Value> = (0..MAX_ENTRIES + 1).map(|_| at(0)).collect();
        assert_eq!(steps(&many)[2..], ["200 to 200 count", "1 to 201 count"]);
    }

    #[test]
    fn expired_board_is_deleted_before_reuse() {
        let steps = steps(&[at(0), at(24 * 31), at(24 * 31)]);
        assert_eq!(
            steps[3..],
            ["UNLINK {ar:0}2bd:2026-11-20", "2 to 3 count"],
            "{steps:?}"
        );
    }

    #[test]
    fn archived_boards_are_set_per_call() {
        let skipped = json!({"groups": "eu", "kinds": "da", "skipped": "1,3"});
        assert_eq!(
            steps(&[skipped.clone(), skipped, at(0)]),
            [
                "4000000000000 d:2026-11-20\t {ar:0}2i {ar:0}2bd:2026-11-20 {ar:0}2bd:2026-11-20\t",
                "4000000000000 d:2026-11-20:eu\t {ar:0}2i {ar:0}2bd:2026-11-20:eu {ar:0}2bd:2026-11-20:eu\t",
                CLEAR_ARCHIVED,
                "SADD d:2026-11-20 d:2026-11-20:eu {ar:0}2a",
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
            json!({"did": "adjust", "action": "adjust", "reason": "Case"}),
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
                "1 to 3 adjust",
                "1 to 4 count",
                "HSET 902ba3cda1883801594b6e1b452790cc53948fda 7 {ar:0}2q",
                "1 to 5 moderate",
            ]
        );
    }

    /// A registration precedes the call whose entries surround its own.
    #[test]
    fn receipts_and_registrations_join_the_open_call() {
        let target = |number: u64| {
            json!({"did": "target", "user": "42", "target": "post-7", "number": number.to_string(),
                "instant": "5", "authorship": "1", "json": "{}"})
        };
        let receive = json!({"did": "receive", "user": "42", "target": "post-7"});
        let list = json!({"did": "list", "listed": "post-7", "instant": ""});
        let counted = json!({"received": "2wa;9;1"});
        let written = |number: u64, counter: u64| {
            [
                format!("HSET post-7 {number};5;1;42;{{}} # {counter} {{ar:0}}2t"),
                "ZADD 5 post-7 {ar:0}2u:42".to_owned(),
            ]
        };
        let [first, second] = [written(7, 7), written(8, 9)];
        let found = steps(&[target(7), counted, receive, target(8), list]);
        assert_eq!(
            found,
            [
                NEW_USER,
                &first[0],
                "1 to 1 run",
                CLEAR_ARCHIVED,
                &second[0],
                &second[1],
                "ZREM post-7 {ar:0}2u:42",
                "receive",
                "4 to 5 count",
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
