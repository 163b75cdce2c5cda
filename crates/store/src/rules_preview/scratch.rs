//! The scratch keys of one set of rules, and the calls of the service's scripts on them.
//!
//! All members of both sets are on one scratch shard, with a number that no deployment has: the sets have the keys of two
//! generations. They expire after a day without the requests that delete them.
//!
//! The requests of a window depend on the window and on the replies alone. A caller that may end at any point numbers them as
//! steps of a slice of the journal: when it sends them again from the first one, each step that has run returns its first
//! reply, so a slice takes effect once.

use super::report::{Decision, Figures, LIMITS};
use super::window::{Group, Names, State, StateChange, Window};
use super::{JournalActivity, RuleSets};
use crate::accounts::account_keys;
use crate::count::{CallHeader, Lifetimes};
use crate::keys::Keys;
use crate::outbox::OutboxEntry;
use crate::receive::{self, Change};
use crate::redis::{Command, Reply, StoreError};
use crate::scripts::SCRATCH;
use activity_rank_core::account::Accounts;
use activity_rank_core::activity::Activity;
use activity_rank_core::board::BoardKind;
use activity_rank_core::calendar::{Date, Instant, Period};
use activity_rank_core::content::member;
use activity_rank_core::event::Definitions;

/// The schema fingerprint of the scratch keys, which no service reads.
const FINGERPRINT: &str = "preview";
/// Lifetime of the keys in seconds.
pub const LIFETIME: u64 = 86_400;
/// Approximate size of a request; the last call may exceed it.
const REQUEST_BYTES: usize = 256 * 1024;
/// Operations, receipts or commands in one request; the last call may exceed it. They block Redis for some milliseconds.
const REQUEST_OPERATIONS: usize = 400;
/// Receipts of one call.
const CALL_RECEIPTS: usize = 100;
/// Requests of one window for data that its calls lack: an undo needs a second one for the record of another day.
const MAX_ATTEMPTS: usize = 16;

/// The step of a request: the slice, and its number in the slice, both from 1. The slice 0 is for requests that are not sent
/// again, or that may take effect twice.
#[derive(Clone, Copy, Debug, Default)]
pub struct Step {
    /// The slice.
    pub slice: u64,
    /// The number.
    pub number: u64,
}

/// The scratch keys of one set of rules.
pub struct Scratch {
    keys: Keys,
    has_content: bool,
    /// The time of the start, Unix ms.
    started_at: i64,
    slice: u64,
    /// The accounts of members, as the script has returned them.
    accounts: Names,
    /// The number of the last receipt of the slice.
    receipts: u64,
}

/// A call in the form of `scratch.lua`.
pub struct Call {
    name: &'static str,
    keys: Vec<String>,
    args: Vec<String>,
    /// The operations, receipts or commands.
    operations: usize,
}

impl Call {
    /// Returns a call with some keys and arguments.
    fn new(name: &'static str, keys: Vec<String>, args: &[&str]) -> Self {
        Self {
            name,
            keys,
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            operations: 1,
        }
    }

    fn bytes(&self) -> usize {
        let words = self.keys.iter().chain(&self.args);
        words.map(String::len).sum()
    }
}

/// The keys of both sets of rules.
#[must_use]
pub fn keys(prefix: &str, shard: u32) -> [Keys; 2] {
    [1, 2].map(|generation| Keys::building(prefix, shard, generation))
}

/// Returns the keys of a preview's shard that belong to no set: the replies of steps, the names of all keys, and the hidden
/// users.
#[must_use]
pub fn shared_keys(prefix: &str, shard: u32) -> [String; 3] {
    let keys = Keys::new(prefix, shard, crate::keys::FIRST_GENERATION);
    [
        keys.preview_steps(),
        keys.preview_names(),
        keys.preview_hidden(),
    ]
}

