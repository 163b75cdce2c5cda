//! `recount`: the preview, the recounted data compared with a service that had the rules from the beginning, and the
//! commands after it.

use std::fs;
use std::io;
use std::path::PathBuf;

use tempfile::TempDir;
use test_support::{Value, WorkerBuilder, depth, json, shard_of, shards};

use crate::TestResult;
use crate::app::{self, day, noon};
use crate::cli::{assert_verified, fails, rebuild, run, succeed};
use crate::journal_app::JournalApp;
use crate::observed::{Observed, without_order_of_ties};
use crate::random::{Random, variable};
use crate::responses;
use crate::run::Run;
use crate::stored::{StoredData, is_of_rebuild, redis_command};

const LIMITS: &str = "What caps and cooldowns refused at the time is not in the journal and stays refused. What gave \
    others nothing at the time still gives them nothing. Published versions of the rules do not apply: each activity gives \
    what the file says.";

/// A file with rules, or with the definition of an event.
pub struct RecountFile {
    _folder: TempDir,
    path: PathBuf,
    event: Option<&'static str>,
}

impl RecountFile {
    /// Writes rules.
    pub fn new(rules: &Value) -> io::Result<Self> {
        Self::write(None, rules)
    }

    /// Writes the definition of an event.
    pub fn for_event(event: &'static str, definition: &Value) -> io::Result<Self> {
        Self::write(Some(event), definition)
    }

    fn write(event: Option<&'static str>, content: &Value) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("recount.json");
        fs::write(&path, content.to_string())?;
        Ok(Self {
            _folder: folder,
            path,
            event,
        })
    }

