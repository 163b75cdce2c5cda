//! Activities that did not count, and why: `GET /v1/users/{user}/points?refused=true`.

use test_support::{Fault, Value, WorkerBuilder, json, until};

use crate::app::TestApp;
use crate::bodies::{activity, dated, each, like, undo, with};
use crate::clock::{ago, ahead, day, noon};
use crate::problem::problem;
use crate::token::sign::{SECRET, claims, hs256};

const PATH: &str = "/v1/users/42/points?refused=true";

fn configure(worker: WorkerBuilder) -> WorkerBuilder {
    let rules = json!({
        "like": {"daily_cap": 2, "own": false},
        "wave": {"points": 1, "cooldown": 3600},
        "huge": {"points": 8_388_600},
    });
    let worker = worker.json("RULES", rules).var("JWT_SECRET", SECRET);
    worker.var("REFUSED_DAYS", "90").journal()
}

fn start() -> TestApp {
    TestApp::with(configure)
}

fn refusal(action: &str, reason: &str, count: u32, at: &str, targets: &[&str]) -> Value {
    let targets = targets.iter().map(|target| json!({"id": target}));
    let date = at.split('T').next();
    json!({"date": date, "action": action, "reason": reason, "count": count, "at": at,
        "targets": Value::from_iter(targets)})
}

/// Waits until the database has the sum of all counts, and returns the rows: their number and the length of the largest.
async fn written(app: &TestApp, count: u64) -> (u64, u64) {
    let sql =
        "SELECT COUNT(*) AS rows, SUM(count) AS sum, MAX(LENGTH(targets)) AS length FROM refusals";
    until("the refusals", async || {
        let [rows, sum, length] = ["rows", "sum", "length"].map(|name| name.to_owned());
        let found = app.worker.sql(sql).await;
        let number = |name: &str| found[0][name].as_u64().unwrap_or_default();
        (number(&sum) == count).then(|| (number(&rows), number(&length)))
    })
    .await
}

#[tokio::test]
async fn each_reason_is_listed_newest_first() {
    let app = start();
    let [first, second, third, fourth] = [40, 30, 20, 10].map(ago);
    let items = json!([
        dated(like("42", "counts"), &*first),
        dated(like("42", "a"), &*first),
        dated(like("42", "b"), &*second),
        dated(like("42", "a"), &*third),
        dated(activity("42", "wave", "x"), &*first),
        dated(activity("42", "wave", "y"), &*second),
        dated(like("42", "42"), &*second),
        dated(activity("42", "dance", "z"), &*fourth),
        dated(activity("42", "visit", "/old"), noon(40)),
        // None of these is a refusal.
        dated(like("42", "counts"), &*first),
        undo(like("42", "never")),
        undo(activity("42", "dance", "z")),
        activity("42", "Dance!", "z"),
        {"user": "42", "action": "dance"},
    ]);
    app.send_activity(items).await.assert_status(200);
    app.count("42", "huge", "1").await;
    let overflow = app.send_activity(activity("42", "huge", "2")).await;
    overflow.assert_status(422);
    written(&app, 8).await;
    let mut page = app.read(PATH).await;
    let refused = page["refused"].as_array().expect("a list").clone();
    let overflowed = with(
        refusal("huge", "score-overflow", 1, "", &["2"]),
        json!({"date": refused[0]["date"], "at": refused[0]["at"]}),
    );
    let expected = [
        overflowed,
        refusal("dance", "unknown-action", 1, &fourth, &["z"]),
        refusal("like", "daily-cap", 3, &third, &["a", "b"]),
        refusal("like", "own-target", 1, &second, &["42"]),
        refusal("wave", "cooldown", 1, &second, &["y"]),
        refusal("visit", "stale", 1, &noon(40), &["/old"]),
    ];
    assert_eq!(json!(refused), json!(expected));
    let own = app.with_key(&hs256(&claims("42")));
    page["refused"] = json!(expected);
    own.assert_get(PATH, page.clone()).await;
    app.moderate("42", false, true).await;
    let frozen = own.send_activity(activity("42", "visit", "/")).await;
    frozen.assert_status(403);
    written(&app, 9).await;
    assert_eq!(app.read(PATH).await["refused"][0]["reason"], "frozen");
    page.as_object_mut().expect("an object").remove("refused");
    let without = app.read("/v1/users/42/points").await;
    assert_eq!(without["refused"], Value::Null);
    let other = app.with_key(&hs256(&claims("other"))).get(PATH).await;
    let detail = "This user token only grants access to the data of user other.";
    other.assert(403, problem("forbidden", detail));
}

