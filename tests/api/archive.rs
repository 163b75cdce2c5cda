//! Closed boards are read from the D1 archive once Redis has dropped them.

use test_support::{Answer, Value, WorkerBuilder, depth, json, peer, peers, rest, shard_among};

use crate::app::TestApp;
use crate::bodies::{ids, like, undo, with};
use crate::clock::{day, noon};

/// Starts a Worker whose cron archives every board of a test in one run.
fn start() -> TestApp {
    TestApp::with(|worker| complete_runs(worker.archive().cached()))
}

fn complete_runs(worker: WorkerBuilder) -> WorkerBuilder {
    worker.json("CRON_BUDGET", json!(1000))
}

/// The age of the archived day in days; its week, month and year may still be open.
const DAYS_AGO: i64 = 2;

/// Returns users with equal points, as [`peers`]: a, b, c and a hidden one.
fn tied_users() -> [String; 4] {
    peers(["a", "b", "c", "hidden"])
}

/// Sends a like dated `back` days ago, also for the group `eu`.
async fn count(app: &TestApp, user: &str, target: &str, back: i64) -> Value {
    let fields = json!({"at": noon(back), "groups": ["eu"]});
    app.counted(with(like(user, target), fields)).await
}

/// Returns the responses to all reads of the archived day.
///
/// `unique` is the page size: a value not used before avoids the response cache.
async fn day_reads(app: &TestApp, unique: u32) -> Vec<Value> {
    let date = format!("date={}", day(DAYS_AGO));
    let [a, b, c, hidden] = &tied_users();
    let mut bodies = Vec::new();
    for group in ["", "&group=eu"] {
        let date = format!("{date}{group}");
        let mut paths = vec![
            format!("/v1/ranking/day?{date}&limit={unique}"),
            format!("/v1/ranking/day?{date}&offset=1&limit={unique}"),
            format!("/v1/ranking/day?{date}&offset=40&limit={unique}"),
            format!("/v1/ranking/day/users?ids={c},unknown,{a},{hidden},{b}&{date}"),
        ];
        for user in [a, b, c, "d", "e", hidden, "unknown"] {
            for around in [0, 1, 25] {
                let query = format!("around={around}&{date}");
                paths.push(format!("/v1/ranking/day/users/{user}?{query}"));
            }
        }
        for path in paths {
            bodies.push(app.read(&path).await);
        }
    }
    bodies
}

/// Fills a board with five visible users, three of them tied, and a hidden one.
async fn fill_board(app: &TestApp) {
    let [a, b, c, hidden] = &tied_users();
    for (user, targets) in [("d", 1), (b, 2), (hidden, 2), (a, 2), (c, 2), ("e", 3)] {
        for target in 0..targets {
            count(app, user, &format!("{target}"), DAYS_AGO).await;
        }
    }
    // The repeated like moves b behind the other tied users.
    app.outcome(undo(like(b, "1")), "undone").await;
    count(app, b, "2", DAYS_AGO).await;
    app.moderate(hidden, true, false).await;
    let profile = json!({"name": "Ada", "avatar": "https://a.example/a.png"});
    app.put_profile(a, profile).await;
}

/// Late activity, hiding, erasure and the loss of the archive index do not change that.
#[tokio::test]
async fn closed_board_reads_the_same_from_the_archive() {
    let archive = start();
    fill_board(&archive).await;
    let before = day_reads(&archive, 7).await;
    assert_eq!(before[0]["total"], 5);
    assert_eq!(before[0]["entries"][0]["user"]["id"], "e");
    archive.worker.tick().await;
    assert_eq!(archive.store().drop_closed_days(), 2);
    assert_eq!(day_reads(&archive, 8).await, before);

    // Late activity counts on all boards but the archived ones.
    let late = count(&archive, &peer("late"), "p", DAYS_AGO).await;
    assert_eq!(late["outcome"], "counted");
    assert_eq!(late["standings"]["day"]["score"], 0);
    assert_eq!(late["standings"]["all"]["score"], 2);
    let adjustment = json!({"id": "1", "points": 5, "at": noon(DAYS_AGO), "reason": "r"});
    let adjusted = archive.adjust(&peer("a"), &adjustment).await;
    assert_eq!(adjusted.body["outcome"], "counted");
    assert_eq!(adjusted.body["points"], 5);
    archive.outcome(undo(like("e", "0")), "undone").await;
    archive.worker.tick().await;
    assert_eq!(day_reads(&archive, 9).await, before);
    assert_eq!(archive.store().drop_closed_days(), 0);

    // The archive is still used after Redis has lost the list of archived boards.
    archive.store().delete(|name| name == "a");
    archive.worker.tick().await;
    count(&archive, &peer("later"), "p", DAYS_AGO).await;
    assert_eq!(day_reads(&archive, 10).await, before);

    hidden_user_is_on_no_archived_board(&archive, &before[0]).await;
    erased_user_is_on_no_archived_board(&archive).await;
}

