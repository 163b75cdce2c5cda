//! A probe of the features of a store that this project uses, and the removal of a run's keys.
//!
//! `make conformance` runs the probe first, then tests against the same store.

use activity_rank_store::scripts::ALL;
use serde_json::{Value, json};

use crate::rest_client::RestClient;

/// The largest integer below which all integers are exact as doubles. Scores reach it.
const MAX_EXACT: &str = "9007199254740991";

/// Returns the bytes of the longest script, that of counting.
fn script_bytes() -> usize {
    let lengths = ALL
        .iter()
        .map(|(_, script)| script.shebang.len() + script.text().len());
    lengths.max().unwrap_or_default()
}

/// Whether the project works without a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Requests fail without it.
    Required,
    /// Something is slower or missing without it.
    Useful,
    /// Only tests use it.
    Tests,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The feature.
    pub feature: &'static str,
    /// Whether the project works without it.
    pub need: Need,
    /// The reply of the store if it is as expected, else the unexpected reply or the error.
    pub reply: Result<String, String>,
    /// The consequence if the feature is missing.
    pub missing: &'static str,
}

/// Runs all checks on keys with this prefix, which [`clean`] removes.
///
/// # Errors
///
/// Returns the cause if the store stops responding.
pub fn probe(store: &RestClient, prefix: &str) -> Result<Vec<Finding>, String> {
    let probe = Probe { store, prefix };
    // An unknown command is an error of its check; no response at all ends the probe.
    let finding = |check: &Check| {
        store.run(&["PING"])?;
        Ok(Finding {
            feature: check.feature,
            need: check.need,
            reply: (check.run)(&probe),
            missing: check.missing,
        })
    };
    CHECKS.iter().map(finding).collect()
}

/// Returns the findings as a table.
pub fn table(findings: &[Finding]) -> String {
    let width = findings
        .iter()
        .map(|finding| finding.feature.chars().count())
        .max();
    let width = width.unwrap_or_default();
    let mut text = String::new();
    for finding in findings {
        let (found, reply) = match &finding.reply {
            Ok(reply) => ("yes", reply),
            Err(reply) => ("NO ", reply),
        };
        let reply: String = reply.chars().take(100).collect();
        text += &format!("  {found}  {:width$}  {reply}\n", finding.feature);
        if finding.reply.is_err() {
            let need = match finding.need {
                Need::Required => "Required",
                Need::Useful => "Useful",
                Need::Tests => "For tests",
            };
            text += &format!("       {:width$}  {need}: {}\n", "", finding.missing);
        }
    }
    let missing = |need| {
        let missing = findings.iter().filter(|finding| finding.reply.is_err());
        missing.filter(|finding| finding.need == need).count()
    };
    text += &format!(
        "  {} of {} features; missing: {} required, {} useful, {} for tests\n",
        findings
            .iter()
            .filter(|finding| finding.reply.is_ok())
            .count(),
        findings.len(),
        missing(Need::Required),
        missing(Need::Useful),
        missing(Need::Tests)
    );
    text
}

/// Removes all keys that begin with `{<prefix>`, and returns their number. A key beginning with
/// another brace or without one is never touched.
///
/// # Errors
///
/// Returns the cause if the store fails, or if the prefix is shorter than 8 characters or could match
/// keys of others.
pub fn clean(store: &RestClient, prefix: &str) -> Result<usize, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if prefix.len() < 8 || !prefix.chars().all(is_plain) {
        return Err(format!("'{prefix}' is not the prefix of a run"));
    }
    let (mut cursor, mut removed) = ("0".to_owned(), 0);
    let pattern = format!("{{{prefix}*");
    loop {
        let reply = store.run(&["SCAN", &cursor, "MATCH", &pattern, "COUNT", "1000"])?;
        // Some stores reply with the cursor as a number.
        cursor = reply[0]
            .as_str()
            .map_or_else(|| reply[0].to_string(), str::to_owned);
        let keys = reply[1].as_array().into_iter().flatten();
        // One command for each key: in a cluster, the keys of one command must be on one node.
        let keys = keys.filter_map(Value::as_str);
        let commands: Vec<Vec<String>> = keys
            .map(|key| vec!["DEL".to_owned(), key.to_owned()])
            .collect();
        if !commands.is_empty() {
            for reply in store.pipeline(&commands)? {
                removed += usize::from(reply? == 1);
            }
        }
        if cursor == "0" {
            return Ok(removed);
        }
    }
}

/// A store and the prefix of the probe's keys.
struct Probe<'a> {
    store: &'a RestClient,
    prefix: &'a str,
}

