//! A reader of the stored data of one prefix, independent of everything under test. Days are stored
//! in spans of 31, records in a packed form.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use jiff::ToSpan;
use jiff::civil::{Date, date};
use redis::{Connection, FromRedisValue, cmd, pipe};
use sha1::{Digest, Sha1};

use super::calendar::PERIODS;
use crate::redis_server::RedisServer;
use crate::sharding::{has_generation, home_of, key_in, rest, shards};
use crate::shared::scan;

/// The keys of one prefix. Its methods panic when a command fails.
pub struct Store {
    /// A direct connection to Redis.
    pub connection: Connection,
    /// A stored score is points × 2^bits + order number: 30, unless a test sets others.
    pub order_bits: u32,
    /// The generation of the data: one more after each rebuild or recount.
    pub generation: u32,
    prefix: String,
}

impl Store {
    /// Connects to a Redis.
    ///
    /// # Panics
    ///
    /// Panics when the server has been killed.
    pub fn new(redis: &RedisServer, prefix: &str) -> Self {
        Self {
            connection: redis.connection(),
            order_bits: 30,
            generation: 1,
            prefix: prefix.to_owned(),
        }
    }

    /// Returns a full key, on the shard of the user it belongs to, else of `42`.
    pub fn key(&self, rest: &str) -> String {
        key_in(self.generation, &self.prefix, home_of(rest), rest)
    }

    /// Returns the keys with this beginning, without their hash tags.
    pub fn keys(&mut self, beginning: &str) -> BTreeSet<String> {
        let keys = self.full_keys(beginning).into_iter();
        keys.map(|key| rest(&key).to_owned()).collect()
    }

    /// Returns the full keys of all shards with this beginning after the hash tag.
    pub fn full_keys(&mut self, beginning: &str) -> BTreeSet<String> {
        let generation = match has_generation(beginning) {
            true => self.generation.to_string(),
            false => String::new(),
        };
        let pattern = format!("{{{}:*}}{generation}{beginning}*", self.prefix);
        scan(&mut self.connection, &pattern).expect("SCAN")
    }

