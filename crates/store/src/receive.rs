//! `receive.lua`: gives targets and authors what they receive for activities.
//!
//! The stream of changes of a shard, the outbox, says what others receive. This reader follows it, as the journal does:
//! it decodes the entries after its position and calls the script on the shards of the receivers. Each of them stores
//! the id of the last entry from each shard, so an entry is applied once, however often it is read. With several shards
//! the entry of a target names its author, and the reader of that stream gives the author on their shard.
//!
//! An entry leaves the stream when every reader has passed it: this one, and the journal if it is bound. The
//! counting script writes an entry after the boards, and takes it back before them if the store refuses a later write:
//! an entry in the stream belongs to an activity that has counted.

use crate::deployment::{Changed, Deployment};
use crate::keys::Keys;
use crate::redis::{Command, Pipeline, Reply, StoreError};
use crate::scripts::RECEIVE;
pub use crate::stream::{Change, Receipt, Receiver, board_lifetimes};
use crate::stream::{OutboxEntry, START, board_lifetime, is_after, position_field};
use activity_rank_core::board::BoardKind;
use activity_rank_core::calendar::{Date, Instant, Period};
use activity_rank_core::error::Error;
use serde::Serialize;

/// Entries of one shard that one round reads.
const BATCH: usize = 200;

/// Keys of the script before boards and lists.
const FIRST_KEYS: usize = 6;

/// What a run of [`receive`] has done.
#[derive(Debug, Default)]
pub struct Received {
    /// The shards whose streams may have more entries.
    pub left: Vec<u32>,
    /// The causes of changes that can never be made, because a value of the store is damaged, and of writes that the
    /// store refused.
    pub failed: Vec<Error>,
}

/// An item of the call. The header of `receive.lua` describes the fields.
#[derive(Default, Serialize)]
struct Item {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    authorship: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    listed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disowned: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instant: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    list: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Vec<usize>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    authors: Option<Vec<usize>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    counter: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    counts: Option<i64>,
    points: i64,
    periods: String,
    date: String,
    action: String,
    at: i64,
    dated: bool,
    names: bool,
    plain: bool,
}

/// A call of the script.
#[derive(Serialize)]
pub struct Call {
    from: u32,
    last: String,
    now: i64,
    journal: bool,
    lifetimes: Vec<u64>,
    items: Vec<Item>,
    #[serde(skip)]
    shard: Keys,
    #[serde(skip)]
    keys: Vec<String>,
    #[serde(skip)]
    keep: [u64; 5],
}

impl Call {
    /// Returns a call without items on the shard with these keys, for entries of the stream of the shard `from`. New boards
    /// live so many seconds, in the order of [`Period::ALL`]; 0 for no limit.
    #[must_use]
    pub fn new(shard: Keys, from: u32, now: Instant, keep: [u64; 5], journal: bool) -> Self {
        let keys = vec![
            shard.users(),
            shard.register(),
            shard.outbox(),
            shard.index(),
            shard.archived(),
            shard.tombstones(),
        ];
        Self {
            from,
            last: START.to_owned(),
            now: now.0,
            journal,
            lifetimes: Vec::new(),
            items: Vec::new(),
            shard,
            keys,
            keep,
        }
    }

