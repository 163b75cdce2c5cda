//! Boards that only the archive has, after joins and leaves: cron archives what a recount has made of them.

use std::collections::BTreeMap;

use test_support::{Value, WorkerBuilder, json, rest, until};

use crate::TestResult;
use crate::app::{day, noon};
use crate::cli::{assert_verified, rebuild};
use crate::expiry::age;
use crate::journal_app::JournalApp;
use crate::stored::redis_command;

/// The age of the archived day in days.
const DAYS_AGO: i64 = 9;

fn start(shards: u32) -> JournalApp {
    JournalApp::start(|worker: WorkerBuilder| {
        worker
            .archive()
            .json("CRON_BUDGET", json!(1000))
            .var("CONTENT_PERIODS", "day,all")
            .json("SHARDS", json!(shards))
            .var("BOARD_MAX_AGE", "0")
    })
}

fn like(user: &str, target: &str) -> Value {
    json!({"user": user, "action": "like", "target": target, "at": noon(DAYS_AGO)})
}

/// Ids and scores of the boards of the archived day: of members, content and authors.
type Boards = [BTreeMap<String, i64>; 3];

fn boards(boards: [&[(&str, i64)]; 3]) -> Boards {
    boards.map(|rows| {
        rows.iter()
            .map(|(id, score)| ((*id).to_owned(), *score))
            .collect()
    })
}

impl JournalApp {
    async fn tick(&self) {
        let path = "/cdn-cgi/local/scheduled?cron=*/5+*+*+*+*";
        self.api.get(path).await.assert_status(200);
    }

    /// Returns the boards of the archived day. The response cache does not know the page size.
    async fn archived(&self, unique: u32) -> Boards {
        let mut boards = Boards::default();
        let kinds = ["ranking", "content", "authors"].into_iter();
        for (kind, board) in kinds.zip(&mut boards) {
            let path = format!("/v1/{kind}/day?date={}&limit={unique}", day(DAYS_AGO));
            let response = self.api.get(&path).await;
            response.assert_status(200);
            for entry in response.body["entries"].as_array().into_iter().flatten() {
                let named = entry.get("target").unwrap_or(&entry["user"]);
                let id = named["id"].as_str().unwrap_or_default().to_owned();
                board.insert(id, entry["score"].as_i64().unwrap_or_default());
            }
            assert_eq!(response.body["total"], board.len());
        }
        boards
    }

    /// Returns the keys of the archived day.
    fn keys_of_day(&self) -> Vec<String> {
        let pattern = format!("{{{}:*:{}*", self.endpoint.prefix, day(DAYS_AGO));
        redis_command(&mut self.redis(), &["KEYS", &pattern]).unwrap_or_default()
    }

    /// Deletes the boards of the archived day, as if they had expired.
    async fn expire_day(&self) -> TestResult {
        age(self, 40).await;
        let keys = self.keys_of_day();
        let has_board = keys.iter().any(|key| rest(key).starts_with("bd:"));
        assert!(has_board, "{keys:?}");
        for key in keys {
            redis_command::<i64>(&mut self.redis(), &["DEL", &key])?;
        }
        Ok(())
    }

    async fn archive_corrections(&self) {
        until("the corrections are archived", async || {
            self.tick().await;
            self.keys_of_day().is_empty().then_some(())
        })
        .await;
    }
}

async fn check(shards: u32) -> TestResult {
    let app = start(shards);
    for (target, author) in [("p", "other"), ("q", "other"), ("x", "42"), ("y", "9")] {
        let path = format!("/v1/targets/{target}");
        app.put(&path, &json!({"author": author})).await;
    }
    for user in ["9", "42", "other"] {
        let path = format!("/v1/users/{user}");
        app.put(&path, &json!({"name": user})).await;
    }
    // Both like p. The like of y is one of an own post.
    let likes = "9 p, 42 p, 42 q, 5 p, 5 x, 42 y, hidden p".split(", ");
    for (user, target) in likes.filter_map(|like| like.split_once(' ')) {
        app.send(like(user, target)).await;
    }
    app.wait_for_receivers().await;
    app.tick().await;
    app.expire_day().await?;
    let before = boards([
        &[("9", 2), ("42", 6), ("5", 4), ("hidden", 2)],
        &[("p", 8), ("q", 2), ("x", 2), ("y", 2)],
        &[("other", 10), ("42", 2), ("9", 2)],
    ]);
    assert_eq!(app.archived(50).await, before);
    // An archived board is closed.
    app.send(like("9", "late")).await;
    app.wait_for_receivers().await;
    app.moderate("hidden", true, false).await;
    let mut before = before;
    before[0].remove("hidden");
    assert_eq!(app.archived(51).await, before);

    let path = "/v1/users/42/account";
    app.put(path, &json!({"of": "9"})).await;
    app.recount_accounts(&["--apply", "--yes"])?;
    // It waits for cron, also when the data is rebuilt.
    assert!(!app.keys_of_day().is_empty());
    rebuild(&app, &[])?;
    assert_verified(&app)?;
    app.moderate("hidden", false, false).await;
    app.archive_corrections().await;
    let joined = boards([
        &[("9", 4), ("5", 4), ("hidden", 2)],
        &[("p", 6), ("q", 2), ("x", 2)],
        &[("other", 8), ("9", 2)],
    ]);
    assert_eq!(app.archived(52).await, joined);
    assert_verified(&app)?;

    app.delete(path).await;
    app.recount_accounts(&["--apply", "--yes"])?;
    app.delete("/v1/users/hidden").await;
    app.archive_corrections().await;
    assert_eq!(app.archived(53).await, before);
    assert_verified(&app)
}

#[tokio::test]
async fn archived_boards_follow_accounts() -> TestResult {
    check(1).await
}

#[tokio::test]
#[ignore = "soak"]
async fn archived_boards_of_shards_follow_accounts() -> TestResult {
    check(8).await
}
