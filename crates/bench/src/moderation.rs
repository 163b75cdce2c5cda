//! Measures the scripts that hide and erase a user on many boards: other clients of Redis wait while
//! one of them runs.

use crate::options::number;
use crate::report::{add_row, table};
use crate::stack::{Stack, worker_builder};
use redis::{Connection, RedisResult, Value, cmd};
use std::time::{Duration, Instant};
use test_support::{Answer, Api, json};

/// The number of boards or log entries that one command writes.
const CHUNK: u64 = 100_000;
/// One board in so many contains the user.
const BOARDS_PER_SCORE: u64 = 10;
/// The number of longest scripts to print.
const LONGEST: usize = 5;
/// The user to hide and erase.
const USER: &str = "b";

/// A change of many boards.
#[derive(Clone, Copy)]
enum Change {
    Hide,
    Erase,
}

/// The figures of one change.
struct Row {
    change: Change,
    /// The time until the first response.
    first_response: Duration,
    /// The number of requests until all boards are written.
    requests: u32,
    /// The duration of each script in microseconds, the longest first.
    scripts: Vec<u64>,
}

/// Measures `BOARDS` (1,000,000) boards, and `ENTRIES` (600,000) entries of the audit log.
pub async fn run() -> Result<(), String> {
    let boards = number("BOARDS", 1_000_000)?;
    let entries = number("ENTRIES", 600_000)?;
    let stack = Stack::start();
    let worker = worker_builder("moderation")
        .store(&stack.gateway.url())
        .start();
    let api = worker.api();
    // Loads the scripts, and creates the fingerprint and the audit log.
    for change in [Change::Hide, Change::Erase] {
        change.send(&api, "unknown").await?;
    }
    let like = json!({"user": USER, "action": "like", "target": "first"});
    succeeded(&api.post("/v1/activity", &like).await)?;
    let mut redis = stack.redis.connection();
    fill(&mut redis, boards, entries).map_err(|error| error.to_string())?;
    let mut rows = Vec::new();
    for change in [Change::Hide, Change::Erase] {
        rows.push(measure(change, &api, &mut redis).await?);
    }
    let mut table = table([
        "change",
        "first response",
        "requests",
        "scripts",
        "average",
        "p99",
        "longest",
    ]);
    for row in &rows {
        add_row(&mut table, row.cells());
    }
    println!(
        "{table}\n\n{boards} boards, {entries} entries of the audit log. Times in milliseconds."
    );
    Ok(())
}

impl Change {
    fn title(self) -> &'static str {
        match self {
            Self::Hide => "hide",
            Self::Erase => "erase",
        }
    }

    async fn send(self, api: &Api, user: &str) -> Result<(), String> {
        let path = format!("/v1/users/{user}");
        let hidden = json!({"hidden": true, "frozen": false, "reason": "spam"});
        let response = match self {
            Self::Hide => api.put(&format!("{path}/moderation"), &hidden).await,
            Self::Erase => api.delete(&path).await,
        };
        succeeded(&response)
    }
}

/// Returns an error unless a response has status 200 or 204.
pub fn succeeded(response: &Answer) -> Result<(), String> {
    match response.status {
        200 | 204 => Ok(()),
        status => Err(format!("{}: {status} {}", response.request, response.text)),
    }
}

/// Adds names of boards to the index, the user to some of them, and entries to the audit log.
fn fill(redis: &mut Connection, boards: u64, entries: u64) -> RedisResult<()> {
    let add_boards = "for i = tonumber(ARGV[1]), tonumber(ARGV[2]) do
        local name = 'a:all:g' .. i
        local board = '{moderation:0}1b' .. name
        redis.call('ZADD', KEYS[1], 'inf', name)
        if i % ARGV[3] == 0 then redis.call('ZADD', board, 5, '#', i * 2 ^ 30, ARGV[4], 2 ^ 30, 'a') end
        end";
    let add_entries = "for i = tonumber(ARGV[1]), tonumber(ARGV[2]) do
        redis.call('XADD', KEYS[1], '*', 'at', 1, 'subject', 9, 'action', 'hide') end";
    for (script, key, what, count) in [
        (add_boards, "{moderation:0}1i", "boards", boards),
        (
            add_entries,
            "{moderation:0}l",
            "entries of the audit log",
            entries,
        ),
    ] {
        for first in (1..=count).step_by(CHUNK as usize) {
            let last = count.min(first + CHUNK - 1);
            eprintln!("moderation: filling {last} of {count} {what}");
            let mut eval = cmd("EVAL");
            eval.arg(script).arg(1).arg(key).arg(first).arg(last);
            eval.arg(BOARDS_PER_SCORE).arg(USER).exec(redis)?;
        }
    }
    Ok(())
}

