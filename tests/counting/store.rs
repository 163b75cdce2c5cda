//! What lies in Redis under one prefix, read past everything under test.

use redis::{Connection, FromRedisValue, cmd, pipe};
use std::collections::{BTreeMap, BTreeSet};
use test_support::RedisServer;

/// A score is points above 30 bits of order.
const ORDERS: f64 = (1u64 << 30) as f64;

pub struct Store {
    pub connection: Connection,
    tag: String,
}

impl Store {
    pub fn new(redis: &RedisServer, prefix: &str) -> Self {
        Self {
            connection: redis.connection(),
            tag: format!("{{{prefix}:0}}"),
        }
    }

    /// A whole key.
    pub fn key(&self, rest: &str) -> String {
        format!("{}{rest}", self.tag)
    }

    /// The keys that begin so, without the tag that all have.
    pub fn keys(&mut self, begin: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let (mut cursor, pattern) = (0u64, self.key(begin) + "*");
        loop {
            let mut scan = cmd("SCAN");
            scan.arg(cursor)
                .arg("MATCH")
                .arg(&pattern)
                .arg("COUNT")
                .arg(1000);
            let (next, keys): (u64, Vec<String>) = scan.query(&mut self.connection).unwrap();
            found.extend(keys.iter().map(|key| key[self.tag.len()..].to_owned()));
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
            .unwrap()
    }

    /// Users and points of several boards, the best first: those that are seen, and those hidden.
    pub fn boards(&mut self, keys: &[String]) -> Vec<[Vec<(String, u64)>; 2]> {
        if keys.is_empty() {
            return Vec::new();
        }
        let mut pipeline = pipe();
        for key in keys {
            pipeline
                .cmd("ZREVRANGE")
                .arg(self.key(key))
                .arg(0)
                .arg(-1)
                .arg("WITHSCORES");
        }
        let boards: Vec<Vec<(String, f64)>> = pipeline.query(&mut self.connection).unwrap();
        boards.into_iter().map(split).collect()
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
        let keys = self.keys("");
        let value = |key: String| {
            let dump: Vec<u8> = self.run("DUMP", &key, &[]);
            let expiry = self.expiry(&key);
            (key, (dump, expiry))
        };
        keys.into_iter().map(value).collect()
    }
}

/// A board without its counter; who is hidden has a score below zero.
fn split(board: Vec<(String, f64)>) -> [Vec<(String, u64)>; 2] {
    let (mut seen, mut hidden) = (Vec::new(), Vec::new());
    for (user, score) in board.into_iter().filter(|(user, _)| user != "#") {
        let side = if score < 0.0 { &mut hidden } else { &mut seen };
        side.push((user, (score.abs() / ORDERS).floor() as u64));
    }
    hidden.reverse();
    [seen, hidden]
}
