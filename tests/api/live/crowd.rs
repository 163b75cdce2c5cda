//! Many who watch while many write: `STREAMS`, `SECONDS` and `WRITES` a second, from the
//! environment, make it a longer run, and the table of docs/performance.md: `make live`.

use std::env::var;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use activity_rank::scripts;
use test_support::{Api, Forwarder, Method, SERVICE_KEY, json, until};

use super::start_with;
use crate::site::Site;

const LIVE: &str = "/v1/ranking/day/live";

/// So soon everybody has the last board.
const SOON: Duration = Duration::from_secs(3);

fn number(name: &str, default: u32) -> u32 {
    var(name).map_or(default, |text| text.parse().expect("a number"))
}

/// What one who watches has seen.
#[derive(Clone, Debug)]
struct Seen {
    id: String,
    at: Instant,
    events: u32,
}

type Watcher = Arc<Mutex<Option<Seen>>>;

fn seen(watcher: &Watcher) -> Option<Seen> {
    watcher
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone()
}

/// Opens streams that are read as fast as they come, and waits until each has the first board.
async fn watch(site: &Site, count: u32) -> (Vec<Watcher>, Vec<tokio::task::JoinHandle<()>>) {
    let api = Api::new(site.url());
    let (mut watchers, mut tasks) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let (api, watcher) = (api.clone(), Watcher::default());
        watchers.push(Arc::clone(&watcher));
        tasks.push(tokio::spawn(async move {
            let mut stream = api.stream(LIVE, &[]).await;
            while let Some(event) = stream.next().await {
                if event.name.is_empty() {
                    continue;
                }
                let (id, at) = (event.id, Instant::now());
                let mut held = watcher.lock().unwrap_or_else(PoisonError::into_inner);
                let events = held.as_ref().map_or(0, |seen| seen.events) + 1;
                *held = Some(Seen { id, at, events });
            }
        }));
    }
    until("everybody's first board", async || {
        watchers
            .iter()
            .all(|watcher| seen(watcher).is_some())
            .then_some(())
    })
    .await;
    (watchers, tasks)
}

/// Writes so often for so long, and returns when the last was answered.
async fn write(site: &Site, run: &str, seconds: u32, rate: u32) -> Instant {
    let api = Api::new(site.url()).with_key(SERVICE_KEY);
    let mut ticks = tokio::time::interval(Duration::from_secs(1) / rate);
    let mut writes = Vec::new();
    for number in 0..seconds * rate {
        ticks.tick().await;
        // All of them are on what is watched, so that each write changes it.
        let user = format!("u{}", number * 7 % 25);
        let like = json!({"user": user, "action": "like", "target": format!("{run}{number}")});
        let (api, like) = (api.clone(), like.to_string());
        writes.push(tokio::spawn(async move {
            let kind = [("content-type", "application/json")];
            let sent = api.send(Method::POST, "/v1/activity", like, &kind).await;
            assert_eq!(sent.body["outcome"], "counted", "{}", sent.text);
        }));
    }
    for write in writes {
        write.await.expect("counted");
    }
    Instant::now()
}

/// How often a board was read.
fn reads(forwarder: &Forwarder) -> u32 {
    let requests = forwarder.requests();
    let reads = requests.iter().filter(|request| {
        let commands = request.commands();
        commands
            .iter()
            .any(|command| command[1] == scripts::TOP.sha)
    });
    u32::try_from(reads.count()).expect("few")
}

/// What Linux tells of the Worker's process; nothing elsewhere.
fn process(site: &Site, file: &str) -> String {
    let path = format!("/proc/{}/{file}", site.pid());
    std::fs::read_to_string(path).unwrap_or_default()
}

/// The memory it has, in kilobytes.
fn memory(site: &Site) -> u64 {
    let status = process(site, "status");
    let mut lines = status.lines();
    let line = lines.find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.unwrap_or_default()
}

/// The processor time it has used, in hundredths of a second.
fn processor(site: &Site) -> u32 {
    let stat = process(site, "stat");
    // The name before may hold anything, but no later parenthesis.
    let (_, fields) = stat.rsplit_once(')').unwrap_or_default();
    let times = fields.split_whitespace().skip(11).take(2);
    times.flat_map(str::parse::<u32>).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everybody_has_the_last_board_soon_and_the_store_is_asked_no_more_than_for_one() {
    let (streams, seconds) = (number("STREAMS", 100), number("SECONDS", 6));
    let rate = number("WRITES", 20);
    let (site, forwarder) = start_with(|worker| worker);
    let table = "streams  s  writes/s  boards sent  last board after  reads/s  processor  memory";
    let mut lines = vec![table.to_owned()];
    for count in [1, streams] {
        let (watchers, tasks) = watch(&site, count).await;
        let before: u32 = watchers
            .iter()
            .filter_map(seen)
            .map(|seen| seen.events)
            .sum();
        forwarder.reset();
        let (begun, used) = (Instant::now(), processor(&site));
        let written = write(&site, &format!("{count}-"), seconds, rate).await;
        let (reads, took) = (reads(&forwarder), begun.elapsed());
        let busy = f64::from(processor(&site) - used) / took.as_secs_f64();
        let board = site.get("/v1/ranking/day").await;
        let version = board.header("etag").expect("a tag").trim_matches('"');
        let last = until("everybody's last board", async || {
            let all: Option<Vec<Seen>> = watchers.iter().map(seen).collect();
            let all = all?;
            let there = all.iter().all(|seen| seen.id == version);
            there.then(|| all.iter().map(|seen| seen.at).max())?
        })
        .await;
        let late = last.saturating_duration_since(written);
        let after: u32 = watchers
            .iter()
            .filter_map(seen)
            .map(|seen| seen.events)
            .sum();
        let pace = f64::from(reads) / took.as_secs_f64();
        lines.push(format!(
            "{count:>7} {seconds:>2}  {rate:>8}  {:>11}  {:>13} ms  {pace:>7.2}  {busy:>7.1} %  {:>3} MB",
            after - before,
            late.as_millis(),
            memory(&site) / 1000,
        ));
        for task in tasks {
            task.abort();
        }
        assert!(late < SOON, "{count} streams: {late:?}");
        // Neither the first nor the last second is whole.
        let most = took.as_secs_f64() + 2.0;
        assert!(
            f64::from(reads) <= most,
            "{count} streams: {reads} in {took:?}"
        );
    }
    // Past the harness, which shows nothing of a test that succeeds.
    writeln!(std::io::stderr(), "{}", lines.join("\n")).expect("stderr");
}