    /// Appends what an entry with this id changes. `names` says that the author of a target may be on another shard.
    pub fn push(&mut self, id: &str, change: Change, names: bool) {
        if is_after(id, &self.last) {
            id.clone_into(&mut self.last);
        }
        let mut item = Item {
            id: id.to_owned(),
            names,
            ..Item::default()
        };
        match change {
            Change::Receipt(receipt) => {
                let boards = |kind| (kind, receipt.periods.as_slice(), receipt.date);
                match receipt.receiver {
                    Receiver::Target {
                        member,
                        number,
                        authorship,
                    } => {
                        item.content = Some(self.boards(boards(BoardKind::Content)));
                        self.count(&mut item, (&receipt.action, receipt.counts));
                        if !names {
                            item.authors = Some(self.boards(boards(BoardKind::Authors)));
                        }
                        item.target = Some(member);
                        item.number = Some(number);
                        item.authorship = Some(authorship);
                    }
                    Receiver::User {
                        id,
                        listed,
                        is_checked,
                    } => {
                        item.authors = Some(self.boards(boards(BoardKind::Authors)));
                        if is_checked {
                            item.list = Some(self.key(self.shard.targets_of(&id), 0));
                        }
                        item.user = Some(id);
                        item.listed = listed;
                    }
                }
                item.points = receipt.points;
                item.periods = receipt.periods.iter().map(|p| p.letter()).collect();
                item.date = receipt.date.to_string();
                item.action = receipt.action;
                item.at = receipt.at.0;
                item.dated = receipt.is_dated;
            }
            Change::List {
                user,
                member,
                instant,
                at,
            } => {
                item.list = Some(self.key(self.shard.targets_of(&user), 0));
                item.user = Some(user);
                item.listed = Some(member);
                item.instant = Some(instant);
                item.at = at.0;
            }
            Change::Disown { member, user } => {
                item.disowned = Some(member);
                item.user = Some(user);
            }
        }
        self.items.push(item);
    }

    /// Adds the board that counts the activities of a target with an action, if it changes.
    fn count(&mut self, item: &mut Item, (action, counts): (&str, i64)) {
        if counts != 0 {
            item.counter = Some(self.key(self.shard.count_board(action), 0));
            item.counts = Some(counts);
        }
    }

    /// Appends an entry of the journal that is replayed: points of a target and of a user, each empty for none, and the
    /// change of the number of activities with an action. Its number, and its part of an entry that has become several, take the place of the id.
    pub fn push_entry(
        &mut self,
        (number, part): (u64, u64),
        (target, user): (&str, &str),
        (points, counts): (i64, (&str, i64)),
        periods: &[Period],
        date: Date,
    ) {
        let mut item = Item {
            id: format!("{number}-{part}"),
            points,
            plain: true,
            ..Item::default()
        };
        if !target.is_empty() {
            item.target = Some(target.to_owned());
            item.content = Some(self.boards((BoardKind::Content, periods, date)));
            self.count(&mut item, counts);
        }
        if !user.is_empty() {
            item.user = Some(user.to_owned());
            item.authors = Some(self.boards((BoardKind::Authors, periods, date)));
        }
        self.last.clone_from(&item.id);
        self.items.push(item);
    }

    fn boards(&mut self, (kind, periods, date): (BoardKind, &[Period], Date)) -> Vec<usize> {
        let mut numbers = Vec::new();
        for period in periods {
            let lifetime = board_lifetime(&self.keep, *period);
            let key = self.shard.received_board(kind, *period, date);
            numbers.push(self.key(key, lifetime));
        }
        numbers
    }

    /// Returns the number of a key, from 1.
    fn key(&mut self, key: String, lifetime: u64) -> usize {
        let known = self
            .keys
            .iter()
            .skip(FIRST_KEYS)
            .position(|known| *known == key);
        if let Some(index) = known {
            return FIRST_KEYS + index + 1;
        }
        self.keys.push(key);
        self.lifetimes.push(lifetime);
        self.keys.len()
    }

    /// Returns whether the call has no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the keys of the script, and its argument after the fingerprint.
    #[must_use]
    pub fn encode(&self) -> (Vec<String>, String) {
        let json = serde_json::to_string(self).unwrap_or_default();
        (self.keys.clone(), json)
    }
}

/// Entries of a stream after the position of this reader.
struct Unread {
    shard: u32,
    entries: Vec<OutboxEntry>,
    /// The ids of all entries that were read.
    ids: Vec<String>,
    /// Whether there may be more of them.
    is_full: bool,
}

