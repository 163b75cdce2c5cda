//! Events: boards from one instant to another.

mod adjustments;
mod boards;
mod counting;
mod definitions;

use jiff::{Timestamp, ToSpan};
use test_support::{Value, json, until};

use crate::app::TestApp;
use crate::bodies::with;
use crate::client::Client;

/// An event that is about to begin. An activity may be dated up to a minute ahead, so tests need not wait.
pub struct Event {
    id: &'static str,
    from: Timestamp,
    to: Timestamp,
    fields: Value,
}

impl Event {
    /// Returns an event from 20 seconds to 40 seconds after now.
    pub fn new(id: &'static str) -> Self {
        Self::between(id, 20_000, 40_000)
    }

    /// Returns an event from some milliseconds to others after the next full second.
    pub fn between(id: &'static str, from: i64, to: i64) -> Self {
        let now = Timestamp::now().as_second() * 1000 + 1000;
        let at = |after: i64| Timestamp::from_millisecond(now + after).expect("an instant");
        Self {
            id,
            from: at(from),
            to: at(to),
            fields: json!({}),
        }
    }

    /// Adds fields of the definition.
    pub fn with(mut self, fields: Value) -> Self {
        self.fields = with(self.fields, fields);
        self
    }

    /// Returns the body of a `PUT`.
    pub fn body(&self) -> Value {
        let times = json!({"from": self.from.to_string(), "to": self.to.to_string()});
        with(
            with(json!({"title": "Hackathon"}), times),
            self.fields.clone(),
        )
    }

    /// Returns the event in responses.
    pub fn view(&self, state: &str) -> Value {
        let final_at = self.to + 180.minutes();
        let more = json!({"id": self.id, "state": state, "final_at": final_at.to_string()});
        with(self.body(), more)
    }

    pub fn path(&self) -> String {
        format!("/v1/events/{}", self.id)
    }

    pub fn ranking(&self) -> String {
        format!("{}/ranking", self.path())
    }

    /// Returns an instant some milliseconds after the start, as a value for `at`.
    pub fn at(&self, millis: i64) -> String {
        (self.from + millis.milliseconds()).to_string()
    }

    /// Returns an instant some milliseconds after the end, as a value for `at`.
    pub fn after(&self, millis: i64) -> String {
        (self.to + millis.milliseconds()).to_string()
    }

    pub async fn put(&self, app: &Client) {
        let response = app.put(&self.path(), &self.body()).await;
        response.assert_status(200);
    }

    /// Waits until the event has a state.
    pub async fn wait_for(&self, app: &Client, state: &str) {
        let reaches = async || {
            let event = app.read(&self.path()).await;
            (event["state"] == state).then_some(())
        };
        until(&format!("the event is {state}"), reaches).await;
    }

    /// Asserts the first rows of the board: user and score.
    pub async fn assert_rows(&self, app: &Client, rows: &[(&str, u32)]) {
        let board = app.read(&self.ranking()).await;
        let entries = board["entries"].as_array().expect("entries").iter();
        let found: Vec<(&str, u64)> = entries
            .map(|entry| {
                let user = entry["user"]["id"].as_str().expect("an id");
                (user, entry["score"].as_u64().expect("a score"))
            })
            .collect();
        let rows: Vec<(&str, u64)> = rows
            .iter()
            .map(|(user, score)| (*user, u64::from(*score)))
            .collect();
        assert_eq!(found, rows);
        assert_eq!(board["total"], rows.len());
    }
}

/// Starts a Worker whose boards are not cached.
fn start() -> TestApp {
    TestApp::with(|worker| worker.var("BOARD_MAX_AGE", "0"))
}
