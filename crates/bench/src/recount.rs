//! Measures the recount of an event: the request, and the scripts of Redis while which other clients wait. Members write
//! meanwhile.

use crate::moderation::{record_all, scripts, succeeded};
use crate::options::number;
use crate::report::{add_row, table};
use crate::stack::{Stack, worker_builder};
use jiff::{Timestamp, ToSpan};
use std::time::{Duration, Instant};
use test_support::{Api, Value, json};

/// The number of activities of a request.
const BATCH: u64 = 500;
/// One member for so many activities.
const PER_MEMBER: u64 = 20;

/// The figures of one request.
struct Row {
    what: &'static str,
    duration: Duration,
    /// The duration of the script that replaces the board, and of the longest one that counts a page, in microseconds.
    scripts: [u64; 2],
    /// The longest write of a member meanwhile, and the number of writes.
    longest_write: Duration,
    writes: u32,
}

/// Counts `ENTRIES` (100,000) activities, then previews and recounts an event over them.
pub async fn run() -> Result<(), String> {
    let entries = number("ENTRIES", 100_000)?;
    let stack = Stack::start();
    let worker = worker_builder("recount").store(&stack.gateway.url());
    let worker = worker
        .journal()
        .json("CRON_BUDGET", json!(1000))
        .start_miniflare();
    let (api, now) = (worker.api(), Timestamp::now());
    for first in (0..entries).step_by(BATCH as usize) {
        let items = (first..entries.min(first + BATCH)).map(|number| {
            json!({"user": format!("m{}", number % (entries / PER_MEMBER).max(1)), "action": "comment",
                "target": format!("p{number}")})
        });
        succeeded(&api.post("/v1/activity", &items.collect()).await)?;
        if first % 10_000 == 0 {
            eprintln!("recount: {first} of {entries} activities");
            succeeded(&api.get("/v1/journal?limit=1").await)?;
        }
    }
    let event = json!({"title": "Event", "from": (now - 1.hour()).to_string(), "to": (now + 24.hours()).to_string(),
        "actions": {"comment": 5, "like": 1}});
    let mut table = table([
        "request",
        "duration",
        "swap",
        "longest page",
        "longest write",
        "writes",
    ]);
    for (what, query) in [
        ("preview", "?preview=true"),
        ("recount", ""),
        ("recount again", ""),
    ] {
        let mut redis = stack.redis.connection();
        record_all(&mut redis).map_err(|error| error.to_string())?;
        let mut row = measure(
            what,
            &api,
            &format!("/v1/events/event/recount{query}"),
            &event,
        )
        .await?;
        for (arguments, duration) in scripts(&mut redis).map_err(|error| error.to_string())? {
            for (index, step) in ["swap", "count"].into_iter().enumerate() {
                if arguments.iter().any(|argument| argument == step) {
                    row.scripts[index] = row.scripts[index].max(duration);
                }
            }
        }
        add_row(&mut table, row.cells());
    }
    println!(
        "{table}\n\n{entries} entries of {} members. Times in milliseconds.",
        entries / PER_MEMBER
    );
    Ok(())
}

/// Sends the request, and likes of a member until it is answered.
async fn measure(what: &'static str, api: &Api, path: &str, event: &Value) -> Result<Row, String> {
    let start = Instant::now();
    let recount = api.post(path, event);
    tokio::pin!(recount);
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
            answer = &mut recount => {
                succeeded(&answer)?;
                let duration = start.elapsed();
                return Ok(Row { what, duration, scripts: [0; 2], longest_write, writes });
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
    fn cells(&self) -> [String; 6] {
        let milliseconds = |duration: Duration| format!("{:.1}", duration.as_secs_f64() * 1000.0);
        let [swap, other] = self.scripts.map(Duration::from_micros);
        [
            self.what.to_owned(),
            milliseconds(self.duration),
            milliseconds(swap),
            milliseconds(other),
            milliseconds(self.longest_write),
            self.writes.to_string(),
        ]
    }
}
