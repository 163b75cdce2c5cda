//! Measures the memory of workerd and of the Worker's wasm over thousands of requests: with clients that wait and clients that
//! go away, and with readers of many large boards from many origins.
//!
//! Each load has a workerd of its own. Its memory is the resident set, with what workerd itself keeps: a load whose clients
//! wait is the measure of the same one whose clients go away.

use crate::options::number;
use crate::report::{add_row, table};
use crate::stack::{Stack, succeeded, worker_builder};
use futures::{StreamExt, stream};
use std::path::PathBuf;
use std::time::Duration;
use test_support::{Answer, Api, Fault, Forwarder, Method, Value, Worker, json};

/// The number of requests at a time.
const CONNECTIONS: usize = 8;
/// The number of requests of a load before its memory is first read.
const WARM_UP: usize = 100;
/// The number of times that the memory is read after that.
const READINGS: usize = 10;
/// The number of origins of the readers.
const ORIGINS: usize = 20;

/// What the clients of a load send.
#[derive(Clone, Copy)]
enum Request {
    Activity,
    /// 460 activities with long targets: as large as a body may be.
    Array,
    /// A board of 0.4 MB, one of a hundred.
    Board,
}

struct Load {
    title: &'static str,
    request: Request,
    /// The time that the store takes.
    delay: Duration,
    /// The longest time after which clients go away.
    abort: Option<u64>,
}

const FAST: Duration = Duration::from_millis(30);
const SLOW: Duration = Duration::from_millis(1900);

#[rustfmt::skip]
const LOADS: [Load; 7] = [
    Load { title: "an activity, answered", request: Request::Activity, delay: FAST, abort: None },
    Load { title: "an activity, aborted", request: Request::Activity, delay: FAST, abort: Some(60) },
    Load { title: "an activity, aborted, slow store", request: Request::Activity, delay: SLOW, abort: Some(60) },
    Load { title: "an array, answered", request: Request::Array, delay: FAST, abort: None },
    Load { title: "an array, aborted", request: Request::Array, delay: FAST, abort: Some(60) },
    Load { title: "an array, aborted, slow store", request: Request::Array, delay: SLOW, abort: Some(60) },
    Load { title: "boards from 20 origins", request: Request::Board, delay: Duration::ZERO, abort: None },
];

/// Sends `REQUESTS` (5,000) requests of each load whose title contains `ONLY`. `BUNDLE` is the folder of another build of the
/// Worker.
pub async fn run() -> Result<(), String> {
    let requests = number::<usize>("REQUESTS", 5000)?.max(READINGS);
    let only = std::env::var("ONLY").unwrap_or_default();
    let stack = Stack::start();
    let step = requests / READINGS;
    let mut headings = vec!["load".to_owned(), "aborted".to_owned()];
    headings.extend((0..=READINGS).map(|reading| (reading * step).to_string()));
    let mut table = table(headings.iter().map(String::as_str));
    for load in LOADS.iter().filter(|load| load.title.contains(&only)) {
        eprintln!("isolate: {}", load.title);
        let (aborted, readings) = measure(&stack, load, step).await?;
        let cells = [load.title.to_owned(), aborted.to_string()];
        add_row(&mut table, cells.into_iter().chain(readings));
    }
    println!(
        "{table}\n\nMegabytes of workerd / of the wasm among them, after so many requests over {CONNECTIONS} connections."
    );
    Ok(())
}

