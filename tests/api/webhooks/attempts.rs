//! Receivers that fail, hang, redirect or answer oddly; back-off, end of attempts and retention.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use test_support::{Fault, Method, Value, json, shards};

use super::{HookApp, SECRET, endpoint, receiver, respond, start, start_with, take};
use crate::app::TestApp;
use crate::bodies::each;

/// Makes a message.
async fn hide(app: &TestApp, user: &str) {
    app.moderate(user, true, false).await;
}

/// Reads the only delivery that was not dropped.
async fn delivery(app: &HookApp) -> Value {
    let mut deliveries = app.deliveries().await;
    deliveries.retain(|delivery| delivery["state"] != "dropped");
    assert_eq!(deliveries.len(), 1, "{deliveries:#?}");
    deliveries.remove(0)
}

fn seconds(delivery: &Value, name: &str) -> i64 {
    let instant = delivery[name].as_str().expect("a text").parse();
    let instant: jiff::Timestamp = instant.expect("it");
    instant.as_second()
}

/// The library verifies each attempt, also that its timestamp is recent.
#[tokio::test]
async fn failed_message_is_sent_again_with_its_id() {
    let app = start();
    respond(&app.receiver, 503);
    hide(&app, "42").await;
    let first = app.minute().await;
    let failed = delivery(&app).await;
    let expected = json!({"id": first[0].id, "type": "moderation.hidden", "state": "pending", "attempts": 1,
        "endpoint": app.receiver.url().replace("http://", ""), "status": 503, "error": null,
        "at": failed["at"], "attempted": failed["attempted"], "due": failed["due"]});
    assert_eq!(failed, expected);
    assert_eq!(seconds(&failed, "due") - seconds(&failed, "attempted"), 60);
    assert_eq!(app.minute().await, [], "before it is due");
    app.pass(1).await;
    assert_eq!(app.minute().await, first);
    let failed = delivery(&app).await;
    assert_eq!(seconds(&failed, "due") - seconds(&failed, "attempted"), 300);
    respond(&app.receiver, 202);
    app.pass(5).await;
    assert_eq!(app.minute().await, first);
    let delivered = delivery(&app).await;
    let state = ["state", "attempts", "status", "due"].map(|name| &delivered[name]);
    let expected = [&json!("delivered"), &json!(3), &json!(202), &Value::Null];
    assert_eq!(state, expected);
    app.pass(60).await;
    assert_eq!(app.minute().await, []);
}

#[tokio::test]
async fn messages_behind_a_failed_one_are_sent_next() {
    let app = start();
    for user in ["a", "b", "c"] {
        hide(&app, user).await;
    }
    respond(&app.receiver, 503);
    assert_eq!(app.minute().await.len(), 1);
    respond(&app.receiver, 204);
    assert_eq!(app.minute().await.len(), 2);
    assert_eq!(app.minute().await, [], "the first is due a minute later");
}

/// One receiver hangs, the other one does not wait for it.
#[tokio::test]
async fn hanging_receiver_delays_no_other() {
    let (hanging, other) = (receiver(), receiver());
    hanging.fail(|_| Some(Fault::HangBefore));
    let app = TestApp::with(|worker| {
        let endpoints = json!([
            endpoint(&hanging, &["moderation.*"]),
            endpoint(&other, &["moderation.*"])
        ]);
        worker.journal().json("WEBHOOKS", endpoints)
    });
    for user in ["a", "b"] {
        hide(&app, user).await;
    }
    app.worker.minute().await;
    assert_eq!((hanging.count(), take(&other).len()), (1, 2));
    let app = HookApp {
        app,
        receiver: hanging,
    };
    let mut deliveries = app.deliveries().await;
    deliveries.retain(|delivery| delivery["state"] == "pending");
    let mut errors = each(&json!(deliveries), "/error");
    errors.sort_by_key(ToString::to_string);
    let expected = [json!("timeout"), Value::Null];
    assert_eq!(errors, expected, "the second message was not tried");
}

/// A redirect is not followed, and the status 410 ends the attempts.
#[tokio::test]
async fn delivery_has_the_cause_of_its_failure() {
    let other = receiver();
    for (fault, state, status, error) in [
        (Fault::CutBefore, "pending", Value::Null, json!("network")),
        (
            Fault::Redirect(other.url()),
            "pending",
            json!(307),
            Value::Null,
        ),
        (
            Fault::Respond(410, String::new()),
            "failed",
            json!(410),
            Value::Null,
        ),
    ] {
        let app = start();
        app.receiver.fail(move |_| Some(fault.clone()));
        hide(&app, "42").await;
        app.minute().await;
        let failed = delivery(&app).await;
        let found = ["state", "status", "error"].map(|name| failed[name].clone());
        assert_eq!(found, [json!(state), status, error]);
        assert_eq!(failed["due"].is_null(), state == "failed");
        app.receiver.reset();
        app.pass(600).await;
        assert_eq!(app.minute().await.is_empty(), state == "failed");
    }
    assert_eq!(other.count(), 0);
}