/// 10,000 likes over the daily cap: one row of bounded size, and few writes.
#[tokio::test]
async fn flood_of_one_member_stays_one_row() {
    let app = start();
    app.count("42", "like", "counts").await;
    let before = app.worker.sent().await.queries;
    for array in 0..20 {
        let items = (0..500).map(|item| like("42", &format!("{:0>250}", array * 500 + item)));
        let response = app.send_activity(Value::from_iter(items)).await;
        assert_eq!(
            response.assert_status(200).body["results"][0]["reason"],
            "daily-cap"
        );
    }
    let (rows, length) = written(&app, 10_000).await;
    assert_eq!(rows, 1);
    assert!(length <= 10 * 253 + 1, "{length}");
    let refused = &app.read(PATH).await["refused"];
    let targets = refused[0]["targets"].as_array().expect("targets");
    let latest: Vec<Value> = (9_990..10_000)
        .rev()
        .map(|target| json!({"id": format!("{target:0>250}")}))
        .collect();
    let expected = (Some(10_000), &latest);
    assert_eq!((refused[0]["count"].as_u64(), targets), expected);
    let queries = app.worker.sent().await.queries - before;
    assert!(queries < 100, "{queries}");
}

/// Refusals beyond the memory of an isolate are dropped.
#[tokio::test]
async fn rows_of_a_write_are_bounded() {
    let app = start();
    let user = |index: usize| format!("u{index}");
    let own = |index| like(&user(index), &user(index));
    for array in 0..4 {
        let items = (0..400).map(|item| own(array * 400 + item));
        let response = app.send_activity(Value::from_iter(items)).await;
        response.assert_status(200);
    }
    let found = until("the last refusals", async || {
        let sql = "SELECT COUNT(*) AS rows, MAX(user = 'u0') AS first FROM refusals";
        let found = app.worker.sql(sql).await;
        (found[0]["first"] == 1).then(|| found[0]["rows"].as_u64())
    })
    .await;
    assert!(found <= Some(1600), "{found:?}");
}

/// Pages list each refusal once: where its last instant lies.
#[tokio::test]
async fn pages_interleave_refusals_exactly() {
    let app = start();
    for back in 0..4 {
        for target in ["counts", "capped"] {
            let body = dated(like("42", &format!("{target}-{back}")), noon(back));
            app.send_activity(body).await.assert_status(200);
        }
        // Between the likes of two days.
        let between = noon(back).replace("T12", "T09");
        let own = dated(like("42", "42"), between);
        app.send_activity(own).await.assert_status(200);
    }
    written(&app, 8).await;
    let whole = app.read(PATH).await["refused"].clone();
    assert_eq!(whole.as_array().map(Vec::len), Some(8));
    for limit in [1, 2, 3] {
        let (mut all, mut before) = (Vec::new(), String::new());
        loop {
            let page = app.read(&format!("{PATH}&limit={limit}{before}")).await;
            let refused = page["refused"].as_array().expect("a list");
            all.extend(refused.iter().cloned());
            let entries = page["entries"].as_array().expect("entries");
            let oldest = entries.last().map(|entry| entry["at"].clone());
            match page["next"].as_str() {
                Some(next) => before = format!("&before={next}"),
                None => break,
            }
            let oldest = oldest.as_ref().and_then(Value::as_str);
            assert!(
                refused
                    .iter()
                    .all(|refusal| refusal["at"].as_str() >= oldest)
            );
        }
        assert_eq!(json!(all), whole, "{limit}");
    }
    let path = format!("{PATH}&date={}", day(2));
    let of_day = app.read(&path).await["refused"].clone();
    let capped = refusal("like", "daily-cap", 1, &noon(2), &["capped-2"]);
    let expected = (&capped, Some(2));
    assert_eq!((&of_day[0], of_day.as_array().map(Vec::len)), expected);
}

/// Neither the erased member nor activity of before the erasure is stored again.
#[tokio::test]
async fn erasure_deletes_refusals() {
    let app = start();
    for user in ["42", "7"] {
        app.count(user, "like", "counts").await;
        app.outcome(like(user, "capped"), "capped").await;
    }
    written(&app, 2).await;
    let before = ago(30);
    app.erase("42").await;
    app.worker.minute().await;
    written(&app, 1).await;
    app.outcome(dated(like("42", "late"), &*before), "stale")
        .await;
    app.outcome(like("7", "again"), "capped").await;
    written(&app, 2).await;
    assert_eq!(app.read(PATH).await["refused"], json!([]));
    let later = dated(like("42", "42"), ahead(5));
    app.outcome(later, "capped").await;
    written(&app, 3).await;
    assert_eq!(app.read(PATH).await["refused"][0]["reason"], "own-target");
}

