//! Recounts of events: the board by another definition, and rebuilds after it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use test_support::{Value, WorkerBuilder, depth, json, peers};

use crate::TestResult;
use crate::app::noon;
use crate::cli::{assert_verified, fails, rebuild};
use crate::journal_app::JournalApp;
use crate::random::Random;
use crate::recount::{RecountFile, dated_rules, recounts};
use crate::run::Run;

const LIMITS: &str =
    "What caps and cooldowns refused at the time is not in the journal and stays refused.";

/// Starts a service whose events are final at their end.
fn start() -> JournalApp {
    JournalApp::start(|worker: WorkerBuilder| worker.var("SETTLE_MINUTES", "0"))
}

/// Returns the definition of an event from some days ago until others.
fn event(from: i64, to: i64) -> Value {
    json!({"title": "Event", "from": noon(from), "to": noon(to)})
}

/// Returns the definition with other points of likes.
fn with_points(mut definition: Value, points: u64) -> Value {
    definition["actions"] = json!({"like": points});
    definition
}

fn recount(app: &JournalApp, event: &'static str, definition: &Value) -> TestResult {
    let output = RecountFile::for_event(event, definition)?.apply(app)?;
    let begin = format!("{LIMITS}\nrecounted from ");
    assert!(output.starts_with(&begin), "{output}");
    Ok(())
}

fn preview(app: &JournalApp, event: &'static str, definition: &Value) -> std::io::Result<Run> {
    RecountFile::for_event(event, definition)?.run(app, &["--dry-run"])
}

impl JournalApp {
    async fn like(&self, user: &str, target: &str, at: &str) {
        let like = json!({"user": user, "action": "like", "target": target, "at": at});
        self.send(like).await;
    }

    /// The board of an event, as responses show it.
    async fn event_board(&self, event: &str) -> Value {
        let path = format!("/v1/events/{event}/ranking?limit=100");
        let response = self.without_cache().api.get(&path).await;
        response.assert_status(200);
        response.body
    }

