//! Counts the Redis commands of each kind of request, by `INFO commandstats` of a real redis-server
//! behind the gateway: what Upstash bills, which counts a script and each command in it.
//!
//! The Worker keeps all five boards and has a journal, as in production. The user has been active
//! before, today too, unless an operation says otherwise.
//!
//! Then measures the runs of cron, computes months of deployments and writes the tables of
//! `docs/costs.md`.

mod cron;
mod month;
mod prices;
pub mod routes;

use crate::report::{add_row, table};
use crate::stack::{Stack, succeeded, worker_builder};
use redis::Connection;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;
use test_support::{Api, Method, Value, json, shard_among};

const PREFIX: &str = "cost";
const ACTIVITY: &str = "/v1/activity";
/// The time after which the object of a live board has registered it and read it again.
const SETTLED: Duration = Duration::from_secs(5);
/// Between these lines of `docs/costs.md` are the tables.
const BEGIN: &str = "<!-- begin: make cost -->";
const END: &str = "<!-- end: make cost -->";
/// Operations that the months of live boards count too.
const WATCHED_MINUTE: &str = "watched board, a minute unchanged";
const WATCHED_LIKE: &str = "like on a watched board";
/// The items of an array.
const ITEMS: usize = 500;
/// The users of an array: every one has several items, or one.
const ARRAY_USERS: [usize; 2] = [100, 500];
/// Likes in a second, which reach the receivers together.
const LIKES: u32 = 50;

/// The commands of one operation.
#[derive(Debug, Serialize)]
pub struct Cost {
    /// The operation.
    pub operation: String,
    /// The number of commands, for each item of an array.
    pub commands: f64,
    /// The time that Redis spent in the script, in microseconds, for each item of an array.
    pub script_us: f64,
    /// The number of calls of each command.
    pub calls: BTreeMap<String, u64>,
}

/// Measures all operations, prints a table and writes the figures to the file `JSON`.
pub async fn run() -> Result<(), String> {
    let stack = Stack::start();
    let builder = worker_builder(PREFIX).store(&stack.gateway.url());
    // Without caches, so that each read reaches the store.
    let builder = builder.var("BOARD_MAX_AGE", "0");
    let worker = builder.journal().live().miniflare().start();
    let mut meter = Meter::new(&stack, worker.api());
    meter.measure_all().await?;
    meter.measure_events().await?;
    drop(worker);
    for (shards, name) in [(1, "with content"), (8, "with content over 8 shards")] {
        let builder = worker_builder(&format!("cost-content-{shards}"));
        let builder = builder.store(&stack.gateway.url()).journal();
        let builder = builder.var("CONTENT_PERIODS", "week,all");
        let builder = builder.json("SHARDS", json!(shards));
        let worker = builder.var("BOARD_MAX_AGE", "0").miniflare().start();
        meter.api = worker.api();
        meter.settling = SETTLED;
        meter.measure_content(name, shards).await?;
    }
    let mut table = table(["operation", "commands", "script µs", "calls"]);
    for cost in &meter.costs {
        let calls = cost.calls.iter();
        let calls: Vec<String> = calls
            .map(|(name, calls)| format!("{calls} {name}"))
            .collect();
        let row = [
            cost.operation.clone(),
            format!("{:.1}", cost.commands),
            format!("{:.0}", cost.script_us),
            calls.join(", "),
        ];
        add_row(&mut table, row);
    }
    println!("{table}");
    let mut crons = Vec::new();
    for bindings in cron::Bindings::ALL {
        crons.push(cron::measure(&stack, bindings).await?);
    }
    let tables = month::tables(&meter.costs, &crons);
    println!("{tables}");
    write_between((BEGIN, END), &tables)?;
    let figures = (&meter.costs, &crons);
    let json = serde_json::to_string_pretty(&figures).map_err(|error| error.to_string())?;
    let file = crate::options::file("JSON", "target/cost.json");
    std::fs::write(&file, json).map_err(|error| format!("{}: {error}", file.display()))
}

