//! Rebuild of boards of content and of authors, registered targets and lists of authors.

use std::collections::BTreeMap;

use test_support::{Value, WorkerBuilder, json, rest};

use crate::TestResult;
use crate::app::{self, TestApp, builder, day, noon};
use crate::cli::{assert_verified, rebuild};
use crate::journal_app::JournalApp;
use crate::observed::{assert_indexed, comparable_values};
use crate::stored::redis_command;

pub fn content(worker: WorkerBuilder, shards: u32) -> WorkerBuilder {
    worker
        .var("CONTENT_PERIODS", "day,all")
        .var("VISITORS", "like,bookmark")
        .var("VISITOR_KEY", "a secret of thirty-two bytes, ok?")
        .json("SHARDS", json!(shards))
}

/// Readers without an account.
pub const VISITORS: [&str; 2] = [
    "visitor:AAAAAAAAAAAAAAAAAAAAAA",
    "visitor:BBBBBBBBBBBBBBBBBBBBBB",
];

/// Returns the paths of the numbers of targets and the records of visitors.
pub fn paths_of_counts() -> Vec<String> {
    let targets = "targets=post-7,post-8,%23a,bare,twice,theirs,unknown";
    let mut paths = vec![format!("/v1/content/counts?{targets}")];
    for visitor in VISITORS {
        for action in ["like", "bookmark"] {
            let path = format!("/v1/users/{visitor}/done?action={action}&{targets}");
            paths.push(path);
        }
    }
    paths
}

fn start(shards: u32) -> JournalApp {
    JournalApp::start(|worker| content(worker, shards))
}

fn activity(user: &str, action: &str, target: &str) -> Value {
    json!({"user": user, "action": action, "target": target})
}

fn with(mut activity: Value, fields: Value) -> Value {
    if let (Some(activity), Value::Object(fields)) = (activity.as_object_mut(), fields) {
        activity.extend(fields);
    }
    activity
}

fn undo(activity: Value) -> Value {
    with(activity, json!({"undo": true}))
}

impl JournalApp {
    /// Sends an activity, and asserts that it counts or is undone.
    async fn outcome(&self, activity: Value) {
        let expected = match activity["undo"] == true {
            true => "undone",
            false => "counted",
        };
        let response = self.send(activity.clone()).await;
        assert_eq!(response.body["outcome"], expected, "{activity}");
        self.wait_for_receivers().await;
    }

    async fn count_like(&self, user: &str, target: &str) {
        self.outcome(activity(user, "like", target)).await;
    }

    async fn register(&self, target: &str, fields: Value) {
        let path = format!("/v1/targets/{target}");
        self.put(&path, &fields).await;
        self.wait_for_receivers().await;
    }

    async fn hide(&self, target: &str, hidden: bool) {
        let body = json!({"hidden": hidden, "reason": "A test"});
        let path = format!("/v1/targets/{target}/moderation");
        self.put(&path, &body).await;
    }

    async fn delete_fully(&self, path: &str) {
        self.delete(path).await;
        self.wait_for_receivers().await;
    }

    /// Registers, likes, moderates, deletes and erases.
    pub async fn fill_content(&self) {
        let post = json!({"author": "9", "title": "A; title"});
        self.register("post-7", post).await;
        self.register("%23a", json!({"author": "9"})).await;
        self.register("bare", json!({"title": "No author"})).await;
        self.outcome(activity("10", "publish", "post-8")).await;
        for user in ["42", "43", "44", "gone"] {
            for target in ["post-7", "post-8", "#a", "bare", "unknown"] {
                self.count_like(user, target).await;
            }
            self.outcome(activity(user, "follow", "9")).await;
        }
        for (id, on) in [("c 1", "post-7"), ("c-2", "#a"), ("c-3", "unknown")] {
            let comment = with(activity("43", "comment", id), json!({"on": on}));
            self.outcome(comment).await;
        }
        self.outcome(app::like("45", "post-7", 3)).await;
        let registers = with(activity("45", "like", "new"), json!({"author": "9"}));
        self.outcome(registers).await;
        // The author is added later: likes before are not taken from them.
        self.register("bare", json!({"author": "10"})).await;
        for (user, target) in [("42", "post-7"), ("42", "bare"), ("43", "never")] {
            let like = undo(activity(user, "like", target));
            self.send(like).await;
        }
        self.outcome(undo(activity("44", "follow", "9"))).await;
        self.outcome(undo(activity("43", "comment", "c-2"))).await;
        let title = json!({"title": "Another title"});
        self.register("post-7", title).await;
        self.fill_visitors().await;
        self.moderate_content().await;
        self.erase_content().await;
    }

