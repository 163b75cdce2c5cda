//! The same random history with one, three and eight shards gives the same responses, except for the
//! order of equal scores on different shards.
//!
//! `STEPS=20000 SEED=7 cargo test --test counting shards` runs more steps with another seed.

use crate::requests::{ACTIVITY, PERIODS, board};
use crate::variable;
use fastrand::Rng;
use futures::future::join_all;
use std::cmp::Reverse;
use test_support::reference::{now, rfc3339};
use test_support::{Api, Method, SERVICE_KEY, Value, Worker, depth, json, shard_among};

/// The numbers of shards to compare.
const SHARDS: [u32; 3] = [1, 3, 8];
const DAY: i64 = 86_400_000;
/// Ages in days of the activities.
const DAYS: [i64; 6] = [0, 1, 2, 9, 40, 400];
/// The number of users, so large that pages begin far below the first range read from each shard.
const CROWD: usize = 3_000;

/// One service with its number of shards.
struct Deployment {
    shards: u32,
    api: Api,
    _worker: Worker,
}

/// Users and scores, best first.
type Rows = Vec<(String, f64)>;

fn deployments() -> Vec<Deployment> {
    let start = |shards| {
        let keys = format!("anna@activity+profiles+content+admin:{SERVICE_KEY}");
        let worker = Worker::builder().var("SERVICE_KEYS", &keys);
        let worker = worker.json("SHARDS", json!(shards)).start();
        Deployment {
            shards,
            api: worker.api(),
            _worker: worker,
        }
    };
    SHARDS.map(start).into()
}

/// Sends one request to all deployments and asserts equal responses, except for ranks.
async fn send(deployments: &[Deployment], method: Method, path: &str, body: &Value) {
    let headers = [("content-type", "application/json")];
    let responses = deployments.iter().map(|deployment| {
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        deployment.api.send(method.clone(), path, body, &headers)
    });
    let responses = join_all(responses).await;
    let comparable: Vec<_> = responses
        .iter()
        .map(|response| (response.status, without_ranks(&response.body)))
        .collect();
    let first = &comparable[0];
    assert!(first.0 < 500, "{path} {body}: {}", responses[0].text);
    for (Deployment { shards, .. }, found) in deployments.iter().zip(&comparable) {
        assert_eq!(found, first, "{path} {body}, {shards} shards");
    }
}

/// Replaces each rank by whether it is a number.
fn without_ranks(body: &Value) -> Value {
    match body {
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| match name.as_str() {
                "rank" => (name.clone(), json!(value.is_number())),
                _ => (name.clone(), without_ranks(value)),
            };
            fields.iter().map(field).collect()
        }
        Value::Array(items) => items.iter().map(without_ranks).collect(),
        other => other.clone(),
    }
}

/// Returns an activity of few users and targets, with `at` so that it is the same for all deployments.
/// Instants of one day ascend.
fn activity(random: &mut Rng, start: i64, step: i64) -> Value {
    let action = ["like", "like", "like", "comment", "bookmark", "visit"][random.usize(..6)];
    let groups: &[&str] = [&[][..], &["eu"], &["us", "eu"]][random.usize(..3)];
    let target = format!("/{}", random.u8(..12));
    let at = start - DAYS[random.usize(..DAYS.len())] * DAY + step;
    let undo = action != "visit" && random.u8(..3) == 0;
    json!({ "user": user(random), "action": action, "target": target, "undo": undo,
        "at": rfc3339(at), "groups": groups })
}

fn user(random: &mut Rng) -> String {
    format!("u{}", random.u8(..40))
}