    /// Runs a command on one key: `run("TTL", "ba", &[])`.
    pub fn run<T: FromRedisValue>(&mut self, name: &str, key: &str, arguments: &[&str]) -> T {
        let key = self.key(key);
        cmd(name)
            .arg(key)
            .arg(arguments)
            .query(&mut self.connection)
            .unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Makes Redis know a script.
    ///
    /// # Panics
    ///
    /// Panics when Redis refuses it.
    pub fn load_script(&mut self, text: &str) {
        let mut load = cmd("SCRIPT");
        let loaded = load.arg("LOAD").arg(text).exec(&mut self.connection);
        loaded.expect("SCRIPT LOAD");
    }

    /// Returns users and points of several boards, best first: the visible users, then the hidden
    /// ones.
    pub fn boards(&mut self, keys: &[String]) -> Vec<[Vec<(String, u64)>; 2]> {
        let boards = self.scores(keys);
        boards
            .chunks(shards() as usize)
            .map(|parts| merge_shards(parts, self.order_bits))
            .collect()
    }

    /// Returns members and scores of each board on each shard.
    fn scores(&mut self, keys: &[String]) -> Vec<Vec<(String, f64)>> {
        if keys.is_empty() {
            return Vec::new();
        }
        let mut pipeline = pipe();
        for key in keys {
            for shard in 0..shards() {
                pipeline
                    .cmd("ZREVRANGE")
                    .arg(key_in(self.generation, &self.prefix, shard, key))
                    .arg(0)
                    .arg(-1)
                    .arg("WITHSCORES");
            }
        }
        pipeline.query(&mut self.connection).expect("ZREVRANGE")
    }

    /// Returns ids and points of several boards of content or of authors, best first: the visible ones, then
    /// the hidden ones.
    pub fn content_boards(&mut self, keys: &[String]) -> Vec<[Vec<(String, u64)>; 2]> {
        let boards = self.scores(keys);
        let boards = boards.chunks(shards() as usize);
        boards.map(merge_plain_shards).collect()
    }

    /// Returns the registrations of targets: number and author by id. With several shards the numbers are
    /// those of other shards: 0 here.
    pub fn targets(&mut self) -> BTreeMap<String, (u64, Option<String>)> {
        let mut targets = BTreeMap::new();
        for key in self.full_keys("t") {
            let fields: BTreeMap<String, String> = cmd("HGETALL")
                .arg(&key)
                .query(&mut self.connection)
                .expect("HGETALL");
            for (member, text) in &fields {
                let id = member.strip_prefix('#').unwrap_or(member);
                let [number, _, _, author, _] = text.splitn(5, ';').collect::<Vec<_>>()[..] else {
                    // The number of registrations, or a stub.
                    continue;
                };
                let author = Some(author.to_owned()).filter(|author| !author.is_empty());
                let number = match shards() {
                    1 => number.parse().expect("a number"),
                    _ => 0,
                };
                targets.insert(id.to_owned(), (number, author));
            }
        }
        targets
    }

    /// Returns the number of changes that others have not received yet.
    pub fn waiting(&mut self) -> usize {
        waiting(&mut self.connection, &self.prefix, shards())
    }

    /// Returns all fields of a hash.
    pub fn hash(&mut self, key: &str) -> BTreeMap<String, String> {
        self.run("HGETALL", key, &[])
    }

    /// Returns when a key expires, in Unix milliseconds; -1 if never, -2 if the key does not exist.
    pub fn expiry(&mut self, key: &str) -> i64 {
        self.run("PEXPIRETIME", key, &[])
    }

    /// Returns the value (as DUMP) and the expiry of every key.
    pub fn snapshot(&mut self) -> BTreeMap<String, (Vec<u8>, i64)> {
        let keys = self.full_keys("");
        let connection = &mut self.connection;
        let value = |key: String| {
            let dump: Vec<u8> = cmd("DUMP").arg(&key).query(connection).expect("a value");
            let expiry: i64 = cmd("PEXPIRETIME")
                .arg(&key)
                .query(connection)
                .expect("a value");
            (key, (dump, expiry))
        };
        keys.into_iter().map(value).collect()
    }

    /// Returns the history of each day and user: count and points by action, in their stored form.
    pub fn histories(&mut self) -> BTreeMap<(Date, String), BTreeMap<String, String>> {
        let mut days: BTreeMap<_, BTreeMap<String, String>> = BTreeMap::new();
        for key in self.keys("h:") {
            let (span, user) = span_and_user(&key);
            let fields = self.hash(&key).into_iter();
            for (field, value) in fields.filter(|(field, _)| is_total(field)) {
                let (digit, action) = field.split_at(1);
                let index = u32::from_str_radix(digit, 36).expect("a digit");
                let day = days.entry((day_in_span(span, index), user.clone()));
                // A known action is one letter, any other its name.
                let action = record_name(action);
                let action = action.strip_suffix(':').unwrap_or(&action);
                day.or_default().insert(action.to_owned(), value);
            }
        }
        days
    }

    /// Returns all daily records: day, user, and `action:target`.
    pub fn daily_records(&mut self) -> BTreeSet<(Date, String, String)> {
        let mut records = BTreeSet::new();
        for key in self.keys("h:") {
            let (span, user) = span_and_user(&key);
            let fields = self.hash(&key).into_iter();
            // The tab is the name of the marker.
            let is_daily = |field: &str| !is_total(field) && !field.starts_with(['-', '>', '\t']);
            for (field, days) in fields.filter(|(field, _)| is_daily(field)) {
                let bits: u32 = days.parse().expect("a number");
                for index in (0..31).filter(|index| (bits >> index) & 1 == 1) {
                    records.insert((day_in_span(span, index), user.clone(), record_name(&field)));
                }
            }
        }
        records
    }

    /// Returns what receivers have received: day, giver, action and [`receiver_hash`].
    pub fn pairs(&mut self) -> BTreeMap<(Date, String, String, String), String> {
        let mut pairs = BTreeMap::new();
        for key in self.keys("h:") {
            let (span, user) = span_and_user(&key);
            for (field, points) in self.hash(&key) {
                let Some(field) = field.strip_prefix('>') else {
                    continue;
                };
                let (digit, rest) = field.split_at(1);
                let (action, hash) = rest.split_at(rest.len() - 12);
                let index = u32::from_str_radix(digit, 36).expect("a digit");
                let action = record_name(action);
                let action = action.strip_suffix(':').unwrap_or(&action).to_owned();
                let pair = (
                    day_in_span(span, index),
                    user.clone(),
                    action,
                    hash.to_owned(),
                );
                pairs.insert(pair, points);
            }
        }
        pairs
    }

    /// Returns all undo records: key, and `action:target` and instant of each.
    pub fn undo_records(&mut self) -> Vec<(String, BTreeMap<String, String>)> {
        let mut all = Vec::new();
        for key in self.keys("h:") {
            let fields = self.hash(&key).into_iter();
            let record =
                |(field, at): (String, String)| Some((record_name(field.strip_prefix('-')?), at));
            let records: BTreeMap<_, _> = fields.filter_map(record).collect();
            if !records.is_empty() {
                all.push((key, records));
            }
        }
        all
    }
}

/// Returns the first 12 digits of the SHA-1 of a user.
pub fn receiver_hash(user: &str) -> String {
    let digest = Sha1::digest(user);
    digest[..6]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Returns whether a field of a history has totals: it begins with the digit of a day.
fn is_total(field: &str) -> bool {
    field.starts_with(|first: char| first.is_ascii_digit() || first.is_ascii_lowercase())
        && !field.contains(':')
}

/// Merges the parts of a board of content or of authors.
fn merge_plain_shards(parts: &[Vec<(String, f64)>]) -> [Vec<(String, u64)>; 2] {
    let rows = parts.iter().flatten().filter(|(member, _)| member != "#");
    // A member that begins with `#` has a second one.
    let id = |member: &String| member.strip_prefix('#').unwrap_or(member).to_owned();
    let mut all: Vec<(String, i64)> = rows
        .map(|(member, score)| (id(member), *score as i64))
        .collect();
    all.sort_by_key(|(id, score)| Reverse((score.abs(), id.clone())));
    let (visible, hidden): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, score)| *score > 0);
    [visible, hidden].map(|side| {
        let rows = side.into_iter();
        rows.map(|(id, score)| (id, score.unsigned_abs())).collect()
    })
}