/// Reads a request and answers it twice, the first time only after a byte of the next answer could have been read.
fn answer_twice(mut stream: TcpStream) {
    let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a number");
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    let _ = reader.read_exact(&mut body);
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let _ = stream.write_all(answer.repeat(2).as_bytes());
}

#[tokio::test]
async fn second_answer_is_ignored() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let (sender, requests) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            answer_twice(stream.expect("a connection"));
            if sender.send(()).is_err() {
                return;
            }
        }
    });
    let endpoint =
        json!({"url": format!("http://{address}/"), "secret": SECRET, "kinds": ["moderation.*"]});
    let app = start_with(|worker| worker.json("WEBHOOKS", json!([endpoint])));
    for user in ["a", "b"] {
        hide(&app, user).await;
    }
    app.minute().await;
    app.minute().await;
    assert_eq!(requests.try_iter().count(), 2);
    let expected = ["delivered", "delivered"];
    assert_eq!(app.states("moderation.hidden").await, expected);
}

/// The message of an hour ago fails for the last time two days after it was made. A retry begins anew.
#[tokio::test]
async fn attempts_end_after_two_days() {
    let app = start();
    respond(&app.receiver, 500);
    hide(&app, "42").await;
    app.minute().await;
    app.pass(48 * 60).await;
    assert_eq!(app.minute().await.len(), 1);
    let failed = delivery(&app).await;
    let expected = [&json!("failed"), &json!(2)];
    assert_eq!([&failed["state"], &failed["attempts"]], expected);
    app.pass(48 * 60).await;
    assert_eq!(app.minute().await, []);
    let path = format!(
        "/v1/webhooks/deliveries/{}/retry",
        failed["id"].as_str().expect("an id")
    );
    let due = app.send(Method::POST, &path, "", &[]).await;
    let due = &due.assert_status(200).body;
    let expected = [&json!("pending"), &json!(0)];
    assert_eq!([&due["state"], &due["attempts"]], expected);
    let again = app.minute().await;
    assert_eq!(again[0].id, failed["id"].as_str().expect("an id"));
    assert_eq!(delivery(&app).await["state"], "pending");
    respond(&app.receiver, 200);
    app.pass(1).await;
    assert_eq!(app.minute().await, again);
}

#[tokio::test]
async fn deliveries_are_kept_for_30_days() {
    let app = start();
    hide(&app, "42").await;
    app.minute().await;
    let count = app.deliveries().await.len();
    app.pass(30 * 24 * 60 - 5).await;
    app.minute().await;
    assert_eq!(app.deliveries().await.len(), count);
    app.pass(5).await;
    app.minute().await;
    assert_eq!(app.states("moderation.hidden").await, [""; 0]);
}

/// A run on the free plan sends some messages, and the next ones the rest.
#[tokio::test]
async fn run_keeps_within_the_free_plan() {
    let app = start();
    for number in 0..60 {
        hide(&app, &format!("u{number}")).await;
    }
    let mut sent = 0;
    while sent < 60 {
        let cost = app.worker.metered_minute().await;
        assert!(cost.subrequests <= 50 && cost.queries <= 50, "{cost:?}");
        let count = take(&app.receiver).len();
        assert!(count > 0, "no progress after {sent}");
        sent += count;
    }
    assert_eq!(sent, 60);
}

/// Without work, the run reads the database once, and the definitions of events, and writes nothing.
#[tokio::test]
async fn idle_run_sends_one_transaction() {
    let app = start();
    app.count("42", "like", "p").await;
    app.worker.metered_minute().await;
    let cost = app.worker.metered_minute().await;
    let found = (
        cost.subrequests,
        cost.store_requests,
        cost.queries,
        cost.rows_written,
    );
    // With several shards, a request checks their fingerprints.
    let requests = if shards() > 1 { 3 } else { 2 };
    assert_eq!(found, (requests + 1, requests, 3, 0), "{cost:?}");
    assert!(cost.rows_read < 20, "{cost:?}");
}