/// Sends random requests that change boards.
async fn history(deployments: &[Deployment], random: &mut Rng, start: i64, steps: usize) {
    let mut step = 0;
    while step < steps as i64 {
        step += 1;
        let (method, path, body) = match random.u8(..100) {
            0 => {
                let path = format!("/v1/users/{}", user(random));
                (Method::DELETE, path, Value::Null)
            }
            1..5 => {
                let path = format!("/v1/users/{}/moderation", user(random));
                let (hidden, frozen) = (random.bool(), random.u8(..4) == 0);
                let moderation = json!({ "hidden": hidden, "frozen": frozen, "reason": "A test" });
                (Method::PUT, path, moderation)
            }
            5..8 => {
                let profiles = (0..random.u8(1..6)).map(
                    |_| json!({ "id": user(random), "name": "Ada", "hidden": random.u8(..3) == 0 }),
                );
                (Method::PUT, "/v1/users".to_owned(), profiles.collect())
            }
            8..13 => {
                let path = format!("/v1/users/{}/adjustments", user(random));
                let mut body = json!({ "id": random.u8(..8).to_string(), "reason": "A test" });
                if random.u8(..4) == 0 {
                    body["undo"] = json!(true);
                } else {
                    let points = random.i64(1..9) * if random.bool() { 1 } else { -1 };
                    body["points"] = json!(points);
                    body["at"] = json!(rfc3339(start - DAY + step));
                }
                (Method::POST, path, body)
            }
            13..60 => {
                let activity = activity(random, start, step);
                (Method::POST, ACTIVITY.to_owned(), activity)
            }
            _ => {
                let items = random.i64(1..12);
                let array = (0..items).map(|more| activity(random, start, step + more));
                let array = array.collect();
                step += items;
                (Method::POST, ACTIVITY.to_owned(), array)
            }
        };
        send(deployments, method, &path, &body).await;
    }
}

/// Sends activity of thousands of users on one day. All users of one of eight shards rank at the top,
/// so the position of a page on one shard says nothing about its position on another.
async fn crowd(deployments: &[Deployment], random: &mut Rng, start: i64) {
    let mut items = Vec::new();
    for number in 0..CROWD {
        let user = format!("n{number}");
        let mut actions = vec!["like", "comment", "bookmark"];
        random.shuffle(&mut actions);
        actions.truncate(random.usize(1..4));
        if shard_among(&user, 8) == 3 {
            actions.push("publish");
        }
        let at = rfc3339(start - 9 * DAY + number as i64);
        let item = |action| json!({ "user": user, "action": action, "target": "p", "at": at });
        items.extend(actions.into_iter().map(item));
    }
    random.shuffle(&mut items);
    for batch in items.chunks(500) {
        send(deployments, Method::POST, ACTIVITY, &json!(batch)).await;
    }
}

/// Sorts ties by shard, because each shard numbers its own arrivals. Other tests compare the order of
/// ties with the model.
fn by_shard(mut rows: Rows, shards: u32) -> Rows {
    // Scores are integers here.
    rows.sort_by_key(|(user, score)| (Reverse(*score as u64), shard_among(user, shards)));
    rows
}

async fn check_board(deployments: &[Deployment], random: &mut Rng, board_query: &str) {
    let boards = deployments.iter().map(|one| board(&one.api, board_query));
    let boards: Vec<Rows> = join_all(boards).await;
    let first = &boards[0];
    for (Deployment { shards, .. }, rows) in deployments.iter().zip(&boards) {
        let context = format!("{board_query}, {shards} shards\n{first:?}\n{rows:?}");
        let same = by_shard(rows.clone(), *shards) == by_shard(first.clone(), *shards);
        assert!(same, "{context}");
        assert!(rows.is_sorted_by(|a, b| a.1 >= b.1), "{context}");
    }
    for _ in 0..depth(2, 8) {
        let offset = random.usize(..boards[0].len() + 3);
        let (limit, around) = (random.usize(1..101), random.usize(..26));
        for (deployment, rows) in deployments.iter().zip(&boards) {
            check_page(deployment, board_query, rows, offset, limit).await;
            check_standing(deployment, board_query, rows, offset, around).await;
        }
    }
    let ids: Vec<String> = (0..60).map(|_| user(random)).collect();
    for (deployment, rows) in deployments.iter().zip(&boards) {
        check_comparison(deployment, board_query, rows, &ids).await;
    }
}