    /// Returns the arguments of a recount.
    pub fn args<'a>(&'a self, args: &[&'a str]) -> Vec<&'a str> {
        let path = self.path.to_str().unwrap_or_default();
        let file = match self.event {
            Some(event) => vec!["recount", "--event", event, "--definition", path],
            None => vec!["recount", "--rules", path],
        };
        [&file, args].concat()
    }

    /// Runs a recount.
    #[track_caller]
    pub fn run(&self, app: &JournalApp, args: &[&str]) -> io::Result<Run> {
        run(app, &self.args(args))
    }

    /// Applies a recount and returns its output.
    #[track_caller]
    pub fn apply(&self, app: &JournalApp) -> io::Result<String> {
        let run = self.run(app, &["--apply", "--yes"])?;
        Ok(run.assert_code(0).stdout)
    }
}

/// Rules that change all points, some from a day or an instant in the middle of the activity.
pub fn dated_rules() -> Value {
    json!({
        "like": [
            {"points": 7},
            {"from": day(20), "points": 1},
            {"from": noon(12), "points": 4, "received": 3},
        ],
        "visit": {"points": 2},
        "comment": [{"points": 1}, {"from": day(5), "points": 30, "received": 9}],
        "publish": {"points": 3, "received": 1},
        "wave": [{"points": 6, "cooldown": 3600}, {"from": noon(12), "points": 2}],
    })
}

/// Returns the responses that do not depend on the instants of the test.
async fn boards(app: &JournalApp) -> Vec<(String, Value)> {
    let mut responses = responses::read_all(&app.without_cache()).await;
    responses.retain(|(path, _)| path.starts_with("/v1/ranking") || path.ends_with("/activity"));
    match shards() {
        1 => responses,
        _ => without_order_of_ties(responses),
    }
}

/// Returns the number of recounts in the journal: of rules, and of events.
pub async fn recounts(app: &JournalApp) -> usize {
    let (mut after, mut found) = (json!(0), 0);
    while !after.is_null() {
        let path = format!("/v1/journal?limit=5000&after={after}");
        let page = app.api.get(&path).await.assert_status(200).body.clone();
        let entries = page["entries"].as_array().into_iter().flatten();
        found += entries
            .filter(|entry| entry["did"] == "rules" || entry["recount"] == "1")
            .count();
        after = page["next"].clone();
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn dry_run_lists_moves_and_changes_nothing() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    for (user, action, target) in [
        ("ada", "like", "a"),
        ("ada", "like", "b"),
        ("bob", "comment", "c"),
        ("cyd", "publish", "d"),
    ] {
        app.act(user, action, target).await;
    }
    app.send(app::like("bob", "old", 200)).await;
    app.api.get("/v1/journal").await.assert_status(200);
    let before = app.data()?;
    let rules = RecountFile::new(&json!({"like": {"points": 1}, "comment": {"points": 12}}))?;
    let old = format!("d:{}:eu", day(200));
    let boards = ["--dry-run", "--board", "all", "--board", old.as_str()];
    let preview = rules.run(&app, &boards)?.assert_code(0);
    let expected = format!(
        "board all: 3 of 3 members change, 19 → 25 points\n\n \
         rank  →  points   →  id\n    2  1       5  13  bob\n    1  2      10  10  cyd\n    3  3       4   2  ada\n\n\
         board {old}: 1 of 1 member change, 2 → 1 points\n\n \
         rank  →  points  →  id\n    1  1       2  1  bob\n\n\
         {LIMITS}\nrecounted 5 entries in "
    );
    assert!(preview.stdout.starts_with(&expected), "{}", preview.stdout);
    assert!(preview.stdout.ends_with("; nothing was changed\n"));
    let json = rules.run(&app, &["--dry-run", "--json", "--limit", "1"])?;
    assert_eq!(
        serde_json::from_str::<Value>(&json.stdout)?,
        json!({"boards": [{"board": "all", "members": 3, "changed": 3,
            "points": {"before": 19, "after": 25},
            "moves": [{"id": "bob", "rank": {"before": 2, "after": 1}, "points": {"before": 5, "after": 13}}]}],
            "entries": 5, "note": LIMITS})
    );
    assert_eq!(app.data()?, before);
    assert_verified(&app)
}

/// The other service has the rules from the beginning, and gets the same requests, with `MORE` random ones.
#[tokio::test(flavor = "multi_thread")]
async fn recounted_boards_match_a_service_with_the_rules() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    let reference = JournalApp::start(|worker| worker.json("RULES", dated_rules()));
    for app in [&app, &reference] {
        app.fill().await;
        let count = variable("MORE", depth(200, 2500)) as usize;
        Random::new(11).send_activities(&app.api, count).await;
    }
    let expected = boards(&reference).await;
    let rules = RecountFile::new(&dated_rules())?;
    let output = rules.apply(&app)?;
    println!("{output}");
    let begin = format!("{LIMITS}\nrecounted from ");
    let is_whole = output.starts_with(&begin) && output.ends_with("; no request waited\n");
    assert!(is_whole, "{output}");
    responses::assert_same(&boards(&app).await, &expected);
    assert_eq!(recounts(&app).await, shards() as usize);
    assert_verified(&app)?;

    // Later activity counts by the rules of the service; an undo takes back the points of the recount.
    assert_eq!(app.act("new", "comment", "c").await.body["points"], 3);
    let undone = json!({"user": "bob", "action": "like", "target": "p12", "undo": true});
    assert_eq!(app.send(undone).await.body["points"], -4);
    Random::new(12).send_activities(&app.api, 300).await;
    assert_verified(&app)?;
    let before = Observed::read(&app).await?;
    app.lose_data().await?;
    rebuild(&app, &[])?;
    Observed::read(&app).await?.assert_same(&before);
    assert_verified(&app)?;

    // A second recount leaves nothing of the first one.
    let defaults = RecountFile::new(&json!({"wave": {"points": 1}}))?;
    defaults.apply(&app)?;
    rules.apply(&app)?;
    let again = rules.run(&app, &["--dry-run"])?;
    assert!(again.stdout.starts_with("board all: 0 of "), "{again:?}");
    assert_verified(&app)
}

fn with_content(worker: WorkerBuilder) -> WorkerBuilder {
    worker.var("CONTENT_PERIODS", "day,all")
}

impl JournalApp {
    /// Returns the points of the target `post-7` and of its author.
    async fn points_received(&self) -> [u64; 2] {
        let mut redis = self.redis();
        self.wait_for_receivers().await;
        let mut score = |board: &str, member: &str| {
            let key = self.key_on(shard_of(member), board);
            redis_command::<Option<u64>>(&mut redis, &["ZSCORE", &key, member])
        };
        let [target, author] = [score("bTa:all", "post-7"), score("bAa:all", "9")];
        [target, author].map(|points| points.ok().flatten().unwrap_or(0) / 100)
    }
}

/// One like is undone before the recount, others after it.
#[tokio::test(flavor = "multi_thread")]
async fn targets_and_authors_are_recounted() -> TestResult {
    let app = JournalApp::start(with_content);
    let author = json!({"author": "9"});
    app.put("/v1/targets/post-7", &author).await;
    let undo =
        |user: &str| json!({"user": user, "action": "like", "target": "post-7", "undo": true});
    for user in ["1", "2", "3"] {
        app.act(user, "like", "post-7").await;
    }
    let earlier = json!({"user": "4", "action": "like", "target": "post-7", "at": noon(3)});
    app.send(earlier).await;
    app.act("5", "follow", "9").await;
    app.send(undo("1")).await;
    assert_eq!(app.points_received().await, [6, 8]);
    let rules = json!({
        "like": [{"received": 50}, {"from": day(2), "received": 5}],
        "follow": {"received": 0},
    });
    let rules = RecountFile::new(&rules)?;
    let boards = ["--board=content:all", "--board=authors:all"];
    let preview = rules.run(&app, &[&["--dry-run"], &boards[..]].concat())?;
    for line in [
        "board content:all: 1 of 1 member change, 6 → 60 points",
        "board authors:all: 1 of 1 member change, 8 → 60 points",
    ] {
        assert!(preview.stdout.contains(line), "{preview:?}");
    }
    rules.apply(&app)?;
    assert_eq!(app.points_received().await, [60, 60]);
    assert_verified(&app)?;
    for (user, points) in [("2", [55, 55]), ("4", [5, 5])] {
        app.send(undo(user)).await;
        assert_eq!(app.points_received().await, points, "{user}");
    }
    // The follow gives nothing any more, so there is nothing to take back.
    let unfollow = json!({"user": "5", "action": "follow", "target": "9", "undo": true});
    assert_eq!(app.send(unfollow).await.body["outcome"], "undone");
    assert_eq!(app.points_received().await, [5, 5]);
    assert_verified(&app)?;
    app.lose_data().await?;
    rebuild(&app, &[])?;
    assert_eq!(app.points_received().await, [5, 5]);
    assert_verified(&app)
}

#[tokio::test(flavor = "multi_thread")]
async fn unusable_recounts_change_nothing() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    app.act("ada", "like", "a").await;
    app.act("ada", "like", "b").await;
    assert_verified(&app)?;
    let mut before = app.data()?;
    let refused = |points: u64, args: &[&str], code: i32, error: &str| -> TestResult {
        let file = RecountFile::new(&json!({"like": {"points": points}}))?;
        file.run(&app, args)?.assert_error(code, error);
        Ok(())
    };
    let apply = ["--apply", "--yes"];
    refused(3, &["--apply"], 2, "use --yes to apply without asking")?;
    refused(3, &[], 2, "<--dry-run|--apply>")?;
    refused(0, &apply, 2, "like.points must be above 0")?;
    let week = ["--dry-run", "--board", "week"];
    refused(3, &week, 2, "'week' is not a board")?;
    assert_eq!(app.data()?, before);
    // Both likes together exceed the limit. A failed preview leaves nothing that must be continued.
    refused(80_000, &["--dry-run"], 3, "a score would exceed")?;
    assert_verified(&app)?;
    assert_eq!(app.data()?, before);
    refused(80_000, &apply, 3, "a score would exceed")?;
    let repeated = app.act("ada", "like", "b").await;
    assert_eq!(repeated.body["outcome"], "duplicate");
    before = without_progress(app.data()?);
    for command in ["rebuild", "verify"] {
        fails(&app, &[command], 2, "a recount is unfinished")?;
    }
    refused(3, &apply, 2, "a recount is unfinished")?;
    succeed(&app, &["verify", "--fresh"])?;
    assert_eq!(app.data()?, before);

