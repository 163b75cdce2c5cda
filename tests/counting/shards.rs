//! The same history over one, three and eight shards: the same answers, but for the order among
//! equals of different shards.
//!
//! `STEPS=20000 SEED=7 cargo test --test counting shards` tries longer, or another one.

use crate::site::{ACTIVITY, KINDS, board};
use crate::variable;
use fastrand::Rng;
use futures::future::join_all;
use std::cmp::Reverse;
use test_support::reference::{now, written};
use test_support::{Api, Method, Value, Worker, json, shard_among};

/// Over so many shards.
const SHARDS: [u32; 3] = [1, 3, 8];
const DAY: i64 = 86_400_000;
/// Days back on which something happens.
const DAYS: [i64; 6] = [0, 1, 2, 9, 40, 400];
/// Enough that pages begin far behind what each shard is asked for at once.
const CROWD: usize = 3_000;

/// One service, and over how many shards it is.
struct Side {
    shards: u32,
    api: Api,
    _worker: Worker,
}

/// Users and scores, the best first.
type Rows = Vec<(String, f64)>;

fn sides() -> Vec<Side> {
    let start = |shards| {
        let worker = Worker::builder().json("SHARDS", json!(shards));
        let worker = worker.json("STORE_TIMEOUT_MS", json!(30_000)).start();
        Side {
            shards,
            api: worker.api(),
            _worker: worker,
        }
    };
    SHARDS.map(start).into()
}

/// Sends the same to all, who answer the same but for ranks.
async fn send(sides: &[Side], method: Method, path: &str, body: &Value) {
    let headers = [("content-type", "application/json")];
    let answers = sides.iter().map(|side| {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        side.api.send(method.clone(), path, body, &headers)
    });
    let answers = join_all(answers).await;
    let essence: Vec<_> = answers
        .iter()
        .map(|answer| (answer.status, without_ranks(&answer.body)))
        .collect();
    assert!(essence[0].0 < 500, "{path} {body}: {}", answers[0].text);
    for (side, found) in sides.iter().zip(&essence) {
        assert_eq!(*found, essence[0], "{path} {body}, {} shards", side.shards);
    }
}

/// Whether there is a rank stays.
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

/// One of few users on few targets. Its instant is said, so that it is the same for all; on each
/// day the later ones follow the earlier.
fn activity(random: &mut Rng, begun: i64, step: i64) -> Value {
    let action = ["like", "like", "like", "comment", "bookmark", "visit"][random.usize(..6)];
    let groups: &[&str] = [&[][..], &["eu"], &["us", "eu"]][random.usize(..3)];
    let target = format!("/{}", random.u8(..12));
    let at = begun - DAYS[random.usize(..DAYS.len())] * DAY + step;
    let undo = action != "visit" && random.u8(..3) == 0;
    json!({ "user": user(random), "action": action, "target": target, "undo": undo,
        "at": written(at), "groups": groups })
}

fn user(random: &mut Rng) -> String {
    format!("u{}", random.u8(..40))
}

/// Everything that changes boards.
async fn history(sides: &[Side], random: &mut Rng, begun: i64, steps: usize) {
    let mut step = 0;
    while step < steps as i64 {
        step += 1;
        match random.u8(..100) {
            0 => {
                send(
                    sides,
                    Method::DELETE,
                    &format!("/v1/users/{}", user(random)),
                    &json!(null),
                )
                .await
            }
            1..5 => {
                let path = format!("/v1/users/{}/moderation", user(random));
                let (hidden, frozen) = (random.bool(), random.u8(..4) == 0);
                let verdict = json!({ "hidden": hidden, "frozen": frozen, "reason": "A test" });
                send(sides, Method::PUT, &path, &verdict).await;
            }
            5..8 => {
                let profiles: Vec<Value> = (0..random.u8(1..6))
                    .map(|_| json!({ "id": user(random), "name": "Ada", "hidden": random.u8(..3) == 0 }))
                    .collect();
                send(sides, Method::PUT, "/v1/users", &json!(profiles)).await;
            }
            8..13 => {
                let path = format!("/v1/users/{}/adjustments", user(random));
                let mut body = json!({ "id": random.u8(..8).to_string(), "reason": "A test" });
                if random.u8(..4) == 0 {
                    body["undo"] = json!(true);
                } else {
                    let points = random.i64(1..9) * if random.bool() { 1 } else { -1 };
                    body["points"] = json!(points);
                    body["at"] = json!(written(begun - DAY + step));
                }
                send(sides, Method::POST, &path, &body).await;
            }
            13..60 => {
                send(
                    sides,
                    Method::POST,
                    ACTIVITY,
                    &activity(random, begun, step),
                )
                .await
            }
            _ => {
                let many = (0..random.i64(1..12)).map(|more| activity(random, begun, step + more));
                let many: Vec<Value> = many.collect();
                step += many.len() as i64;
                send(sides, Method::POST, ACTIVITY, &json!(many)).await;
            }
        }
    }
}