/// Replaces the tables between two markers of `docs/costs.md`.
fn write_between((begin, end): (&str, &str), tables: &str) -> Result<(), String> {
    let file = test_support::root().join("docs/costs.md");
    let failure = |error: std::io::Error| format!("{}: {error}", file.display());
    let page = std::fs::read_to_string(&file).map_err(failure)?;
    let (before, rest) = page.split_once(begin).ok_or("docs/costs.md: no begin")?;
    let (_, after) = rest.split_once(end).ok_or("docs/costs.md: no end")?;
    let page = format!("{before}{begin}\n\n{tables}{end}{after}");
    std::fs::write(&file, page).map_err(failure)
}

/// Sends operations and counts their commands.
struct Meter {
    redis: Connection,
    api: Api,
    /// The time between an activity and the count of its commands, as for what others receive.
    settling: Duration,
    costs: Vec<Cost>,
}

impl Meter {
    fn new(stack: &Stack, api: Api) -> Self {
        Self {
            redis: stack.redis.connection(),
            api,
            settling: Duration::ZERO,
            costs: Vec::new(),
        }
    }

    async fn measure_all(&mut self) -> Result<(), String> {
        let like = |target: &str| activity("42", "like", target);
        let visit = |target: &str| activity("42", "visit", target);
        // Loads the scripts, and creates the keys of the user and of others.
        for user in 0..40 {
            let user = format!("u{user}");
            self.post(&activity(&user, "comment", "c")).await?;
        }
        // The boards of the periods before, for movement.
        let now = jiff::Timestamp::now();
        for back in [1, 7, 31, 366] {
            let at = now - jiff::SignedDuration::from_hours(24 * back);
            let like = |user| json!({"user": format!("u{user}"), "action": "like", "target": "p", "at": at.to_string()});
            self.post(&(0..40).map(like).collect()).await?;
        }
        for body in [like("before"), visit("/before"), like("undone")] {
            self.post(&body).await?;
        }
        self.post(&undo(like("undone"))).await?;
        self.post(&like("first")).await?;
        self.read("/v1/ranking/day?limit=30").await?;
        self.read("/v1/ranking/day/users/42?around=2").await?;

        self.count("like", &like("a")).await?;
        self.count_minimal("like, minimal", &like("b")).await?;
        self.count("visit", &visit("/a")).await?;
        self.count_minimal("visit, minimal", &visit("/b")).await?;
        self.count("duplicate like", &like("a")).await?;
        self.count_minimal("duplicate like, minimal", &like("a"))
            .await?;
        self.count("duplicate visit", &visit("/a")).await?;
        self.count("undo of a like", &undo(like("a"))).await?;
        self.count("undo of nothing", &undo(like("never"))).await?;
        self.count("like after an undo", &like("a")).await?;
        self.count("first activity of a user", &activity("new", "like", "a"))
            .await?;
        for users in ARRAY_USERS {
            let array = |action: &str| {
                let user = |number: usize| format!("u{}", number % users);
                let item = |number| activity(&user(number), action, &format!("post-{number}"));
                (0..ITEMS).map(item).collect()
            };
            // Creates the keys of the users.
            self.post(&array("comment")).await?;
            let name = format!("item of an array of {ITEMS} by {users} users");
            let action = if users == ITEMS { "bookmark" } else { "like" };
            self.count_items(&name, &array(action), ITEMS).await?;
        }
        self.count_read("top 30", "/v1/ranking/day?limit=30")
            .await?;
        let path = "/v1/ranking/day/users/42?around=2";
        self.count_read("standing with two neighbours", path)
            .await?;
        // As many friends as are compared.
        let follow = |friend: usize| activity("42", "follow", &format!("u{friend}"));
        self.post(&(0..100).map(follow).collect()).await?;
        let standings = "/v1/users/42/standings";
        let with_friends = &format!("{standings}?friends=true");
        let friends = "/v1/ranking/day/users?followed_by=42";
        for path in [with_friends, friends] {
            self.read(path).await?;
        }
        self.count_read("standings", standings).await?;
        self.count_read("standings with friends", with_friends)
            .await?;
        self.count_read("friends", friends).await?;
        let (points, stats) = ("/v1/users/42/points", "/v1/stats");
        for path in [points, stats] {
            self.read(path).await?;
        }
        let (moving, all_moving) = (
            "/v1/ranking/day?limit=30&movement=true",
            "/v1/users/42/standings?movement=true",
        );
        self.count_read("top 30 with movement", moving).await?;
        self.count_read("standings with movement", all_moving)
            .await?;
        self.count_read("what changed points", points).await?;
        self.count_read("numbers of 30 days", stats).await?;
        self.count_watched().await
    }

