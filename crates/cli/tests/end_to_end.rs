//! End-to-end tests: the command line, the built Worker, the gateway and a real Redis.
#![allow(
    clippy::indexing_slicing,
    reason = "a missing field of a JSON value reads as null"
)]

use std::error::Error;
use std::fs;
use std::process::{Command, Output};

use serde_json::{Value, json};
use test_support::{Api, SERVICE_KEY, Worker, until};

type TestResult = Result<(), Box<dyn Error>>;

fn activity_rank(worker: &Worker, args: &[&str]) -> std::io::Result<Output> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_activity-rank"));
    command.env_clear().args(args);
    command
        .env("ACTIVITY_RANK_URL", worker.url())
        .env("ACTIVITY_RANK_KEY", SERVICE_KEY)
        .output()
}

#[track_caller]
fn stdout(output: Output, code: i32) -> Result<String, Box<dyn Error>> {
    let stderr = String::from_utf8(output.stderr)?;
    assert_eq!((output.status.code(), stderr.as_str()), (Some(code), ""));
    Ok(String::from_utf8(output.stdout)?)
}

#[test]
fn accounts_are_imported_shown_and_detached() -> TestResult {
    let worker = Worker::start();
    let file = tempfile::Builder::new().suffix(".csv").tempfile()?;
    let path = file.path().to_string_lossy();
    let run = |args: &[&str]| activity_rank(&worker, args);
    fs::write(&file, "user,of\n42,9\n77,77\n")?;
    let refused = run(&["accounts", "import", &path])?;
    assert_eq!(refused.status.code(), Some(1));
    let errors = String::from_utf8(refused.stderr)?;
    let expected = "line 3: of: must be another user";
    assert!(errors.starts_with(expected), "{errors}");
    let shown = stdout(run(&["accounts", "show", "42"])?, 0)?;
    assert_eq!(shown, "42: no account, and no accounts\n");

    stdout(run(&["accounts", "join", "6", "5"])?, 0)?;
    fs::write(&file, "user,of\n42,9\n77,9\n5,8\n")?;
    let planned = run(&["accounts", "import", &path, "--dry-run"])?;
    assert_eq!(planned.status.code(), Some(1));
    let printed = [planned.stdout, planned.stderr].map(String::from_utf8);
    let plan = "2 accounts would be joined, 1 refused\n";
    let expected = [plan, "line 4: 5 has accounts\n"];
    assert_eq!(printed, expected.map(|text| Ok(text.to_owned())));
    let imported = run(&["accounts", "import", &path, "--json"])?;
    assert_eq!(imported.status.code(), Some(1));
    let errors = String::from_utf8(imported.stderr)?;
    let expected = "line 4: 5: The accounts do not allow this: ";
    assert!(errors.starts_with(expected), "{errors}");
    let summary: Value = serde_json::from_slice(&imported.stdout)?;
    assert_eq!(summary, json!({"lines": 3, "joined": 2, "refused": 1}));

    let past = "; without a journal, what came before is left out";
    for (args, expected) in [
        (&["show", "9"][..], format!("9: 42, 77{past}\n")),
        (&["detach", "42"], "42: no account\n".to_owned()),
        (&["join", "42", "7"], format!("42: an account of 7{past}\n")),
    ] {
        let output = run(&[&["accounts"], args].concat())?;
        assert_eq!(stdout(output, 0)?, expected);
    }
    Ok(())
}