/// Returns the request with some calls on a scratch shard.
#[must_use]
pub fn request((prefix, shard): (&str, u32), step: Step, calls: &[Call]) -> Command {
    let [steps, names, hidden] = shared_keys(prefix, shard);
    let mut all = vec![steps, names, hidden];
    for keys in keys(prefix, shard) {
        all.extend([
            keys.users(),
            keys.register(),
            keys.index(),
            keys.tombstones(),
        ]);
    }
    let own = all.len() - 2;
    let mut args = vec![
        LIFETIME.to_string(),
        step.slice.to_string(),
        step.number.to_string(),
        own.to_string(),
    ];
    for call in calls {
        args.push(call.name.to_owned());
        args.extend([call.keys.len(), call.args.len()].map(|count| count.to_string()));
        args.extend_from_slice(&call.args);
        all.extend_from_slice(&call.keys);
    }
    Command::script(&SCRATCH, &all).args(&args)
}

/// The reply to a [`request`].
pub enum Replied {
    /// The result of each call.
    Results(Vec<Reply>),
    /// A later slice has begun.
    Past,
    /// The keys are not those after the step before.
    Lost,
}

impl Replied {
    /// Decodes a reply to a request with so many calls.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] for any other reply.
    pub fn decode(reply: &Reply, calls: usize) -> Result<Self, StoreError> {
        match reply.text()? {
            "past" => Ok(Self::Past),
            "lost" => Ok(Self::Lost),
            text => {
                let results = Reply::parse(text).unwrap_or_default().into_list()?;
                match results.len() == calls {
                    true => Ok(Self::Results(results)),
                    false => Err(unexpected()),
                }
            }
        }
    }
}

/// The names of a slice whose state is read before it.
#[derive(Default)]
pub struct Wanted {
    /// Members of boards of content.
    targets: Vec<String>,
    /// Users.
    users: Vec<String>,
}

impl Wanted {
    /// Adds the names that an activity depends on.
    pub fn add_activity(&mut self, activity: &JournalActivity<'_>) {
        self.targets.push(member(activity.target()));
        self.add_user(activity.user);
        if activity.action == "follow" {
            self.add_user(activity.target());
        }
    }

    /// Adds a user.
    pub fn add_user(&mut self, user: &str) {
        self.users.push(user.to_owned());
    }

    /// Returns the calls that read the state by the keys of one set of rules.
    #[must_use]
    pub fn calls(&self, keys: &Keys) -> Vec<Call> {
        let mut calls = Vec::new();
        let read = |key, fields: Vec<&str>| Call::new("read", vec![key], &fields);
        if !self.targets.is_empty() {
            let targets = self.targets.iter().map(String::as_str);
            calls.push(read(keys.register(), targets.collect()));
        }
        if !self.users.is_empty() {
            let flags: Vec<String> = self
                .users
                .iter()
                .map(|user| Keys::flags_field(user))
                .collect();
            let users = self.users.iter().zip(&flags);
            let fields = users.flat_map(|(user, flags)| [user.as_str(), flags]);
            calls.push(read(keys.users(), fields.collect()));
        }
        calls
    }

    /// Returns the state by the results of the calls.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] for other results.
    pub fn state(&self, results: &[Reply]) -> Result<State, StoreError> {
        let (mut state, mut results) = (State::default(), results.iter());
        if !self.targets.is_empty() {
            let texts = results.next().unwrap_or(&Reply::Nil).list()?;
            for (target, text) in self.targets.iter().zip(texts) {
                let author = text.text()?.split(';').nth(3).unwrap_or_default();
                if !author.is_empty() {
                    state.authors.insert(target, author);
                }
            }
        }
        if !self.users.is_empty() {
            let values = results.next().unwrap_or(&Reply::Nil).list()?;
            for (user, values) in self.users.iter().zip(values.chunks(2)) {
                let value = |index| {
                    let value = values.get(index).map(Reply::text).transpose();
                    value.map(Option::unwrap_or_default)
                };
                if !value(0)?.is_empty() {
                    state.profiles.insert(user, "");
                }
                let accounts = Accounts::from_flags(value(1)?);
                if let Some((_, member)) = accounts.member() {
                    state.members.insert(user, member);
                }
                for (_, account) in accounts.list() {
                    state.members.insert(account, user);
                }
            }
        }
        Ok(state)
    }
}