    /// Counts the commands of activity that counts in one running event, and in five.
    async fn measure_events(&mut self) -> Result<(), String> {
        let like = |target: &str| activity("42", "like", target);
        for (name, defined) in [("one event", 0..1), ("five events", 1..5)] {
            let now = jiff::Timestamp::now();
            let [from, to] =
                [1, 3600].map(|seconds| now + jiff::SignedDuration::from_secs(seconds));
            let event = json!({"title": "Event", "from": from.to_string(), "to": to.to_string()});
            for number in defined {
                succeeded(&self.api.put(&format!("/v1/events/{number}"), &event).await)?;
            }
            tokio::time::sleep(Duration::from_secs(2)).await;
            self.post(&like(&format!("first, {name}"))).await?;
            let target = format!("a, {name}");
            self.count(&format!("like, {name}"), &like(&target)).await?;
            let minimal = format!("like, minimal, {name}");
            self.count_minimal(&minimal, &like(&format!("b, {name}")))
                .await?;
            self.count(&format!("undo of a like, {name}"), &undo(like(&target)))
                .await?;
        }
        Ok(())
    }

    /// Counts the commands with boards of content and of authors for weeks and all time. Of several shards, users,
    /// targets and their author are on different ones.
    async fn measure_content(&mut self, name: &str, shards: u32) -> Result<(), String> {
        let on_shard = |name: &str, shard: u32| {
            let ids = (0..).map(|number| format!("{name}{number}"));
            let mut ids = ids.filter(|id| shard_among(id, shards) == shard % shards);
            ids.next().unwrap_or_default()
        };
        let [user, other] = ["user", "other"].map(|name| on_shard(name, 0));
        let [before, liked, second] = ["before", "liked", "second"].map(|name| on_shard(name, 1));
        let author = on_shard("author", 2);
        let like = |user: &str, target: &str| activity(user, "like", target);
        for target in [&liked, &second] {
            let body = json!({"author": author, "title": "A title"});
            let path = format!("/v1/targets/{target}");
            succeeded(&self.api.put(&path, &body).await)?;
        }
        for (user, target) in [(&user, &before), (&other, &liked), (&user, &second)] {
            self.post(&like(user, target)).await?;
        }
        self.post(&undo(like(&user, &second))).await?;
        self.read("/v1/content/week?limit=30").await?;
        tokio::time::sleep(self.settling).await;
        let unknown = like(&user, &on_shard("unknown", 1));
        self.count(&format!("like on an unknown target, {name}"), &unknown)
            .await?;
        self.count(&format!("like, {name}"), &like(&user, &liked))
            .await?;
        self.count_minimal(&format!("like, minimal, {name}"), &like(&other, &second))
            .await?;
        let undone = undo(like(&user, &liked));
        self.count(&format!("undo of a like, {name}"), &undone)
            .await?;
        self.count_likes(&format!("like among {LIKES} in a second, {name}"), &liked)
            .await?;
        let own = like(&author, &liked);
        self.count(&format!("like of one's own target, {name}"), &own)
            .await?;
        let top = "/v1/content/week?limit=30";
        self.count_read(&format!("top 30 of content, {name}"), top)
            .await
    }

    /// Counts the commands of a like among several of one target, by users who have been active before.
    async fn count_likes(&mut self, operation: &str, target: &str) -> Result<(), String> {
        let like = |number, target| activity(&format!("liker-{number}"), "like", target);
        self.post(&(0..LIKES).map(|number| like(number, "before")).collect())
            .await?;
        tokio::time::sleep(self.settling).await;
        self.reset()?;
        let mut interval = tokio::time::interval(Duration::from_secs(1) / LIKES);
        for number in 0..LIKES {
            interval.tick().await;
            self.post(&like(number, target)).await?;
        }
        tokio::time::sleep(self.settling).await;
        self.add(operation, LIKES as usize)
    }