#[tokio::test]
async fn cron_deletes_rows_of_past_days() {
    let app = TestApp::with(|worker| configure(worker).var("REFUSED_DAYS", "2"));
    for back in 0..4 {
        app.outcome(dated(like("42", "42"), noon(back)), "capped")
            .await;
    }
    written(&app, 4).await;
    // Old activity has been refused today.
    app.worker.minute().await;
    app.worker.tick().await;
    written(&app, 4).await;
    app.worker.sql("UPDATE refusals SET refused = date").await;
    app.worker.minute().await;
    app.worker.tick().await;
    written(&app, 2).await;
    let refused = &app.read(PATH).await["refused"];
    let expected = [0, 1].map(|back| day(back).to_string());
    assert_eq!(each(refused, "/date"), expected);
}

/// Queued activity is refused when the queue counts it.
#[tokio::test]
async fn refusals_of_queued_activity_are_listed() {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| configure(worker.queued(100)));
    app.count("42", "like", "counts").await;
    forwarder.fail(|_| Some(Fault::CutBefore));
    let response = app.send_activity(like("42", "queued")).await;
    response.assert_status(202);
    forwarder.heal();
    written(&app, 1).await;
    let refused = &app.read(PATH).await["refused"];
    assert_eq!(refused[0]["targets"], json!([{"id": "queued"}]));
}

/// Without the variable nothing is sent to the database, and the list is empty.
#[tokio::test]
async fn deployment_without_days_stores_nothing() {
    let app = TestApp::with(|worker| {
        let rules = json!({"like": {"own": false}});
        worker.json("RULES", rules).journal()
    });
    let before = app.worker.sent().await.queries;
    app.outcome(like("42", "42"), "capped").await;
    let missing = app.send_activity(activity("42", "dance", "a")).await;
    missing.assert_status(422);
    let page = json!({"user": {"id": "42"}, "source": "journal", "entries": [], "refused": [], "next": null});
    app.assert_get(PATH, page).await;
    // The page alone.
    assert_eq!(app.worker.sent().await.queries - before, 1);
    let app = TestApp::with(|worker| worker);
    let page = json!({"user": {"id": "42"}, "source": "records", "entries": [], "refused": [], "next": null});
    app.assert_get(PATH, page).await;

    let app = TestApp::with(|worker| worker.var("REFUSED_DAYS", "90"));
    let detail =
        "REFUSED_DAYS: needs the database of the journal: bind JOURNAL, or remove this variable";
    let response = app.get(PATH).await;
    response.assert(500, problem("misconfigured", detail));
}

/// Whichever reason, also that of an action that the store never sees.
#[tokio::test]
async fn refusals_of_account_are_those_of_its_member() {
    let app = start();
    let at = ago(20);
    app.write("/v1/users/77/account", &json!({"of": "42"}))
        .await;
    let unknown = dated(activity("77", "dance", "z"), &*at);
    app.send_activity(json!([unknown])).await.assert_status(200);
    written(&app, 1).await;
    let items = json!([
        dated(like("77", "counts"), &*at),
        dated(like("42", "a"), &*at),
        dated(like("77", "b"), &*at),
        dated(like("77", "42"), &*at),
    ]);
    app.send_activity(items).await.assert_status(200);
    app.send_activity(dated(activity("77", "dance", "y"), &*at))
        .await
        .assert_status(422);
    written(&app, 5).await;
    let page = app.read(PATH).await;
    let expected = [
        refusal("dance", "unknown-action", 2, &at, &["y", "z"]),
        refusal("like", "daily-cap", 2, &at, &["b", "a"]),
        refusal("like", "own-target", 1, &at, &["42"]),
    ];
    assert_eq!(page["refused"], json!(expected));
}

#[tokio::test]
async fn refusals_of_account_follow_its_join() {
    let app = start();
    let [early, late] = [20, 10].map(ago);
    app.outcome(dated(like("77", "77"), &*early), "capped")
        .await;
    app.outcome(dated(like("42", "42"), &*late), "capped").await;
    written(&app, 2).await;
    let own = |count, at: &str, targets: &[&str]| {
        json!([refusal("like", "own-target", count, at, targets)])
    };
    let path = "/v1/users/77/account";
    app.write(path, &json!({"of": "42"})).await;
    let expected = own(2, &late, &["42", "77"]);
    assert_eq!(app.read(PATH).await["refused"], expected);
    app.delete(path).await.assert_status(204);
    assert_eq!(app.read(PATH).await["refused"], own(1, &late, &["42"]));
    let page = app.read("/v1/users/77/points?refused=true").await;
    assert_eq!(page["refused"], own(1, &early, &["77"]));
}
