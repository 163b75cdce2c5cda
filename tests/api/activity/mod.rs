//! `POST /v1/activity` with one activity.

mod array;
mod without_user;

use test_support::{Method, Value, json};

use crate::app::TestApp;
use crate::bodies::{activity, dated, like, outcome, undo};
use crate::clock::{day, standings};

#[tokio::test]
async fn like_counts_once_and_undo_reverts_it() {
    let app = TestApp::start();
    let (like, undo) = (like("42", "post-7"), undo(like("42", "post-7")));
    let first = standings(day(0), 2, 1);
    let none = standings(day(0), 0, Value::Null);
    for (activity, name, points, standings) in [
        (&like, "counted", 2, &first),
        (&like, "duplicate", 0, &first),
        (&undo, "undone", -2, &none),
        (&undo, "nothing-to-undo", 0, &none),
        (&like, "counted", 2, &first),
    ] {
        let response = app.send_activity(activity.clone()).await;
        response.assert(200, outcome(name, points, standings.clone()));
        assert_eq!(response.header("cache-control"), Some("no-store"));
    }
}

#[tokio::test]
async fn minimal_response_has_no_standings() {
    let app = TestApp::start();
    let like = like("42", "post-7");
    let send = async |prefer: &str, body: &Value| {
        let json = ("content-type", "application/json");
        let (path, body) = ("/v1/activity", body.to_string());
        let headers = [json, ("prefer", prefer)];
        app.send(Method::POST, path, body, &headers).await
    };
    let minimal = |outcome: &str, points: i64| json!({"outcome": outcome, "points": points});
    for (prefer, name, points) in [
        ("return=minimal", "counted", 2),
        ("respond-async, Return=\"minimal\"; foo=bar", "duplicate", 0),
    ] {
        let response = send(prefer, &like).await;
        response.assert(200, minimal(name, points));
        let applied = response.header("preference-applied");
        assert_eq!(applied, Some("return=minimal"));
    }
    let undone = send("return=minimal", &undo(like.clone())).await;
    undone.assert(200, minimal("undone", -2));
    for prefer in ["return=representation, return=minimal", "minimal", "wait=9"] {
        let response = send(prefer, &activity("7", "like", prefer)).await;
        let standings = &response.assert_status(200).body["standings"];
        assert!(standings["day"]["rank"].is_u64(), "{}", response.text);
        assert_eq!(response.header("preference-applied"), None);
    }
    let array = send("return=minimal", &json!([like])).await;
    array.assert(200, json!({"results": [minimal("counted", 2)]}));
    assert_eq!(array.header("preference-applied"), None);
}

/// Visits have the normal form of their path, with its vectors in core; other targets are compared byte for byte.
#[tokio::test]
async fn spellings_of_a_path_are_one_visit() {
    let app = TestApp::start();
    let spellings = [
        "/caf%C3%A9",
        "/café/",
        "//cafe\u{301}?a=1#b",
        " /a/../caf%c3%a9",
    ];
    for (number, target) in spellings.into_iter().enumerate() {
        let outcome = if number == 0 { "counted" } else { "duplicate" };
        app.outcome(activity("42", "visit", target), outcome).await;
        app.count("42", "like", target).await;
    }
    app.count("42", "visit", "/Caf%C3%A9").await;
    for target in [&"x".repeat(512), &"é".repeat(256)] {
        app.count("42", "like", target).await;
    }
    let users = ["Z09_.:@|-", "...", ".a", "|", ":", &"u".repeat(64)];
    for user in users {
        app.count(user, "like", "p").await;
    }
}

/// A number is the user of its decimal text, whatever its spelling; fractions and inexact floats are refused.
#[tokio::test]
async fn number_user_is_read_by_its_value() {
    let app = TestApp::start();
    let like = async |user: &str| {
        let body = format!(r#"{{"user":{user},"action":"like","target":"p"}}"#);
        let json = [("content-type", "application/json")];
        let response = app.send(Method::POST, "/v1/activity", body, &json).await;
        match response.status {
            200 => response.body["outcome"].clone(),
            status => json!(status),
        }
    };
    for (users, id) in [
        (&["61000", "61000.0", "6.1E+4", "610000e-1"][..], "61000"),
        (&["-1000", "-1e3"], "-1000"),
        (&["-9223372036854775808"], "-9223372036854775808"),
        (&["18446744073709551615"], "18446744073709551615"),
        (&["-0", "0", "-0.0", "0e5"], "0"),
    ] {
        for (index, user) in users.iter().enumerate() {
            let outcome = if index == 0 { "counted" } else { "duplicate" };
            assert_eq!(like(user).await, outcome, "{user}");
        }
        assert_eq!(like(&format!("\"{id}\"")).await, "duplicate", "{id}");
    }
    for refused in [
        "9007199254740993.0",
        "-9223372036854775808.0",
        "18446744073709551616",
        "1e400",
        "61000.5",
        "061000",
    ] {
        assert_eq!(like(refused).await, 400, "{refused}");
    }
    for other in ["\"61000.0\"", "\"061000\""] {
        assert_eq!(like(other).await, "counted", "{other}");
    }
}

#[tokio::test]
async fn earliest_instant_counts_in_every_time_zone() {
    for zone in ["UTC", "America/Los_Angeles", "Pacific/Kiritimati"] {
        let app = TestApp::with(|worker| worker.var("TIMEZONE", zone));
        app.counted(dated(like("42", "p"), "0001-01-02T00:00:00Z"))
            .await;
        app.outcome(undo(like("42", "p")), "undone").await;
    }
}