    /// Visitors are on no board of members; their likes are counted by target.
    async fn fill_visitors(&self) {
        for user in VISITORS {
            for target in ["post-7", "post-8", "bare"] {
                self.count_like(user, target).await;
            }
        }
        let bookmark = activity(VISITORS[1], "bookmark", "post-7");
        self.outcome(bookmark).await;
        let unlike = undo(activity(VISITORS[1], "like", "post-7"));
        self.outcome(unlike).await;
    }

    async fn moderate_content(&self) {
        self.hide("post-8", true).await;
        self.hide("%23a", true).await;
        self.hide("%23a", false).await;
        self.count_like("46", "post-8").await;
        let profile = json!({"name": "Ten", "hidden": true});
        self.put("/v1/users/10", &profile).await;
        // Deleted targets, of which one is registered again.
        for target in ["twice", "once"] {
            self.register(target, json!({"author": "9"})).await;
            for user in ["42", "43"] {
                self.count_like(user, target).await;
            }
            self.delete_fully(&format!("/v1/targets/{target}")).await;
        }
        self.register("twice", json!({"author": "10"})).await;
        self.count_like("44", "twice").await;
        self.outcome(undo(activity("42", "like", "twice"))).await;
    }

    async fn erase_content(&self) {
        // Their likes stay received.
        self.delete_fully("/v1/users/gone").await;
        self.register("theirs", json!({"author": "left"})).await;
        self.register("deleted", json!({"author": "left"})).await;
        for target in ["theirs", "deleted"] {
            self.count_like("42", target).await;
        }
        self.delete_fully("/v1/targets/deleted").await;
        self.delete_fully("/v1/users/left").await;
        self.register("theirs", json!({"author": "9"})).await;
        self.count_like("43", "theirs").await;
    }

    /// Undoes some of it. The former authors lose what they have received, and erased ones nothing.
    async fn undo_content(&self) {
        for (user, target) in [
            ("43", "post-7"),
            (VISITORS[0], "post-7"),
            (VISITORS[0], "bare"),
            ("43", "twice"),
            ("44", "twice"),
            ("42", "once"),
            ("42", "theirs"),
            ("42", "deleted"),
            ("46", "post-8"),
            ("45", "new"),
        ] {
            self.outcome(undo(activity(user, "like", target))).await;
        }
        self.outcome(undo(activity("43", "comment", "c 1"))).await;
        self.outcome(undo(activity("43", "follow", "9"))).await;
    }

    /// Returns the comparable data of all keys. Asserts that the index is complete.
    fn comparable(&self) -> redis::RedisResult<BTreeMap<String, Vec<String>>> {
        let data = self.data()?;
        assert_indexed(&data);
        Ok(comparable_values(data))
    }

    /// Returns the scores of the boards of content and of authors of all time, on any shard.
    fn received(&self) -> redis::RedisResult<Vec<String>> {
        let boards = self.comparable()?.into_iter();
        let boards = boards.filter(|(key, _)| ["bTa:all", "bAa:all"].contains(&rest(key)));
        let mut scores: Vec<String> = boards.flat_map(|(_, scores)| scores).collect();
        scores.sort();
        Ok(scores)
    }
}

