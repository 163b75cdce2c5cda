//! `export` of the journal and of boards, and `import` of the journal.

use std::fs;

use test_support::{Value, json};

use crate::TestResult;
use crate::app::{day, like, noon};
use crate::cli::{fails, succeed};
use crate::journal_app::JournalApp;
use crate::random::Random;

/// Returns the lines of a file, each as JSON.
fn lines(text: &str) -> Result<Vec<Value>, serde_json::Error> {
    text.lines().map(serde_json::from_str).collect()
}

/// Returns users and scores, sorted: an import applies the activities of one user after those of another.
async fn scores(app: &JournalApp, path: &str) -> Vec<String> {
    let entries = entries(app, path).await;
    let entries = entries.as_array().cloned().unwrap_or_default();
    let score = |entry: Value| format!("{} {}", entry["user"]["id"], entry["score"]);
    let mut scores: Vec<String> = entries.into_iter().map(score).collect();
    scores.sort();
    scores
}

async fn entries(app: &JournalApp, path: &str) -> Value {
    let reader = app.without_cache();
    let board = reader.api.get(path).await;
    board.assert_status(200).body["entries"].clone()
}

/// Profiles, moderation and adjustments are in the file, but in no line that `import` sends.
#[tokio::test(flavor = "multi_thread")]
async fn exported_activity_is_imported() -> TestResult {
    let [app, other] = [(); 2].map(|()| JournalApp::start(|worker| worker));
    let mut random = Random::new(17);
    for _ in 0..30 {
        let activities: Vec<Value> = (0..10).map(|_| random.activity(20, 8)).collect();
        app.send(json!(activities)).await;
    }
    let mut undo = like("ada", "p1", 2);
    app.send(undo.clone()).await;
    undo["undo"] = json!(true);
    undo["at"] = json!(noon(1));
    app.send(undo).await;
    app.put("/v1/users/ada", &json!({"name": "Ada"})).await;

    let folder = tempfile::tempdir()?;
    let file = folder.path().join("journal.jsonl");
    let file = file.to_string_lossy().into_owned();
    let exported = succeed(&app, &["export", "--activity", "--output", &file])?;
    let found = lines(&fs::read_to_string(&file)?)?;
    assert_eq!(exported.stdout, format!("exported {} lines\n", found.len()));
    let stamp = found[0]["journal"]["stamp"].as_str().unwrap_or_default();
    assert!(stamp.starts_with("v4 shards="), "{}", found[0]);
    let profile = found.iter().find(|line| line["entry"]["did"] == "profile");
    let profile = profile.and_then(Value::as_object).ok_or("no profile")?;
    assert_eq!(profile.len(), 1, "{profile:?}");

    let again = ["export", "--activity", "--output", &file];
    fails(&app, &again, 2, "add --force to overwrite it")?;

    succeed(&other, &["import", &file])?;
    let week = format!("/v1/ranking/week?limit=100&date={}", day(9));
    for path in ["/v1/ranking/all?limit=100", &week] {
        let expected = scores(&app, path).await;
        assert_eq!(scores(&other, path).await, expected, "{path}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn exported_board_has_all_rows() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    let likes = (0..230).map(|number| like(&format!("u{number:03}"), "p", 40));
    app.send(likes.collect()).await;
    for (user, name) in [
        ("u007", "Ada, \"the first\""),
        ("u008", "=HYPERLINK(\"https://a.example\")"),
    ] {
        app.put(&format!("/v1/users/{user}"), &json!({"name": name}))
            .await;
    }
    let board = format!("d:{}:eu", day(40));
    let exported = succeed(&app, &["export", "--board", &board])?;
    assert_eq!(exported.stderr, "exported 230 lines\n");
    let rows = lines(&exported.stdout)?;
    let path = format!("/v1/ranking/day?date={}&group=eu&limit=100", day(40));
    let first = entries(&app, &path).await;
    assert_eq!(json!(rows[..100]), first);
    assert_eq!((rows.len(), &rows[229]["rank"]), (230, &json!(230)));

    let folder = tempfile::tempdir()?;
    let file = folder.path().join("board.csv");
    let file = file.to_string_lossy().into_owned();
    let exported = succeed(&app, &["export", "--board", &board, "--output", &file])?;
    assert_eq!(exported.stdout, "exported 231 lines\n");
    let text = fs::read_to_string(&file)?;
    let mut rows = text.lines();
    assert_eq!(rows.next(), Some("rank,score,id,name"));
    let named = ",2,u007,\"Ada, \"\"the first\"\"\"\n";
    assert!(text.contains(named), "{text}");
    let formula = ",2,u008,\"'=HYPERLINK(\"\"https://a.example\"\")\"\n";
    assert!(text.contains(formula), "{text}");
    assert_eq!(rows.count(), 230);

    let week = ["export", "--board", "week"];
    fails(&app, &week, 2, "'week' is not a board")?;
    fails(&app, &["export", "--board", "event:none"], 3, "")?;
    Ok(())
}
