//! What others receive, with requests that fail.

use test_support::{Fault, Refusal, WorkerBuilder, json, shard_among, until};

use super::{content, deliver, register, rows};
use crate::app::TestApp;
use crate::bodies::{activity, like, undo, with};
use crate::store::Store;

/// A target, its author, and those who act on it; most are on different shards.
fn names(round: usize) -> [String; 5] {
    ["post", "author", "one", "two", "three"].map(|name| format!("{name}-{round}"))
}

/// A deployment whose boards are read from the store each time, and as often as a test likes.
fn uncached(worker: WorkerBuilder) -> WorkerBuilder {
    content(worker)
        .var("BOARD_MAX_AGE", "0")
        .var("READ_LIMIT", "0")
}

/// The points that the undo takes back.
const UNDONE: i64 = 2;

/// Sends activities after which a target has 5 points, and its author, who has a profile, 7.
async fn act(app: &TestApp, round: usize) {
    let [post, author, one, two, three] = &names(round);
    app.set_name(author, "Ada").await;
    let array = json!([
        like(one, post),
        like(two, post),
        with(
            activity(three, "comment", &format!("c-{round}")),
            json!({"on": post})
        ),
        activity(three, "follow", author),
        undo(like(two, post)),
    ]);
    app.send_activity(array).await.assert_status(200);
}

/// Asserts the points of each round on the boards of all time, and that nothing waits. In some rounds any of what others
/// receive may be missing, also what the undo takes back.
async fn assert_points(app: &TestApp, store: &mut Store, rounds: usize, lossy: &[usize]) {
    for (path, index, points) in [("/v1/content/all", 0, 5), ("/v1/authors/all", 1, 7)] {
        let found = rows(app, &format!("{path}?limit=100")).await;
        assert!(found.len() <= rounds, "{path}: {found:?}");
        for round in 0..rounds {
            let name = &names(round)[index];
            let row = found.iter().find(|(id, _)| id == name);
            let score = row.map_or(0, |(_, score)| *score);
            let is_expected = score == points || lossy.contains(&round) && score <= points + UNDONE;
            assert!(is_expected, "{path}, round {round}: {score}");
        }
    }
    assert_eq!(store.waiting(), 0);
}

/// A store that refuses a write, and then to restore the former values, loses what others receive: it never gives it
/// twice.
#[tokio::test]
async fn refused_and_interrupted_deliveries_count_once() {
    let (app, forwarder) = TestApp::behind_forwarder(uncached);
    let mut store = app.store();
    let refusals = [1, 2, 3, 5, 8, 13, 21, 34]
        .map(|number| [Refusal::Only(number), Refusal::From(number)].map(Fault::RefuseWrites));
    let faults = refusals.into_iter().flatten();
    let faults = faults.chain([Fault::CutBefore, Fault::CutAfter]);
    let (mut rounds, mut lossy) = (0, Vec::new());
    for fault in faults {
        let [post, author, ..] = &names(rounds);
        register(&app, post, json!({ "author": author })).await;
        act(&app, rounds).await;
        if matches!(fault, Fault::RefuseWrites(Refusal::From(_))) {
            lossy.push(rounds);
        }
        forwarder.fail(move |_| Some(fault.clone()));
        for _ in 0..2 {
            deliver(&app).await;
        }
        forwarder.heal();
        rounds += 1;
        assert_points(&app, &mut store, rounds, &lossy).await;
    }
}

