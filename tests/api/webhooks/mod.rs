//! `WEBHOOKS`: messages to servers, and `/v1/webhooks/deliveries`.
//!
//! Every request of a receiver is verified by the specification's own library.

mod achievements;
mod attempts;
mod chat;
mod concurrency;
mod kinds;
mod levels;
mod route;

use std::collections::HashMap;
use std::ops::Deref;

use standardwebhooks::Webhook;
use test_support::{Fault, Forwarder, Recorded, Value, WorkerBuilder, json};

use crate::app::TestApp;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// A deployment with a receiver of all kinds.
struct HookApp {
    app: TestApp,
    receiver: Forwarder,
}

impl Deref for HookApp {
    type Target = TestApp;

    fn deref(&self) -> &TestApp {
        &self.app
    }
}

/// A message as a receiver has it.
#[derive(Clone, Debug, PartialEq)]
struct Message {
    id: String,
    body: Value,
}

/// Starts a receiver that accepts every message.
fn receiver() -> Forwarder {
    let receiver = Forwarder::to("http://127.0.0.1:1");
    respond(&receiver, 204);
    receiver
}

fn respond(receiver: &Forwarder, status: u16) {
    receiver.fail(move |_| Some(Fault::Respond(status, String::new())));
}

/// Returns the endpoint of a receiver, for some kinds.
fn endpoint(receiver: &Forwarder, kinds: &[&str]) -> Value {
    json!({"url": format!("{}/hook?a=b", receiver.url()), "secret": SECRET, "kinds": kinds})
}

fn start() -> HookApp {
    start_with(|worker| worker)
}

/// Starts a deployment with boards of days and of all time.
fn start_with(configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> HookApp {
    let receiver = receiver();
    let endpoint = json!({"url": format!("{}/hook", receiver.url()), "secret": SECRET});
    let app = TestApp::with(|worker| {
        let worker = worker.journal().var("PERIODS", "day,all");
        configure(worker.json("WEBHOOKS", json!([endpoint])))
    });
    HookApp { app, receiver }
}

/// Verifies a request, and returns its message.
#[track_caller]
fn message(recorded: &Recorded) -> Message {
    let webhook = Webhook::new(SECRET).expect("a secret");
    let verified = webhook.verify(&recorded.body, &recorded.headers);
    verified.unwrap_or_else(|error| panic!("{error}: {recorded:?}"));
    let header = |name: &str| recorded.headers[name].to_str().expect("ASCII").to_owned();
    assert_eq!(header("content-type"), "application/json");
    let body: Value = serde_json::from_slice(&recorded.body).expect("JSON");
    let fields: Vec<&String> = body.as_object().expect("an object").keys().collect();
    assert_eq!(fields, ["data", "timestamp", "type"]);
    Message {
        id: header("webhook-id"),
        body,
    }
}

/// Returns the verified messages of a receiver since the last call, in the order in which it got them.
#[track_caller]
fn take(receiver: &Forwarder) -> Vec<Message> {
    let messages = receiver.requests().iter().map(message).collect();
    receiver.reset();
    messages
}

/// Returns type and data of messages.
fn contents(messages: &[Message]) -> Vec<(Value, Value)> {
    let content = |message: &Message| (message.body["type"].clone(), message.body["data"].clone());
    messages.iter().map(content).collect()
}

/// Asserts that each id stands for one message.
#[track_caller]
fn assert_ids_are_unique(messages: &[Message]) {
    let mut bodies = HashMap::new();
    for Message { id, body } in messages {
        let before = bodies.insert(id, body);
        assert!(before.is_none_or(|before| before == body), "{id}: {body}");
    }
    let mut distinct: Vec<String> = bodies.values().map(ToString::to_string).collect();
    let count = distinct.len();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), count, "{distinct:#?}");
}

impl HookApp {
    /// Runs cron and returns the messages of the receiver.
    async fn minute(&self) -> Vec<Message> {
        self.worker.minute().await;
        take(&self.receiver)
    }

    /// Lets so many minutes pass for the deliveries.
    async fn pass(&self, minutes: i64) {
        let millis = minutes * 60_000;
        let sql = format!("UPDATE deliveries SET due = due - {millis}, until = until - {millis}");
        self.worker.sql(&sql).await;
    }

    /// Reads the deliveries, newest first.
    async fn deliveries(&self) -> Vec<Value> {
        let page = self.read("/v1/webhooks/deliveries?limit=100").await;
        assert_eq!(page["next"], Value::Null);
        page["deliveries"].as_array().expect("deliveries").clone()
    }

    /// Reads the states of deliveries of a kind, newest first.
    async fn states(&self, kind: &str) -> Vec<String> {
        let mut deliveries = self.deliveries().await;
        deliveries.retain(|delivery| delivery["type"] == kind);
        let state = |delivery: &Value| delivery["state"].as_str().expect("a state").to_owned();
        deliveries.iter().map(state).collect()
    }
}
