//! Counts the commands and requests to the store of each route that reads, with one shard and with eight.

use super::{ACTIVITY, Meter, PREFIX, activity, write_between};
use crate::stack::{Stack, succeeded, worker_builder};
use std::fmt::Write;
use std::time::Duration;
use test_support::{Forwarder, Value, json};

const BEGIN: &str = "<!-- begin: make cost, routes -->";
const END: &str = "<!-- end: make cost, routes -->";

const SHARDS: [u32; 2] = [1, 8];

/// Members, all of whom have been active in this period and in the one before.
const MEMBERS: usize = 100;

/// Time for what others receive.
const SETTLED: Duration = Duration::from_secs(3);

/// The routes by title.
const ROUTES: [(&str, &str); 26] = [
    ("top 30", "/v1/ranking/week?limit=30"),
    (
        "top 30 with movement",
        "/v1/ranking/week?limit=30&movement=true",
    ),
    ("rows 61 to 90", "/v1/ranking/week?limit=30&offset=60"),
    (
        "standing, two neighbours",
        "/v1/ranking/week/users/u42?around=2",
    ),
    (
        "standing with movement",
        "/v1/ranking/week/users/u42?movement=true",
    ),
    (
        "comparison of 10 users",
        "/v1/ranking/week/users?ids=u0,u1,u2,u3,u4,u5,u6,u7,u8,u9",
    ),
    (
        "comparison with 20 friends",
        "/v1/ranking/week/users?followed_by=u42",
    ),
    ("winners of 12 weeks", "/v1/ranking/week/winners"),
    ("all standings", "/v1/users/u42/standings"),
    (
        "all standings, of two groups too",
        "/v1/users/u42/standings?groups=eu,us",
    ),
    (
        "all standings with 20 friends",
        "/v1/users/u42/standings?friends=true",
    ),
    (
        "all standings with movement",
        "/v1/users/u42/standings?movement=true",
    ),
    ("card", "/v1/users/u42/card"),
    ("points, from the journal", "/v1/users/u42/points"),
    ("activity of 31 days", "/v1/users/u42/activity"),
    ("activity of 366 days", "/v1/users/u42/activity?days=366"),
    ("profile", "/v1/users/u42"),
    ("top 30 of content", "/v1/content/week?limit=30"),
    ("standing of a target", "/v1/content/week/targets/post-1"),
    ("top 30 of authors", "/v1/authors/week?limit=30"),
    ("content at present", "/v1/content/hot"),
    ("targets of an author", "/v1/users/u1/targets"),
    ("numbers of 30 days", "/v1/stats"),
    ("digest of a week", DIGEST),
    ("feed of past weeks", "/v1/feed.json"),
    ("metrics", "/metrics"),
];

/// The digest of the current week.
const DIGEST: &str = "/v1/digest/";

/// Measures all routes, prints the table and writes it into `docs/costs.md`.
pub async fn run() -> Result<(), String> {
    let stack = Stack::start();
    let mut columns = Vec::new();
    for shards in SHARDS {
        columns.push(measure(&stack, shards).await?);
    }
    let mut table =
        "| route | commands | store requests | commands, 8 shards | store requests, 8 shards |\n\
         | --- | ---: | ---: | ---: | ---: |\n"
            .to_owned();
    for (index, (title, _)) in ROUTES.iter().enumerate() {
        let _ = write!(table, "| {title} |");
        for column in &columns {
            let (commands, requests) = column.get(index).copied().unwrap_or_default();
            let _ = write!(table, " {commands} | {requests} |");
        }
        table.push('\n');
    }
    println!("{table}");
    write_between((BEGIN, END), &table)
}

/// Returns the commands and the store requests of each route.
async fn measure(stack: &Stack, shards: u32) -> Result<Vec<(u64, usize)>, String> {
    let forwarder = Forwarder::to(&stack.gateway.url());
    let builder = worker_builder(&format!("{PREFIX}-routes-{shards}"));
    let builder = builder
        .store(&forwarder.url())
        .json("SHARDS", json!(shards));
    let builder = builder.var("CONTENT_PERIODS", "day,week,all");
    // Without caches, so that each read reaches the store.
    let builder = builder.var("BOARD_MAX_AGE", "0").journal().archive();
    let worker = builder.miniflare().start();
    let mut meter = Meter::new(stack, worker.api());
    fill(&meter).await?;
    worker.minute().await;
    tokio::time::sleep(SETTLED).await;
    let period = meter.api.get("/v1/ranking/week?limit=1").await;
    let week = period.body["period"]["id"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let mut counts = Vec::new();
    for (_, path) in ROUTES {
        let path = match path {
            DIGEST => format!("{DIGEST}{week}"),
            path => path.to_owned(),
        };
        // Loads scripts.
        meter.read(&path).await?;
        // A hiding makes the isolate forget ranks of past weeks.
        let shows_movement = path.contains("movement") || path.contains(DIGEST);
        for hidden in [true, false].into_iter().filter(|_| shows_movement) {
            let body = json!({"hidden": hidden, "frozen": false, "reason": "r"});
            let path = "/v1/users/other/moderation";
            succeeded(&meter.api.put(path, &body).await)?;
        }
        meter.reset()?;
        forwarder.reset();
        meter.read(&path).await?;
        counts.push((meter.calls()?.0.values().sum(), forwarder.count()));
    }
    Ok(counts)
}

/// Registers targets, and counts likes of this week and of the one before in two groups.
async fn fill(meter: &Meter) -> Result<(), String> {
    let targets = (0..40).map(|target| {
        let author = format!("u{}", target % 10);
        json!({"id": format!("post-{target}"), "author": author, "title": "A title"})
    });
    let targets: Value = targets.collect();
    succeeded(&meter.api.put("/v1/targets", &targets).await)?;
    let profile = json!({"name": "Ada", "avatar": "https://example.com/ada.png"});
    succeeded(&meter.api.put("/v1/users/u42", &profile).await)?;
    let now = jiff::Timestamp::now();
    for (back, posts) in [(7, 1), (0, 3)] {
        let at = now - jiff::SignedDuration::from_hours(24 * back);
        for post in 0..posts {
            let like = |user: usize| {
                let target = format!("post-{}", (user * 7 + post * 11) % 40);
                json!({"user": format!("u{user}"), "action": "like", "target": target,
                    "at": at.to_string(), "groups": ["eu", "us"]})
            };
            let likes: Value = (0..MEMBERS).map(like).collect();
            succeeded(&meter.api.post(ACTIVITY, &likes).await)?;
        }
    }
    let follow = |friend: usize| activity("u42", "follow", &format!("u{friend}"));
    let follows: Value = (0..20).map(follow).collect();
    succeeded(&meter.api.post(ACTIVITY, &follows).await)
}
