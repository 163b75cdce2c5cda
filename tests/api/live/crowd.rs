//! Many streams and many writes at once.
//!
//! `make live` runs it longer and prints the table of docs/benchmarks.md. The environment sets
//! `STREAMS`, `SECONDS`, `WRITES` per second and `IDLE`, the seconds in which the board does not change.

use std::env::var;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use test_support::{Api, Forwarder, Method, SERVICE_KEY, depth, until};

use super::{board_reads, max_delay, start, until_quiet};
use crate::app::TestApp;
use crate::bodies::like;
use crate::client::JSON;

const LIVE: &str = "/v1/ranking/day/live";

fn number(name: &str, default: u32) -> u32 {
    var(name).map_or(default, |text| text.parse().expect("a number"))
}

/// The last board on a stream.
#[derive(Clone, Debug)]
struct LastBoard {
    id: String,
    at: Instant,
    /// The number of boards so far.
    events: u32,
}

type Watcher = Arc<Mutex<Option<LastBoard>>>;

fn last_board(watcher: &Watcher) -> Option<LastBoard> {
    watcher
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone()
}

/// Opens streams, reads each in a task, and waits until each has the first board.
async fn watch(app: &TestApp, count: u32) -> (Vec<Watcher>, Vec<tokio::task::JoinHandle<()>>) {
    let api = Api::new(app.url());
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
                let mut last = watcher.lock().unwrap_or_else(PoisonError::into_inner);
                let events = last.as_ref().map_or(0, |last| last.events) + 1;
                *last = Some(LastBoard { id, at, events });
            }
        }));
    }
    until("the first board on every stream", async || {
        let mut watchers = watchers.iter();
        watchers
            .all(|watcher| last_board(watcher).is_some())
            .then_some(())
    })
    .await;
    (watchers, tasks)
}

/// Returns the number of boards on all streams so far.
fn events(watchers: &[Watcher]) -> u32 {
    let boards = watchers.iter().filter_map(last_board);
    boards.map(|board| board.events).sum()
}

/// Sends writes at a constant rate, and returns the instant of the last response.
async fn write(app: &TestApp, run: &str, seconds: u32, rate: u32) -> Instant {
    let api = Api::new(app.url()).with_key(SERVICE_KEY);
    let mut ticks = tokio::time::interval(Duration::from_secs(1) / rate);
    let mut writes = Vec::new();
    for number in 0..seconds * rate {
        ticks.tick().await;
        // The board shows 30 users: 25 users keep every write on it.
        let user = format!("u{}", number * 7 % 25);
        let like = like(&user, &format!("{run}{number}"));
        let (api, like) = (api.clone(), like.to_string());
        writes.push(tokio::spawn(async move {
            let response = api.send(Method::POST, "/v1/activity", like, JSON).await;
            assert_eq!(response.body["outcome"], "counted", "{}", response.text);
        }));
    }
    for write in writes {
        write.await.expect("counted");
    }
    Instant::now()
}

/// The processor time of the Worker, in hundredths of a second.
fn processor(app: &TestApp) -> u32 {
    let stat = app.process("stat");
    // The name of the process, in parentheses, may contain spaces and parentheses.
    let (_, fields) = stat.rsplit_once(')').unwrap_or_default();
    let times = fields.split_whitespace().skip(11).take(2);
    times.flat_map(str::parse::<u32>).sum()
}

/// Counts the commands for the watched board while it does not change.
async fn measure_idle(forwarder: &Forwarder, seconds: u32) -> String {
    until_quiet(forwarder).await;
    forwarder.reset();
    tokio::time::sleep(Duration::from_secs(seconds.into())).await;
    let requests = forwarder.requests();
    let commands = requests.iter().map(|request| request.commands().len());
    let commands: usize = commands.sum();
    format!("unchanged for {seconds} s: {commands} commands of the store")
}

/// However many streams are open, the Worker reads a changing board once per second, and every stream
/// has the last board soon after the last write.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crowd_of_streams_costs_one_read_per_second() {
    let (streams, seconds) = (number("STREAMS", 100), number("SECONDS", depth(3, 6)));
    let rate = number("WRITES", 20);
    let (app, forwarder) = start();
    let header = "streams  s  writes/s  boards sent  last board after  reads/s  processor  memory";
    let mut lines = vec![header.to_owned()];
    for count in [1, streams] {
        let (watchers, tasks) = watch(&app, count).await;
        let before = events(&watchers);
        forwarder.reset();
        let (started, used) = (Instant::now(), processor(&app));
        let written = write(&app, &format!("{count}-"), seconds, rate).await;
        let (reads, elapsed) = (board_reads(&forwarder).len(), started.elapsed());
        let reads = u32::try_from(reads).expect("few");
        let busy = f64::from(processor(&app) - used) / elapsed.as_secs_f64();
        let board = app.get("/v1/ranking/day").await;
        let version = board.header("etag").expect("a tag").trim_matches('"');
        let last = until("the last board on every stream", async || {
            let boards: Option<Vec<LastBoard>> = watchers.iter().map(last_board).collect();
            let boards = boards?;
            let current = boards.iter().all(|board| board.id == version);
            current.then(|| boards.iter().map(|board| board.at).max())?
        })
        .await;
        let delay = last.saturating_duration_since(written);
        let read_rate = f64::from(reads) / elapsed.as_secs_f64();
        lines.push(format!(
            "{count:>7} {seconds:>2}  {rate:>8}  {:>11}  {:>13} ms  {read_rate:>7.2}  {busy:>7.1} %  {:>3} MB",
            events(&watchers) - before,
            delay.as_millis(),
            app.memory() / 1000,
        ));
        let idle = number("IDLE", 0);
        if idle > 0 {
            lines.push(measure_idle(&forwarder, idle).await);
        }
        for task in tasks {
            task.abort();
        }
        assert!(delay < max_delay(), "{count} streams: {delay:?}");
        // The first and the last second may be partial.
        let max = elapsed.as_secs_f64() + 2.0;
        assert!(
            f64::from(reads) <= max,
            "{count} streams: {reads} reads in {elapsed:?}"
        );
    }
    // Written to stderr directly: the test harness captures `eprintln!`.
    writeln!(std::io::stderr(), "{}", lines.join("\n")).expect("stderr");
}
