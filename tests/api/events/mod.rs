//! Events: boards from one instant to another.

mod adjustments;
mod archive;
mod boards;
mod counting;
mod definitions;
mod recount;

use jiff::{Timestamp, ToSpan};
use test_support::{Value, json, until};

use crate::app::TestApp;
use crate::bodies::{self, with};
use crate::client::Client;
use crate::store::Store;

/// The field of the hash of users that holds the definitions.
const DEFINITIONS: &str = "\t!";

/// Returns the current second.
fn second() -> Timestamp {
    Timestamp::from_second(Timestamp::now().as_second()).expect("an instant")
}

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

    /// Returns an event from some milliseconds to others after a full second that is at least one second ahead: a busy
    /// machine defines the event before it begins.
    pub fn between(id: &'static str, from: i64, to: i64) -> Self {
        let now = Timestamp::now().as_second() * 1000 + 2000;
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
        app.write(&self.path(), &self.body()).await;
    }

    /// Defines the event and dates it in the store so that it runs from a minute ago to an hour ahead.
    pub async fn begin(&mut self, app: &Client, store: &mut Store) {
        self.put(app).await;
        (self.from, self.to) = (second() - 1.minutes(), second() + 1.hours());
        self.redate(store);
    }

    /// Dates the end of the event back in the store to this second: jiff and the service print zeros of a fraction
    /// differently. A Worker that knows the definitions goes by its own: a test goes on with [`another`].
    pub fn end(&mut self, store: &mut Store) {
        self.to = second();
        self.from = self.from.min(self.to - 1.minutes());
        self.redate(store);
    }

    /// Waits until the event has ended, without the service.
    pub async fn wait_for_end(&self) {
        let has_ended = async || (Timestamp::now() >= self.to).then_some(());
        until("the event has ended", has_ended).await;
    }

    /// Waits until the event has a state.
    pub async fn wait_for(&self, app: &Client, state: &str) {
        let reaches = async || {
            let event = app.read(&self.path()).await;
            (event["state"] == state).then_some(())
        };
        until(&format!("the event is {state}"), reaches).await;
    }

    /// Dates the event back in the store, so that it has been final for some minutes.
    pub fn finish(&self, store: &mut Store, minutes: i64) {
        let final_at = second() - minutes.minutes();
        self.set_dates(store, final_at - 2.hours(), final_at - 1.hours(), final_at);
    }

    /// Writes the start and the end into the store; the event settles for as long as before.
    fn redate(&self, store: &mut Store) {
        let stored = self.stored(store);
        let instant = |name: &str| -> Timestamp {
            let text = stored[name].as_str().expect("a text");
            text.parse().expect("an instant")
        };
        let settles = instant("final_at") - instant("to");
        self.set_dates(store, self.from, self.to, self.to + settles);
    }

    /// Returns the stored definition.
    fn stored(&self, store: &mut Store) -> Value {
        let events = store.key_on(0, "v");
        let stored: String = store.run("HGET", &[&events, self.id]);
        serde_json::from_str(&stored).expect("JSON")
    }

    fn set_dates(&self, store: &mut Store, from: Timestamp, to: Timestamp, final_at: Timestamp) {
        let dates = [("from", from), ("to", to), ("final_at", final_at)];
        let mut stored = self.stored(store);
        let events = store.key_on(0, "v");
        for (name, at) in dates {
            stored[name] = json!(at.to_string());
        }
        store.run::<i64>("HSET", &[&events, self.id, &stored.to_string()]);
        let mut keys = store.full_keys();
        keys.retain(|key| key.ends_with("}p"));
        for users in keys {
            let text: String = store.run("HGET", &[&users, DEFINITIONS]);
            let line = |line: &str| {
                let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
                if words[0] == self.id {
                    for (word, (_, at)) in words[1..].iter_mut().zip(dates) {
                        *word = at.as_millisecond().to_string();
                    }
                }
                words.join(" ")
            };
            let lines: Vec<String> = text.lines().map(line).collect();
            store.run::<i64>("HSET", &[&users, DEFINITIONS, &lines.join("\n")]);
        }
    }

    /// Asserts the first rows of the board: user and score.
    pub async fn assert_rows(&self, app: &Client, rows: &[(&str, u32)]) {
        let board = app.read(&self.ranking()).await;
        let found = bodies::rows(&board["entries"], ["/user/id", "/score"]);
        assert_eq!(found, json!(rows));
        assert_eq!(board["total"], rows.len());
    }
}

/// Starts another Worker over the same data, with these minutes to settle. It does not know the definitions yet.
fn another(app: &TestApp, settle_minutes: &str) -> TestApp {
    TestApp::with(|worker| {
        let worker = worker.var("PREFIX", app.prefix());
        let worker = worker.var("BOARD_MAX_AGE", "0");
        worker.var("SETTLE_MINUTES", settle_minutes)
    })
}

/// Starts a Worker whose boards are not cached.
fn start() -> TestApp {
    TestApp::with(|worker| worker.var("BOARD_MAX_AGE", "0"))
}
