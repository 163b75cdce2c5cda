//! The scratch keys of one set of rules, and the calls of the service's scripts on them.
//!
//! All members are on one scratch shard, with a number that no deployment has. Its keys expire after a day without the
//! command that deletes them.

use std::collections::{HashMap, VecDeque};
use std::sync::LazyLock;

use activity_rank_core::account::Accounts;
use activity_rank_core::board::BoardKind;
use activity_rank_core::calendar::{Date, Instant, Period};
use activity_rank_core::event::Definitions;
use activity_rank_store::accounts::account_keys;
use activity_rank_store::count::{CallHeader, Lifetimes, UserOperations};
use activity_rank_store::keys::{FIRST_GENERATION, Keys};
use activity_rank_store::outbox::OutboxEntry;
use activity_rank_store::receive::{self, Change};
use activity_rank_store::redis::Command;
use activity_rank_store::scripts::{ACCOUNT, COUNT, RECEIVE, Script};
use serde_json::Value;

use super::window::{Group, StateChange, Window};
use crate::failure::Failure;
use crate::printable::printable;
use crate::rebuild::store::{Cursor, Store, functions, script};

/// The schema fingerprint of the scratch keys, which no service reads.
const FINGERPRINT: &str = "preview";
/// Lifetime of the keys in seconds.
const LIFETIME: u64 = 86_400;
/// Approximate size of a request; the last call may exceed it.
const REQUEST_BYTES: usize = 256 * 1024;
/// Operations, receipts or commands in one request; the last call may exceed it. They block Redis for some milliseconds.
const REQUEST_OPERATIONS: usize = 400;
/// Receipts of one call.
const CALL_RECEIPTS: usize = 100;
/// Requests of one window for data that its calls lack: an undo needs a second one for the record of another day.
const MAX_ATTEMPTS: usize = 16;
/// Keys in one request that deletes them.
const DELETED_KEYS: usize = 500;
/// Members in one page of a board.
const PAGE: u32 = 1000;

/// `scratch.lua` with the service's scripts as functions.
static SCRATCH: LazyLock<Script> = LazyLock::new(|| {
    let mut text = "local service, added, scripts = redis, {}, {}\n\
        local redis = setmetatable({\n\
          call = function(name, ...)\n\
            if name == 'XADD' then\n\
              added[#added + 1] = { ... }\n\
              return '0-1'\n\
            end\n\
            return service.call(name, ...)\n\
          end,\n\
        }, { __index = service })\n"
        .to_owned();
    text.push_str(&functions(&[
        ("count", &COUNT),
        ("receive", &RECEIVE),
        ("account", &ACCOUNT),
    ]));
    text.push_str(include_str!("scratch.lua"));
    script(text.leak())
});

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

/// The scratch keys of one set of rules.
pub struct Scratch {
    store: Store,
    keys: Keys,
    fingerprint: String,
    has_content: bool,
    started_at: i64,
    /// The accounts of members, as the script has returned them.
    accounts: HashMap<String, Accounts>,
    /// The number of the last receipt.
    receipts: u64,
}

/// A call in the form of `scratch.lua`.
struct Call {
    script: &'static str,
    keys: Vec<String>,
    args: Vec<String>,
    /// The operations, receipts or commands.
    operations: usize,
}

impl Call {
    /// Returns the call of a command on a hash.
    fn command(name: &str, key: String, args: &[&str]) -> Self {
        let words = [name];
        let args = words.iter().chain(args);
        Self {
            script: "run",
            keys: vec![key],
            args: args.map(|arg| (*arg).to_owned()).collect(),
            operations: 1,
        }
    }
}

impl Scratch {
    /// Returns the scratch keys on a shard. `started_at` is the time of Redis' clock, Unix ms.
    #[must_use]
    pub fn new(store: &Store, shard: u32, has_content: bool, started_at: i64) -> Self {
        Self {
            store: store.with_shard(shard, 1),
            keys: Keys::new(&store.prefix, shard, FIRST_GENERATION),
            fingerprint: FINGERPRINT.to_owned(),
            has_content,
            started_at,
            accounts: HashMap::new(),
            receipts: 0,
        }
    }