fn entry(rows: &Rows, index: usize) -> Value {
    let (user, score) = &rows[index];
    json!({ "rank": index + 1, "score": score, "user": user })
}

/// Returns the entries without profiles.
fn entries(response: &Value) -> Vec<Value> {
    let entries = response.as_array().unwrap().iter();
    entries
        .map(|entry| {
            json!({ "rank": entry["rank"], "score": entry["score"].as_f64(), "user": entry["user"]["id"] })
        })
        .collect()
}

async fn check_page(
    deployment: &Deployment,
    board_query: &str,
    rows: &Rows,
    offset: usize,
    limit: usize,
) {
    let page = format!("/v1/ranking/{board_query}&offset={offset}&limit={limit}");
    let response = deployment.api.get(&page).await;
    response.assert_status(200);
    let range = offset.min(rows.len())..(offset + limit).min(rows.len());
    let expected: Vec<Value> = range.map(|index| entry(rows, index)).collect();
    let (shards, found) = (deployment.shards, entries(&response.body["entries"]));
    assert_eq!(found, expected, "{page}, {shards} shards");
    let total = &response.body["total"];
    assert_eq!(*total, rows.len(), "{page}, {shards} shards");
}

async fn check_standing(
    deployment: &Deployment,
    board_query: &str,
    rows: &Rows,
    index: usize,
    around: usize,
) {
    let absent = "absent".to_owned();
    let user = rows.get(index).map_or(&absent, |(user, _)| user);
    let (period, query) = board_query.split_once('?').unwrap();
    let path = format!("/v1/ranking/{period}/users/{user}?{query}&around={around}");
    let response = deployment.api.get(&path).await;
    response.assert_status(200);
    let (body, shards, total) = (&response.body, deployment.shards, rows.len());
    let (next, near) = (&body["next"]["rank"], entries(&body["around"]));
    let found = json!([
        body["rank"],
        body["score"].as_f64(),
        body["total"],
        body["percentile"],
        next,
        near
    ]);
    let expected = if index < total {
        let percentile = (1000.0 * (total - index) as f64 / total as f64).round() / 10.0;
        let range = index.saturating_sub(around)..(index + around + 1).min(total);
        let near: Vec<Value> = range.map(|index| entry(rows, index)).collect();
        let next = (index > 0).then_some(index);
        let near = if around > 0 { near } else { Vec::new() };
        json!([index + 1, rows[index].1, total, percentile, next, near])
    } else {
        json!([null, 0.0, total, null, null, []])
    };
    let context = format!("{path}, {shards} shards: {}", response.text);
    assert_eq!(found, expected, "{context}");
    if index > 0 && index < total {
        let missing = rows[index - 1].1 - rows[index].1 + 1.0;
        let points = body["next"]["points"].as_f64();
        assert_eq!(points, Some(missing), "{context}");
    }
}

async fn check_comparison(deployment: &Deployment, board_query: &str, rows: &Rows, ids: &[String]) {
    let (period, query) = board_query.split_once('?').unwrap();
    let path = format!("/v1/ranking/{period}/users?{query}&ids={}", ids.join(","));
    let response = deployment.api.get(&path).await;
    response.assert_status(200);
    let ranked = (0..rows.len()).filter(|index| ids.contains(&rows[*index].0));
    let expected: Vec<Value> = ranked.map(|index| entry(rows, index)).collect();
    let mut found = entries(&response.body["entries"]);
    found.retain(|entry| entry["rank"].is_number());
    assert_eq!(found, expected, "{path}, {} shards", deployment.shards);
}

