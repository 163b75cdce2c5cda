//! Looking at what the service keeps in Redis.

use std::collections::BTreeMap;

use redis::{Connection, FromRedisValue, Iter};
use test_support::RedisServer;

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

    /// A key by what follows the hash tag.
    pub fn key(&self, rest: &str) -> String {
        format!("{{{}:0}}{rest}", self.prefix)
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
        let tag = self.key("");
        keys.into_iter()
            .map(|key| key.replacen(&tag, "", 1))
            .collect()
    }

    /// Where a user is found: the names of keys of their own, and of shared ones that name them.
    pub fn traces(&mut self, user: &str) -> Vec<String> {
        let names = self.keys();
        let mut found = |name: &String| {
            let key = self.key(name);
            let own = match name.splitn(3, ':').collect::<Vec<_>>()[..] {
                ["h" | "v" | "u", _, of] => of == user,
                ["m", ..] => *name == format!("m:{user}"),
                _ => false,
            };
            own || match self.run::<String>("TYPE", &[&key]).as_str() {
                "zset" => self
                    .run::<Option<String>>("ZSCORE", &[&key, user])
                    .is_some(),
                "hash" => {
                    let held: Vec<String> = self.run("HGETALL", &[&key]);
                    held.iter().any(|one| one == user)
                }
                _ => false,
            }
        };
        names.into_iter().filter(|name| found(name)).collect()
    }

    /// Removes everything under the prefix.
    pub fn clear(&mut self) {
        for name in self.keys() {
            let key = self.key(&name);
            self.run::<i64>("DEL", &[&key]);
        }
    }

    /// Everything under the prefix.
    pub fn snapshot(&mut self) -> Snapshot {
        let keys = self.keys();
        let read = |rest: String| {
            let key = self.key(&rest);
            let held = self.run("DUMP", &[&key]);
            (rest, (held, self.run("PEXPIRETIME", &[&key])))
        };
        keys.into_iter().map(read).collect()
    }
}
