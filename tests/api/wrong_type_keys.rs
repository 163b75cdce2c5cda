//! Keys of another type under the service's prefix: reported, and nothing is changed.

use test_support::reference::history_key;
use test_support::{Answer, json};

use crate::app::TestApp;
use crate::bodies::{activity, dated, like, undo, with};
use crate::clock::{day, noon};
use crate::problem::problem;
use crate::store::Store;

/// Deletes all keys and stores a list under one name; the service itself stores no lists.
fn plant(store: &mut Store, name: &str) {
    store.clear();
    let key = store.key(name);
    store.run::<i64>("RPUSH", &[&key, "foreign"]);
}

/// Returns whether a response reports a key of the wrong type and what to do.
fn reports_wrong_type(response: &Answer) -> bool {
    let detail = response.body["detail"].as_str().unwrap_or_default();
    let cause = "PREFIX: the store rejects commands on keys with this prefix (WRONGTYPE ";
    let remedy = "; choose a PREFIX that is not in use and that the store's user may access";
    let is_reported = detail.starts_with(cause) && detail.ends_with(remedy);
    response.status == 500 && is_reported && response.body == problem("misconfigured", detail)
}

/// Sends every kind of write and returns the responses.
async fn write_everything(app: &TestApp) -> Vec<Answer> {
    let activity = |action: &str, target: &str, undo: bool| {
        with(
            activity("42", action, target),
            json!({"undo": undo, "groups": ["eu"]}),
        )
    };
    vec![
        app.send_activity(activity("like", "p", false)).await,
        app.send_activity(activity("visit", "/", false)).await,
        app.send_activity(activity("like", "q", true)).await,
        app.put("/v1/users/42", &json!({"name": "Ada"})).await,
    ]
}

/// Every key of the service is replaced by a list once, and all kinds of writes are tried.
#[tokio::test]
async fn wrong_type_key_is_reported_and_kept() {
    let app = TestApp::start();
    for response in write_everything(&app).await {
        response.assert_status(200);
    }
    let mut store = app.store();
    let names = store.keys();
    assert!(names.len() >= 14, "{names:?}");
    for name in names {
        plant(&mut store, &name);
        let responses = write_everything(&app).await;
        let refused = || responses.iter().filter(|response| response.status != 200);
        assert!(refused().count() > 0, "{name} was not reported");
        for response in refused() {
            assert!(reports_wrong_type(response), "{name}: {}", response.text);
        }
        let key = store.key(&name);
        let list: Vec<String> = store.run("LRANGE", &[&key, "0", "-1"]);
        assert_eq!(list, ["foreign"]);
    }
}

/// The undo of a 40-day-old like reads today's boards, too; one of them has the wrong type.
#[tokio::test]
async fn late_undo_on_wrong_type_key_changes_nothing() {
    let app = TestApp::start();
    let mut store = app.store();
    app.counted(dated(like("42", "p"), noon(40))).await;
    let board = store.key(&format!("bd:{}", day(0)));
    store.run::<i64>("RPUSH", &[&board, "foreign"]);
    let before = store.snapshot();
    let response = app.send_activity(undo(like("42", "p"))).await;
    assert!(reports_wrong_type(&response), "{}", response.text);
    assert!(store.snapshot() == before, "something was written");
}

#[tokio::test]
async fn read_of_wrong_type_key_is_reported() {
    let board = format!("bd:{}", day(0));
    let history = history_key(day(0), "42");
    let reads = [
        (board.as_str(), "/v1/ranking/day"),
        (&board, "/v1/ranking/day/users/42"),
        (&board, "/v1/ranking/day/users?ids=42"),
        (&board, "/v1/users/42/standings"),
        ("p", "/v1/users/42"),
        ("p", "/v1/ranking/day/users/42"),
        (&history, "/v1/users/42/activity"),
        ("p", "/v1/ranking/day"),
    ];
    let app = TestApp::start();
    let mut store = app.store();
    for (name, path) in reads {
        plant(&mut store, name);
        let response = app.get(path).await;
        let is_reported = reports_wrong_type(&response);
        assert!(is_reported, "{name} {path}: {}", response.text);
    }
}

#[tokio::test]
async fn erasure_of_wrong_type_key_is_reported() {
    let app = TestApp::start();
    let mut store = app.store();
    for name in ["i", "p"] {
        plant(&mut store, name);
        let before = store.snapshot();
        let response = app.delete("/v1/users/42").await;
        assert!(reports_wrong_type(&response), "{name}: {}", response.text);
        assert!(store.snapshot() == before, "{name}: something was written");
    }
}
