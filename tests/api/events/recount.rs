//! `POST /v1/events/{event}/recount`: the definition by which the command line counts an event again.

use test_support::{Value, json};

use super::Event;
use crate::journal::{JournalApp, start_with};
use crate::problem::problem;

fn start() -> JournalApp {
    start_with(|worker| worker.var("BOARD_MAX_AGE", "0").var("SETTLE_MINUTES", "0"))
}

impl Event {
    fn recount(&self) -> String {
        format!("{}/recount", self.path())
    }
}

/// The event has begun, so a `PUT` is refused.
#[tokio::test]
async fn definition_of_a_recount_is_as_stored() {
    let app = start();
    let event = Event::between("hackathon", -30_000, 600_000)
        .with(json!({"actions": {"like": 5}, "groups": ["eu"]}));
    let response = app.put(&event.path(), &event.body()).await;
    response.assert_status(409);
    let response = app.post(&event.recount(), &event.body()).await;
    let (from, to) = (event.from.as_millisecond(), event.to.as_millisecond());
    let final_at = event.to.to_string();
    let view = json!({"id": "hackathon", "state": "running", "title": "Hackathon", "from": event.from.to_string(),
        "to": final_at, "final_at": final_at, "actions": {"like": 5}, "groups": ["eu"]});
    let expiry = to / 1000 + 366 * 86_400;
    let line = format!("hackathon {from} {to} {to} {expiry} like=5 eu");
    let definition: Value =
        serde_json::from_str(response.body["definition"].as_str().expect("a text")).expect("JSON");
    let mut stored = view.clone();
    for field in ["id", "state"] {
        stored.as_object_mut().expect("an object").remove(field);
    }
    assert_eq!(definition, stored);
    let answer = json!({"event": view, "definition": response.body["definition"], "line": line});
    response.assert(200, answer);
    assert_eq!(app.read("/v1/events").await, json!({"events": []}));
}

/// An event of the past is final at the instant of the recount.
#[tokio::test]
async fn recounted_event_of_the_past_is_final() {
    let app = start();
    let event = Event::between("hackathon", -30_000, -5_000);
    let response = app.post(&event.recount(), &event.body()).await;
    response.assert_status(200);
    let view = &response.body["event"];
    assert_eq!(view["state"], "final");
    let final_at = view["final_at"].as_str().expect("an instant");
    assert!(final_at > event.to.to_string().as_str(), "{final_at}");
}

#[tokio::test]
async fn recount_keeps_the_definition_without_a_new_one() {
    let app = start();
    let event = Event::new("hackathon").with(json!({"actions": {"like": 7}, "groups": ["eu"]}));
    let answer = app.post(&event.recount(), &json!({})).await;
    answer.assert(404, problem("not-found", "There is no event hackathon."));
    event.put(&app).await;
    let answer = app.post(&event.recount(), &json!({})).await;
    answer.assert_status(200);
    assert_eq!(answer.body["event"], app.read(&event.path()).await);
}
