//! What lies in Redis under one prefix, read past everything under test.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use redis::{Connection, FromRedisValue, cmd, pipe};

use crate::redis_server::RedisServer;
use crate::sharding::{self, rest, shards};

/// A score is points above 30 bits of order.
const ORDERS: u64 = 1 << 30;

/// The keys of one prefix. A command that fails fails the test.
pub struct Store {
    /// Straight to Redis.
    pub connection: Connection,
    prefix: String,
}

impl Store {
    /// Those in one Redis.
    ///
    /// # Panics
    ///
    /// When the server has been killed; so with all that follow.
    #[must_use]
    pub fn new(redis: &RedisServer, prefix: &str) -> Self {
        Self {
            connection: redis.connection(),
            prefix: prefix.to_owned(),
        }
    }

    /// A whole key: on the shard of the user whom it names, else of 42.
    #[must_use]
    pub fn key(&self, rest: &str) -> String {
        sharding::key(&self.prefix, rest)
    }

    /// The keys that begin so, without the tags.
    pub fn keys(&mut self, begin: &str) -> BTreeSet<String> {
        let keys = self.whole_keys(begin).into_iter();
        keys.map(|key| rest(&key).to_owned()).collect()
    }

    /// The whole keys of all shards that begin so behind the tags.
    pub fn whole_keys(&mut self, begin: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let (mut cursor, pattern) = (0u64, format!("{{{}:*}}{begin}*", self.prefix));
        loop {
            let mut scan = cmd("SCAN");
            scan.arg(cursor)
                .arg("MATCH")
                .arg(&pattern)
                .arg("COUNT")
                .arg(1000);
            let (next, keys): (u64, Vec<String>) = scan.query(&mut self.connection).expect("SCAN");
            found.extend(keys);
            if next == 0 {
                return found;
            }
            cursor = next;
        }
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

    /// Users and points of several boards, the best first: those that are seen, and those hidden.
    pub fn boards(&mut self, keys: &[String]) -> Vec<[Vec<(String, u64)>; 2]> {
        if keys.is_empty() {
            return Vec::new();
        }
        let mut pipeline = pipe();
        for key in keys {
            for shard in 0..shards() {
                pipeline
                    .cmd("ZREVRANGE")
                    .arg(format!("{{{}:{shard}}}{key}", self.prefix))
                    .arg(0)
                    .arg(-1)
                    .arg("WITHSCORES");
            }
        }
        let boards: Vec<Vec<(String, f64)>> =
            pipeline.query(&mut self.connection).expect("ZREVRANGE");
        boards.chunks(shards() as usize).map(joined).collect()
    }

    /// A whole hash.
    pub fn hash(&mut self, key: &str) -> BTreeMap<String, String> {
        self.run("HGETALL", key, &[])
    }

    /// When a key expires, in Unix milliseconds; -1 never, -2 there is none.
    pub fn expiry(&mut self, key: &str) -> i64 {
        self.run("PEXPIRETIME", key, &[])
    }

    /// Every key with its whole value and expiry.
    pub fn snapshot(&mut self) -> BTreeMap<String, (Vec<u8>, i64)> {
        let keys = self.whole_keys("");
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
}

/// The boards of all shards as one, without their counters; who is hidden has a score below zero.
/// Equals, points and order number alike, are by shard.
fn joined(shards: &[Vec<(String, f64)>]) -> [Vec<(String, u64)>; 2] {
    let (mut seen, mut hidden) = (Vec::new(), Vec::new());
    for (user, score) in shards.iter().flatten().filter(|(user, _)| user != "#") {
        let side = if *score < 0.0 { &mut hidden } else { &mut seen };
        side.push((user.clone(), score.abs() as u64));
    }
    [seen, hidden].map(|mut side| {
        side.sort_by_key(|(_, score)| Reverse(*score));
        let points = side.into_iter();
        points.map(|(user, score)| (user, score / ORDERS)).collect()
    })
}