impl Unread {
    /// Returns the commands that store the position after these entries, which all receivers have applied, and remove
    /// them if there is no other reader. With one shard the script has stored it, if it was called.
    fn passed(&self, deployment: &Deployment, was_called: bool) -> Vec<Command> {
        let (config, keys) = (&deployment.config, deployment.keys(self.shard));
        let mut commands = Vec::new();
        if let Some(last) = self.entries.last() {
            if config.shards > 1 {
                let set = Command::new("HSET").arg(&keys.users());
                commands.push(set.arg(&position_field(config.shards > 1)).arg(&last.id));
            }
            if config.shards > 1 || was_called {
                deployment.set_received(self.shard, &last.id);
            }
        }
        if !config.bound.journal && !self.ids.is_empty() {
            commands.push(Command::new("XDEL").arg(&keys.outbox()).args(&self.ids));
        }
        commands
    }
}

/// Reads the next entries of some streams, after commands of which no reply is needed. The position of a stream is
/// remembered; if it is another one, the next call reads from there.
async fn read(
    deployment: &Deployment,
    shards: &[u32],
    mut commands: Vec<Command>,
) -> Result<Vec<Unread>, Error> {
    let config = &deployment.config;
    let first = commands.len();
    for shard in shards {
        let keys = deployment.keys(*shard);
        let position = Command::new("HMGET").arg(&keys.users());
        let position = position.arg(Keys::FINGERPRINT);
        commands.push(position.arg(&position_field(config.shards > 1)));
        // Without a journal this reader alone removes entries, also those that an earlier run has left.
        let after = match config.bound.journal {
            true => format!("({}", deployment.received(*shard)),
            false => "-".to_owned(),
        };
        let range = Command::new("XRANGE").arg(&keys.outbox()).arg(&after);
        commands.push(range.arg("+").arg("COUNT").number(BATCH as i64));
    }
    // Also while the circuit is open, as the metrics are read.
    let replies = deployment.store.run_each(&Pipeline::new(commands)).await?;
    let replies = replies.into_iter().collect::<Result<Vec<Reply>, _>>()?;
    let mut all = Vec::new();
    let stream_replies = replies.get(first..).unwrap_or_default().chunks(2);
    for (shard, replies) in shards.iter().zip(stream_replies) {
        let [stored, entries] = replies else {
            continue;
        };
        deployment.check(*shard, stored.at(0)?)?;
        let position = stored.at(1)?.optional_text()?.unwrap_or(START);
        let known = deployment.received(*shard);
        let decoded = entries.list()?.iter().map(OutboxEntry::decode);
        let mut entries: Vec<OutboxEntry> = decoded.collect::<Result<_, _>>()?;
        let ids = entries.iter().map(|entry| entry.id.clone()).collect();
        let mut is_full = entries.len() == BATCH;
        if position != known {
            deployment.set_received(*shard, position);
            if config.bound.journal && is_after(&known, position) {
                (entries, is_full) = (Vec::new(), true);
            }
        }
        entries.retain(|entry| is_after(&entry.id, position));
        all.push(Unread {
            shard: *shard,
            entries,
            ids,
            is_full,
        });
    }
    Ok(all)
}

/// Returns the number of entries, of at most a few hundred for each shard, that others have not received yet. Also works
/// during a rebuild.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn waiting(deployment: &Deployment) -> Result<u64, Error> {
    let mut shards: Vec<u32> = (0..deployment.config.shards).collect();
    let mut count = 0;
    // The first read finds the position.
    for _ in 0..2 {
        let mut again = Vec::new();
        for unread in read(deployment, &shards, Vec::new()).await? {
            let changes = unread.entries.iter();
            let has_shards = deployment.config.shards > 1;
            let changes = changes.filter_map(|entry| Change::decode(entry, has_shards));
            match changes.count() {
                0 if unread.is_full => again.push(unread.shard),
                found => count += found as u64,
            }
        }
        if again.is_empty() {
            break;
        }
        shards = again;
    }
    Ok(count)
}

