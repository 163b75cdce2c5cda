//! Measures the commands that replay a journal, and the writes of a member meanwhile.

use crate::moderation::{record_all, scripts, succeeded};
use crate::options::number;
use crate::report::{add_row, table};
use crate::stack::{Stack, worker_builder};
use jiff::{Timestamp, ToSpan};
use std::fs;
use std::time::{Duration, Instant};
use test_support::{Api, Worker, command_line, json, target};

/// The number of activities of a request.
const BATCH: u64 = 500;
/// One member for so many activities.
const PER_MEMBER: u64 = 20;

/// The figures of one command.
struct Row {
    what: &'static str,
    duration: Duration,
    /// The longest script of Redis meanwhile.
    longest_script: Duration,
    /// The longest write of a member meanwhile, and the number of writes.
    longest_write: Duration,
    writes: u32,
}

/// Counts `ENTRIES` (100,000) activities, then verifies, recounts and rebuilds them, and decides them by other rules.
pub async fn run() -> Result<(), String> {
    let entries = number("ENTRIES", 100_000)?;
    let stack = Stack::start();
    let worker = worker_builder("replay").store(&stack.gateway.url());
    let worker = worker
        .journal()
        .json("CRON_BUDGET", json!(1000))
        .miniflare()
        .start();
    let (api, now) = (worker.api(), Timestamp::now());
    for first in (0..entries).step_by(BATCH as usize) {
        let items = (first..entries.min(first + BATCH)).map(|number| {
            json!({"user": format!("m{}", number % (entries / PER_MEMBER).max(1)), "action": "comment",
                "target": format!("p{number}")})
        });
        succeeded(&api.post("/v1/activity", &items.collect()).await)?;
        if first % 10_000 == 0 {
            eprintln!("replay: {first} of {entries} activities");
            succeeded(&api.get("/v1/journal?limit=1").await)?;
        }
    }
    let event = json!({"title": "Event", "from": (now - 1.hour()).to_string(), "to": (now + 24.hours()).to_string(),
        "actions": {"comment": 5, "like": 1}});
    let file = target().join("replayed_event.json");
    let written = fs::write(&file, event.to_string());
    written.map_err(|error| format!("{}: {error}", file.display()))?;
    let file = file.to_string_lossy();
    let recount = ["recount", "--event", "event", "--definition", &file];
    let changes = ["comment.points=5", "comment.daily_cap=50"].map(|change| ["--set", change]);
    let preview = [&["rules", "preview", "--yes"], &changes.concat()[..]].concat();
    let mut table = table([
        "command",
        "duration",
        "longest script",
        "longest write",
        "writes",
    ]);
    for (what, arguments) in [
        ("verify", vec!["verify", "--yes"]),
        ("recount, preview", [&recount[..], &["--dry-run"]].concat()),
        ("recount", [&recount[..], &["--apply", "--yes"]].concat()),
        ("rebuild", vec!["rebuild", "--yes"]),
        ("rules preview", preview),
    ] {
        let mut redis = stack.redis.connection();
        record_all(&mut redis).map_err(|error| error.to_string())?;
        let mut row = measure(what, &api, &worker, &stack, arguments).await?;
        let scripts = scripts(&mut redis).map_err(|error| error.to_string())?;
        let longest = scripts.iter().map(|(_, duration)| *duration).max();
        row.longest_script = Duration::from_micros(longest.unwrap_or_default());
        add_row(&mut table, row.cells());
    }
    println!(
        "{table}\n\n{entries} entries of {} members, and the likes of one more. Times in milliseconds.",
        entries / PER_MEMBER
    );
    Ok(())
}

/// Runs the command, and sends likes of a member until it ends.
async fn measure(
    what: &'static str,
    api: &Api,
    worker: &Worker,
    stack: &Stack,
    arguments: Vec<&str>,
) -> Result<Row, String> {
    let mut command = command_line(worker, &stack.gateway.url());
    command.args(arguments);
    let start = Instant::now();
    let mut output = tokio::task::spawn_blocking(move || command.output());
    let (mut writes, mut longest_write) = (0, Duration::ZERO);
    loop {
        let like =
            json!({"user": "writer", "action": "like", "target": format!("{what} {writes}")});
        let write = async {
            let start = Instant::now();
            let answer = api.post("/v1/activity", &like).await;
            (answer, start.elapsed())
        };
        tokio::select! {
            output = &mut output => {
                let output = output.map_err(|error| error.to_string())?;
                let output = output.map_err(|error| error.to_string())?;
                if !output.status.success() {
                    return Err(String::from_utf8_lossy(&output.stderr).into_owned());
                }
                let duration = start.elapsed();
                return Ok(Row { what, duration, longest_script: Duration::ZERO, longest_write, writes });
            }
            (answer, duration) = write => {
                succeeded(&answer)?;
                longest_write = longest_write.max(duration);
                writes += 1;
            }
        }
    }
}

impl Row {
    fn cells(&self) -> [String; 5] {
        let milliseconds = |duration: Duration| format!("{:.1}", duration.as_secs_f64() * 1000.0);
        [
            self.what.to_owned(),
            milliseconds(self.duration),
            milliseconds(self.longest_script),
            milliseconds(self.longest_write),
            self.writes.to_string(),
        ]
    }
}
