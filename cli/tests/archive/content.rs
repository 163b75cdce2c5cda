//! What lies in Redis, value by value.

use std::collections::{BTreeMap, BTreeSet};

use redis::{Connection, FromRedisValue, RedisResult};

/// What a key holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    /// A text.
    Text(String),
    /// A hash.
    Hash(BTreeMap<String, String>),
    /// A set.
    Set(BTreeSet<String>),
    /// A sorted set, in its order.
    Sorted(Vec<(String, String)>),
    /// A stream and its last id.
    Stream(Vec<(String, Vec<String>)>, String),
}

/// Values and expiries (Unix ms, -1 never) by key without its prefix: `3}m:42` on shard 3. So are names
/// of boards.
pub type Content = BTreeMap<String, (Held, i64)>;

/// Runs a command.
pub fn ask<T: FromRedisValue>(redis: &mut Connection, command: &[&str]) -> RedisResult<T> {
    let mut words = redis::Cmd::new();
    command.iter().for_each(|word| {
        words.arg(*word);
    });
    words.query(redis)
}

/// All that lies under a prefix.
pub fn content(redis: &mut Connection, prefix: &str) -> RedisResult<Content> {
    let begin = format!("{{{prefix}:");
    let keys: Vec<String> = ask(redis, &["KEYS", &format!("{begin}*")])?;
    let mut content = Content::new();
    for key in keys {
        let kind: String = ask(redis, &["TYPE", &key])?;
        let held = match kind.as_str() {
            "string" => Held::Text(ask(redis, &["GET", &key])?),
            "hash" => Held::Hash(ask(redis, &["HGETALL", &key])?),
            "set" => Held::Set(ask(redis, &["SMEMBERS", &key])?),
            "zset" => {
                let rows: Vec<(String, String)> =
                    ask(redis, &["ZRANGE", &key, "0", "-1", "WITHSCORES"])?;
                let of_any =
                    |(member, score): (String, String)| (member.replace(&begin, ""), score);
                Held::Sorted(rows.into_iter().map(of_any).collect())
            }
            _ => {
                let info: Vec<redis::Value> = ask(redis, &["XINFO", "STREAM", &key])?;
                let texts = info.iter().map(String::from_redis_value_ref);
                let texts: Vec<_> = texts.map(Result::unwrap_or_default).collect();
                let last = texts.iter().position(|name| name == "last-generated-id");
                let last = last.and_then(|at| texts.get(at + 1)).cloned();
                let entries = ask(redis, &["XRANGE", &key, "-", "+"])?;
                Held::Stream(entries, last.unwrap_or_default())
            }
        };
        let expiry = ask(redis, &["PEXPIRETIME", &key])?;
        content.insert(key.replace(&begin, ""), (held, expiry));
    }
    Ok(content)
}

/// Fails the test unless they are the same.
#[track_caller]
pub fn assert_same(found: &Content, expected: &Content) {
    let names = |content: &Content| content.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(found), names(expected));
    for (key, expected) in expected {
        assert_eq!(found.get(key), Some(expected), "{key}");
    }
}
