//! Ranks and pages of boards of content and of authors with many equal scores, and the rows on them.
//!
//! The tests write the boards to Redis: it would take thousands of activities.

use std::cmp::Reverse;

use test_support::{Value, json, shards};

use super::{content, deliver, register, row, rows, start, write_board};
use crate::app::TestApp;
use crate::clock::day;

/// So many that pages begin below the rows that a page near the top reads.
const ROWS: usize = 1200;
const KINDS: [(&str, &str, &str); 2] = [
    ("content", "targets", "bTa:all"),
    ("authors", "users", "bAa:all"),
];

/// Returns rows with three different scores, best first.
fn many_rows() -> Vec<(String, i64)> {
    let numbers = (0..ROWS as i64).map(|number| row(&format!("t-{number}"), 1 + number % 3));
    let mut rows: Vec<(String, i64)> = numbers.collect();
    rows.sort_by_key(|(id, score)| Reverse((*score, id.clone())));
    rows
}

/// Returns the rank, id and score of each entry.
fn entries(entries: &Value) -> Vec<(usize, String, i64)> {
    let entries = entries.as_array().expect("entries").iter();
    let entry = |entry: &Value| {
        let named = entry.get("target").unwrap_or(&entry["user"]);
        let id = named["id"].as_str().expect("an id").to_owned();
        let rank = entry["rank"].as_u64().expect("a rank") as usize;
        (rank, id, entry["score"].as_i64().expect("a score"))
    };
    entries.map(entry).collect()
}

/// Returns the entries of the rows in a range.
fn ranked(rows: &[(String, i64)], first: usize, end: usize) -> Vec<(usize, String, i64)> {
    let rows = rows.iter().enumerate().take(end).skip(first);
    let ranked = rows.map(|(index, (id, score))| (index + 1, id.clone(), *score));
    ranked.collect()
}

#[tokio::test]
async fn pages_are_exact_among_equal_scores() {
    let app = start();
    let rows = many_rows();
    for (path, _, board) in KINDS {
        write_board(&mut app.store(), board, &rows);
        for (offset, limit) in [
            (0, 7),
            (37, 100),
            (350, 60),
            (799, 100),
            (1150, 100),
            (1200, 1),
        ] {
            let path = format!("/v1/{path}/all?offset={offset}&limit={limit}");
            let page = app.read(&path).await;
            assert_eq!(page["total"], ROWS, "{path}");
            let expected = ranked(&rows, offset, offset + limit);
            assert_eq!(entries(&page["entries"]), expected, "{path}");
        }
    }
}

#[tokio::test]
async fn standings_are_exact_among_equal_scores() {
    let app = start();
    let rows = many_rows();
    for (path, named, board) in KINDS {
        write_board(&mut app.store(), board, &rows);
        for index in [0, 1, 30, 399, 400, 640, 800, ROWS - 1] {
            let (id, score) = &rows[index];
            let path = format!("/v1/{path}/all/{named}/{id}?around=25");
            let standing = app.read(&path).await;
            assert_eq!(standing["rank"], index + 1, "{path}");
            assert_eq!(standing["score"], *score, "{path}");
            assert_eq!(standing["total"], ROWS, "{path}");
            let expected = ranked(&rows, index.saturating_sub(25), index + 26);
            assert_eq!(entries(&standing["around"]), expected, "{path}");
            let next = (index > 0).then_some(index);
            assert_eq!(standing["next"]["rank"], json!(next), "{path}");
            if let Some((above, points)) = next.map(|next| &rows[next - 1]) {
                // A higher id takes a rank with equal points.
                let more = points - score + i64::from(id < above);
                assert_eq!(standing["next"]["points"], more, "{path}");
            }
        }
        let path = format!("/v1/{path}/all/{named}/unknown?around=25");
        let standing = app.read(&path).await;
        let found = [&standing["rank"], &standing["total"], &standing["around"]];
        assert_eq!(found, [&Value::Null, &json!(ROWS), &json!([])], "{path}");
    }
}

/// Registers targets of several authors, one of them hidden, and returns their entries without ranks, best first.
async fn fill_rows(app: &TestApp) -> Vec<(String, Value)> {
    let mut filled = Vec::new();
    for number in (0..9).rev() {
        let (id, author) = (format!("post-{number}"), format!("author-{number}"));
        let title = format!("Title {number}");
        register(app, &id, json!({"author": author, "title": title})).await;
        let mut entry = json!({"target": {"id": id, "title": title}, "author": {"id": author}});
        match number {
            3 => {
                app.moderate(&author, true, false).await;
                entry.as_object_mut().expect("fields").remove("author");
            }
            4 => {}
            _ => {
                app.set_name(&author, "Ada").await;
                entry["author"]["name"] = json!("Ada");
            }
        }
        filled.push((id, entry));
    }
    register(app, "post--", json!({})).await;
    filled.push(("post--".to_owned(), json!({"target": {"id": "post--"}})));
    filled
}