struct Check {
    feature: &'static str,
    need: Need,
    run: fn(&Probe) -> Result<String, String>,
    missing: &'static str,
}

const CHECKS: &[Check] = &[
    Check {
        feature: "replies in base64",
        need: Need::Tests,
        run: |probe| match probe.store.is_base64() {
            true => Ok("Upstash-Encoding".to_owned()),
            false => Err("texts are not encoded".to_owned()),
        },
        missing: "tests that compare binary values fail",
    },
    Check {
        feature: "Upstash-Sync-Token",
        need: Need::Useful,
        run: |probe| {
            let write = json!([["SET", probe.key("token"), "1"]]);
            let response = probe.store.post("/pipeline", &write)?;
            let token = response.headers.get("upstash-sync-token");
            let token = token.and_then(|token| token.to_str().ok());
            token
                .map(str::to_owned)
                .ok_or_else(|| "no such header".to_owned())
        },
        missing: "if the store has replicas, a board may not show a write that was just accepted",
    },
    Check {
        feature: "/multi-exec",
        need: Need::Useful,
        run: |probe| {
            let commands = json!([["SET", probe.key("tx"), "1"], ["INCR", probe.key("tx")]]);
            let response = probe.store.post("/multi-exec", &commands)?;
            expect(&response.body[1]["result"], &json!(2))
        },
        missing: "nothing: scripts are the transactions of this project",
    },
    Check {
        feature: "NOSCRIPT for an unknown digest",
        need: Need::Required,
        run: |probe| {
            let digest = "0".repeat(40);
            let key = probe.key("x");
            match probe.store.run(&["EVALSHA", &digest, "1", &key]) {
                Err(error) if error.starts_with("NOSCRIPT") => Ok(error),
                other => Err(format!("{other:?}")),
            }
        },
        missing: "scripts are called by digest, and sent only after NOSCRIPT",
    },
    Check {
        feature: "EVALSHA after EVAL",
        need: Need::Required,
        run: |probe| {
            // SHA-1 of `return 7`.
            let digest = "59b6ab2fbe0ee4b25733de0f62e6cda4899ef8e9";
            let key = probe.key("x");
            probe.store.run(&["EVAL", "return 7", "1", &key])?;
            let sha = probe.store.run(&["SCRIPT", "LOAD", "return 7"]);
            let sha = sha.ok().and_then(|sha| sha.as_str().map(str::to_owned));
            let digest = sha.unwrap_or_else(|| digest.to_owned());
            expect(
                &probe.store.run(&["EVALSHA", &digest, "1", &key])?,
                &json!(7),
            )
        },
        missing: "every call would send its script as text",
    },
    Check {
        feature: "EVAL_RO",
        need: Need::Useful,
        run: |probe| {
            let key = probe.key("x");
            expect(
                &probe.store.run(&["EVAL_RO", "return 7", "1", &key])?,
                &json!(7),
            )
        },
        missing: "nothing: the project calls EVALSHA",
    },
    Check {
        feature: "flags=allow-key-locking",
        need: Need::Useful,
        run: |probe| probe.script("#!lua flags=allow-key-locking\nreturn 7", &json!(7)),
        missing: "scripts are sent without the flag; on Upstash each would lock the whole database",
    },
    Check {
        feature: "flags=allow-key-locking,no-writes",
        need: Need::Useful,
        run: |probe| {
            probe.script(
                "#!lua flags=allow-key-locking,no-writes\nreturn 7",
                &json!(7),
            )
        },
        missing: "as above, for scripts that read",
    },
    Check {
        feature: "redis.sha1hex",
        need: Need::Required,
        run: |probe| {
            let sha = json!("da39a3ee5e6b4b0d3255bfef95601890afd80709");
            probe.script("return redis.sha1hex('')", &sha)
        },
        missing: "erasing a user and counting after an erasure fail: tombstones are named by the hash",
    },
    Check {
        feature: "pcall returns the error",
        need: Need::Required,
        run: |probe| {
            let script = "redis.call('SET', KEYS[1], 'text') \
                 local ok, result = pcall(redis.call, 'HSET', KEYS[1], 'a', '1') \
                 local text = type(result) == 'table' and result.err or tostring(result) \
                 return {ok and 1 or 0, text}";
            let reply = probe
                .store
                .run(&["EVAL", script, "1", &probe.key("pcall")])?;
            let text = reply[1].as_str().unwrap_or_default().to_owned();
            match reply[0] == 0 && text.contains("WRONGTYPE") {
                true => Ok(text),
                false => Err(reply.to_string()),
            }
        },
        missing: "one damaged key of a user fails a whole request instead of its own items",
    },
    Check {
        feature: "pcall returns error{err=…}",
        need: Need::Required,
        run: |probe| {
            let script = "local ok, result = pcall(function() error({err = 'mine'}) end) \
                 return type(result) == 'table' and result.err or tostring(result)";
            probe.script(script, &json!("mine"))
        },
        missing: "an item that a script refuses fails its whole request",
    },
    Check {
        feature: "scores near 2^53",
        need: Need::Required,
        run: |probe| {
            let key = probe.key("exact");
            probe
                .store
                .run(&["ZADD", &key, MAX_EXACT, "a", "-9007199254740991", "b"])?;
            let added = probe.store.run(&["ZINCRBY", &key, "-1", "a"])?;
            let scores = probe.store.run(&["ZMSCORE", &key, "a", "b"])?;
            let found = json!([added, scores[0], scores[1]]);
            let below = "9007199254740990";
            expect(&found, &json!([below, below, "-9007199254740991"]))
        },
        missing: "points and order of arrival share a score: ranks would be wrong",
    },
    Check {
        feature: "scores near 2^53 in scripts",
        need: Need::Required,
        run: |probe| {
            let script = format!(
                "redis.call('ZADD', KEYS[1], string.format('%.0f', {MAX_EXACT}), 'a') \
                 local score = redis.call('ZSCORE', KEYS[1], 'a') \
                 return {{score, string.format('%.0f', tonumber(score) - 1)}}"
            );
            probe.script(&script, &json!([MAX_EXACT, "9007199254740990"]))
        },
        missing: "as above",
    },
    Check {
        feature: "integer replies near 2^53",
        need: Need::Required,
        run: |probe| {
            let number = MAX_EXACT.parse::<u64>().unwrap_or_default();
            probe.script(&format!("return {MAX_EXACT}"), &json!(number))
        },
        missing: "scores in replies would be rounded",
    },
    Check {
        feature: "unpack of 1,000 values",
        need: Need::Required,
        run: |probe| {
            let most = [1000, 2000, 4000, 7000].into_iter();
            let most = most.take_while(|count| probe.unpack(*count).is_ok()).last();
            match most {
                Some(most) => Ok(format!("{most} values")),
                None => Err(probe.unpack(1000).err().unwrap_or_default()),
            }
        },
        missing: "boards with `limit=1000` fail",
    },
    Check {
        feature: "script as long as the longest",
        need: Need::Required,
        run: |probe| {
            let sizes = [script_bytes(), 100_000, 500_000].into_iter();
            match sizes.take_while(|size| probe.long(*size).is_ok()).last() {
                Some(size) => Ok(format!("{size} bytes")),
                None => Err(probe.long(script_bytes()).err().unwrap_or_default()),
            }
        },
        missing: "nothing can be counted",
    },
    Check {
        feature: "script of 1,000 keys",
        need: Need::Required,
        run: |probe| {
            let keys: Vec<String> = (0..1000).map(|key| probe.key(&format!("k{key}"))).collect();
            let mut command = vec!["EVAL", "return #KEYS", "1000"];
            command.extend(keys.iter().map(String::as_str));
            expect(&probe.store.run(&command)?, &json!(1000))
        },
        missing: "arrays of activities and erasures of users with many boards fail",
    },
    Check {
        feature: "sorted sets",
        need: Need::Required,
        run: |probe| {
            let key = probe.key("zset");
            probe
                .store
                .run(&["ZADD", &key, "1", "a", "2", "b", "3", "c"])?;
            let replies = probe.all(&[
                &["ZMSCORE", &key, "a", "x"],
                &["ZRANGE", &key, "0", "1", "REV"],
                &["ZREVRANGE", &key, "0", "0", "WITHSCORES"],
                &["ZREVRANK", &key, "a"],
                &["ZCOUNT", &key, "(1", "+inf"],
                &["ZREMRANGEBYSCORE", &key, "-inf", "1"],
                &["ZCARD", &key],
            ])?;
            expect(
                &replies,
                &json!([["1", null], ["c", "b"], ["c", "3"], 2, 2, 1, 2]),
            )
        },
        missing: "boards fail",
    },
    Check {
        feature: "ZADD GT",
        need: Need::Required,
        run: |probe| {
            let key = probe.key("gt");
            let replies = probe.all(&[
                &["ZADD", &key, "5", "a"],
                &["ZADD", &key, "GT", "3", "a"],
                &["ZADD", &key, "GT", "CH", "7", "a"],
                &["ZSCORE", &key, "a"],
            ])?;
            expect(&replies, &json!([1, 0, 1, "7"]))
        },
        missing: "the index of boards forgets their latest expiry",
    },
    Check {
        feature: "streams",
        need: Need::Required,
        run: |probe| {
            let key = probe.key("stream");
            let replies = probe.all(&[
                &["XADD", &key, "1-1", "a", "b"],
                &["XADD", &key, "2-1", "c", "d"],
                &["XRANGE", &key, "-", "+", "COUNT", "1"],
                &["XREVRANGE", &key, "+", "-", "COUNT", "1"],
                &["XRANGE", &key, "(1-1", "+"],
                &["XDEL", &key, "1-1"],
                &["XLEN", &key],
            ])?;
            let (one, two) = (json!(["1-1", ["a", "b"]]), json!(["2-1", ["c", "d"]]));
            expect(&replies, &json!(["1-1", "2-1", [one], [two], [two], 1, 1]))
        },
        missing: "the audit log and the journal fail",
    },
    Check {
        feature: "hashes and sets",
        need: Need::Required,
        run: |probe| {
            let (hash, set) = (probe.key("hash"), probe.key("set"));
            let replies = probe.all(&[
                &["HSETNX", &hash, "a", "1"],
                &["HSETNX", &hash, "a", "2"],
                &["HINCRBY", &hash, "a", "4"],
                &["HMGET", &hash, "a", "x"],
                &["SADD", &set, "m"],
                &["SISMEMBER", &set, "m"],
                &["UNLINK", &set],
            ])?;
            expect(&replies, &json!([1, 0, 5, ["5", null], 1, 1, 1]))
        },
        missing: "counting fails",
    },
    Check {
        feature: "TIME, INFO memory",
        need: Need::Useful,
        run: |probe| {
            probe.store.run(&["TIME"])?;
            let info = probe.store.run(&["INFO", "memory"])?;
            match info
                .as_str()
                .is_some_and(|info| info.contains("maxmemory_policy"))
            {
                true => Ok("maxmemory_policy".to_owned()),
                false => Err("INFO has no maxmemory_policy".to_owned()),
            }
        },
        missing: "/healthz does not warn of a store that evicts keys; a rebuild needs TIME",
    },
    Check {
        feature: "SCAN",
        need: Need::Required,
        run: |probe| {
            let (key, mut cursor) = (probe.key("token"), "0".to_owned());
            loop {
                let command = ["SCAN", &cursor, "MATCH", &key, "COUNT", "1000"];
                let reply = probe.store.run(&command)?;
                if reply[1].as_array().is_some_and(|keys| !keys.is_empty()) {
                    return Ok("found".to_owned());
                }
                cursor = reply[0].as_str().unwrap_or("0").to_owned();
                if cursor == "0" {
                    return Err("a key was not found".to_owned());
                }
            }
        },
        missing: "export, verify and rebuild fail",
    },
    Check {
        feature: "DUMP, PEXPIRETIME, OBJECT",
        need: Need::Tests,
        run: |probe| {
            let key = probe.key("token");
            probe.store.run(&["DUMP", &key])?;
            probe.store.run(&["OBJECT", "ENCODING", &key])?;
            expect(&probe.store.run(&["PEXPIRETIME", &key])?, &json!(-1))
        },
        missing: "tests that compare stored values fail",
    },
];