/// Thousands of users of a day with few points each, and of one shard of eight all at the top: where
/// a page lies on one shard tells nothing of where it lies on another.
async fn crowd(sides: &[Side], random: &mut Rng, begun: i64) {
    let mut items = Vec::new();
    for number in 0..CROWD {
        let user = format!("n{number}");
        let mut actions = vec!["like", "comment", "bookmark"];
        random.shuffle(&mut actions);
        actions.truncate(random.usize(1..4));
        if shard_among(&user, 8) == 3 {
            actions.push("publish");
        }
        let at = written(begun - 9 * DAY + number as i64);
        let item = |action| json!({ "user": user, "action": action, "target": "p", "at": at });
        items.extend(actions.into_iter().map(item));
    }
    random.shuffle(&mut items);
    for batch in items.chunks(500) {
        send(sides, Method::POST, ACTIVITY, &json!(batch)).await;
    }
}

/// The board as the one shard has it, with equals in the order of these shards: by shard, since
/// each numbers its own arrivals. What this leaves open the model knows, in other tests.
fn by_shard(mut rows: Rows, shards: u32) -> Rows {
    // Scores are whole here.
    rows.sort_by_key(|(user, score)| (Reverse(*score as u64), shard_among(user, shards)));
    rows
}

async fn check_board(sides: &[Side], random: &mut Rng, question: &str) {
    let boards: Vec<Rows> = join_all(sides.iter().map(|side| board(&side.api, question))).await;
    for (side, rows) in sides.iter().zip(&boards) {
        let same = by_shard(rows.clone(), side.shards) == by_shard(boards[0].clone(), side.shards);
        assert!(
            same,
            "{question}, {} shards\n{:?}\n{rows:?}",
            side.shards, boards[0]
        );
        assert!(
            rows.is_sorted_by(|a, b| a.1 >= b.1),
            "{question}, {} shards: {rows:?}",
            side.shards
        );
    }
    for _ in 0..8 {
        let offset = random.usize(..boards[0].len() + 3);
        let (limit, around) = (random.usize(1..101), random.usize(..26));
        for (side, rows) in sides.iter().zip(&boards) {
            check_page(side, question, rows, offset, limit).await;
            check_standing(side, question, rows, offset, around).await;
        }
    }
    let ids: Vec<String> = (0..60).map(|_| user(random)).collect();
    for (side, rows) in sides.iter().zip(&boards) {
        check_comparison(side, question, rows, &ids).await;
    }
}

fn entry(rows: &Rows, place: usize) -> Value {
    let (user, score) = &rows[place];
    json!({ "rank": place + 1, "score": score, "user": user })
}

/// Entries without profiles.
fn entries(answer: &Value) -> Vec<Value> {
    let entries = answer.as_array().unwrap().iter();
    entries
        .map(|entry| {
            json!({ "rank": entry["rank"], "score": entry["score"].as_f64(), "user": entry["user"]["id"] })
        })
        .collect()
}

async fn check_page(side: &Side, question: &str, rows: &Rows, offset: usize, limit: usize) {
    let page = format!("/v1/ranking/{question}&offset={offset}&limit={limit}");
    let answer = side.api.get(&page).await;
    answer.assert_status(200);
    let places = offset.min(rows.len())..(offset + limit).min(rows.len());
    let expected: Vec<Value> = places.map(|place| entry(rows, place)).collect();
    let (shards, found) = (side.shards, entries(&answer.body["entries"]));
    assert_eq!(found, expected, "{page}, {shards} shards");
    assert_eq!(answer.body["total"], rows.len(), "{page}, {shards} shards");
}

async fn check_standing(side: &Side, question: &str, rows: &Rows, place: usize, around: usize) {
    let absent = "nobody".to_owned();
    let user = rows.get(place).map_or(&absent, |(user, _)| user);
    let (kind, query) = question.split_once('?').unwrap();
    let path = format!("/v1/ranking/{kind}/users/{user}?{query}&around={around}");
    let answer = side.api.get(&path).await;
    answer.assert_status(200);
    let (body, shards, total) = (&answer.body, side.shards, rows.len());
    let told = |field: &str| body[field].clone();
    let found = [
        told("rank"),
        json!(body["score"].as_f64()),
        told("total"),
        told("percentile"),
        json!(body["next"]["rank"]),
        json!(entries(&body["around"])),
    ];
    let expected = if place < total {
        let percentile = (1000.0 * (total - place) as f64 / total as f64).round() / 10.0;
        let near = place.saturating_sub(around)..(place + around + 1).min(total);
        let near: Vec<Value> = near.map(|place| entry(rows, place)).collect();
        let next = (place > 0).then_some(place);
        let near = if around > 0 { near } else { Vec::new() };
        [
            json!(place + 1),
            json!(rows[place].1),
            json!(total),
            json!(percentile),
            json!(next),
            json!(near),
        ]
    } else {
        [
            json!(null),
            json!(0.0),
            json!(total),
            json!(null),
            json!(null),
            json!([]),
        ]
    };
    assert_eq!(found, expected, "{path}, {shards} shards: {}", answer.text);
    if place > 0 && place < total {
        let missing = rows[place - 1].1 - rows[place].1 + 1.0;
        let points = body["next"]["points"].as_f64();
        assert_eq!(points, Some(missing), "{path}, {shards} shards");
    }
}