impl Scratch {
    /// Returns the scratch keys for a slice of the journal. `started_at` is the time of the start, Unix ms.
    #[must_use]
    pub fn new(keys: Keys, has_content: bool, started_at: i64, slice: u64) -> Self {
        Self {
            keys,
            has_content,
            started_at,
            slice,
            accounts: Names::default(),
            receipts: 0,
        }
    }

    /// Applies the changes of a window, and decides its activity by the operations of one set of rules. Returns a decision for
    /// each item. `send` sends a [`request`] with some calls, and returns the results.
    ///
    /// # Errors
    ///
    /// The errors of `send`, and [`StoreError`] for an unexpected reply of a script.
    pub async fn run<E: From<StoreError>>(
        &mut self,
        window: &Window,
        groups: Vec<Group>,
        mut send: impl AsyncFnMut(&[Call]) -> Result<Vec<Reply>, E>,
    ) -> Result<Vec<Decision>, E> {
        let calls = window.changes.iter();
        let mut first = Vec::new();
        for call in calls.flat_map(|change| self.change(change)) {
            if is_full(&first) {
                send(&first).await?;
                first.clear();
            }
            first.push(call);
        }
        let (decisions, receipts) = self.count(window, groups, first, &mut send).await?;
        let mut batch = Vec::new();
        for call in self.receive(receipts) {
            batch.push(call);
            if is_full(&batch) {
                send(&batch).await?;
                batch.clear();
            }
        }
        if !batch.is_empty() {
            send(&batch).await?;
        }
        Ok(decisions)
    }

    /// Returns the calls that make a change which activity depends on.
    fn change(&self, change: &StateChange) -> Vec<Call> {
        let keys = &self.keys;
        let run = |key, words: &[&str]| vec![Call::new("run", vec![key], words)];
        let account = |verb: &str, user: &str, other: &str, number: &str| {
            let now = self.started_at.to_string();
            let args = [FINGERPRINT, &now, "0", "", verb, user, other, number];
            Call::new("account", account_keys(keys), &args)
        };
        match change {
            StateChange::Target { member, text, .. } if text.is_empty() => {
                run(keys.register(), &["HDEL", member])
            }
            StateChange::Target { member, text, .. } => {
                run(keys.register(), &["HSET", member, text])
            }
            StateChange::Profile { user, json, .. } => run(keys.users(), &["HSET", user, json]),
            StateChange::Hidden { .. } => Vec::new(),
            StateChange::Erased { hash, at } => {
                run(keys.tombstones(), &["HSET", hash, &at.to_string()])
            }
            StateChange::Account {
                user, of, former, ..
            } if of.is_empty() => vec![
                account("detach", user, "", ""),
                account("remove", former, user, ""),
            ],
            StateChange::Account {
                user, of, number, ..
            } => vec![
                account("add", of, user, number),
                account("join", user, of, number),
            ],
            StateChange::Excluded {
                user,
                case,
                excluded,
            } => vec![account("exclude", user, &format!("={excluded}"), case)],
        }
    }

