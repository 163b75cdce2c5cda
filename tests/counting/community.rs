//! A real community's months, whole, more than once, and from many connections.

use crate::site::{ACTIVITY, KINDS, board, outcomes};
use futures::StreamExt;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use std::collections::{BTreeMap, BTreeSet};
use test_support::reference::id;
use test_support::{Api, Value, Worker, json, root};

fn lines() -> Vec<Value> {
    let file = root().join("demo/community.jsonl");
    let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

type Boards = BTreeMap<(&'static str, String), BTreeMap<String, u64>>;

/// Points by board and user, and a day of each board: the first of each user, action and target
/// counts, and nothing is ever taken back.
fn reference(lines: &[Value]) -> (Boards, BTreeMap<(&'static str, String), Date>) {
    let (mut boards, mut days) = (Boards::new(), BTreeMap::new());
    let mut seen = BTreeSet::new();
    for line in lines {
        let text = |field: &str| line[field].as_str().unwrap().to_owned();
        let (user, action) = (text("user"), text("action"));
        let points = match action.as_str() {
            "publish" => 10,
            "comment" => 3,
            "bookmark" => 2,
            other => panic!("{other} is not in the data"),
        };
        if !seen.insert((user.clone(), action, text("target"))) {
            continue;
        }
        let at: Timestamp = text("at").parse().unwrap();
        let date = TimeZone::UTC.to_datetime(at).date();
        for kind in KINDS {
            let name = (kind, id(kind, date));
            days.insert(name.clone(), date);
            *boards
                .entry(name)
                .or_default()
                .entry(user.clone())
                .or_default() += points;
        }
    }
    (boards, days)
}

/// Compares every user's points on every board of every period.
async fn assert_boards(api: &Api, lines: &[Value]) {
    let (boards, days) = reference(lines);
    assert!(boards.len() > 200, "{}", boards.len());
    let compared = futures::stream::iter(&boards).map(async |(name, expected)| {
        let found = board(api, &format!("{}?date={}", name.0, days[name])).await;
        let found: BTreeMap<String, u64> = found
            .into_iter()
            .map(|(user, score)| (user, score as u64))
            .collect();
        assert_eq!(&found, expected, "{name:?}");
    });
    compared.buffer_unordered(8).collect::<Vec<_>>().await;
}

async fn send(api: &Api, lines: &[Value]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for batch in lines.chunks(500) {
        let answer = api.post(ACTIVITY, &json!(batch)).await;
        for outcome in outcomes(&answer) {
            *counts.entry(outcome.to_owned()).or_default() += 1;
        }
    }
    counts
}

/// An array of 500 takes its time on a busy machine; the deadline is not what is tested here.
fn worker() -> Worker {
    Worker::builder()
        .json("STORE_TIMEOUT_MS", json!(30_000))
        .start()
}

fn counts(counted: usize, duplicate: usize) -> BTreeMap<String, usize> {
    let counts = [("counted", counted), ("duplicate", duplicate)];
    counts
        .into_iter()
        .filter(|(_, n)| *n > 0)
        .map(|(name, n)| (name.to_owned(), n))
        .collect()
}

#[tokio::test]
async fn a_community_imported_twice_has_the_points_of_one_import() {
    let (worker, lines) = (worker(), lines());
    let api = worker.api();
    assert_eq!(send(&api, &lines).await, counts(4505, 1287));
    assert_boards(&api, &lines).await;
    assert_eq!(send(&api, &lines).await, counts(0, 5792));
    assert_boards(&api, &lines).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_community_imported_over_eight_connections_line_by_line_three_times_has_the_same_points()
{
    let (worker, lines) = (worker(), lines());
    let mut lanes = vec![Vec::new(); 8];
    for line in &lines {
        // The lines of one user keep their order on one connection, each three times.
        let user: usize = line["user"].as_str().unwrap().parse().unwrap();
        lanes[user % 8].extend([line.clone(), line.clone()]);
    }
    // The third time a batch at once: the answer to the first has been lost, say.
    let lanes = lanes.into_iter().map(|lane| {
        // A client of its own is a connection of its own.
        let api = worker.api();
        tokio::spawn(async move {
            let mut counted = 0;
            for batch in lane.chunks(250) {
                let both = send(&api, batch).await;
                counted += both.get("counted").copied().unwrap_or(0);
                let mut once = batch.to_vec();
                once.dedup();
                let again = send(&api, &once).await;
                assert_eq!(again, counts(0, once.len()), "everything was there already");
            }
            counted
        })
    });
    let counted = futures::future::join_all(lanes)
        .await
        .into_iter()
        .map(Result::unwrap);
    assert_eq!(counted.sum::<usize>(), 4505);
    assert_boards(&worker.api(), &lines).await;
}
