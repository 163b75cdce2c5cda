//! The memory usage of a redis-server by type of key.

use super::Result;
use redis::{Connection, InfoDict, cmd, pipe};
use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;
use test_support::RedisServer;

/// The number of keys per pipeline.
const BATCH: usize = 1000;

/// The memory usage.
pub struct Usage {
    /// The growth of `used_memory`, including the tables of keys and expiries.
    pub used: u64,
    /// `MEMORY USAGE` of all keys, with all elements sampled.
    pub key_types: BTreeMap<&'static str, KeyTypeUsage>,
}

/// The memory usage of one type of key.
#[derive(Default)]
pub struct KeyTypeUsage {
    /// The number of keys.
    pub keys: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The number of keys without a compact encoding.
    pub not_compact: u64,
}

impl Usage {
    /// Measures a redis-server whose `used_memory` was `before` when it was empty.
    pub fn of(redis: &RedisServer, before: u64) -> Result<Self> {
        let used = stable_used_memory(redis)?.saturating_sub(before);
        let mut connection = redis.connection();
        let mut key_types: BTreeMap<_, KeyTypeUsage> = BTreeMap::new();
        let keys: Vec<String> = cmd("KEYS").arg("*").query(&mut connection)?;
        for keys in keys.chunks(BATCH) {
            for (key, (bytes, encoding)) in keys.iter().zip(sizes(&mut connection, keys)?) {
                let usage = key_types.entry(key_type(key)).or_default();
                let is_compact = !["hashtable", "skiplist"].contains(&encoding.as_str());
                usage.keys += 1;
                usage.bytes += bytes;
                usage.not_compact += u64::from(!is_compact);
            }
        }
        Ok(Self { used, key_types })
    }
}

fn sizes(connection: &mut Connection, keys: &[String]) -> Result<Vec<(u64, String)>> {
    let mut pipeline = pipe();
    for key in keys {
        pipeline
            .cmd("MEMORY")
            .arg("USAGE")
            .arg(key)
            .arg("SAMPLES")
            .arg(0);
    }
    let bytes: Vec<u64> = pipeline.query(connection)?;
    let mut pipeline = pipe();
    for key in keys {
        pipeline.cmd("OBJECT").arg("ENCODING").arg(key);
    }
    let encodings: Vec<String> = pipeline.query(connection)?;
    Ok(bytes.into_iter().zip(encodings).collect())
}

/// Disables the slow log, which would keep arguments, and latency tracking, which would use 30 KB for
/// each command.
pub fn disable_statistics(redis: &RedisServer) {
    for [name, value] in [["slowlog-max-len", "0"], ["latency-tracking", "no"]] {
        let mut set = cmd("CONFIG");
        set.arg("SET").arg(name).arg(value);
        // Redis before 7.0 has no latency tracking.
        let _: Result<(), _> = set.exec(&mut redis.connection());
    }
}

/// Returns `used_memory` once it is stable: tables are resized incrementally, and connection buffers
/// are freed.
pub fn stable_used_memory(redis: &RedisServer) -> Result<u64> {
    let mut connection = redis.connection();
    let mut read = || -> Result<u64> {
        let info: InfoDict = cmd("INFO").arg("memory").query(&mut connection)?;
        Ok(info.get("used_memory").ok_or("INFO has no used_memory")?)
    };
    let mut last = read()?;
    for _ in 0..100 {
        thread::sleep(Duration::from_millis(300));
        let used = read()?;
        if used == last {
            break;
        }
        last = used;
    }
    Ok(last)
}

/// Returns the name of a key's type.
fn key_type(key: &str) -> &'static str {
    let rest = test_support::rest(key);
    match rest.split(':').next().unwrap_or_default() {
        "bd" => "boards of days",
        "bw" => "boards of weeks",
        "bm" => "boards of months",
        "by" => "boards of years",
        "ba" => "board of all time",
        board if board.starts_with("bT") => "boards of content",
        board if board.starts_with("bA") => "boards of authors",
        "h" => "histories",
        "m" => "active records",
        "t" => "register of targets",
        "u" => "lists of targets",
        "i" => "index",
        "ar" if key.starts_with("ar:done:") => "done hashes",
        "ar" => "boards",
        _ => "others",
    }
}