    /// Asserts users and points of an event.
    async fn assert_rows(&self, event: &str, expected: &[(&str, u64)]) {
        let board = self.event_board(event).await;
        let entries = board["entries"].as_array().into_iter().flatten();
        let rows = entries.map(|entry| {
            let user = entry["user"]["id"].as_str().unwrap_or_default();
            (user, entry["score"].as_u64().unwrap_or_default())
        });
        assert_eq!(rows.collect::<Vec<_>>(), expected, "{board}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn event_of_the_past_counts_what_the_journal_has() -> TestResult {
    let app = start();
    let [a, b, c] = &peers(["a", "b", "c"]);
    for (user, days_ago) in [(a, [21, 20]), (b, [12, 11]), (c, [10, 15])] {
        app.like(user, "1", &noon(days_ago[0])).await;
        app.like(user, "2", &noon(days_ago[1])).await;
    }
    let comment = json!({"user": c, "action": "comment", "target": "3", "at": noon(16)});
    app.send(comment).await;
    let undo = json!({"user": b, "action": "like", "target": "2", "undo": true});
    app.send(undo).await;
    recount(&app, "past", &event(20, 10))?;
    let rows = [(c.as_str(), 5), (a.as_str(), 2), (b.as_str(), 2)];
    app.assert_rows("past", &rows).await;
    let board = app.event_board("past").await;
    assert_eq!(board["event"]["state"], "final", "{board}");
    // Late activity leaves a final event alone.
    app.like(a, "4", &noon(14)).await;
    app.assert_rows("past", &rows).await;
    assert_verified(&app)?;
    rebuild(&app, &[])?;
    app.assert_rows("past", &rows).await;
    // The next recount counts it.
    recount(&app, "past", &json!({}))?;
    let rows = [(c.as_str(), 5), (a.as_str(), 4), (b.as_str(), 2)];
    app.assert_rows("past", &rows).await;
    assert_verified(&app)
}

#[tokio::test(flavor = "multi_thread")]
async fn preview_of_an_event_changes_nothing() -> TestResult {
    let app = start();
    let [a, b, c] = &peers(["a", "b", "c"]);
    for (user, action) in [(a, "like"), (b, "comment"), (c, "like")] {
        let activity = json!({"user": user, "action": action, "target": "1", "at": noon(1)});
        app.send(activity).await;
    }
    recount(&app, "season", &event(2, -2))?;
    app.assert_rows("season", &[(b, 3), (a, 2), (c, 2)]).await;
    let changed = with_points(event(2, -2), 4);
    app.api.get("/v1/journal").await.assert_status(200);
    let before = app.data()?;
    let shown = preview(&app, "season", &changed)?.assert_code(0);
    let expected = format!(
        "board event:season: 3 of 2 members change, 7 → 8 points\n\n \
         rank  →  points  →  id\n    2  1       2  4  {a}\n    3  2       2  4  {c}\n    1  -       3  0  {b}\n\n\
         {LIMITS}\nrecounted "
    );
    assert!(shown.stdout.starts_with(&expected), "{}", shown.stdout);
    assert_eq!(app.data()?, before);
    recount(&app, "season", &changed)?;
    app.assert_rows("season", &[(a, 4), (c, 4)]).await;
    // The next activity counts by the new definition.
    app.like(c, "2", &noon(0)).await;
    app.act(b, "comment", "2").await;
    app.assert_rows("season", &[(c, 8), (a, 4)]).await;
    assert_verified(&app)
}

#[tokio::test(flavor = "multi_thread")]
async fn recounted_board_lacks_hidden_and_erased_users() -> TestResult {
    let app = start();
    let [a, b, c] = &peers(["a", "b", "c"]);
    for user in [a, b, c] {
        app.like(user, "1", &noon(3)).await;
    }
    app.moderate(a, true, false).await;
    app.delete(&format!("/v1/users/{b}")).await;
    recount(&app, "past", &event(5, 1))?;
    app.assert_rows("past", &[(c, 2)]).await;
    app.moderate(a, false, false).await;
    app.assert_rows("past", &[(a, 2), (c, 2)]).await;
    assert_verified(&app)
}

#[tokio::test(flavor = "multi_thread")]
async fn activity_during_recounts_of_an_event_counts_once() -> TestResult {
    let app = Arc::new(start());
    recount(&app, "season", &event(2, -2))?;
    let done = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = ["a", "b", "c"]
        .map(|user| {
            let (app, done) = (app.clone(), done.clone());
            tokio::spawn(async move {
                let (mut target, mut standing) = (0, 0);
                while !done.load(Ordering::Relaxed) {
                    target += 1;
                    let mut like =
                        json!({"user": user, "action": "like", "target": target.to_string()});
                    let answer = app.send(like.clone()).await;
                    assert_eq!(answer.body["outcome"], "counted");
                    standing += 1;
                    if target % 4 == 0 {
                        like["undo"] = json!(true);
                        assert_eq!(app.send(like).await.body["outcome"], "undone");
                        standing -= 1;
                    }
                }
                (user, standing)
            })
        })
        .into();
    let recounts = {
        let app = app.clone();
        move || -> std::io::Result<()> {
            for points in depth(7, 3)..9 {
                let definition = with_points(event(2, -2), points);
                RecountFile::for_event("season", &definition)?.apply(&app)?;
            }
            Ok(())
        }
    };
    tokio::task::spawn_blocking(recounts).await??;
    done.store(true, Ordering::Relaxed);
    let board_of = async |user: &str| {
        let path = format!("/v1/events/season/ranking/users/{user}");
        app.without_cache().api.get(&path).await.body["score"].clone()
    };
    for writer in writers {
        let (user, standing) = writer.await?;
        assert_eq!(board_of(user).await, json!(8 * standing), "{user}");
    }
    assert_verified(&app)
}

#[tokio::test(flavor = "multi_thread")]
async fn adjustments_of_a_recounted_event_are_kept() -> TestResult {
    let app = start();
    let [a, b] = &peers(["a", "b"]);
    for user in [a, b] {
        app.like(user, "1", &noon(1)).await;
    }
    recount(&app, "season", &event(2, -2))?;
    let adjustment = |id: &str, points: i64| json!({"id": id, "points": points, "reason": "Jury", "event": "season"});
    app.adjust(a, adjustment("1", 10)).await;
    app.adjust(b, adjustment("2", -5)).await;
    app.adjust(b, adjustment("3", 7)).await;
    let undo = |id: &str| json!({"id": id, "undo": true, "reason": "Mistake"});
    app.adjust(b, undo("3")).await;
    app.assert_rows("season", &[(a, 12)]).await;
    recount(&app, "season", &with_points(event(2, -2), 5))?;
    // The adjustments count as they were applied: b had only 2 points to lose.
    app.assert_rows("season", &[(a, 15), (b, 3)]).await;
    app.adjust(b, undo("2")).await;
    app.assert_rows("season", &[(a, 15), (b, 5)]).await;
    assert_verified(&app)?;
    // An undo returns what the adjustment takes by this definition.
    recount(&app, "season", &with_points(event(2, -2), 1))?;
    app.assert_rows("season", &[(a, 11), (b, 1)]).await;
    assert_verified(&app)
}

/// The event begins half an hour before the last change of the clocks and ends half an hour after it. In autumn both
/// are the same time of day, with different offsets.
#[tokio::test(flavor = "multi_thread")]
async fn event_across_change_of_clocks_is_exact() -> TestResult {
    let app = JournalApp::start(|worker| {
        let worker = worker.var("SETTLE_MINUTES", "0");
        worker.var("TIMEZONE", "Europe/Berlin")
    });
    let zone = TimeZone::get("Europe/Berlin")?;
    let change = zone.preceding(Timestamp::now()).next();
    let change = change.ok_or("no change of the clocks")?.timestamp();
    let (from, to) = (change - 30.minutes(), change + 30.minutes());
    for (target, at) in [
        ("before", from - 1.millisecond()),
        ("first", from),
        ("last", to - 1.millisecond()),
        ("after", to),
    ] {
        app.like("a", target, &at.to_string()).await;
    }
    let local = |at: Timestamp| {
        let zoned = at.to_zoned(zone.clone());
        zoned.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
    };
    let definition = json!({"title": "Night", "from": local(from), "to": local(to)});
    recount(&app, "night", &definition)?;
    let board = app.api.get("/v1/events/night/ranking").await;
    board.assert_status(200);
    let board = &board.body;
    assert_eq!(
        board["entries"],
        json!([{"rank": 1, "score": 4, "user": {"id": "a"}}])
    );
    let found = ["from", "to"].map(|name| board["event"][name].clone());
    assert_eq!(found, [json!(from.to_string()), json!(to.to_string())]);
    Ok(())
}

/// Recounts of an event that has other definitions, is new, was deleted, or is deleted afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn recounted_events_are_rebuilt() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    app.fill().await;
    let mut random = Random::new(11);
    random.send_activities(&app.api, depth(200, 500)).await;
    let mut groups = event(20, 5);
    groups["groups"] = json!(["eu", "us"]);
    recount(&app, "past", &event(20, 5))?;
    recount(&app, "groups", &groups)?;
    // It was deleted, and its activity counts again.
    recount(&app, "deleted", &event(1, -1))?;
    let season = |points: f64| {
        let mut season = event(30, -30);
        season["actions"] = json!({"like": points, "comment": 2});
        season
    };
    recount(&app, "season", &season(3.25))?;
    for (id, points) in [("1", -500), ("2", 7)] {
        let adjustment = json!({"id": id, "points": points, "reason": "A test", "event": "season"});
        app.adjust("r1", adjustment).await;
    }
    random.send_activities(&app.api, depth(100, 300)).await;
    recount(&app, "season", &season(1.5))?;
    let undo = json!({"id": "1", "undo": true, "reason": "A test"});
    app.adjust("r1", undo).await;
    recount(&app, "past", &event(21, 4))?;
    app.delete("/v1/events/groups").await;
    random.send_activities(&app.api, depth(100, 300)).await;
    assert_verified(&app)?;
    let mut boards = Vec::new();
    for event in ["past", "season", "deleted"] {
        boards.push(app.event_board(event).await);
    }
    app.lose_data().await?;
    rebuild(&app, &[])?;
    assert_verified(&app)?;
    for (event, before) in ["past", "season", "deleted"].into_iter().zip(boards) {
        assert_eq!(app.event_board(event).await, before, "{event}");
    }
    Ok(())
}

/// Activity of before a recount of rules counts in an event by the recounted points.
#[tokio::test(flavor = "multi_thread")]
async fn event_is_recounted_by_recounted_rules() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    let mut random = Random::new(12);
    random.send_activities(&app.api, 300).await;
    RecountFile::new(&dated_rules())?.apply(&app)?;
    random.send_activities(&app.api, 100).await;
    recount(&app, "past", &event(25, 2))?;
    random.send_activities(&app.api, 100).await;
    assert_verified(&app)
}

