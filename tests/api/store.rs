//! Looking at what the service keeps in Redis.

use std::collections::BTreeMap;

use redis::{Connection, FromRedisValue, Iter};
use test_support::{RedisServer, owner, rest};

/// The keys under one prefix.
pub struct Store {
    connection: Connection,
    prefix: String,
}

/// What a key holds (as `DUMP` writes it) and when it expires.
pub type Snapshot = BTreeMap<String, (Vec<u8>, i64)>;

impl Store {
    /// Those in the Redis that all tests share.
    pub fn shared(prefix: &str) -> Self {
        Self::of(test_support::redis(), prefix)
    }

    /// Those in one Redis.
    pub fn of(server: &RedisServer, prefix: &str) -> Self {
        Self {
            connection: server.connection(),
            prefix: prefix.to_owned(),
        }
    }

    /// A key by what follows the hash tag: on the shard of the user whom it names, else of 42.
    pub fn key(&self, rest: &str) -> String {
        test_support::key(&self.prefix, rest)
    }

    /// A key on the shard of a user.
    pub fn key_of(&self, user: &str, rest: &str) -> String {
        test_support::key_of(&self.prefix, user, rest)
    }

    /// A key on a shard.
    pub fn key_on(&self, shard: u32, rest: &str) -> String {
        format!("{{{}:{shard}}}{rest}", self.prefix)
    }

    /// Runs a command: `run("ZSCORE", &[&key, "42"])`.
    pub fn run<T: FromRedisValue>(&mut self, command: &str, arguments: &[&str]) -> T {
        let mut command = redis::cmd(command);
        arguments.iter().for_each(|argument| {
            command.arg(*argument);
        });
        command
            .query(&mut self.connection)
            .unwrap_or_else(|error| panic!("{command:?}: {error}"))
    }

    /// All keys, without the hash tag, in alphabetical order.
    pub fn keys(&mut self) -> Vec<String> {
        let whole = self.whole_keys();
        let mut keys: Vec<String> = whole.iter().map(|key| rest(key).to_owned()).collect();
        keys.sort();
        keys.dedup();
        keys
    }

    /// All keys of all shards.
    pub fn whole_keys(&mut self) -> Vec<String> {
        let pattern = format!("{{{}:*", self.prefix);
        let mut scan = redis::cmd("SCAN");
        scan.cursor_arg(0)
            .arg("MATCH")
            .arg(pattern)
            .arg("COUNT")
            .arg(1000);
        let found: Iter<'_, String> = scan.iter(&mut self.connection).expect("SCAN");
        let mut keys: Vec<String> = found.map(|key| key.expect("a key")).collect();
        keys.sort();
        keys.dedup();
        keys
    }

    /// Where a user is found: keys of their own, and shared ones that name them.
    pub fn traces(&mut self, user: &str) -> Vec<String> {
        let keys = self.whole_keys();
        let mut found = |key: &String| {
            let own = owner(rest(key)) == Some(user);
            own || match self.run::<String>("TYPE", &[key]).as_str() {
                "zset" => self.run::<Option<String>>("ZSCORE", &[key, user]).is_some(),
                "hash" => {
                    let held: Vec<String> = self.run("HGETALL", &[key]);
                    held.iter().any(|one| one == user)
                }
                _ => false,
            }
        };
        keys.into_iter().filter(|key| found(key)).collect()
    }

    /// Removes everything under the prefix.
    pub fn clear(&mut self) {
        for key in self.whole_keys() {
            self.run::<i64>("DEL", &[&key]);
        }
    }

    /// Everything under the prefix.
    pub fn snapshot(&mut self) -> Snapshot {
        let keys = self.whole_keys();
        let read = |key: String| {
            let held = self.run("DUMP", &[&key]);
            let expiry = self.run("PEXPIRETIME", &[&key]);
            (key, (held, expiry))
        };
        keys.into_iter().map(read).collect()
    }
}