/// Merges the shards of a board, without their order counters, into visible and hidden users. Scores
/// of hidden users are negative. Scores with equal points and order number are ordered by shard.
fn merge_shards(shards: &[Vec<(String, f64)>], order_bits: u32) -> [Vec<(String, u64)>; 2] {
    let (mut visible, mut hidden) = (Vec::new(), Vec::new());
    for (user, score) in shards.iter().flatten().filter(|(user, _)| user != "#") {
        let side = if *score < 0.0 {
            &mut hidden
        } else {
            &mut visible
        };
        side.push((user.clone(), score.abs() as u64));
    }
    [visible, hidden].map(|mut side| {
        side.sort_by_key(|(_, score)| Reverse(*score));
        let points = side.into_iter();
        points
            .map(|(user, score)| (user, score >> order_bits))
            .collect()
    })
}

/// Returns the span of a day, numbered since 1970, and the index of the day in it, 0 to 30.
///
/// # Panics
///
/// Panics outside jiff's range of dates, like all functions below.
pub fn span_of(day: Date) -> (i32, u32) {
    let number = date(1970, 1, 1).until(day).expect("days").get_days();
    (number.div_euclid(31), number.rem_euclid(31).unsigned_abs())
}

/// Returns the key of the user's history that contains a day, without the hash tag.
pub fn history_key(day: Date, user: &str) -> String {
    format!("h:{}:{user}", span_of(day).0)
}

/// Actions that are stored as one letter.
const ACTION_LETTERS: [(char, &str); 7] = [
    ('A', "adjust"),
    ('B', "bookmark"),
    ('C', "comment"),
    ('F', "follow"),
    ('L', "like"),
    ('P', "publish"),
    ('V', "visit"),
];

/// Decodes the field name of a record into `action:target`.
pub fn record_name(field: &str) -> String {
    let letter = ACTION_LETTERS
        .iter()
        .find(|(letter, _)| field.starts_with(*letter));
    letter.map_or(field.to_owned(), |(_, action)| {
        format!("{action}:{}", &field[1..])
    })
}