    /// Counts the commands for a board that someone watches: while it does not change, and for a like
    /// with what the object reads afterwards.
    async fn count_watched(&mut self) -> Result<(), String> {
        let mut stream = self.api.stream("/v1/ranking/day/live", &[]).await;
        stream.event().await;
        tokio::time::sleep(SETTLED).await;
        self.reset()?;
        tokio::time::sleep(Duration::from_secs(60)).await;
        self.add(WATCHED_MINUTE, 1)?;
        self.reset()?;
        self.post(&activity("42", "like", "watched")).await?;
        tokio::time::sleep(SETTLED).await;
        self.add(WATCHED_LIKE, 1)?;
        drop(stream);
        Ok(())
    }

    async fn post(&self, body: &Value) -> Result<(), String> {
        succeeded(&self.api.post(ACTIVITY, body).await)
    }

    async fn read(&self, path: &str) -> Result<(), String> {
        succeeded(&self.api.get(path).await)
    }

    async fn count(&mut self, operation: &str, body: &Value) -> Result<(), String> {
        self.count_items(operation, body, 1).await
    }

    /// As [`Meter::count`], of a response without standings.
    async fn count_minimal(&mut self, operation: &str, body: &Value) -> Result<(), String> {
        self.reset()?;
        let headers = [
            ("content-type", "application/json"),
            ("prefer", "return=minimal"),
        ];
        let text = body.to_string();
        let sent = self.api.send(Method::POST, ACTIVITY, text, &headers);
        succeeded(&sent.await)?;
        tokio::time::sleep(self.settling).await;
        self.add(operation, 1)
    }

    async fn count_items(
        &mut self,
        operation: &str,
        body: &Value,
        items: usize,
    ) -> Result<(), String> {
        self.reset()?;
        self.post(body).await?;
        tokio::time::sleep(self.settling).await;
        self.add(operation, items)
    }

    async fn count_read(&mut self, operation: &str, path: &str) -> Result<(), String> {
        self.reset()?;
        self.read(path).await?;
        self.add(operation, 1)
    }

    fn reset(&mut self) -> Result<(), String> {
        let mut command = redis::cmd("CONFIG");
        let reset = command.arg("RESETSTAT").exec(&mut self.redis);
        reset.map_err(|error| error.to_string())
    }

    /// Reads the commands since the reset.
    fn add(&mut self, operation: &str, items: usize) -> Result<(), String> {
        let (calls, script_us) = self.calls()?;
        let total: u64 = calls.values().sum();
        self.costs.push(Cost {
            operation: operation.to_owned(),
            commands: total as f64 / items as f64,
            script_us: script_us as f64 / items as f64,
            calls,
        });
        Ok(())
    }

    /// Returns the calls of each command since the reset, and the microseconds in scripts.
    fn calls(&mut self) -> Result<(BTreeMap<String, u64>, u64), String> {
        let mut command = redis::cmd("INFO");
        let stats = command.arg("commandstats").query(&mut self.redis);
        let stats: String = stats.map_err(|error| error.to_string())?;
        let (mut calls, mut script_us) = (BTreeMap::new(), 0);
        for line in stats.lines() {
            let Some((name, figures)) = line
                .strip_prefix("cmdstat_")
                .and_then(|line| line.split_once(":calls="))
            else {
                continue;
            };
            // Of this program and of the gateway.
            if ["info", "config|resetstat", "ping"].contains(&name) {
                continue;
            }
            let mut figures = figures.split(",usec=").map(|figure| {
                let digits = figure.split(',').next().unwrap_or_default();
                digits.parse::<u64>().unwrap_or(0)
            });
            calls.insert(name.to_uppercase(), figures.next().unwrap_or(0));
            if name.starts_with("evalsha") {
                script_us += figures.next().unwrap_or(0);
            }
        }
        Ok((calls, script_us))
    }
}

fn activity(user: &str, action: &str, target: &str) -> Value {
    json!({"user": user, "action": action, "target": target})
}

fn undo(mut activity: Value) -> Value {
    activity["undo"] = json!(true);
    activity
}