/// Applies what others receive by the streams of some shards, and what follows from it, in at most so many rounds of two
/// requests.
///
/// # Errors
///
/// As [`Deployment::run_script`]; then the entries wait.
pub async fn receive(
    deployment: &Deployment,
    shards: Vec<u32>,
    rounds: u32,
    now: Instant,
) -> Result<Received, Error> {
    let mut received = Received {
        left: shards,
        failed: Vec::new(),
    };
    let mut passed: Vec<Command> = Vec::new();
    for _ in 0..rounds {
        let mut sources = std::mem::take(&mut received.left);
        sources.sort_unstable();
        sources.dedup();
        if sources.is_empty() {
            break;
        }
        let unread = read(deployment, &sources, std::mem::take(&mut passed)).await?;
        let mut calls = Vec::new();
        for source in &unread {
            calls.extend(calls_of(deployment, source, now));
        }
        let called: Vec<u32> = calls.iter().map(|(source, ..)| *source).collect();
        let refused = run(deployment, calls, &mut received).await?;
        for source in unread {
            if refused.contains(&source.shard) {
                continue;
            }
            if source.is_full {
                received.left.push(source.shard);
            }
            passed.extend(source.passed(deployment, called.contains(&source.shard)));
        }
        received.left.retain(|shard| !refused.contains(shard));
    }
    if !passed.is_empty() {
        deployment.store.run(&Pipeline::new(passed)).await?;
    }
    Ok(received)
}

/// Returns the calls that apply entries of a stream, each with the shard of its receivers.
fn calls_of(deployment: &Deployment, source: &Unread, now: Instant) -> Vec<(u32, u32, Call)> {
    let config = &deployment.config;
    let (has_shards, keep) = (config.shards > 1, board_lifetimes(&config.keep));
    let Some(last) = source.entries.last() else {
        return Vec::new();
    };
    let new_call = |shard| {
        let (keys, journal) = (deployment.keys(shard), config.bound.journal);
        let mut call = Call::new(keys, source.shard, now, keep, journal);
        call.last.clone_from(&last.id);
        (source.shard, shard, call)
    };
    let mut calls: Vec<(u32, u32, Call)> = Vec::new();
    // With one shard the script stores the position, also without items.
    if !has_shards && source.is_full {
        calls.push(new_call(source.shard));
    }
    for entry in &source.entries {
        let Some(change) = Change::decode(entry, has_shards) else {
            continue;
        };
        let shard = change.shard(config);
        let index = match calls.iter().position(|(_, known, _)| *known == shard) {
            Some(index) => index,
            None => {
                calls.push(new_call(shard));
                calls.len() - 1
            }
        };
        if let Some((_, _, call)) = calls.get_mut(index) {
            call.push(&entry.id, change, has_shards);
        }
    }
    calls
}

/// Runs calls. Returns the shards whose entries the store refused.
async fn run(
    deployment: &Deployment,
    calls: Vec<(u32, u32, Call)>,
    received: &mut Received,
) -> Result<Vec<u32>, Error> {
    let mut refused = Vec::new();
    if calls.is_empty() {
        return Ok(refused);
    }
    deployment.claim().await?;
    let commands = calls.iter().map(|(_, shard, call)| {
        let (keys, json) = call.encode();
        let command = Command::script(&RECEIVE, &keys).arg(&deployment.fingerprint(*shard));
        command.arg(&json)
    });
    let replies = deployment.run_scripts(commands.collect()).await?;
    for ((source, shard, _), reply) in calls.iter().zip(&replies) {
        match Outcome::decode(reply)? {
            Outcome::Applied { errors, watched } => {
                received.failed.extend(errors);
                if !watched.is_empty() {
                    (deployment.on_change)(Changed::Boards(&watched));
                }
                if deployment.config.shards > 1 {
                    // Its own stream may name authors.
                    received.left.push(*shard);
                }
            }
            Outcome::Refused(error) => {
                received.failed.push(error);
                refused.push(*source);
            }
        }
    }
    Ok(refused)
}

/// The reply of the script.
enum Outcome {
    Applied {
        /// Of items that damaged values prevent.
        errors: Vec<Error>,
        /// Names of boards between spaces.
        watched: String,
    },
    Refused(Error),
}