    /// Counts the activity of a window after some calls. Returns its decisions, and what others receive.
    async fn count<E: From<StoreError>>(
        &mut self,
        window: &Window,
        mut groups: Vec<Group>,
        mut calls: Vec<Call>,
        send: &mut impl AsyncFnMut(&[Call]) -> Result<Vec<Reply>, E>,
    ) -> Result<(Vec<Decision>, Vec<Change>), E> {
        let header = CallHeader {
            keys: self.keys.clone(),
            fingerprint: FINGERPRINT.to_owned(),
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
        let (mut receipts, mut attempts) = (Vec::new(), 0);
        while !groups.is_empty() || !calls.is_empty() {
            let (mut waiting, mut again) = (groups.into_iter().peekable(), Vec::new());
            while waiting.peek().is_some() || !calls.is_empty() {
                let (first, mut sent) = (calls.len(), Vec::new());
                while !is_full(&calls)
                    && let Some(mut group) = waiting.next()
                {
                    if let Some(accounts) = self.accounts.get(&group.user.user) {
                        group.user.accounts = Accounts::new(accounts);
                    }
                    let encoded = header.encode(&group.user);
                    calls.push(Call {
                        name: "count",
                        keys: encoded.keys,
                        args: encoded.arguments,
                        operations: group.user.operations.len(),
                    });
                    sent.push(group);
                }
                let results = send(&calls).await?;
                calls.clear();
                for (mut group, result) in sent.into_iter().zip(results.iter().skip(first)) {
                    match result {
                        Reply::Integer(0) => {}
                        result => match (result.at(0)?, result.at(1)?) {
                            (Reply::List(outcomes), given) => {
                                let given = match given {
                                    Reply::List(given) => given.as_slice(),
                                    _ => &[],
                                };
                                decide(&group, outcomes, given, &mut decisions, &mut receipts)?;
                                continue;
                            }
                            (Reply::Text(kind), data) if kind == "accounts" => {
                                self.accounts.insert(&group.user.user, data.text()?);
                            }
                            (Reply::Text(kind), data) if kind == "records" => {
                                let mut records = Vec::new();
                                for found in data.list()? {
                                    let text = found.at(1)?.text()?.to_owned();
                                    records.push((found.at(0)?.unsigned()?, text));
                                }
                                if !group.user.set_found(records) {
                                    return Err(unexpected().into());
                                }
                            }
                            _ => return Err(unexpected().into()),
                        },
                    }
                    again.push(group);
                }
            }
            attempts += 1;
            if attempts > MAX_ATTEMPTS {
                return Err(unexpected().into());
            }
            groups = again;
        }
        Ok((decisions, receipts))
    }

    /// Returns the calls that give others what they receive.
    fn receive(&mut self, changes: Vec<Change>) -> Vec<Call> {
        let mut calls = Vec::new();
        let mut changes = changes.into_iter().peekable();
        while changes.peek().is_some() {
            let (keys, now) = (self.keys.clone(), Instant(self.started_at));
            let mut call = receive::Call::new(keys, 0, now, [LIFETIME; 5], false);
            for change in changes.by_ref().take(CALL_RECEIPTS) {
                self.receipts += 1;
                call.push(&format!("{}-{}", self.slice, self.receipts), change, false);
            }
            let (keys, json) = call.encode();
            calls.push(Call {
                operations: CALL_RECEIPTS,
                ..Call::new("receive", keys, &[FINGERPRINT, &json])
            });
        }
        calls
    }
}

/// Returns whether a request needs no further calls.
fn is_full(calls: &[Call]) -> bool {
    let (bytes, operations) = (
        calls.iter().map(Call::bytes),
        calls.iter().map(|call| call.operations),
    );
    bytes.sum::<usize>() >= REQUEST_BYTES || operations.sum::<usize>() >= REQUEST_OPERATIONS
}

/// Returns an entry of the stream of changes from its names and values.
fn receipt(words: &Reply) -> Result<OutboxEntry, StoreError> {
    let mut fields = Vec::new();
    for words in words.list()?.chunks(2) {
        if let [name, value] = words {
            fields.push((name.text()?.to_owned(), value.text()?.to_owned()));
        }
    }
    Ok(OutboxEntry {
        id: String::new(),
        fields,
    })
}

/// Records the outcomes of a user's operations, and adds what others receive for them.
fn decide(
    group: &Group,
    outcomes: &[Reply],
    receipts: &[Reply],
    decisions: &mut [Decision],
    changes: &mut Vec<Change>,
) -> Result<(), StoreError> {
    // The script adds the receipts in the order of the operations.
    let receipts = receipts.iter().map(receipt);
    let receipts: Vec<OutboxEntry> = receipts.collect::<Result<_, _>>()?;
    let mut receipts = receipts.into_iter().peekable();
    let operations = group.items.iter().zip(&group.user.operations).zip(outcomes);
    for ((item, operation), outcome) in operations {
        let mut decision = match outcome {
            Reply::Text(outcome) => Decision::refused(outcome),
            outcome => Decision {
                outcome: outcome.at(0)?.text()?.to_owned(),
                points: outcome.at(1)?.integer()?,
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
    Ok(())
}

/// Counts what the report needs of members, by both sets of rules.
#[derive(Default)]
pub struct Tallies(Vec<Call>);

impl Tallies {
    /// Adds the decisions about an activity of a day.
    pub fn add(
        &mut self,
        keys: &[Keys; 2],
        sets: &RuleSets,
        activity: &Activity,
        (date, decisions): (Date, [&Decision; 2]),
    ) {
        let rules = sets.rules(&activity.action);
        let has_cap = rules.is_some_and(|[before, _]| before.cap(true).is_some());
        for (keys, decision) in keys.iter().zip(decisions) {
            let limit = LIMITS.iter().find(|limit| **limit == decision.outcome);
            if let Some(limit) = limit {
                let key = keys.preview_refused(&activity.action, limit);
                self.count(key, &activity.user, 1);
            }
            if has_cap && decision.points > 0 {
                let key = keys.preview_days(&activity.action);
                let day = format!("{date} {}", activity.user);
                self.count(key, &day, decision.points);
            }
        }
    }

    fn count(&mut self, key: String, member: &str, amount: i64) {
        let known = self.0.iter_mut().find(|call| call.keys.contains(&key));
        let words = [member.to_owned(), amount.to_string()];
        match known {
            Some(call) => call.args.extend(words),
            None => self.0.push(Call {
                args: words.to_vec(),
                ..Call::new("tally", vec![key], &[])
            }),
        }
    }

    /// Returns the calls that store the counts, and the hidden users of the state.
    #[must_use]
    pub fn calls(self, hidden: &str, state: &State) -> Vec<Call> {
        let mut calls = self.0;
        for (user, is_hidden) in state.hidden.iter() {
            let command = if is_hidden == "1" { "SADD" } else { "SREM" };
            calls.push(Call::new("run", vec![hidden.to_owned()], &[command, user]));
        }
        calls
    }
}

/// Returns the calls that read the limits of the report, for [`Figures::limits`]. The first members of each limit are
/// named, as many as `named`.
#[must_use]
pub fn limit_calls(
    keys: &[Keys; 2],
    sets: &RuleSets,
    figures: &Figures,
    named: usize,
) -> Vec<Call> {
    let mut calls = Vec::new();
    let last = named.saturating_sub(1).to_string();
    for action in figures.actions() {
        for limit in LIMITS {
            let keys = keys
                .each_ref()
                .map(|keys| keys.preview_refused(action, limit));
            calls.push(Call::new("limit", keys.to_vec(), &[&last]));
        }
        if let Some([before, after]) = sets.rules(action)
            && let Some(cap) = before.cap(true)
        {
            let keys = keys.each_ref().map(|keys| keys.preview_days(action));
            let minimum = cap.saturating_sub(before.points).to_string();
            let after = after.cap(true).map_or(String::new(), |cap| cap.to_string());
            calls.push(Call::new("days", keys.to_vec(), &[&minimum, &after]));
        }
    }
    calls
}

/// Returns the key of the board of all points of a set of rules.
#[must_use]
pub fn board(keys: &Keys, kind: BoardKind) -> String {
    let day = Date::from_local_millis(0);
    match kind {
        BoardKind::Members | BoardKind::Event => keys.board(Period::All, day, None),
        BoardKind::Content | BoardKind::Authors => keys.received_board(kind, Period::All, day),
    }
}

/// Returns the call that takes hidden users off the boards of both sets, at most so many.
#[must_use]
pub fn hide_call(hidden: &str, keys: &[Keys; 2], most: usize) -> Call {
    let mut all = vec![hidden.to_owned()];
    for keys in keys {
        let kinds = [BoardKind::Members, BoardKind::Authors];
        all.extend(kinds.map(|kind| board(keys, kind)));
    }
    Call::new("hide", all, &[&most.to_string()])
}

/// Returns the call that counts the members of the board of each set.
#[must_use]
pub fn size_call(boards: [String; 2]) -> Call {
    Call::new("size", boards.to_vec(), &[])
}

/// Returns the call that compares a page of the board of one set with that of the other one.
#[must_use]
pub fn rank_call([board, other]: [String; 2], first: u64, count: u64) -> Call {
    let last = (first + count - 1).to_string();
    Call::new("rank", vec![board, other], &[&first.to_string(), &last])
}

fn unexpected() -> StoreError {
    StoreError::Unavailable("unexpected reply of a script".to_owned())
}