#[test]
fn shifted_import_appears_on_board_and_standing() -> TestResult {
    let worker = Worker::start();
    let file = tempfile::NamedTempFile::new()?;
    let path = file.path().to_string_lossy();
    let lines = [
        r#"{"at":"2018-03-12T00:00:00Z","user":"ada","action":"publish","target":"post-1"}"#,
        r#"{"at":"2018-03-12T00:00:00.001Z","user":"grace","action":"comment","target":"post-1"}"#,
        r#"{"at":"2018-03-12T00:00:00.001Z","user":"grace","action":"like","target":"post-1"}"#,
        r#"{"at":"2018-03-12T00:00:00.002Z","user":"grace","action":"like","target":"post-1","undo":true}"#,
    ];
    fs::write(&file, lines.join("\n"))?;
    let import = ["import", &path, "--shift-to-now", "--json"];
    let summary: Value = serde_json::from_str(&stdout(activity_rank(&worker, &import)?, 0)?)?;
    assert_eq!(summary["outcomes"], json!({"counted": 3, "undone": 1}));

    fs::write(&file, r#"{"id":"grace","name":"Grace 艾"}"#)?;
    let profiles = stdout(activity_rank(&worker, &["profiles", &path])?, 0)?;
    let stored = "stored                             1\n";
    assert!(profiles.contains(stored), "{profiles}");

    // The all-time board, because the day may change between the import and the request.
    let top = stdout(activity_rank(&worker, &["top", "all"])?, 0)?;
    let expected = "all (UTC) · 2 members\n\n rank  score  user   name\n    \
                    1     10  ada\n    2      3  grace  Grace 艾\n";
    assert_eq!(top, expected);
    let standing = stdout(activity_rank(&worker, &["standing", "grace", "all"])?, 0)?;
    let expected = "all (UTC) · 2 members\nGrace 艾 (grace): rank 2 of 2, score 3, percentile 50.0\n\
                    8 points to rank 1 (score 10)\n";
    assert_eq!(standing, expected);
    Ok(())
}

#[tokio::test]
async fn token_authenticates_its_user_only() -> TestResult {
    let secret = "a secret of thirty-two bytes, ok?";
    let variables = [
        ("JWT_SECRET", secret),
        ("JWT_GROUPS_CLAIM", "teams"),
        ("JWT_ISSUER", "https://id.example.org/"),
        ("JWT_AUDIENCE", "board"),
    ];
    let worker = variables
        .iter()
        .fold(Worker::builder(), |worker, (name, value)| {
            worker.var(name, value)
        });
    let worker = worker.start();
    let token = |args: &[&str]| -> Result<String, Box<dyn Error>> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_activity-rank"));
        command.env_clear().envs(variables).arg("token").args(args);
        Ok(stdout(command.output()?, 0)?.trim_end().to_owned())
    };
    let picture = "https://example.org/ada.png";
    let args = ["42", "--name=Ada", "--picture", picture, "--groups=eu"];
    let user = Api::new(worker.url()).with_key(&token(&args)?);
    let like = |id: &str| json!({"user": id, "action": "like", "target": "post-7"});
    let counted = user.post("/v1/activity", &like("42")).await;
    counted.assert_status(200);
    assert_eq!(counted.body["outcome"], "counted");
    let refused = user.post("/v1/activity", &like("7")).await;
    refused.assert_status(403);

    let board = user.get("/v1/ranking/all?group=eu").await;
    let profile = json!({"id": "42", "name": "Ada", "avatar": picture});
    let entries = json!([{"rank": 1, "score": 2, "user": profile}]);
    assert_eq!(board.body["entries"], entries);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn imported_register_fills_boards_of_content() -> TestResult {
    let worker = Worker::builder().var("CONTENT_PERIODS", "day,all").start();
    let posts = tempfile::Builder::new().suffix(".csv").tempfile()?;
    fs::write(&posts, "id,author,title\npost-7,9,A title\npost-8,9,\n")?;
    let path = posts.path().to_string_lossy();
    let summary = stdout(activity_rank(&worker, &["targets", &path, "--json"])?, 0)?;
    let summary: Value = serde_json::from_str(&summary)?;
    assert_eq!(summary["outcomes"], json!({"registered": 2}));
    let likes = tempfile::NamedTempFile::new()?;
    let like = |user, target| json!({"user": user, "action": "like", "target": target}).to_string();
    let lines = [("42", "post-7"), ("43", "post-7"), ("42", "post-8")];
    let lines = lines.map(|(user, target)| like(user, target));
    fs::write(&likes, lines.join("\n"))?;
    let path = likes.path().to_string_lossy();
    stdout(activity_rank(&worker, &["import", &path])?, 0)?;
    let (api, path) = (worker.api(), "/v1/authors/all/users/9");
    let is_known = async || (api.get(path).await.body["score"] == 6).then_some(());
    until("the author", is_known).await;
    let table = " rank  score  target  title    author\n    1      4  post-7  A title  9\n    \
                 2      2  post-8           9\n";
    let authors = "all (UTC) · 1 author\n\n rank  score  user  name\n    1      6  9\n";
    for (args, expected) in [
        (
            &["--content", "all"][..],
            &*format!("all (UTC) · 2 targets\n\n{table}"),
        ),
        (&["--hot"], table),
        (&["--authors", "all"], authors),
    ] {
        let top = activity_rank(&worker, &[&["top"], args].concat())?;
        assert_eq!(stdout(top, 0)?, expected);
    }
    Ok(())
}

#[tokio::test]
async fn moderation_changes_boards_and_can_be_undone() -> TestResult {
    let worker = Worker::start();
    let like = |user| json!({"user": user, "action": "like", "target": "post-7"});
    let api = worker.api().with_key(SERVICE_KEY);
    let likes = api
        .post("/v1/activity", &json!([like("42"), like("43")]))
        .await;
    likes.assert_status(200);
    let run = |args: &str| activity_rank(&worker, &args.split(' ').collect::<Vec<_>>());
    let both =
        "all (UTC) · 2 members\n\n rank  score  user  name\n    1      2  42\n    2      2  43\n";
    let one = |user: u32| {
        format!("all (UTC) · 1 member\n\n rank  score  user  name\n    1      2  {user}\n")
    };
    let adjust = "adjust 43 --id case-1 --reason Case";
    for (args, expected) in [
        ("top all", both),
        (
            "moderate 42 --hide --reason Review",
            "42: hidden, not frozen\n",
        ),
        ("top all", &one(43)),
        (
            "moderate 42 --show --freeze --reason Reviewed",
            "42: not hidden, frozen\n",
        ),
        ("moderate 42", "42: not hidden, frozen\n"),
        ("top all", both),
        (&format!("{adjust} --points -1"), "43: counted, -1 points\n"),
        (
            &format!("{adjust} --points -1"),
            "43: duplicate, 0 points\n",
        ),
    ] {
        assert_eq!(stdout(run(args)?, 0)?, expected, "{args}");
    }
    let unknown = String::from_utf8(run("moderate 404 --hide --reason Review")?.stderr)?;
    let expected = "404 has no name and no points: is it the right id?\n";
    assert_eq!(unknown, expected);
    let undone = stdout(run(&format!("{adjust} --undo --json"))?, 0)?;
    let undone: Value = serde_json::from_str(&undone)?;
    let found = json!([undone["outcome"], undone["points"]]);
    assert_eq!(found, json!(["undone", 1]));

    let refused = run("erase 43")?;
    let error = "error: this deletes everything about user 43 and cannot be undone: add --force\n";
    assert_eq!(
        (refused.status.code(), String::from_utf8(refused.stderr)?),
        (Some(2), error.to_owned())
    );
    for (args, expected) in [
        ("erase 43 --force", "43: erased\n"),
        (
            "erase 43 --force --json",
            "{\"erased\":true,\"user\":\"43\"}\n",
        ),
        ("top all", &one(42)),
    ] {
        assert_eq!(stdout(run(args)?, 0)?, expected, "{args}");
    }
    Ok(())
}