async fn hidden_user_is_on_no_archived_board(archive: &TestApp, before: &Value) {
    let [a, b, c, hidden] = &tied_users();
    let shown = archive.moderate(hidden, false, false).await;
    shown.assert_status(200);
    let board = day_reads(archive, 11).await.remove(0);
    // The hidden user reached the score before a and c.
    assert_eq!(ids(&board), ["e", hidden, a, c, b, "d"]);
    assert_eq!(board["total"], 6);
    archive.put_profile(hidden, json!({"hidden": true})).await;
    assert_eq!(&day_reads(archive, 12).await[0], before);
}

async fn erased_user_is_on_no_archived_board(archive: &TestApp) {
    let date = format!("date={}", day(DAYS_AGO));
    let d = format!("/v1/ranking/day/users/d?{date}");
    let before = archive.read(&d).await;
    let hidden = peer("hidden");
    for user in ["e", &hidden] {
        archive.erase(user).await;
    }
    let after = archive.read(&d).await;
    assert_eq!(before["rank"], 5);
    assert_eq!(before["total"], 5);
    assert_eq!(after["rank"], 4);
    assert_eq!(after["total"], 4);
    archive.put_profile(&hidden, json!({"hidden": false})).await;
    assert_eq!(archive.read(&d).await, after);
}

/// The shards of a closed board lose it one by one.
#[tokio::test]
async fn board_missing_on_a_shard_is_read_from_archive() {
    let archive = TestApp::with(|worker| complete_runs(worker.archive()).json("SHARDS", json!(8)));
    fill_board(&archive).await;
    let reads = async |unique: u32| {
        let path = format!("/v1/ranking/day/winners?limit={unique}");
        (day_reads(&archive, unique).await, archive.read(&path).await)
    };
    let before = reads(7).await;
    archive.worker.tick().await;
    let board = format!("bd:{}", day(DAYS_AGO));
    let mut parts = archive.store().full_keys();
    parts.retain(|key| rest(key).starts_with(&board));
    // The board of all users and that of the group, each on several shards.
    assert!(parts.len() >= 4, "{parts:?}");
    for (unique, key) in (8..).zip(&parts) {
        archive.store().run::<i64>("DEL", &[key]);
        if unique % depth(3, 1) == 0 {
            assert_eq!(reads(unique).await, before, "without {key}");
        }
    }
    // A shard without the board starts it, and the next cron run archives that part.
    let has_board = |user: &String| {
        let shard = format!(":{}}}", shard_among(user, 8));
        parts.iter().any(|key| key.contains(&shard))
    };
    let mut users = (0..).map(|number| format!("late{number}"));
    let late = users.find(|user| !has_board(user)).expect("a user");
    let counted = count(&archive, &late, "p", DAYS_AGO).await;
    assert_eq!(counted["standings"]["day"]["score"], 2);
    archive.worker.tick().await;
    assert_eq!(day_reads(&archive, 40).await[0]["total"], 6);
    archive.store().drop_closed_days();
    assert_eq!(day_reads(&archive, 41).await[0]["total"], 6);
}