    /// Applies the changes of a window, and decides its activity by the set of rules with this index. Returns a decision for
    /// each item.
    ///
    /// # Errors
    ///
    /// [`Failure`] if the store does not respond, or a script fails.
    pub async fn run(&mut self, window: &Window, index: usize) -> Result<Vec<Decision>, Failure> {
        let calls = window.changes.iter();
        let calls = calls.flat_map(|change| self.change(change));
        let mut calls: VecDeque<Call> = calls.collect();
        while !calls.is_empty() {
            let batch = take_batch(&mut calls);
            self.send(&batch).await?;
        }
        let (decisions, receipts) = self.count(window, index).await?;
        self.receive(receipts).await?;
        Ok(decisions)
    }

    /// Returns the calls that make a change which activity depends on.
    fn change(&self, change: &StateChange) -> Vec<Call> {
        let keys = &self.keys;
        let account = |verb: &str, user: &str, other: &str, number: &str| {
            let now = self.started_at.to_string();
            let args = [&self.fingerprint, &now, "0", "", verb, user, other, number];
            Call {
                script: "account",
                keys: account_keys(keys),
                args: args.map(str::to_owned).to_vec(),
                operations: 1,
            }
        };
        match change {
            StateChange::Target { member, text } if text.is_empty() => {
                vec![Call::command("HDEL", keys.register(), &[member])]
            }
            StateChange::Target { member, text } => {
                vec![Call::command("HSET", keys.register(), &[member, text])]
            }
            StateChange::Profile { user, json } => {
                vec![Call::command("HSET", keys.users(), &[user, json])]
            }
            StateChange::Erased { hash, at } => {
                vec![Call::command("HSET", keys.tombstones(), &[hash, at])]
            }
            StateChange::Joined { user, of, number } => vec![
                account("add", of, user, number),
                account("join", user, of, number),
            ],
            StateChange::Detached { user, of } => vec![
                account("detach", user, "", ""),
                account("remove", of, user, ""),
            ],
        }
    }

    /// Counts the activity of a window. Returns its decisions, and what others receive.
    async fn count(
        &mut self,
        window: &Window,
        index: usize,
    ) -> Result<(Vec<Decision>, Vec<Change>), Failure> {
        let header = CallHeader {
            keys: self.keys.clone(),
            fingerprint: self.fingerprint.clone(),
            now: Instant(self.started_at),
            effective: Instant(window.last_at),
            lifetimes: Lifetimes {
                days: LIFETIME,
                records: LIFETIME,
                boards: [LIFETIME; 5],
            },
            standings: false,
            journal: false,
            content: self.has_content,
            refused: false,
            definitions: Definitions::default(),
        };
        let mut decisions = vec![Decision::default(); window.items];
        let (mut changes, mut attempts) = (Vec::new(), 0);
        let mut groups: VecDeque<(&Group, UserOperations)> = VecDeque::new();
        for group in &window.groups {
            if let Some(operations) = group.operations.get(index) {
                groups.push_back((group, operations.clone()));
            }
        }
        while !groups.is_empty() {
            let mut again = VecDeque::new();
            while !groups.is_empty() {
                let (mut calls, mut bytes, mut operations) = (Vec::new(), 0, 0);
                let mut sent = Vec::new();
                while bytes < REQUEST_BYTES && operations < REQUEST_OPERATIONS {
                    let Some((group, mut user)) = groups.pop_front() else {
                        break;
                    };
                    if let Some(accounts) = self.accounts.get(&user.user) {
                        user.accounts.clone_from(accounts);
                    }
                    let encoded = header.encode(&user);
                    let words = encoded.keys.iter().chain(&encoded.arguments);
                    bytes += words.map(String::len).sum::<usize>();
                    operations += user.operations.len();
                    calls.push(Call {
                        script: "count",
                        keys: encoded.keys,
                        args: encoded.arguments,
                        operations: user.operations.len(),
                    });
                    sent.push((group, user));
                }
                let results = self.send(&calls).await?;
                for ((group, mut user), result) in sent.into_iter().zip(results) {
                    match (result.get(0), result.get(1)) {
                        (Some(Value::Array(outcomes)), Some(receipts)) => {
                            let receipts = receipts.as_array().map_or(&[][..], Vec::as_slice);
                            let receipts = receipts.iter().map(receipt).collect();
                            decide(
                                group,
                                &user,
                                outcomes,
                                receipts,
                                &mut decisions,
                                &mut changes,
                            );
                            continue;
                        }
                        (Some(Value::String(kind)), Some(data)) if kind == "accounts" => {
                            let accounts = Accounts::new(data.as_str().unwrap_or_default());
                            self.accounts.insert(user.user.clone(), accounts);
                        }
                        (Some(Value::String(kind)), Some(data)) if kind == "records" => {
                            let records = serde_json::from_value(data.clone());
                            let records = records.map_err(|_| unexpected(&result))?;
                            if !user.set_found(records) {
                                return Err(unexpected(&result));
                            }
                        }
                        _ if result == Value::Null || result == Value::Bool(false) => {}
                        _ => return Err(unexpected(&result)),
                    }
                    again.push_back((group, user));
                }
            }
            attempts += 1;
            if attempts > MAX_ATTEMPTS {
                let message = "a script requested data too many times";
                return Err(Failure::Store(message.to_owned()));
            }
            groups = again;
        }
        Ok((decisions, changes))
    }

