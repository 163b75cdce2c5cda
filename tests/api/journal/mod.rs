//! `GET /v1/journal`, and how what was done gets there.
//!
//! Plain workerd has neither a database nor cron, so these run in wrangler.

mod asked;
mod entries;
mod erased;
mod foreign;
mod killed;
mod once;
mod rebuilding;

use test_support::{Answer, Value, WorkerBuilder, Wrangler, json, peer};

use crate::client::Client;
use crate::clock::noon_zone;
use crate::site::patient;
use crate::store::Store;

/// A site that keeps a journal.
struct Journalled {
    wrangler: Wrangler,
    client: Client,
    store: Store,
}

fn start(configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> Journalled {
    let worker = configure(patient().var("TIMEZONE", noon_zone())).journal();
    Journalled::of(worker.start_wrangler())
}

/// Of one of the [`peers`](test_support::peers): one shard has an order of its own.
fn like(user: &str, target: &str) -> Value {
    json!({"user": peer(user), "action": "like", "target": target})
}

fn taken_back(mut activity: Value) -> Value {
    activity["undo"] = json!(true);
    activity
}

impl Journalled {
    fn of(wrangler: Wrangler) -> Self {
        Self {
            client: Client::new(wrangler.api()),
            store: Store::shared(wrangler.prefix()),
            wrangler,
        }
    }

    /// Sends an activity, or an array; the outcomes.
    async fn send(&self, activity: Value) -> Vec<String> {
        let answer = self.client.post("/v1/activity", &activity).await;
        answer.assert_status(200);
        let results = match answer.body["results"].as_array() {
            Some(results) => results.clone(),
            None => vec![answer.body],
        };
        let name = |result: &Value| match result["outcome"].as_str() {
            Some(outcome) => outcome.to_owned(),
            None => result["error"]["type"]
                .as_str()
                .expect("a problem")
                .to_owned(),
        };
        results.iter().map(name).collect()
    }

    /// Puts something of a user.
    async fn put(&self, user: &str, what: &str, body: Value) -> Answer {
        let path = format!("/v1/users/{}{what}", peer(user));
        let answer = self.client.put(&path, &body).await;
        answer.assert_status(200);
        answer
    }

    /// Adjusts the points of a user.
    async fn adjust(&self, user: &str, adjustment: &Value) -> Answer {
        let path = format!("/v1/users/{}/adjustments", peer(user));
        self.client.post(&path, adjustment).await
    }

    async fn erase(&self, user: &str) {
        let path = format!("/v1/users/{}", peer(user));
        let answer = self.client.delete(&path).await;
        answer.assert_status(204);
    }

    /// The entries there are, after a number.
    async fn after(&self, after: u64) -> Vec<Value> {
        let path = format!("/v1/journal?after={after}&limit=5000");
        let answer = self.client.get(&path).await;
        answer.assert_status(200);
        assert_eq!(answer.body["next"], json!(null));
        answer.body["entries"].as_array().expect("entries").clone()
    }

    /// The rows there are: id, user and entry, in their order.
    async fn rows(&self) -> Vec<(String, String, Value)> {
        let statement = "SELECT id, user, entry FROM journal ORDER BY n";
        let rows = self.wrangler.sql(statement).await;
        let rows = rows.as_array().expect("rows").iter();
        let text = |row: &Value, name: &str| row[name].as_str().expect("a text").to_owned();
        let row = |row| {
            let entry = serde_json::from_str(&text(row, "entry")).expect("JSON");
            (text(row, "id"), text(row, "user"), entry)
        };
        rows.map(row).collect()
    }

    /// The ids of entries that wait.
    fn waiting(&mut self) -> Vec<String> {
        let outbox = self.store.key("o");
        let entries: Vec<(String, Vec<String>)> = self.store.run("XRANGE", &[&outbox, "-", "+"]);
        entries.into_iter().map(|(id, _)| id).collect()
    }

    /// What waits, to be put back later.
    fn outbox(&mut self) -> Vec<u8> {
        let outbox = self.store.key("o");
        self.store.run("DUMP", &[&outbox])
    }

    fn put_back(&mut self, outbox: &[u8]) {
        let key = self.store.key("o");
        let mut command = redis::cmd("RESTORE");
        command.arg(key).arg(0).arg(outbox).arg("REPLACE");
        command
            .exec(&mut test_support::redis().connection())
            .expect("RESTORE");
    }
}