#[tokio::test]
async fn board_is_archived_on_close_and_on_change() {
    let archive = start();
    count(&archive, "a", "1", DAYS_AGO).await;
    count(&archive, "b", "1", DAYS_AGO).await;
    count(&archive, "a", "today", 0).await;
    archive.worker.tick().await;
    // An undo down to zero takes no order number; then another user is added.
    archive.outcome(undo(like("a", "1")), "undone").await;
    archive.worker.tick().await;
    count(&archive, "c", "1", DAYS_AGO).await;
    archive.worker.tick().await;
    let board = format!("/v1/ranking/day?date={}", day(DAYS_AGO));
    let before = archive.read(&format!("{board}&limit=7")).await;
    assert_eq!(before["total"], 2);
    archive.store().drop_closed_days();
    assert_eq!(archive.read(&format!("{board}&limit=8")).await, before);
    // The archive has neither today's board nor that of a day without activity.
    let today = archive.store().key_of("a", &format!("bd:{}", day(0)));
    assert_eq!(archive.store().run::<i64>("DEL", &[&today]), 1);
    for back in [0, DAYS_AGO + 1] {
        let path = format!("/v1/ranking/day?date={}&limit=9", day(back));
        assert_eq!(archive.read(&path).await["total"], 0);
    }
    archive.without_key().read("/healthz").await;
}

type Scores = Vec<(String, u64)>;

/// Returns period id, total and scores of each board of a `winners` response.
fn rows(response: &Value) -> Vec<(String, u64, Scores)> {
    let entry = |entry: &Value| {
        let user = entry["user"]["id"].as_str().expect("an id").to_owned();
        (user, entry["score"].as_u64().expect("a score"))
    };
    let boards = response["boards"].as_array().expect("boards").iter();
    let row = |board: &Value| {
        let entries = board["entries"].as_array().expect("entries");
        let id = board["period"]["id"].as_str().expect("an id");
        let total = board["total"].as_u64().expect("a total");
        (id.to_owned(), total, entries.iter().map(entry).collect())
    };
    boards.map(row).collect()
}

#[tokio::test]
async fn winners_list_closed_boards_newest_first() {
    let archive = start();
    fill_board(&archive).await;
    // The undo below empties the board of four days ago; each of the others has one like.
    for back in [0, 1, 3, 4, 700] {
        count(&archive, "x", &format!("{back}"), back).await;
    }
    archive.outcome(undo(like("x", "4")), "undone").await;
    let get = async |query: &str| -> Answer {
        let path = format!("/v1/ranking/day/winners{query}");
        archive.get(&path).await.assert_status(200).clone()
    };
    let one = |back: i64| (day(back).to_string(), 1, vec![("x".to_owned(), 2)]);
    let [a, c] = peers(["a", "c"]);
    let three = [("e".to_owned(), 6), (a, 4), (c, 4)];
    let archived_day = (day(DAYS_AGO).to_string(), 5, three.to_vec());
    // Before the first cron run, only recent boards are found.
    let recent = [one(1), archived_day.clone(), one(3)];
    let all = [one(1), archived_day.clone(), one(3), one(700)];
    let before = get("").await;
    assert_eq!(rows(&before.body), recent);
    let control = Some("public, max-age=300, stale-if-error=86400");
    assert_eq!(before.header("cache-control"), control);
    archive.worker.tick().await;
    assert_eq!(rows(&get("?limit=13").await.body), all);
    assert_eq!(rows(&get("?limit=2").await.body), all[..2]);
    let found = rows(&get(&format!("?before={}", day(1))).await.body);
    assert_eq!(found, all[1..]);
    assert_eq!(rows(&get("?group=eu&limit=3").await.body), all[..3]);
    assert_eq!(rows(&get("?group=us").await.body), []);
    archive
        .assert_get("/v1/ranking/all/winners", json!({"boards": []}))
        .await;

    archive.store().drop_closed_days();
    let after = archive.read("/v1/ranking/day/winners?limit=14").await;
    assert_eq!(rows(&after), all);
    assert_eq!(after["boards"][1], before.body["boards"][1]);
    let users = &after["boards"][1]["entries"];
    assert_eq!(users[1]["user"]["name"], "Ada");
}