/// Repeats a request until the change is complete, as a client does that does not wait for cron.
async fn measure(change: Change, api: &Api, redis: &mut Connection) -> Result<Row, String> {
    let title = change.title();
    record_all(redis).map_err(|error| error.to_string())?;
    let start = Instant::now();
    change.send(api, USER).await?;
    let (first_response, mut requests) = (start.elapsed(), 1);
    let mut shown = 0;
    while is_pending(redis).map_err(|error| error.to_string())? {
        change.send(api, USER).await?;
        requests += 1;
        let seconds = start.elapsed().as_secs();
        if seconds > shown {
            eprintln!("moderation: {title}, {requests} requests in {seconds} s");
            shown = seconds;
        }
    }
    let scripts = durations(redis).map_err(|error| error.to_string())?;
    Ok(Row {
        change,
        first_response,
        requests,
        scripts,
    })
}

/// Makes the slow log record every command from now on.
pub fn record_all(redis: &mut Connection) -> RedisResult<()> {
    for [name, value] in [
        ["slowlog-log-slower-than", "0"],
        ["slowlog-max-len", "1000000"],
    ] {
        cmd("CONFIG").arg("SET").arg(name).arg(value).exec(redis)?;
    }
    cmd("SLOWLOG").arg("RESET").exec(redis)
}

/// Returns whether the fingerprint has the line of a change.
fn is_pending(redis: &mut Connection) -> RedisResult<bool> {
    let stored: String = cmd("HGET").arg("{moderation:0}p").arg("\t").query(redis)?;
    Ok(stored.contains('\n'))
}

/// Returns the durations of all recorded scripts in microseconds, the longest first.
fn durations(redis: &mut Connection) -> RedisResult<Vec<u64>> {
    let scripts = scripts(redis)?.into_iter();
    let mut durations: Vec<u64> = scripts.map(|(_, duration)| duration).collect();
    durations.sort_unstable_by(|a, b| b.cmp(a));
    Ok(durations)
}

/// Returns the first arguments and the duration of each recorded script, in microseconds.
pub fn scripts(redis: &mut Connection) -> RedisResult<Vec<(Vec<String>, u64)>> {
    type Entry = (Value, Value, u64, Vec<String>, Value, Value);
    let entries: Vec<Entry> = cmd("SLOWLOG").arg("GET").arg(1_000_000).query(redis)?;
    let is_script = |entry: &Entry| entry.3.first().is_some_and(|name| name.starts_with("EVAL"));
    let scripts = entries.into_iter().filter(is_script);
    Ok(scripts.map(|entry| (entry.3, entry.2)).collect())
}

impl Row {
    fn cells(&self) -> [String; 7] {
        let milliseconds = |micros: f64| format!("{:.2}", micros / 1000.0);
        let sum: u64 = self.scripts.iter().sum();
        let longest = self.scripts.iter().take(LONGEST);
        let longest: Vec<String> = longest.map(|micros| milliseconds(*micros as f64)).collect();
        let p99 = self.scripts.get(self.scripts.len() / 100);
        [
            self.change.title().to_owned(),
            milliseconds(self.first_response.as_secs_f64() * 1e6),
            self.requests.to_string(),
            self.scripts.len().to_string(),
            milliseconds(sum as f64 / self.scripts.len().max(1) as f64),
            milliseconds(p99.copied().unwrap_or_default() as f64),
            longest.join(" "),
        ]
    }
}