impl Probe<'_> {
    /// Returns a key; all are in one slot of a cluster.
    fn key(&self, name: &str) -> String {
        format!("{{{}probe}}{name}", self.prefix)
    }

    /// Runs commands one after the other and returns their replies as an array.
    fn all(&self, commands: &[&[&str]]) -> Result<Value, String> {
        commands
            .iter()
            .map(|command| self.store.run(command))
            .collect()
    }

    fn script(&self, script: &str, expected: &Value) -> Result<String, String> {
        let key = self.key("script");
        expect(&self.store.run(&["EVAL", script, "1", &key])?, expected)
    }

    /// Passes so many values of a table to one command.
    fn unpack(&self, count: usize) -> Result<String, String> {
        let script = format!(
            "local all = {{}} for i = 1, {count} do all[i] = i end \
             redis.call('DEL', KEYS[1]) return redis.call('RPUSH', KEYS[1], unpack(all))"
        );
        self.script(&script, &json!(count))
    }

    /// Runs a script of so many bytes, most of them code that is not a comment.
    fn long(&self, bytes: usize) -> Result<String, String> {
        let line = "x = x + 1\n";
        let script = format!("local x = 0\n{}return 7", line.repeat(bytes / line.len()));
        self.script(&script, &json!(7))
    }
}

/// Returns the reply if it is as expected, else as an error.
fn expect(reply: &Value, expected: &Value) -> Result<String, String> {
    match reply == expected {
        true => Ok(reply.to_string()),
        false => Err(format!("{reply} instead of {expected}")),
    }
}