/// The calls of a run have one instant: one that the store refuses takes back no entry of another.
#[tokio::test]
async fn refused_delivery_keeps_that_of_another_shard() {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| uncached(worker).var("SHARDS", "2"));
    let [one, two] = [0, 1].map(|shard| {
        let mut ids = (0..).map(|number| format!("user-{number}"));
        ids.find(|id| shard_among(id, 2) == shard).expect("an id")
    });
    for number in 1..=8 {
        let post = format!("post-{number}");
        register(&app, &post, json!({"author": "author"})).await;
        let comment = activity(&two, "comment", &format!("c-{number}"));
        // The second shard has one entry more, which the store refuses alone.
        let array = json!([
            like(&one, &post),
            like(&two, &post),
            with(comment, json!({"on": post}))
        ]);
        // What they give waits for cron.
        forwarder.reset();
        forwarder.fail(|request| request.runs("XRANGE").then_some(Fault::CutBefore));
        app.send_activity(array).await.assert_status(200);
        until("the streams of both shards", async || {
            let requests = forwarder.requests();
            let cut = requests.iter().filter(|request| request.runs("XRANGE"));
            (cut.count() >= 2).then_some(())
        })
        .await;
        forwarder.fail(move |_| Some(Fault::RefuseWrites(Refusal::Only(number))));
        deliver(&app).await;
        forwarder.heal();
        deliver(&app).await;
        for (path, points) in [
            (format!("/v1/content/all/targets/{post}"), 7),
            ("/v1/authors/all/users/author".to_owned(), 7 * number),
        ] {
            assert_eq!(app.read(&path).await["score"], points, "write {number}");
        }
    }
}

/// A Worker that dies after it has counted leaves the deliveries to cron, and two that deliver at once count once.
#[tokio::test]
async fn deliveries_of_several_workers_count_once() {
    let app = TestApp::with(content);
    let other = TestApp::with(|worker| content(worker).var("PREFIX", app.prefix()));
    let mut store = app.store();
    for round in 0..10 {
        let [post, author, ..] = &names(round);
        register(&app, post, json!({ "author": author })).await;
        act(&app, round).await;
        tokio::join!(deliver(&app), deliver(&other), deliver(&app));
    }
    assert_points(&other, &mut store, 10, &[]).await;
}

/// Activities with an author register a target once.
#[tokio::test]
async fn concurrent_activities_register_a_target_once() {
    let app = TestApp::with(content);
    let author = json!({"author": "9"});
    let likes = ["1", "2", "3", "4"].map(|user| with(like(user, "post-7"), author.clone()));
    let response = app.send_activity(json!(likes)).await;
    response.assert_status(200);
    let expected = [("post-7".to_owned(), 8)];
    assert_eq!(rows(&app, "/v1/content/all").await, expected);
    assert_eq!(rows(&app, "/v1/authors/all").await, [("9".to_owned(), 8)]);
    for user in ["1", "2", "3"] {
        app.outcome(undo(like(user, "post-7")), "undone").await;
    }
    let left = |path: &str| format!("{path}?limit=50");
    let content = rows(&app, &left("/v1/content/all")).await;
    assert_eq!(content, [("post-7".to_owned(), 2)]);
    let authors = rows(&app, &left("/v1/authors/all")).await;
    assert_eq!(authors, [("9".to_owned(), 2)]);
}

/// A damaged value stops its own delivery, and no other one.
#[tokio::test]
async fn damaged_board_stops_no_other_delivery() {
    let app = TestApp::with(|worker| content(worker).var("SHARDS", "2"));
    let mut store = app.store();
    let on_shard = |shard| {
        let mut ids = (0..).map(|number| format!("post-{number}"));
        ids.find(|id| shard_among(id, 2) == shard).expect("an id")
    };
    let ids = [on_shard(0), on_shard(1)];
    for id in &ids {
        register(&app, id, json!({"author": "9"})).await;
    }
    let board = store.key_on(0, "bTa:all");
    store.run::<()>("SET", &[&board, "no board"]);
    let likes = ids.each_ref().map(|id| like("1", id));
    app.send_activity(json!(likes)).await.assert_status(200);
    app.minute().await;
    let done = async || app.log().contains("WRONGTYPE").then_some(());
    until("the error in the log", done).await;
    store.run::<i64>("DEL", &[&board]);
    app.count("2", "like", &ids[0]).await;
    app.minute().await;
    for id in ids {
        let path = format!("/v1/content/all/targets/{id}");
        assert_eq!(app.read(&path).await["score"], 2);
    }
}
