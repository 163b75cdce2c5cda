//! Keys under our prefix that are not the service's: told, and nothing is changed at all.

use test_support::reference::{day_marks_key, history_key};
use test_support::{Answer, Value, json, rest};

use crate::clock::day;
use crate::misconfigured::problem;
use crate::site::Site;
use crate::store::Store;

/// Puts a list where the service keeps something else: no key of its own is one.
fn plant(store: &mut Store, name: &str) {
    store.clear();
    let key = store.key(name);
    store.run::<i64>("RPUSH", &[&key, "somebody's"]);
}

/// Whether an answer says that a key is not the service's, and what to do.
fn is_told(answer: &Answer) -> bool {
    answer.status == 500 && is_told_as(&answer.body)
}

fn is_told_as(told: &Value) -> bool {
    let detail = told["detail"].as_str().unwrap_or_default();
    let cause = "PREFIX: the store refuses what is under this prefix (WRONGTYPE ";
    let way_out = "; choose a PREFIX that nothing else uses and the store's user may access";
    detail.starts_with(cause) && detail.ends_with(way_out) && *told == problem(detail)
}

/// Writes of every kind, one after the other.
async fn write_everything(site: &Site) -> Vec<Answer> {
    let of = |action: &str, target: &str, undo: bool| json!({"user": "42", "action": action, "target": target, "undo": undo, "groups": ["eu"]});
    vec![
        site.send_activity(of("like", "p", false)).await,
        site.send_activity(of("visit", "/", false)).await,
        site.send_activity(of("like", "q", true)).await,
        site.put("/v1/users/42", &json!({"name": "Ada"})).await,
    ]
}

#[tokio::test]
async fn every_key_is_noticed_and_left_as_it_is() {
    let site = Site::start();
    for answer in write_everything(&site).await {
        answer.assert_status(200);
    }
    let mut store = site.store();
    let names = store.keys();
    assert!(names.len() >= 16, "{names:?}");
    for name in names {
        plant(&mut store, &name);
        let answers = write_everything(&site).await;
        let refused: Vec<&Answer> = answers
            .iter()
            .filter(|answer| answer.status != 200)
            .collect();
        assert!(!refused.is_empty(), "{name} was not noticed");
        for answer in refused {
            assert!(is_told(answer), "{name}: {}", answer.text);
        }
        let key = store.key(&name);
        assert_eq!(
            store.run::<Vec<String>>("LRANGE", &[&key, "0", "-1"]),
            ["somebody's"]
        );
    }
}

#[tokio::test]
async fn a_request_that_meets_one_has_written_nothing() {
    let day = day(0);
    let like = json!({"user": "42", "action": "like", "target": "p", "groups": ["eu"]});
    let visit = json!({"user": "42", "action": "visit", "target": "/", "groups": ["eu"]});
    let never = json!({"user": "42", "action": "like", "target": "p", "undo": true});
    let (board, group) = (format!("bd:{day}"), format!("bd:{day}:eu"));
    let (history, marks) = (history_key(day, "42"), day_marks_key(day, "42"));
    let cases: [(&Value, &[&str]); 3] = [
        (
            &like,
            &[
                "s",
                "i",
                "ba:all",
                "ba:all:eu",
                &board,
                &group,
                "m:42",
                &history,
            ],
        ),
        (&visit, &["s", "i", "ba:all", &group, &history, &marks]),
        (&never, &["s", "m:42", "ba:all", &board]),
    ];
    let site = Site::start();
    // Where there are several shards, all are stamped before the first of all writes.
    site.count("42", "like", "first").await;
    let mut store = site.store();
    let mut wrong = Vec::new();
    for (activity, names) in cases {
        for name in names {
            plant(&mut store, name);
            let before = store.snapshot();
            let answer = site.send_activity(activity.clone()).await;
            if !is_told(&answer) {
                wrong.push(format!("{name} {activity}: {}", answer.text));
            }
            if store.snapshot() != before {
                wrong.push(format!("{name} {activity}: wrote {:?}", store.keys()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test]
async fn an_item_that_meets_one_changes_nothing_and_spoils_no_other() {
    let site = Site::start();
    let mut store = site.store();
    let like = |user: &str| json!({"user": user, "action": "like", "target": "p"});
    let mut grouped = like("42");
    grouped["groups"] = json!(["eu"]);
    for name in [
        "m:42".to_owned(),
        "ba:all:eu".to_owned(),
        history_key(day(0), "42"),
    ] {
        plant(&mut store, &name);
        let answer = site
            .send_activity(json!([like("7"), grouped, like("9")]))
            .await;
        let error = &answer.body["results"][1]["error"];
        let counted = json!({"outcome": "counted", "points": 2});
        answer.assert(
            200,
            json!({"results": [counted, {"error": error}, counted]}),
        );
        assert!(is_told_as(error), "{name}: {error}");
        let traces = store.traces("42");
        assert!(
            traces.iter().all(|trace| rest(trace) == name),
            "{name}: {traces:?}"
        );
        assert_eq!(store.traces("7").len(), store.traces("9").len());
    }
}

#[tokio::test]
async fn an_undo_of_another_day_that_meets_one_has_written_nothing() {
    let site = Site::start();
    let mut store = site.store();
    let like = json!({"user": "42", "action": "like", "target": "p", "at": crate::clock::noon(40)});
    site.outcome(like, "counted").await;
    let board = store.key(&format!("bd:{}", day(0)));
    store.run::<i64>("RPUSH", &[&board, "somebody's"]);
    let before = store.snapshot();
    let undo = json!({"user": "42", "action": "like", "target": "p", "undo": true});
    let answer = site.send_activity(undo).await;
    assert!(is_told(&answer), "{}", answer.text);
    assert!(store.snapshot() == before, "something was written");
}

#[tokio::test]
async fn reading_one_is_told_too() {
    let board = format!("bd:{}", day(0));
    let history = history_key(day(0), "42");
    let reads = [
        (board.as_str(), "/v1/ranking/day"),
        (&board, "/v1/ranking/day/users/42"),
        (&board, "/v1/ranking/day/users?ids=42"),
        ("p", "/v1/users/42"),
        ("p", "/v1/ranking/day/users/42"),
        (&history, "/v1/users/42/activity"),
        ("s", "/v1/ranking/day"),
    ];
    let site = Site::start();
    let mut store = site.store();
    for (name, path) in reads {
        plant(&mut store, name);
        let answer = site.get(path).await;
        assert!(is_told(&answer), "{name} {path}: {}", answer.text);
    }
}

#[tokio::test]
async fn an_erasure_that_meets_one_is_told() {
    let site = Site::start();
    let mut store = site.store();
    for name in ["s", "i", "p"] {
        plant(&mut store, name);
        let before = store.snapshot();
        let answer = site.delete("/v1/users/42").await;
        assert!(is_told(&answer), "{name}: {}", answer.text);
        assert!(store.snapshot() == before, "{name}: something was written");
    }
}
