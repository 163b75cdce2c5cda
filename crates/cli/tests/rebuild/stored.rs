//! The data of a deployment as stored in Redis.

use std::collections::{BTreeMap, BTreeSet};

use redis::{Connection, FromRedisValue, RedisResult};
use test_support::{has_generation, rest};

/// The value of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredValue {
    /// A string.
    Text(String),
    /// A hash.
    Hash(BTreeMap<String, String>),
    /// A set.
    Set(BTreeSet<String>),
    /// A sorted set in order, members and scores.
    Sorted(Vec<(String, String)>),
    /// The entries of a stream and its last id.
    Stream(Vec<(String, Vec<String>)>, String),
}

/// Values and expiries (Unix ms, -1 without) by key without prefix and the present generation: `3}m:42` on shard 3. What a
/// rebuild writes has its generation: `3}2m:42`.
pub type StoredData = BTreeMap<String, (StoredValue, i64)>;

/// Runs a Redis command.
pub fn redis_command<T: FromRedisValue>(
    redis: &mut Connection,
    command: &[&str],
) -> RedisResult<T> {
    let mut words = redis::Cmd::new();
    command.iter().for_each(|word| {
        words.arg(*word);
    });
    words.query(redis)
}

/// Returns the generation of a shard's data.
pub fn generation(redis: &mut Connection, prefix: &str, shard: &str) -> RedisResult<u32> {
    let users = format!("{{{prefix}:{shard}}}p");
    let stored: Option<String> = redis_command(redis, &["HGET", &users, "\t"])?;
    let stored = stored.unwrap_or_default();
    let mut words = stored.split(' ');
    let generation = words.find_map(|word| word.strip_prefix("generation="));
    Ok(generation
        .and_then(|number| number.parse().ok())
        .unwrap_or(1))
}

fn without_generation(fingerprint: &str) -> String {
    let words = fingerprint.split(' ');
    let words: Vec<&str> = words
        .filter(|word| !word.starts_with("generation="))
        .collect();
    words.join(" ")
}

/// Returns whether a key of [`StoredData`] is written by a rebuild, or its state.
pub fn is_of_rebuild(key: &str) -> bool {
    let name = key.split_once('}').map_or("", |(_, name)| name);
    name == "r" || name.starts_with(|first: char| first.is_ascii_digit())
}

/// Reads all keys of a prefix.
pub fn read_data(redis: &mut Connection, prefix: &str) -> RedisResult<StoredData> {
    let tag = format!("{{{prefix}:");
    let keys: Vec<String> = redis_command(redis, &["KEYS", &format!("{tag}*")])?;
    let mut data = StoredData::new();
    for key in keys {
        let kind: String = redis_command(redis, &["TYPE", &key])?;
        let value = match kind.as_str() {
            "string" => StoredValue::Text(redis_command(redis, &["GET", &key])?),
            "hash" => {
                let mut fields: BTreeMap<String, String> =
                    redis_command(redis, &["HGETALL", &key])?;
                // The marker of a history records when expiries were set; a copy sets its own.
                if rest(&key).starts_with("h:") {
                    fields.remove("\t");
                }
                // A rebuild changes the generation.
                if let Some(fingerprint) = fields.get_mut("\t").filter(|_| rest(&key) == "p") {
                    *fingerprint = without_generation(fingerprint);
                }
                StoredValue::Hash(fields)
            }
            "set" => StoredValue::Set(redis_command(redis, &["SMEMBERS", &key])?),
            "zset" => {
                let range = ["ZRANGE", &key, "0", "-1", "WITHSCORES"];
                StoredValue::Sorted(redis_command(redis, &range)?)
            }
            _ => {
                let info: Vec<redis::Value> = redis_command(redis, &["XINFO", "STREAM", &key])?;
                let texts = info.iter().map(String::from_redis_value_ref);
                let texts: Vec<_> = texts.map(Result::unwrap_or_default).collect();
                let last = texts.iter().position(|name| name == "last-generated-id");
                let last = last.and_then(|at| texts.get(at + 1)).cloned();
                let entries = redis_command(redis, &["XRANGE", &key, "-", "+"])?;
                StoredValue::Stream(entries, last.unwrap_or_default())
            }
        };
        let expiry = redis_command(redis, &["PEXPIRETIME", &key])?;
        let shard = key.strip_prefix(&tag).and_then(|key| key.split_once('}'));
        let shard = shard.map_or("", |(shard, _)| shard);
        let generation = generation(redis, prefix, shard)?;
        let name = key.split_once('}').map_or("", |(_, name)| name);
        let present = name.strip_prefix(&generation.to_string());
        let present = present.filter(|name| has_generation(name));
        data.insert(
            format!("{shard}}}{}", present.unwrap_or(name)),
            (value, expiry),
        );
    }
    Ok(data)
}

/// Asserts that keys, values and expiries are equal.
#[track_caller]
pub fn assert_same(found: &StoredData, expected: &StoredData) {
    let keys = |data: &StoredData| data.keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(found), keys(expected));
    for (key, expected) in expected {
        assert_eq!(found.get(key), Some(expected), "{key}");
    }
}