    /// Gives others what they receive.
    async fn receive(&mut self, changes: Vec<Change>) -> Result<(), Failure> {
        let mut calls = VecDeque::new();
        let mut changes = changes.into_iter().peekable();
        while changes.peek().is_some() {
            let (keys, now) = (self.keys.clone(), Instant(self.started_at));
            let mut call = receive::Call::new(keys, 0, now, [LIFETIME; 5], false);
            for change in changes.by_ref().take(CALL_RECEIPTS) {
                self.receipts += 1;
                call.push(&format!("1-{}", self.receipts), change, false);
            }
            let (keys, json) = call.encode();
            calls.push_back(Call {
                script: "receive",
                keys,
                args: vec![self.fingerprint.clone(), json],
                operations: CALL_RECEIPTS,
            });
        }
        while !calls.is_empty() {
            let batch = take_batch(&mut calls);
            self.send(&batch).await?;
        }
        Ok(())
    }

    /// Sends calls in one request, and returns the result of each.
    async fn send(&self, calls: &[Call]) -> Result<Vec<Value>, Failure> {
        let keys = &self.keys;
        let mut all = vec![keys.users(), keys.register(), keys.index()];
        let mut args = vec![LIFETIME.to_string()];
        for call in calls {
            args.push(call.script.to_owned());
            args.extend([call.keys.len(), call.args.len()].map(|count| count.to_string()));
            args.extend_from_slice(&call.args);
            all.extend_from_slice(&call.keys);
        }
        let command = Command::script(&SCRATCH, &all).args(&args);
        let results: Vec<Value> = self.store.run(command).await?;
        match results.len() == calls.len() {
            true => Ok(results),
            false => Err(unexpected(&Value::Array(results))),
        }
    }

    /// Returns the members of a board of all points, with their scores.
    ///
    /// # Errors
    ///
    /// [`Failure::Store`] if the store does not respond.
    pub async fn board(&self, kind: BoardKind) -> Result<Vec<(String, u64)>, Failure> {
        let day = Date::from_local_millis(0);
        let key = match kind {
            BoardKind::Members | BoardKind::Event => self.keys.board(Period::All, day, None),
            BoardKind::Content | BoardKind::Authors => {
                self.keys.received_board(kind, Period::All, day)
            }
        };
        let (mut scores, mut cursor) = (HashMap::new(), Cursor::start());
        while let Some(page) = self
            .store
            .scan_members("ZSCAN", &key, PAGE, &mut cursor)
            .await?
        {
            let scores_of_page = page.into_iter().filter_map(|(member, score)| {
                let score = score.parse::<f64>().ok().filter(|score| *score > 0.0)?;
                (member != "#").then_some((member, score as u64))
            });
            scores.extend(scores_of_page);
        }
        Ok(scores.into_iter().collect())
    }