/// Asserts that the winners of past days are the first three of each day's board.
async fn check_winners(deployments: &[Deployment], board_query: &str) {
    let path = format!("/v1/ranking/day/winners?limit=100{board_query}");
    let mut found = Vec::new();
    for deployment in deployments {
        let response = deployment.api.get(&path).await;
        response.assert_status(200);
        let mut boards = response.body["boards"].clone();
        for winners in boards.as_array_mut().unwrap() {
            let date = winners["period"]["id"].as_str().unwrap();
            let rows = board(&deployment.api, &format!("day?date={date}{board_query}")).await;
            let first: Vec<Value> = (0..rows.len().min(3))
                .map(|index| entry(&rows, index))
                .collect();
            assert_eq!(
                entries(&winners["entries"]),
                first,
                "{path} of {date}, {} shards",
                deployment.shards
            );
            winners["entries"] = json!(null);
        }
        found.push(boards);
    }
    assert!(found[0].as_array().unwrap().len() > 2, "{found:?}");
    for boards in &found {
        assert_eq!(*boards, found[0], "{path}");
    }
}

/// Reads the audit log page by page, asserts that it is newest first, and returns it by user: the
/// entries of one request on several users are in the order of their shards. Entries of erased users
/// have no user and are sorted by their text.
async fn audit_log(deployment: &Deployment) -> Vec<Value> {
    let (mut all, mut ids, mut before) = (Vec::new(), Vec::new(), String::new());
    loop {
        let response = deployment
            .api
            .get(&format!("/v1/moderation?limit=7{before}"))
            .await;
        response.assert_status(200);
        for entry in response.body["entries"].as_array().unwrap() {
            let parts = entry["id"].as_str().unwrap().split('-');
            ids.push(
                parts
                    .map(|part| part.parse::<u64>().unwrap())
                    .collect::<Vec<_>>(),
            );
            let mut entry = entry.clone();
            entry["id"] = json!(null);
            entry["at"] = json!(null);
            all.push(entry);
        }
        match response.body["next"].as_str() {
            Some(id) => before = format!("&before={id}"),
            None => break,
        }
    }
    assert!(ids.is_sorted_by(|a, b| a > b), "{ids:?}");
    let text = |entry: &Value| entry["user"].is_null().then(|| entry.to_string());
    all.sort_by_key(|entry| (entry["user"].to_string(), text(entry)));
    all
}

async fn check_users(deployments: &[Deployment]) {
    for number in 0..40 {
        for path in ["", "/activity", "/moderation"] {
            send(
                deployments,
                Method::GET,
                &format!("/v1/users/u{number}{path}"),
                &json!(null),
            )
            .await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn history_is_the_same_with_any_number_of_shards() {
    let (deployments, mut random) = (deployments(), Rng::with_seed(variable("SEED", 1)));
    // Fewer would not fill two pages of the audit log.
    let steps = variable("STEPS", depth(2_000, 10_000))
        .div_ceil(10)
        .max(400) as usize;
    let start = now() - 3_600_000;
    history(&deployments, &mut random, start, steps).await;
    for (index, back) in DAYS.into_iter().enumerate() {
        let date = &rfc3339(start - back * DAY)[..10];
        // The boards of all time are the same for each day.
        for period in PERIODS
            .iter()
            .filter(|period| index == 0 || **period != "all")
        {
            for group in ["", "&group=eu", "&group=us"] {
                let board_query = format!("{period}?date={date}{group}");
                check_board(&deployments, &mut random, &board_query).await;
            }
        }
    }
    check_winners(&deployments, "").await;
    check_winners(&deployments, "&group=eu").await;
    check_users(&deployments).await;
    let logs = join_all(deployments.iter().map(audit_log)).await;
    assert!(logs[0].len() > 15, "{}", logs[0].len());
    for (deployment, log) in deployments.iter().zip(&logs) {
        assert_eq!(*log, logs[0], "{} shards", deployment.shards);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deep_pages_are_the_same_with_any_number_of_shards() {
    let (deployments, mut random) = (deployments(), Rng::with_seed(variable("SEED", 1)));
    let start = now() - 3_600_000;
    crowd(&deployments, &mut random, start).await;
    let date = &rfc3339(start - 9 * DAY)[..10];
    for period in ["day", "all"] {
        check_board(&deployments, &mut random, &format!("{period}?date={date}")).await;
    }
}