/// Returns the responses about content.
async fn read_content(app: &JournalApp) -> Vec<(String, Value)> {
    let reader = TestApp::with(&app.endpoint, content(builder(), 1));
    let mut paths = vec!["/v1/content/hot".to_owned()];
    for period in ["day", "all"] {
        for board in ["content", "authors"] {
            paths.push(format!("/v1/{board}/{period}?limit=100"));
        }
        for target in ["post-7", "post-8", "%23a", "bare", "twice", "theirs"] {
            paths.push(format!("/v1/content/{period}/targets/{target}?around=2"));
        }
        for user in ["9", "10", "left"] {
            paths.push(format!("/v1/authors/{period}/users/{user}?around=2"));
        }
    }
    for user in ["9", "10", "left"] {
        paths.push(format!("/v1/users/{user}/targets"));
    }
    for target in ["post-7", "once", "twice", "theirs"] {
        paths.push(format!("/v1/targets/{target}"));
    }
    paths.extend(paths_of_counts());
    crate::responses::read(&reader, paths).await
}

async fn assert_rebuilt(shards: u32) -> TestResult {
    let app = start(shards);
    app.fill_content().await;
    let before = app.comparable()?;
    let responses = match shards {
        1 => read_content(&app).await,
        _ => Vec::new(),
    };
    assert_verified(&app)?;
    let journal = app.api.get("/v1/journal?limit=5000").await;
    assert!(!journal.text.contains("\"left\""), "{}", journal.text);
    app.lose_data().await?;
    let output = rebuild(&app, &[])?;
    for (key, values) in &before {
        assert_eq!(app.comparable()?.get(key), Some(values), "{key}\n{output}");
    }
    assert_eq!(app.comparable()?, before, "{output}");
    if shards == 1 {
        crate::responses::assert_same(&read_content(&app).await, &responses);
    }
    assert_verified(&app)?;

    let received = app.received()?;
    app.undo_content().await;
    assert_ne!(app.received()?, received);
    assert_verified(&app)?;
    // The numbers of registrations go on.
    app.register("late", json!({"author": "9"})).await;
    assert_verified(&app)?;
    let data = format!("{:?}", app.data()?);
    assert!(!data.contains("left"), "{data}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn rebuilt_content_is_unchanged() -> TestResult {
    assert_rebuilt(1).await
}

/// The register and the lists lie on other shards than those who act.
#[tokio::test(flavor = "multi_thread")]
async fn content_of_two_shards_is_rebuilt() -> TestResult {
    assert_rebuilt(2).await
}

/// What others received after a board had been archived and deleted is on other boards only.
#[tokio::test(flavor = "multi_thread")]
async fn archived_board_of_content_is_not_rebuilt() -> TestResult {
    let app = start(1);
    let key = |name: &str| app.key_on(0, name);
    app.register("post-7", json!({"author": "9"})).await;
    let like = |user: &str| with(activity(user, "like", "post-7"), json!({"at": noon(9)}));
    app.outcome(like("42")).await;
    let names = ["Td", "Ad"].map(|kind| format!("{kind}:{}", day(9)));
    let boards = names.each_ref().map(|name| key(&format!("b{name}")));
    let (mut redis, archived) = (app.redis(), key("a"));
    for (name, board) in names.iter().zip(&boards) {
        redis_command::<i64>(&mut redis, &["DEL", board])?;
        redis_command::<i64>(&mut redis, &["SADD", &archived, name])?;
    }
    app.outcome(like("43")).await;
    app.outcome(undo(activity("42", "like", "post-7"))).await;
    assert_verified(&app)?;
    let before = app.comparable()?;
    rebuild(&app, &[])?;
    assert_eq!(app.comparable()?, before);
    let exist = ["EXISTS", &boards[0], &boards[1]];
    assert_eq!(redis_command::<i64>(&mut redis, &exist)?, 0);
    assert_eq!(app.received()?, ["9 200", "post-7 200"]);
    Ok(())
}