async fn check_comparison(side: &Side, question: &str, rows: &Rows, ids: &[String]) {
    let (kind, query) = question.split_once('?').unwrap();
    let path = format!("/v1/ranking/{kind}/users?{query}&ids={}", ids.join(","));
    let answer = side.api.get(&path).await;
    answer.assert_status(200);
    let ranked = (0..rows.len()).filter(|place| ids.contains(&rows[*place].0));
    let expected: Vec<Value> = ranked.map(|place| entry(rows, place)).collect();
    let mut found = entries(&answer.body["entries"]);
    found.retain(|entry| entry["rank"].is_number());
    assert_eq!(found, expected, "{path}, {} shards", side.shards);
}

/// The first three of past days are those of each day's board.
async fn check_winners(sides: &[Side], question: &str) {
    let path = format!("/v1/ranking/day/winners?limit=100{question}");
    let mut told = Vec::new();
    for side in sides {
        let answer = side.api.get(&path).await;
        answer.assert_status(200);
        let mut boards = answer.body["boards"].clone();
        for of_day in boards.as_array_mut().unwrap() {
            let date = of_day["period"]["id"].as_str().unwrap();
            let rows = board(&side.api, &format!("day?date={date}{question}")).await;
            let first: Vec<Value> = (0..rows.len().min(3))
                .map(|place| entry(&rows, place))
                .collect();
            assert_eq!(
                entries(&of_day["entries"]),
                first,
                "{path} of {date}, {} shards",
                side.shards
            );
            of_day["entries"] = json!(null);
        }
        told.push(boards);
    }
    assert!(told[0].as_array().unwrap().len() > 2, "{told:?}");
    for found in &told {
        assert_eq!(*found, told[0], "{path}");
    }
}

/// The audit list, page by page, the newest first; by user, since what one request does to several
/// is in the order of their shards. Of those erased nobody can say whose each entry is.
async fn audit(side: &Side) -> Vec<Value> {
    let (mut all, mut ids, mut before) = (Vec::new(), Vec::new(), String::new());
    loop {
        let answer = side
            .api
            .get(&format!("/v1/moderation?limit=7{before}"))
            .await;
        answer.assert_status(200);
        for entry in answer.body["entries"].as_array().unwrap() {
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
        match answer.body["next"].as_str() {
            Some(id) => before = format!("&before={id}"),
            None => break,
        }
    }
    assert!(ids.is_sorted_by(|a, b| a > b), "{ids:?}");
    let text = |entry: &Value| entry["user"].is_null().then(|| entry.to_string());
    all.sort_by_key(|entry| (entry["user"].to_string(), text(entry)));
    all
}

async fn check_users(sides: &[Side]) {
    for number in 0..40 {
        for path in ["", "/activity", "/moderation"] {
            send(
                sides,
                Method::GET,
                &format!("/v1/users/u{number}{path}"),
                &json!(null),
            )
            .await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_history_ends_the_same_over_any_number_of_shards() {
    let (sides, mut random) = (sides(), Rng::with_seed(variable("SEED", 1)));
    let steps = variable("STEPS", 10_000).div_ceil(10) as usize;
    let begun = now() - 3_600_000;
    history(&sides, &mut random, begun, steps).await;
    let questions = |date: &str| {
        let groups = ["", "&group=eu", "&group=us"];
        let question = |kind| groups.map(|group| format!("{kind}?date={date}{group}"));
        KINDS.map(question).concat()
    };
    for back in DAYS {
        let date = &written(begun - back * DAY)[..10];
        for question in questions(date) {
            check_board(&sides, &mut random, &question).await;
        }
    }
    check_winners(&sides, "").await;
    check_winners(&sides, "&group=eu").await;
    check_users(&sides).await;
    let lists = join_all(sides.iter().map(audit)).await;
    assert!(lists[0].len() > 15, "{}", lists[0].len());
    for (side, list) in sides.iter().zip(&lists) {
        assert_eq!(*list, lists[0], "{} shards", side.shards);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_far_down_are_the_same_over_any_number_of_shards() {
    let (sides, mut random) = (sides(), Rng::with_seed(variable("SEED", 1)));
    let begun = now() - 3_600_000;
    crowd(&sides, &mut random, begun).await;
    let date = &written(begun - 9 * DAY)[..10];
    for kind in ["day", "all"] {
        check_board(&sides, &mut random, &format!("{kind}?date={date}")).await;
    }
}