/// Returns the number of aborted requests and the readings of the memory.
async fn measure(stack: &Stack, load: &Load, step: usize) -> Result<(usize, Vec<String>), String> {
    let forwarder = Forwarder::to(&stack.gateway.url());
    let origins: Vec<String> = (0..ORIGINS).map(origin).collect();
    let mut worker = worker_builder(&load.title.replace([' ', ','], ""))
        .store(&forwarder.url())
        .var("ALLOWED_ORIGINS", &origins.join(","))
        .var("BOARD_MAX_AGE", "600")
        .aborting()
        .wasm_memory();
    if let Some(folder) = std::env::var_os("BUNDLE") {
        worker = worker.bundle(&PathBuf::from(folder));
    }
    let worker = worker.start();
    if let Request::Board = load.request {
        fill(&worker.api()).await?;
    }
    let delay = load.delay;
    forwarder.fail(move |_| Some(Fault::Delay(delay)));
    let (mut aborted, mut readings) = (0, Vec::new());
    let mut next = 0;
    for reading in 0..=READINGS {
        let count = if reading == 0 { WARM_UP } else { step };
        let answers = (next..next + count).map(|number| send(&worker, load, number));
        let answers = stream::iter(answers).buffer_unordered(CONNECTIONS);
        let answers: Vec<Answer> = answers.collect().await;
        next += count;
        for answer in answers {
            match answer.status {
                499 => aborted += 1,
                // No room for another array.
                503 if load.abort.is_some() => {}
                _ => succeeded(&answer)?,
            }
        }
        forwarder.reset();
        readings.push(memory(&worker).await?);
    }
    Ok((aborted, readings))
}

async fn send(worker: &Worker, load: &Load, number: usize) -> Answer {
    let api = worker.api();
    let after = load.abort.map(|longest| fastrand::u64(0..longest));
    let after = after.map(|milliseconds| milliseconds.to_string());
    let like = |target: String| json!({"user": format!("u{}", number % 100), "action": "like", "target": target});
    let body = match load.request {
        Request::Activity => like(format!("p{number}")),
        Request::Array => vec![like("x".repeat(480)); 460].into(),
        Request::Board => {
            let (path, origin) = (board(number % 100), origin(number / 100 % ORIGINS));
            let headers = [("origin", origin.as_str())];
            let api = Api::new(worker.url());
            return api.send(Method::GET, &path, String::new(), &headers).await;
        }
    };
    let mut headers = vec![("content-type", "application/json")];
    headers.extend(after.as_deref().map(|after| ("x-abort-after", after)));
    api.send(Method::POST, "/v1/activity", body.to_string(), &headers)
        .await
}

fn origin(number: usize) -> String {
    format!("https://site{number}.example")
}

/// Returns the path of one of a hundred boards.
fn board(number: usize) -> String {
    let period = ["day", "week", "month", "year", "all"][number % 5];
    format!("/v1/ranking/{period}?limit=80&offset={}", number / 5)
}

/// Counts an activity of each of 100 members with long profiles. V8 takes two bytes for each character of their boards.
async fn fill(api: &Api) -> Result<(), String> {
    let link = format!("https://a.example/{}", "x".repeat(2000));
    for first in [0, 50] {
        let ids = (first..first + 50).map(|number| format!("u{number}"));
        let profiles =
            ids.map(|id| json!({"id": id, "name": format!("名{id}"), "avatar": link, "url": link}));
        succeeded(&api.put("/v1/users", &profiles.collect()).await)?;
    }
    let likes = (0..100)
        .map(|number| json!({"user": format!("u{number}"), "action": "like", "target": "p"}));
    succeeded(&api.post("/v1/activity", &likes.collect::<Value>()).await)
}

/// Returns the memory of workerd and of the wasm in megabytes.
async fn memory(worker: &Worker) -> Result<String, String> {
    let path = format!("/proc/{}/status", worker.pid());
    let status = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = resident.and_then(|line| line.split_whitespace().next()?.parse().ok());
    let kilobytes: u64 = kilobytes.ok_or_else(|| format!("{path} has no VmRSS"))?;
    let answer = worker.api().get("/cdn-cgi/wasm-memory").await;
    succeeded(&answer)?;
    let wasm: u64 = answer.text.parse().map_err(|_| answer.text.clone())?;
    Ok(format!("{} / {}", kilobytes / 1000, wasm / 1_000_000))
}