    /// Deletes all scratch keys.
    ///
    /// # Errors
    ///
    /// [`Failure::Store`] if the store does not respond.
    pub async fn drop_keys(&self) -> Result<(), Failure> {
        let mut cursor = Cursor::start();
        while let Some(names) = self.store.scan(&mut cursor).await? {
            for names in names.chunks(DELETED_KEYS) {
                let keys = names.iter().map(|name| format!("{}{name}", self.store.tag));
                let _: u64 = self.store.run(Command::new("UNLINK").args(keys)).await?;
            }
        }
        Ok(())
    }
}

/// Returns as many of the first calls as fit into one request.
fn take_batch(calls: &mut VecDeque<Call>) -> Vec<Call> {
    let (mut batch, mut bytes, mut operations) = (Vec::new(), 0, 0);
    while bytes < REQUEST_BYTES && operations < REQUEST_OPERATIONS {
        let Some(call) = calls.pop_front() else {
            break;
        };
        let words = call.keys.iter().chain(&call.args);
        bytes += words.map(String::len).sum::<usize>();
        operations += call.operations;
        batch.push(call);
    }
    batch
}

/// Returns an entry of the stream of changes from its names and values.
fn receipt(words: &Value) -> OutboxEntry {
    let words = words.as_array().map_or(&[][..], Vec::as_slice);
    let text = |word: &Value| word.as_str().unwrap_or_default().to_owned();
    let fields = words.as_chunks::<2>().0.iter();
    OutboxEntry {
        id: String::new(),
        fields: fields
            .map(|[name, value]| (text(name), text(value)))
            .collect(),
    }
}

/// Records the outcomes of a user's operations, and adds what others receive for them.
fn decide(
    group: &Group,
    user: &UserOperations,
    outcomes: &[Value],
    receipts: Vec<OutboxEntry>,
    decisions: &mut [Decision],
    changes: &mut Vec<Change>,
) {
    // The script adds the receipts in the order of the operations.
    let mut receipts = receipts.into_iter().peekable();
    let operations = group.items.iter().zip(&user.operations).zip(outcomes);
    for ((item, operation), outcome) in operations {
        let mut decision = match outcome {
            Value::String(outcome) => Decision {
                outcome: outcome.clone(),
                ..Decision::default()
            },
            outcome => Decision {
                outcome: outcome[0].as_str().unwrap_or_default().to_owned(),
                points: outcome[1].as_i64().unwrap_or_default(),
                received: 0,
            },
        };
        let did = match decision.outcome.as_str() {
            "counted" => "count",
            _ => "undo",
        };
        let is_own = |entry: &OutboxEntry| {
            entry.field("did") == did
                && entry
                    .fields
                    .iter()
                    .any(|(_, value)| *value == operation.record)
                && entry.field("at") == operation.at.0.to_string()
        };
        let applies = ["counted", "undone"].contains(&decision.outcome.as_str());
        if applies
            && let Some(entry) = receipts.next_if(is_own)
            && let Some(change) = Change::decode(&entry, false)
        {
            if let Change::Receipt(receipt) = &change {
                decision.received = receipt.points;
            }
            changes.push(change);
        }
        if let Some(slot) = decisions.get_mut(*item) {
            *slot = decision;
        }
    }
}

fn unexpected(reply: &Value) -> Failure {
    let reply = printable(&reply.to_string());
    Failure::Store(format!("unexpected reply of a script: {reply}"))
}
