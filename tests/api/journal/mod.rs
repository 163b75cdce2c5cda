//! `GET /v1/journal`, and the outbox that entries pass through.

mod crash;
mod entries;
mod erasure;
mod exactly_once;
mod rebuild;
mod route;
mod wrong_type_keys;

use std::ops::Deref;

use test_support::{Answer, Value, Worker, WorkerBuilder, peer};

use crate::bodies::{self};
use crate::client::Client;
use crate::clock::noon_zone;
use crate::store::Store;

/// A deployment with a journal.
pub struct JournalApp {
    worker: Worker,
    client: Client,
    store: Store,
}

impl Deref for JournalApp {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

pub fn start() -> JournalApp {
    start_with(|worker| worker)
}

pub fn start_with(configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> JournalApp {
    let worker = configure(Worker::builder().var("TIMEZONE", noon_zone())).journal();
    JournalApp::of(worker.start())
}

/// A like of a user on the shard of 42: order is guaranteed within a shard.
fn like(user: &str, target: &str) -> Value {
    bodies::like(&peer(user), target)
}

impl JournalApp {
    fn of(worker: Worker) -> Self {
        Self {
            client: Client::new(worker.api()),
            store: Store::shared(worker.prefix()),
            worker,
        }
    }

    /// Returns the store.
    pub fn store(&self) -> Store {
        Store::shared(self.worker.prefix())
    }

    /// Sends one activity or an array. Returns the outcomes, and the problem types of errors.
    async fn send(&self, activity: Value) -> Vec<String> {
        let response = self.send_activity(activity).await;
        response.assert_status(200);
        let results = match response.body["results"].as_array() {
            Some(results) => results.clone(),
            None => vec![response.body],
        };
        let name = |result: &Value| {
            let name = result["outcome"].as_str();
            let name = name.or(result["error"]["type"].as_str());
            name.expect("an outcome or a problem").to_owned()
        };
        results.iter().map(name).collect()
    }

    /// `PUT /v1/users/{user}`, or a route below it.
    async fn put(&self, user: &str, route: &str, body: Value) -> Answer {
        let path = format!("/v1/users/{}{route}", peer(user));
        let response = self.client.put(&path, &body).await;
        response.assert_status(200);
        response
    }

    async fn adjust(&self, user: &str, adjustment: &Value) -> Answer {
        self.client.adjust(&peer(user), adjustment).await
    }

    async fn erase(&self, user: &str) {
        self.client.erase(&peer(user)).await;
    }

    /// Reads the entries after a number.
    async fn entries_after(&self, number: u64) -> Vec<Value> {
        let path = format!("/v1/journal?after={number}&limit=5000");
        let page = self.read(&path).await;
        assert_eq!(page["next"], Value::Null);
        page["entries"].as_array().expect("entries").clone()
    }

    /// Reads id, user and entry of every database row, in order.
    async fn rows(&self) -> Vec<(String, String, Value)> {
        let statement = "SELECT id, user, entry FROM journal ORDER BY n";
        let rows = self.worker.sql(statement).await;
        let rows = rows.as_array().expect("rows").iter();
        let text = |row: &Value, name: &str| row[name].as_str().expect("a text").to_owned();
        let row = |row| {
            let entry = serde_json::from_str(&text(row, "entry")).expect("JSON");
            (text(row, "id"), text(row, "user"), entry)
        };
        rows.map(row).collect()
    }

    /// The ids of the entries in the outbox.
    fn outbox(&mut self) -> Vec<String> {
        let outbox = self.store.key("o");
        let entries: Vec<(String, Vec<String>)> = self.store.run("XRANGE", &[&outbox, "-", "+"]);
        entries.into_iter().map(|(id, _)| id).collect()
    }

    /// Copies the outbox for [`restore_outbox`](Self::restore_outbox).
    fn dump_outbox(&mut self) -> Vec<u8> {
        let outbox = self.store.key("o");
        self.store.run("DUMP", &[&outbox])
    }

    fn restore_outbox(&mut self, dump: &[u8]) {
        let key = self.store.key("o");
        let mut command = redis::cmd("RESTORE");
        command.arg(key).arg(0).arg(dump).arg("REPLACE");
        command
            .exec(&mut test_support::redis().connection())
            .expect("RESTORE");
    }

    /// Makes the journal fail: its table has another name.
    async fn break_database(&self) {
        let statement = "ALTER TABLE journal RENAME TO away";
        self.worker.sql(statement).await;
    }

    async fn repair_database(&self) {
        let statement = "ALTER TABLE away RENAME TO journal";
        self.worker.sql(statement).await;
    }
}