fn day_in_span(span: i32, index: u32) -> Date {
    let days = span * 31 + index.cast_signed();
    date(1970, 1, 1).checked_add(days.days()).expect("a day")
}

/// An active record as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRecord {
    /// The instant of the activity, in Unix milliseconds.
    pub at: i64,
    /// The instant of its latest repetition, if later.
    pub repeated: Option<i64>,
    /// The points, the same for every board and the day; for an adjustment one amount per board, in
    /// order, then one for the day.
    pub amounts: Vec<i64>,
    /// The day on which it counted.
    pub date: Date,
    /// The letters of the periods on whose boards it counted.
    pub periods: String,
    /// The groups in which it counted.
    pub groups: Vec<String>,
    /// What others received for it: points and periods, registration, author, and another target.
    pub received: Option<String>,
}

impl StoredRecord {
    /// Parses the value of a record's field in `m:`.
    ///
    /// # Panics
    ///
    /// Panics when it is malformed.
    #[track_caller]
    pub fn parse(text: &str) -> Self {
        let (text, received) = match text.split_once(';') {
            Some((text, received)) => (text, Some(received.to_owned())),
            None => (text, None),
        };
        let mut parts = text.split(',');
        let head = parts.next().unwrap_or_default();
        let groups = parts.map(str::to_owned).collect();
        let (head, repeated) = match head.split_once(':') {
            Some((head, at)) => (head, Some(at.parse().expect("an instant"))),
            None => (head, None),
        };
        let number = |text: &str| -> i64 { text.parse().expect("a number") };
        let words: Vec<&str> = head.split(' ').collect();
        let (at, amounts, day, periods) = if let [at, amounts, day, periods] = words[..] {
            (number(at), amounts, number(day), periods.to_owned())
        } else {
            let (rest, at) = head.split_at(head.len().checked_sub(13).expect("an instant"));
            let (points, code) = rest.split_at(rest.len().checked_sub(2).expect("two digits"));
            let (at, code) = (number(at), number(code));
            let bits = PERIODS.iter().enumerate();
            let periods = bits.filter(|(bit, _)| ((code / 3) >> bit) & 1 == 1);
            let periods = periods.map(|(_, (_, letter))| *letter).collect();
            let day = at.div_euclid(86_400_000) + code % 3 - 1;
            (at, points, day, periods)
        };
        Self {
            at,
            repeated,
            amounts: amounts.split('/').map(number).collect(),
            date: day_in_span(0, 0).checked_add(day.days()).expect("a day"),
            periods,
            groups,
            received,
        }
    }
}

/// Splits a key into span and user.
fn span_and_user(key: &str) -> (i32, String) {
    let parts: Vec<&str> = key.splitn(3, ':').collect();
    (parts[1].parse().expect("a span"), parts[2].to_owned())
}

/// Returns the number of entries in the streams of changes of a prefix that others have not received yet: those after the
/// position of the reader that give or take something.
///
/// # Panics
///
/// Panics when a command fails.
pub fn waiting(connection: &mut Connection, prefix: &str, shards: u32) -> usize {
    let mut count = 0;
    for shard in 0..shards {
        let key = |rest: &str| format!("{{{prefix}:{shard}}}{rest}");
        let name = if shards > 1 { "\t#o" } else { "\t#0" };
        let position: Option<String> = cmd("HGET")
            .arg(key("p"))
            .arg(name)
            .query(connection)
            .expect("HGET");
        let after = format!("({}", position.unwrap_or_else(|| "0-0".to_owned()));
        let entries: Vec<(String, BTreeMap<String, String>)> = cmd("XRANGE")
            .arg(key("o"))
            .arg(after)
            .arg("+")
            .query(connection)
            .expect("XRANGE");
        let gives = |fields: &BTreeMap<String, String>| {
            let has = |name: &str| fields.get(name).is_some_and(|value| !value.is_empty());
            match (fields["did"].as_str(), shards > 1) {
                ("count" | "undo", _) => has("received"),
                ("target", true) => has("at"),
                (_, true) => has("author"),
                (_, false) => false,
            }
        };
        count += entries.iter().filter(|(_, fields)| gives(fields)).count();
    }
    count
}
