//! Inspection of the keys that a service writes to Redis.

use std::collections::{BTreeMap, BTreeSet};

use activity_rank_store::keys::Keys;
use redis::{Connection, FromRedisValue};
use test_support::reference::waiting;
use test_support::{RedisServer, owner, rest, scan, shards};

use crate::clock::day;

/// The entries of an empty stream as [`Store::elements`] returns them.
const NO_ENTRIES: &str = "array([])";

/// The field of the hash of users that holds the schema fingerprint.
pub const FINGERPRINT: &str = Keys::FINGERPRINT;

/// The keys of one prefix.
pub struct Store {
    connection: Connection,
    prefix: String,
}

/// The elements as text, and the expiry (from `PEXPIRETIME`), of every key.
pub type Snapshot = BTreeMap<String, (String, i64)>;

impl Store {
    /// Returns the keys of a prefix in the Redis that all tests share.
    pub fn shared(prefix: &str) -> Self {
        Self::of(test_support::redis(), prefix)
    }

    /// Returns the keys of a prefix in one Redis.
    pub fn of(server: &RedisServer, prefix: &str) -> Self {
        Self {
            connection: server.connection(),
            prefix: prefix.to_owned(),
        }
    }

    /// Returns the key that ends in `rest`: on the shard of the user named in `rest`, or of user 42.
    pub fn key(&self, rest: &str) -> String {
        test_support::key(&self.prefix, rest)
    }

    /// Returns the key on the shard of a user.
    pub fn key_of(&self, user: &str, rest: &str) -> String {
        test_support::key_of(&self.prefix, user, rest)
    }

    /// Returns the key on a shard.
    pub fn key_on(&self, shard: u32, rest: &str) -> String {
        test_support::key_on(&self.prefix, shard, rest)
    }

    /// Runs a command: `run("ZSCORE", &[&key, "42"])`.
    pub fn run<T: FromRedisValue>(&mut self, command: &str, arguments: &[&str]) -> T {
        let mut command = redis::cmd(command);
        command
            .arg(arguments)
            .query(&mut self.connection)
            .unwrap_or_else(|error| panic!("{command:?}: {error}"))
    }

    /// Adds boards to the index of a user's shard, and the user to every tenth of them.
    pub fn add_boards(&mut self, user: &str, boards: u32) {
        let script = "for i = 1, tonumber(ARGV[2]) do
            local name = 'a:all:g' .. i
            local board = ARGV[1] .. 'b' .. name
            redis.call('ZADD', KEYS[1], 'inf', name)
            if i % 10 == 0 then redis.call('ZADD', board, 5, '#', i * 2 ^ 30, ARGV[3], 2 ^ 30, 'a') end
            end";
        let index = self.key_of(user, "i");
        let tag = index.trim_end_matches('i').to_owned();
        let boards = boards.to_string();
        self.run::<()>("EVAL", &[script, "1", &index, &tag, &boards, user]);
    }

    /// Returns the number of pending changes on a user's shard.
    pub fn pending_changes(&mut self, user: &str) -> usize {
        let key = self.key_of(user, "p");
        let stored: Option<String> = self.run("HGET", &[&key, FINGERPRINT]);
        stored.unwrap_or_default().lines().skip(1).count()
    }

    /// Returns the number of changes that others have not received yet.
    pub fn waiting(&mut self) -> usize {
        waiting(&mut self.connection, &self.prefix, shards())
    }

    /// Returns all keys without their hash tags, sorted and without duplicates.
    pub fn keys(&mut self) -> Vec<String> {
        let full = self.full_keys();
        let mut keys: Vec<String> = full.iter().map(|key| rest(key).to_owned()).collect();
        keys.sort();
        keys.dedup();
        keys
    }

    /// Returns all keys of all shards, sorted.
    pub fn full_keys(&mut self) -> Vec<String> {
        let pattern = format!("{{{}:*", self.prefix);
        let keys = scan(&mut self.connection, &pattern).expect("SCAN");
        keys.into_iter().collect()
    }