#[tokio::test(flavor = "multi_thread")]
async fn unusable_definitions_change_nothing() -> TestResult {
    let app = start();
    app.like("ada", "a", &noon(3)).await;
    assert_verified(&app)?;
    let before = app.data()?;
    let mut reversed = event(5, 1);
    reversed["to"] = noon(6).into();
    for (definition, error) in [
        (json!({}), "There is no event past."),
        (reversed, "must be after from"),
    ] {
        preview(&app, "past", &definition)?.assert_error(3, error);
    }
    for (args, error) in [
        (" --rules a.json --event past", "cannot be used with"),
        (" --definition a.json --rules b.json", "cannot be used with"),
        ("", "<--rules <FILE>|--accounts|--event <ID>>"),
    ] {
        let args = format!("recount --dry-run{args}");
        fails(&app, &args.split(' ').collect::<Vec<_>>(), 2, error)?;
    }
    // The maximum of a score has room for one like of these points, not for two.
    app.like("ada", "b", &noon(3)).await;
    let jackpot = with_points(event(5, 1), 80_000);
    let error = "a score would exceed its maximum";
    preview(&app, "past", &jackpot)?.assert_error(3, error);
    assert_eq!(recounts(&app).await, 0);
    assert_verified(&app)?;
    let board = app.api.get("/v1/events/past/ranking").await;
    board.assert_status(404);
    assert_eq!(app.data()?.len(), before.len());
    Ok(())
}
