//! How much memory a redis-server uses, and for what.

use redis::{Connection, InfoDict, cmd, pipe};
use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;
use test_support::RedisServer;

/// Keys asked about at once.
const AT_ONCE: usize = 1000;

/// What was measured.
pub struct Usage {
    /// By how much `used_memory` has grown: tables of keys and of expiries too.
    pub used: u64,
    /// `MEMORY USAGE` of all keys, with every element counted.
    pub kinds: BTreeMap<&'static str, Kind>,
}

/// Keys that are for the same.
#[derive(Default)]
pub struct Kind {
    /// How many.
    pub keys: u64,
    /// How large they are.
    pub bytes: u64,
    /// How many are in no compact encoding.
    pub spread: u64,
}

impl Usage {
    /// Of a redis-server that used so much before.
    pub fn of(redis: &RedisServer, before: u64) -> Result<Self, String> {
        let used = settled(redis)?.saturating_sub(before);
        let mut connection = redis.connection();
        let mut kinds: BTreeMap<_, Kind> = BTreeMap::new();
        let keys: Vec<String> = cmd("KEYS")
            .arg("*")
            .query(&mut connection)
            .map_err(|error| error.to_string())?;
        for keys in keys.chunks(AT_ONCE) {
            for (key, (bytes, encoding)) in keys.iter().zip(sizes(&mut connection, keys)?) {
                let kind = kinds.entry(what(key)).or_default();
                kind.keys += 1;
                kind.bytes += bytes;
                kind.spread += u64::from(["hashtable", "skiplist"].contains(&encoding.as_str()));
            }
        }
        Ok(Self { used, kinds })
    }
}

fn sizes(connection: &mut Connection, keys: &[String]) -> Result<Vec<(u64, String)>, String> {
    let mut asked = pipe();
    for key in keys {
        asked
            .cmd("MEMORY")
            .arg("USAGE")
            .arg(key)
            .arg("SAMPLES")
            .arg(0);
    }
    let bytes: Vec<u64> = asked.query(connection).map_err(|error| error.to_string())?;
    let mut asked = pipe();
    for key in keys {
        asked.cmd("OBJECT").arg("ENCODING").arg(key);
    }
    let encodings: Vec<String> = asked.query(connection).map_err(|error| error.to_string())?;
    Ok(bytes.into_iter().zip(encodings).collect())
}

/// Lets it keep no log of slow commands, which would hold their arguments, and no times of commands,
/// which would take 30 KB for each one used.
pub fn leave_out_figures(redis: &RedisServer) {
    for [name, value] in [["slowlog-max-len", "0"], ["latency-tracking", "no"]] {
        let mut set = cmd("CONFIG");
        set.arg("SET").arg(name).arg(value);
        // Redis before 7.0 has no such times.
        let _: Result<(), _> = set.exec(&mut redis.connection());
    }
}

/// `used_memory` once nothing moves any more: tables grow bit by bit, buffers of connections go.
pub fn settled(redis: &RedisServer) -> Result<u64, String> {
    let mut connection = redis.connection();
    let mut read = || -> Result<u64, String> {
        let info: InfoDict = cmd("INFO")
            .arg("memory")
            .query(&mut connection)
            .map_err(|error| error.to_string())?;
        info.get("used_memory")
            .ok_or_else(|| "INFO tells no used_memory".to_owned())
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

/// What a key is for.
fn what(key: &str) -> &'static str {
    let rest = key.strip_prefix("{ar:0}").unwrap_or(key);
    match rest.split(':').next().unwrap_or_default() {
        "bd" => "boards of days",
        "bw" => "boards of weeks",
        "bm" => "boards of months",
        "by" => "boards of years",
        "ba" => "board of all time",
        "h" => "histories",
        "v" => "per-day marks",
        "m" => "standing marks",
        "u" => "undo memories",
        "i" => "index",
        "ar" if key.starts_with("ar:done:") => "what was done",
        "ar" => "boards",
        _ => "others",
    }
}
