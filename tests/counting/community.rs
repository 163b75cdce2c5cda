//! Imports of a real community's activity: repeated, and over many connections.

use crate::requests::{ACTIVITY, PERIODS, board, outcomes, rows};
use futures::StreamExt;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use std::collections::{BTreeMap, BTreeSet};
use test_support::reference::{Store, now, period_id, rfc3339};
use test_support::{Api, Value, Worker, json, recount_event, redis, root, shards, until};

fn lines() -> Vec<Value> {
    let file = root().join("demo/community.jsonl");
    let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

type Boards = BTreeMap<(&'static str, String), BTreeMap<String, u64>>;

/// Computes points by board and user, and a day of each board. The data has no undos, so the first
/// activity of each user, action and target counts.
fn expected_boards(lines: &[Value]) -> (Boards, BTreeMap<(&'static str, String), Date>) {
    let (mut boards, mut days) = (Boards::new(), BTreeMap::new());
    let mut seen = BTreeSet::new();
    for line in lines {
        let text = |field: &str| line[field].as_str().unwrap().to_owned();
        let (user, action) = (text("user"), text("action"));
        let points = match action.as_str() {
            "publish" => 10,
            "comment" => 3,
            "bookmark" => 2,
            other => panic!("unexpected action {other}"),
        };
        if !seen.insert((user.clone(), action, text("target"))) {
            continue;
        }
        let at: Timestamp = text("at").parse().unwrap();
        let date = TimeZone::UTC.to_datetime(at).date();
        for period in PERIODS {
            let name = (period, period_id(period, date));
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
    let (boards, days) = expected_boards(lines);
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

/// The lines of an array.
const BATCH: usize = 500;

async fn send(api: &Api, lines: &[Value]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for batch in lines.chunks(BATCH) {
        let response = api.post(ACTIVITY, &json!(batch)).await;
        for outcome in outcomes(&response) {
            *counts.entry(outcome.to_owned()).or_default() += 1;
        }
    }
    counts
}

/// Computes points by path of a board and by id: what targets and their authors receive. Posts are
/// registered before; a bookmark of one's own post does not count.
fn expected_content(lines: &[Value]) -> BTreeMap<String, BTreeMap<String, u64>> {
    let mut boards: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    let (mut seen, authors) = (BTreeSet::new(), authors(lines));
    for line in lines {
        let text = |field: &str| line[field].as_str().unwrap().to_owned();
        let (user, action, target) = (text("user"), text("action"), text("target"));
        let author = authors.get(&target);
        let points = match action.as_str() {
            "comment" => 3,
            "bookmark" if author != Some(&user) => 2,
            _ => continue,
        };
        let Some(author) = author else { continue };
        if !seen.insert((user, action, target.clone())) {
            continue;
        }
        let at: Timestamp = text("at").parse().unwrap();
        let date = TimeZone::UTC.to_datetime(at).date();
        for period in PERIODS {
            let first = first_day(period, date);
            for (subject, id) in [("content", &target), ("authors", author)] {
                let path = format!("/v1/{subject}/{period}?date={first}");
                let board = boards.entry(path).or_default();
                *board.entry(id.clone()).or_default() += points;
            }
        }
    }
    boards
}

/// Returns the author of each post.
fn authors(lines: &[Value]) -> BTreeMap<String, String> {
    let posts = lines.iter().filter(|line| line["action"] == "publish");
    let text = |line: &Value, field: &str| line[field].as_str().unwrap().to_owned();
    posts
        .map(|line| (text(line, "target"), text(line, "user")))
        .collect()
}

/// Returns a day that is the same for all days of a period.
fn first_day(period: &str, date: Date) -> Date {
    match period {
        "week" => date.iso_week_date().first_of_week().unwrap().date(),
        "month" => date.first_of_month(),
        "year" => date.first_of_year(),
        "all" => jiff::civil::date(2018, 1, 1),
        _ => date,
    }
}

#[tokio::test]
async fn import_with_content_matches_reference() {
    let worker = Worker::builder().var("CONTENT_PERIODS", &PERIODS.join(","));
    let worker = worker.cron().start();
    let mut store = Store::new(redis(), worker.prefix());
    let (api, lines) = (worker.api(), lines());
    let posts = authors(&lines).into_iter();
    let posts: Vec<Value> = posts
        .map(|(id, author)| json!({ "id": id, "author": author }))
        .collect();
    for batch in posts.chunks(500) {
        api.put("/v1/targets", &json!(batch))
            .await
            .assert_status(200);
    }
    for _ in 0..2 {
        send(&api, &lines).await;
        until("all receivers", async || {
            api.minute().await;
            (store.waiting() == 0).then_some(())
        })
        .await;
        let boards = expected_content(&lines);
        assert!(boards.len() > 300, "{}", boards.len());
        let compared = futures::stream::iter(&boards).map(async |(path, expected)| {
            let found: Vec<(String, u64)> = rows(&api, path)
                .await
                .into_iter()
                .map(|(id, score)| (id, score as u64))
                .collect();
            let mut expected: Vec<_> = expected.clone().into_iter().collect();
            expected.sort_by(|(one, points), (other, other_points)| {
                (other_points, other).cmp(&(points, one))
            });
            assert_eq!(found, expected, "{path}");
        });
        compared.buffer_unordered(8).collect::<Vec<_>>().await;
    }
}

/// An event: its instants in Unix milliseconds, and the points of the actions that count.
struct Reference {
    from: i64,
    to: i64,
    points: BTreeMap<&'static str, u64>,
}

impl Reference {
    fn new(from: i64, to: i64, points: &[(&'static str, u64)]) -> Self {
        let points = points.iter().copied().collect();
        Self { from, to, points }
    }

    fn body(&self) -> Value {
        json!({ "title": "Season", "from": rfc3339(self.from), "to": rfc3339(self.to), "actions": self.points })
    }

    /// Returns users and points, best first: of equal points the user whose last counted line is earlier, on one shard. The
    /// lines of a user in an array are one call, and the calls have the order of the users' first lines.
    fn rows(&self, lines: &[Value]) -> Vec<(String, u64)> {
        let (mut seen, mut users) = (BTreeSet::new(), BTreeMap::new());
        let mut calls = BTreeMap::new();
        for (index, line) in lines.iter().enumerate() {
            let text = |field: &str| line[field].as_str().unwrap();
            let at: Timestamp = text("at").parse().unwrap();
            let batch = index / BATCH;
            let call = *calls.entry((batch, text("user"))).or_insert(index);
            let counts = (self.from..self.to).contains(&at.as_millisecond());
            let is_new = seen.insert((text("user"), text("action"), text("target")));
            if let Some(points) = self.points.get(text("action")).filter(|_| counts && is_new) {
                let (sum, last) = users.entry(text("user").to_owned()).or_insert((0, 0));
                (*sum, *last) = (*sum + points, call);
            }
        }
        let mut rows: Vec<_> = users.into_iter().collect();
        rows.sort_by_key(|(_, (points, last))| (u64::MAX - points, *last));
        let rows = rows.into_iter().map(|(user, (points, _))| (user, points));
        rows.collect()
    }

    async fn assert_board(&self, api: &Api, event: &str, lines: &[Value]) {
        let path = format!("/v1/events/{event}/ranking");
        let found = rows(api, &path).await;
        let mut found: Vec<(String, u64)> = found
            .into_iter()
            .map(|(user, score)| (user, score as u64))
            .collect();
        let mut expected = self.rows(lines);
        assert!(expected.len() > 20, "{}", expected.len());
        if shards() > 1 {
            // Equal scores of different shards have the order of the shards.
            found.sort();
            expected.sort();
        }
        assert_eq!(found, expected, "{event}");
    }
}

/// The lines are dated into a minute around the event, which is declared before. The other events are declared
/// afterwards, some of them over the real instants.
#[tokio::test]
async fn events_match_reference_before_and_after_import() {
    let worker = Worker::builder().var("BOARD_MAX_AGE", "0").journal();
    let worker = worker.start();
    let (api, mut lines) = (worker.api(), lines());
    let real = lines.split_off(lines.len() / 2);
    let start = now() + 20_000;
    for (index, line) in lines.iter_mut().enumerate() {
        line["at"] = json!(rfc3339(start + 8 * index as i64));
    }
    let all = [("publish", 20), ("comment", 5), ("bookmark", 1)];
    let declared = Reference::new(start + 3_000, start + 15_000, &all);
    let response = api.put("/v1/events/season", &declared.body()).await;
    response.assert_status(200);
    lines.extend(real);
    send(&api, &lines).await;
    declared.assert_board(&api, "season", &lines).await;
    let at = |text: &str| text.parse::<Timestamp>().unwrap().as_millisecond();
    let dates: BTreeSet<i64> = lines
        .iter()
        .map(|line| at(line["at"].as_str().unwrap()))
        .collect();
    let middle = *dates.iter().nth(dates.len() / 4).unwrap();
    let day = 86_400_000;
    for (id, reference) in [
        ("again", Reference::new(declared.from, declared.to, &all)),
        ("year", Reference::new(middle, middle + 366 * day, &all)),
        (
            "quarter",
            Reference::new(middle, middle + 91 * day, &[("comment", 3)]),
        ),
        (
            "season",
            Reference::new(start, start + 20_000, &[("publish", 1), ("comment", 2)]),
        ),
    ] {
        let recounted = recount_event(&worker, id, &reference.body(), &["--apply", "--yes"]);
        assert!(recounted.is_ok(), "{recounted:?}");
        reference.assert_board(&api, id, &lines).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn import_over_8_connections_three_times_counts_once() {
    let (worker, lines) = (Worker::start(), lines());
    let mut partitions = vec![Vec::new(); 8];
    for line in &lines {
        // The lines of one user stay in order on one connection. Each line is sent twice in a row.
        let user: usize = line["user"].as_str().unwrap().parse().unwrap();
        partitions[user % 8].extend([line.clone(), line.clone()]);
    }
    // Each batch is sent again, as after a lost response.
    let imports = partitions.into_iter().map(|partition| {
        // Each client has its own connection.
        let api = worker.api();
        tokio::spawn(async move {
            let mut counted = 0;
            for batch in partition.chunks(250) {
                let both = send(&api, batch).await;
                counted += both.get("counted").copied().unwrap_or(0);
                let mut once = batch.to_vec();
                once.dedup();
                let repeated = send(&api, &once).await;
                let duplicates = [("duplicate".to_owned(), once.len())];
                assert_eq!(repeated, BTreeMap::from(duplicates));
            }
            counted
        })
    });
    let counted = futures::future::join_all(imports)
        .await
        .into_iter()
        .map(Result::unwrap);
    assert_eq!(counted.sum::<usize>(), 4505);
    assert_boards(&worker.api(), &lines).await;
}