    /// Returns the keys that contain data of a user: the user's own, and shared ones with the user as
    /// a member, field or value.
    pub fn traces(&mut self, user: &str) -> Vec<String> {
        let keys = self.full_keys();
        let mut found = |key: &String| {
            let own = owner(rest(key)) == Some(user);
            own || match self.run::<String>("TYPE", &[key]).as_str() {
                "zset" => self.run::<Option<String>>("ZSCORE", &[key, user]).is_some(),
                "hash" => {
                    let entries: Vec<String> = self.run("HGETALL", &[key]);
                    let name = |entry: &str| entry.strip_prefix(Keys::FLAGS) == Some(user);
                    entries.iter().any(|entry| entry == user || name(entry))
                }
                _ => false,
            }
        };
        keys.into_iter().filter(|key| found(key)).collect()
    }

    /// Returns the key of the only history; it contains the number of its span of 31 days.
    pub fn history(&mut self) -> String {
        let mut keys = self.keys().into_iter();
        let history = keys.find(|key| key.starts_with("h:"));
        history.expect("a history")
    }

    /// Deletes the keys whose names without hash tags satisfy a condition, as when they expire. Returns the names; a
    /// name counts once, whatever the number of shards.
    pub fn delete(&mut self, condition: impl Fn(&str) -> bool) -> BTreeSet<String> {
        let mut keys = self.full_keys();
        keys.retain(|key| condition(rest(key)));
        for key in &keys {
            self.run::<i64>("DEL", &[key]);
        }
        keys.iter().map(|key| rest(key).to_owned()).collect()
    }

    /// Deletes the closed boards of days. Returns their number.
    pub fn drop_closed_days(&mut self) -> usize {
        let today = format!("bd:{}", day(0));
        let is_closed = |name: &str| name.starts_with("bd:") && !name.starts_with(&today);
        self.delete(is_closed).len()
    }

    /// Deletes all keys of the prefix.
    pub fn clear(&mut self) {
        self.delete(|_| true);
    }

    /// Returns the elements and expiries of all keys of the prefix. A stream without entries is as
    /// good as none. The progress of the jobs, which changes with each run, is left out.
    pub fn snapshot(&mut self) -> Snapshot {
        let mut keys = self.full_keys();
        keys.retain(|key| rest(key) != "j" && !rest(key).starts_with("V:"));
        let read = |key: String| {
            let elements = self.elements(&key);
            let expiry = self.run("PEXPIRETIME", &[&key]);
            (key, (elements, expiry))
        };
        let exists = |(_, (elements, _)): &(_, (String, _))| elements != NO_ENTRIES;
        keys.into_iter().map(read).filter(exists).collect()
    }

    /// Returns the elements of a key as text. Those of hashes and sets are sorted, because Redis
    /// keeps them in no order.
    fn elements(&mut self, key: &str) -> String {
        let kind: String = self.run("TYPE", &[key]);
        match kind.as_str() {
            "hash" => {
                let fields: BTreeMap<String, String> = self.run("HGETALL", &[key]);
                format!("{fields:?}")
            }
            "set" => {
                let members: BTreeSet<String> = self.run("SMEMBERS", &[key]);
                format!("{members:?}")
            }
            "zset" => {
                let members: Vec<String> = self.run("ZRANGE", &[key, "0", "-1", "WITHSCORES"]);
                format!("{members:?}")
            }
            "stream" => {
                let entries: redis::Value = self.run("XRANGE", &[key, "-", "+"]);
                format!("{entries:?}")
            }
            "list" => {
                let items: Vec<String> = self.run("LRANGE", &[key, "0", "-1"]);
                format!("{items:?}")
            }
            _ => self.run("GET", &[key]),
        }
    }
}

/// Returns the commands that a Redis has run since the last call.
pub fn take_commands(redis: &mut Connection) -> u64 {
    let mut command = redis::cmd("INFO");
    let stats: String = command.arg("commandstats").query(redis).expect("INFO");
    let lines = stats.lines().filter_map(|line| {
        let (name, figures) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
        // This test and the gateway send these.
        let own = ["info", "config|resetstat", "ping"].contains(&name);
        let calls = figures.split(',').next()?.parse::<u64>().ok()?;
        (!own).then_some(calls)
    });
    let total = lines.sum();
    let mut command = redis::cmd("CONFIG");
    let reset = command.arg("RESETSTAT").exec(redis);
    reset.expect("CONFIG RESETSTAT");
    total
}