    // A point that the journal lacks.
    let board = app.key_of("ada", "ba:all");
    let point = (1_u64 << 30).to_string();
    let _: f64 = redis_command(&mut app.redis(), &["ZINCRBY", &board, &point, "ada"])?;
    for args in [&apply[..], &["--dry-run"]] {
        refused(3, args, 1, "the store has values that the journal lacks")?;
    }
    assert_eq!(recounts(&app).await, 0);
    Ok(())
}

/// Returns the data without what a rebuild has written.
fn without_progress(mut data: StoredData) -> StoredData {
    data.retain(|key, _| !is_of_rebuild(key));
    data
}

/// The configuration of a service as `wrangler.toml`, piped to no terminal.
#[tokio::test(flavor = "multi_thread")]
async fn wrangler_configuration_has_the_rules() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    app.act("ada", "like", "a").await;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("wrangler.toml");
    let text = "compatibility_date = \"2026-11-01\"\n[[env.production.vars.RULES.like]]\npoints = 5\n\
        [[env.production.vars.RULES.like]]\nfrom = \"2999-01-01\"\npoints = 6\n";
    fs::write(&path, text)?;
    let file = path.to_str().unwrap_or_default();
    let args = ["recount", "--rules", file, "--environment=production"];
    succeed(&app, &[&args[..], &["--apply", "--yes"]].concat())?;
    let standing = app.without_cache();
    let standing = standing.api.get("/v1/ranking/all/users/ada").await;
    assert_eq!(standing.body["score"], 5);
    Ok(())
}