/// Returns the entries without ranks and scores.
fn named(entries: &Value) -> Vec<Value> {
    let entries = entries.as_array().expect("entries").iter().cloned();
    let entry = |mut entry: Value| {
        let fields = entry.as_object_mut().expect("fields");
        fields.retain(|name, _| name == "target" || name == "author");
        entry
    };
    entries.map(entry).collect()
}

/// On all shards but one, a target and its author are on different ones.
#[tokio::test]
async fn rows_name_targets_and_visible_authors() {
    let app = start();
    let filled = fill_rows(&app).await;
    let (absent, ranked) = filled.split_first().expect("entries");
    let scores: Vec<_> = ranked.iter().map(|(id, _)| row(id, 2)).collect();
    let expected: Vec<Value> = ranked.iter().map(|(_, entry)| entry.clone()).collect();
    write_board(&mut app.store(), "bTa:all", &scores);
    write_board(&mut app.store(), &format!("bTd:{}", day(0)), &scores);
    assert_eq!(rows(&app, "/v1/content/all").await, scores);
    for path in ["/v1/content/all", "/v1/content/hot"] {
        assert_eq!(named(&app.read(path).await["entries"]), expected, "{path}");
    }
    for (id, entry) in ranked.iter().chain([absent]) {
        let path = format!("/v1/content/all/targets/{id}?around=25");
        let standing = app.read(&path).await;
        assert_eq!(named(&json!([standing]))[0], *entry, "{path}");
        let around = match id == &absent.0 {
            true => Vec::new(),
            false => expected.clone(),
        };
        assert_eq!(named(&standing["around"]), around, "{path}");
    }
}

/// Each shard has its own first targets.
#[tokio::test]
async fn hot_targets_are_exact_among_equal_scores() {
    let app = TestApp::with(|worker| content(worker).var("BOARD_MAX_AGE", "0"));
    let rows = many_rows();
    write_board(&mut app.store(), &format!("bTd:{}", day(0)), &rows);
    let before: Vec<_> = rows.iter().map(|(id, _)| row(id, 2)).collect();
    write_board(&mut app.store(), &format!("bTd:{}", day(1)), &before);
    for limit in [1, 30, 100] {
        let hot = app.read(&format!("/v1/content/hot?limit={limit}")).await;
        let expected = ranked(&rows, 0, limit).into_iter();
        let expected = expected.map(|(rank, id, score)| (rank, id, score + 1));
        let expected: Vec<_> = expected.collect();
        assert_eq!(entries(&hot["entries"]), expected);
    }
}

/// With several shards, further requests read the authors of targets, the ranks on other shards, or the
/// registrations of listed targets.
#[tokio::test]
async fn reads_make_one_store_request_on_one_shard() {
    let (app, forwarder) = TestApp::behind_forwarder(content);
    let numbers = 0..20;
    let batch = numbers.map(|number| json!({"id": format!("t-{number}"), "author": "9"}));
    let batch: Vec<Value> = batch.collect();
    // Deliveries between shards are requests, too.
    let other = TestApp::with(|worker| content(worker).var("PREFIX", app.prefix()));
    other.write("/v1/targets", &json!(batch)).await;
    deliver(&other).await;
    let rows = (0..20).map(|number| row(&format!("t-{number}"), 1));
    let rows: Vec<_> = rows.collect();
    for board in ["bTa:all", "bAa:all", &format!("bTd:{}", day(0))] {
        write_board(&mut app.store(), board, &rows);
    }
    for (path, requests) in [
        ("/v1/content/all?limit=", 2),
        ("/v1/content/hot?limit=", 2),
        ("/v1/content/all/targets/t-7?around=", 3),
        ("/v1/authors/all?limit=", 1),
        ("/v1/authors/all/users/t-7?around=", 2),
        ("/v1/users/9/targets?limit=", 2),
    ] {
        // Loads the scripts. Another number avoids the response cache.
        app.read(&format!("{path}10")).await;
        forwarder.reset();
        app.read(&format!("{path}11")).await;
        let expected = if shards() > 1 { requests } else { 1 };
        assert_eq!(forwarder.count(), expected, "{path}");
    }
}