impl Outcome {
    fn decode(reply: &Reply) -> Result<Self, StoreError> {
        if let Reply::Text(_) = reply.at(1)? {
            let mut cause = reply.at(2)?.text()?.to_owned();
            if reply.at(3)?.integer()? == 0 {
                cause.push_str(", and to restore the former values: run `verify`");
            }
            return Ok(Self::Refused(StoreError::from_reply(cause).into()));
        }
        let error = |text: &Reply| Ok(StoreError::from_reply(text.text()?.to_owned()).into());
        let errors = reply.at(1)?.list()?.iter().map(error);
        Ok(Self::Applied {
            errors: errors.collect::<Result<_, StoreError>>()?,
            watched: reply.at(2)?.text()?.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(fields: &[(&str, &str)]) -> OutboxEntry {
        let fields = fields.iter();
        let fields = fields.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        OutboxEntry {
            id: "7-0".to_owned(),
            fields: fields.collect(),
        }
    }

    fn activity<'a>(did: &'a str, mark: &'a str, received: &'a str) -> Vec<(&'a str, &'a str)> {
        vec![
            ("did", did),
            ("action", "like"),
            ("mark", mark),
            ("at", "5"),
            ("dated", "0"),
            ("date", "2026-11-20"),
            ("received", received),
            ("counted", "3"),
        ]
    }

    fn target(member: &str, authorship: &str) -> Receiver {
        Receiver::Target {
            member: member.to_owned(),
            number: "3.17".to_owned(),
            authorship: authorship.to_owned(),
        }
    }

    fn user(id: &str, listed: Option<&str>) -> Receiver {
        Receiver::User {
            id: id.to_owned(),
            listed: listed.map(str::to_owned),
            is_checked: listed.is_some(),
        }
    }

    #[test]
    fn activities_give_points_and_undos_take_them() {
        let receipt = |receiver, points, at, is_dated| {
            Some(Change::Receipt(Receipt {
                receiver,
                points,
                counts: 0,
                periods: vec![Period::Week, Period::All],
                date: Date::parse("2026-11-20").unwrap(),
                action: "like".to_owned(),
                at: Instant(at),
                is_dated,
            }))
        };
        let (mine, other) = (target("##7", "1"), target("post;8", ""));
        let (nine, ten) = (user("9", None), user("10", None));
        for (did, mark, received, expected) in [
            (
                "count",
                "like:#7",
                "20wa;3.17;1",
                receipt(mine, 20, 5, false),
            ),
            (
                "undo",
                "like:c-1",
                "20wa;3.17;;post;8",
                receipt(other, -20, 3, true),
            ),
            ("count", "like:9", "20wa;;", receipt(nine, 20, 5, false)),
            ("undo", "like:c-1", "20wa;;;10", receipt(ten, -20, 3, true)),
            ("count", "like:9", "", None),
            ("count", "like:9", "20x;;", None),
            ("count", "like", "20wa;;", None),
            ("adjust", "like:9", "20wa;;", None),
        ] {
            let fields = activity(did, mark, received);
            for has_shards in [false, true] {
                let found = Change::decode(&entry(&fields), has_shards);
                assert_eq!(found, expected, "{did} {mark} {received}");
            }
        }
    }

    #[test]
    fn entries_name_authors_on_other_shards() {
        let list = |instant: &str, at| Change::List {
            user: "9".to_owned(),
            member: "post-7".to_owned(),
            instant: instant.to_owned(),
            at: Instant(at),
        };
        let mut receive = vec![
            ("did", "receive"),
            ("user", ""),
            ("target", "post-7"),
            ("points", "-2"),
            ("kinds", "a"),
            ("date", "2026-11-20"),
            ("action", "like"),
            ("changed", "5"),
        ];
        assert_eq!(Change::decode(&entry(&receive), true), None);
        receive.push(("author", "9"));
        let receipt = Change::Receipt(Receipt {
            receiver: user("9", Some("post-7")),
            points: -2,
            counts: 0,
            periods: vec![Period::All],
            date: Date::parse("2026-11-20").unwrap(),
            action: "like".to_owned(),
            at: Instant(5),
            is_dated: true,
        });
        let registered = [("target", "post-7"), ("user", "9"), ("instant", "4")];
        let target = |at| [&[("did", "target"), ("at", at)], &registered[..]].concat();
        let deleted = |author| {
            let fields = [("did", "moderate-target"), ("target", "post-7")];
            [&fields[..], &[("author", author), ("now", "6")]].concat()
        };
        let disowned = [("did", "disown"), ("target", "post-7"), ("author", "9")];
        let disown = Change::Disown {
            member: "post-7".to_owned(),
            user: "9".to_owned(),
        };
        for (fields, expected) in [
            (receive, Some(receipt)),
            (target("5"), Some(list("4", 5))),
            // Its author is known already.
            (target(""), None),
            (deleted("9"), Some(list("", 6))),
            (deleted(""), None),
            (disowned.to_vec(), Some(disown)),
        ] {
            let entry = entry(&fields);
            assert_eq!(Change::decode(&entry, true), expected, "{fields:?}");
            assert_eq!(Change::decode(&entry, false), None, "{fields:?}");
        }
    }

    #[test]
    fn counted_target_has_a_further_board() {
        let mut call = Call::new(Keys::new("ar", 0, 1), 0, Instant(8), [0; 5], false);
        for (id, did, received) in [
            ("5-0", "count", "2an;3.17;1"),
            ("6-0", "undo", "0n;3.17;"),
            ("7-0", "count", "2a;3.17;1"),
        ] {
            let fields = activity(did, "like:a", received);
            let change = Change::decode(&entry(&fields), false).unwrap();
            call.push(id, change, false);
        }
        let (keys, json) = call.encode();
        let boards = ["bTa:all", "bTa:all:like", "bAa:all"];
        let boards = boards.map(|name| format!("{{ar:0}}1{name}"));
        assert_eq!(keys[FIRST_KEYS..], boards);
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let fields = ["content", "counter", "counts", "points"];
        let items = json["items"].as_array().unwrap().iter();
        let items = items.map(|item| serde_json::json!(fields.map(|name| &item[name])));
        let expected = ["[[7],8,1,2]", "[[],8,-1,0]", "[[7],null,null,2]"];
        assert!(items.map(|item| item.to_string()).eq(expected));
    }

    #[test]
    fn ids_are_ordered_by_number() {
        for (id, other, expected) in [
            ("9-0", "10-0", false),
            ("10-0", "9-5", true),
            ("9-10", "9-9", true),
            ("9-9", "9-9", false),
            ("1-0", START, true),
            ("x", START, false),
        ] {
            assert_eq!(is_after(id, other), expected, "{id} {other}");
        }
    }

    /// Keys are declared once, and items refer to them by number.
    #[test]
    fn items_of_a_call_share_boards() {
        let keep = [31, 91, 366, 731, 0];
        let mut call = Call::new(Keys::new("ar", 0, 1), 3, Instant(8), keep, true);
        for (id, mark) in [("5-0", "like:a"), ("6-0", "like:b")] {
            let fields = activity("count", mark, "2wa;3.17;1");
            let change = Change::decode(&entry(&fields), false).unwrap();
            call.push(id, change, false);
        }
        let (keys, json) = call.encode();
        let boards = ["bTw:2026-W47", "bTa:all", "bAw:2026-W47", "bAa:all"];
        let boards = boards.map(|name| format!("{{ar:0}}1{name}"));
        assert_eq!(keys[FIRST_KEYS..], boards);
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["last"], "6-0");
        assert_eq!(json["lifetimes"], serde_json::json!([91, 0, 91, 0]));
        for (item, target) in json["items"].as_array().unwrap().iter().zip(["a", "b"]) {
            assert_eq!(item["target"], target);
            assert_eq!(item["content"], serde_json::json!([7, 8]));
            assert_eq!(item["authors"], serde_json::json!([9, 10]));
            assert!(item.get("user").is_none(), "{item}");
        }
    }
}
