//! A running service and a data set with every kind of data.

use std::any::Any;
use std::sync::OnceLock;
use std::time::Duration;

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use test_support::{
    Answer, Api, SERVICE_KEY, Value, Worker, WorkerBuilder, depth, json, root, scaled, shards,
    until,
};

/// Number of users of a board that is too large for one page.
pub const MANY: usize = 700;

/// Users that [`TestApp::fill`] gives data.
pub const USERS: [&str; 9] = [
    "ada", "bob", "cyd", "dan", "eve", "fay", "gus", "many", "gone",
];

/// Store and prefix of a deployment's data.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// URL of the store.
    pub store: String,
    /// Key prefix.
    pub prefix: String,
}

/// A running service.
pub struct TestApp {
    /// Stops the service on drop.
    _running: Box<dyn Any + Send + Sync>,
    /// A client with the service key.
    pub api: Api,
    /// Store and prefix of the data.
    pub endpoint: Endpoint,
}

impl TestApp {
    /// Starts a service on existing data.
    pub fn on(endpoint: &Endpoint) -> Self {
        Self::with(endpoint, builder())
    }

    /// Starts a service with other settings on existing data.
    pub fn with(endpoint: &Endpoint, builder: WorkerBuilder) -> Self {
        let worker = builder.var("PREFIX", &endpoint.prefix);
        let worker = worker.store(&endpoint.store).start();
        Self::new(worker.api(), endpoint.clone(), worker)
    }

    /// Wraps a running service and keeps it running.
    pub fn new(api: Api, endpoint: Endpoint, running: impl Any + Send + Sync) -> Self {
        let _running = Box::new(running);
        Self {
            _running,
            api,
            endpoint,
        }
    }

    /// Sends a PUT and asserts status 200.
    pub async fn put(&self, path: &str, body: &Value) {
        self.api.put(path, body).await.assert_status(200);
    }

    /// Sends a POST and asserts status 200.
    pub async fn post(&self, path: &str, body: &Value) {
        self.api.post(path, body).await.assert_status(200);
    }

    /// Sends a DELETE and asserts status 204.
    pub async fn delete(&self, path: &str) {
        self.api.delete(path).await.assert_status(204);
    }

    /// Sends activity and asserts status 200.
    pub async fn send(&self, activity: Value) -> Answer {
        let response = self.api.post("/v1/activity", &activity).await;
        response.assert_status(200);
        response
    }

    /// Sends an activity of today.
    pub async fn act(&self, user: &str, action: &str, target: &str) -> Answer {
        let activity = json!({"user": user, "action": action, "target": target});
        self.send(activity).await
    }

    /// Hides or freezes a user, or no longer.
    pub async fn moderate(&self, user: &str, hidden: bool, frozen: bool) {
        let body = json!({"hidden": hidden, "frozen": frozen, "reason": "Spam \"ring\""});
        let path = format!("/v1/users/{user}/moderation");
        self.put(&path, &body).await;
    }

    /// Applies or undoes an adjustment of a user's points.
    pub async fn adjust(&self, user: &str, adjustment: Value) {
        let path = format!("/v1/users/{user}/adjustments");
        self.post(&path, &adjustment).await;
    }

    /// Opens a case of these members, and decides it.
    pub async fn decide_case(&self, members: Value, decision: Value) {
        let opened = json!({"members": members, "reason": "Ring"});
        let case = self.api.post("/v1/cases", &opened).await;
        let id = case.assert_status(200).body["id"].clone();
        let path = format!("/v1/cases/{}", id.as_str().unwrap_or_default());
        self.put(&path, &decision).await;
    }

    /// Returns the entries of the audit log without their ids, which a rebuild changes.
    pub async fn audit_log(&self) -> Vec<Value> {
        let log = self.api.get("/v1/moderation").await.body;
        let mut entries = log["entries"].as_array().cloned().unwrap_or_default();
        for entry in &mut entries {
            entry["id"] = Value::Null;
        }
        entries
    }

    /// Creates ties, group boards, events, old days, undone, hidden, frozen and adjusted users, and keys that are too long for
    /// a listpack of Redis.
    pub async fn fill(&self) {
        self.fill_with(depth(150, MANY)).await;
    }

    /// Fills boards with this number of users, and twice as many activities of one user.
    pub async fn fill_with(&self, many: usize) {
        self.count_in_events().await;
        for days_ago in [0, 12, 3000] {
            for user in ["ada", "bob", "cyd", "dan", "eve", "fay", "gus", "gone"] {
                self.send(like(user, &format!("p{days_ago}"), days_ago))
                    .await;
            }
        }
        self.act("ada", "comment", "a \"c\" – 艾, %_*[]").await;
        self.act("bob", "wave", "w").await;
        let visit = json!({"user": "ada", "action": "visit", "target": "/", "groups": ["a|b:c"]});
        self.send(visit).await;
        for target in ["p12", "never"] {
            let mut undo = like("cyd", target, 0);
            undo["undo"] = json!(true);
            self.send(undo).await;
        }
        for start in [0, many / 2] {
            let numbers = start..start + many / 2;
            let by_many_users = numbers.clone().map(|number| {
                let action = if number % 2 == 0 { "like" } else { "visit" };
                json!({"user": format!("u{number}"), "action": action, "target": "/m"})
            });
            self.send(by_many_users.collect()).await;
            for action in ["visit", "bookmark"] {
                let by_one_user = numbers.clone().map(|number| {
                    json!({"user": "many", "action": action, "target": format!("/{number}")})
                });
                self.send(by_one_user.collect()).await;
            }
        }
        self.moderate_users().await;
    }

    /// Defines events, changes and deletes some, and counts activity in the others. They run afterwards.
    async fn count_in_events(&self) {
        // All are defined before the first begins.
        // Activity may be dated a minute ahead.
        let ahead = scaled(Duration::from_secs(10)).min(Duration::from_secs(25));
        let from = Timestamp::now() + ahead;
        let at = |seconds: i64| (from + seconds.seconds()).to_string();
        let event = json!({"title": "Season", "from": at(0), "to": at(86_400)});
        let contest = json!({"title": "Contest", "from": at(5), "to": at(30), "groups": ["eu"],
            "actions": {"like": 1.25, "visit": 7}});
        for (id, body) in [
            ("season", &event),
            ("again", &event),
            ("deleted", &event),
            ("a:b", &contest),
        ] {
            let path = format!("/v1/events/{id}");
            self.put(&path, body).await;
        }
        let send = async |user: &str, action: &str, target: &str, seconds: i64| {
            let activity = json!({"user": user, "action": action, "target": target, "at": at(seconds), "groups": ["eu"]});
            self.send(activity).await;
        };
        for (user, seconds) in [("ada", 1), ("bob", 7), ("cyd", 29), ("dan", 30), ("eve", 9)] {
            send(user, "like", "event", seconds).await;
        }
        // A rebuild lacks the changes of users who have been erased, so it numbers later ones otherwise: equal scores on
        // different shards may change places.
        if shards() == 1 {
            send("gone", "like", "event", 8).await;
        }
        send("cyd", "visit", "/event", 10).await;
        let undo =
            json!({"user": "bob", "action": "like", "target": "event", "undo": true, "at": at(31)});
        self.send(undo).await;
        for id in ["again", "deleted"] {
            let path = format!("/v1/events/{id}");
            self.delete(&path).await;
        }
        send("ada", "like", "event-2", 10).await;
        self.put("/v1/events/again", &event).await;
        send("fay", "like", "event", 11).await;
        let runs = async || {
            let season = self.api.get("/v1/events/season").await;
            (season.body["state"] == "running").then_some(())
        };
        until("the events have begun", runs).await;
    }

    async fn moderate_users(&self) {
        let ada =
            json!({"name": "Ada \"the first\" 艾\\", "url": "https://example.org/艾?a=%22b%22"});
        let eve = json!({"name": "Eve", "hidden": true});
        for (user, profile) in [
            ("ada", ada),
            ("eve", eve),
            ("gone", json!({"name": "Gone"})),
        ] {
            let path = format!("/v1/users/{user}");
            self.put(&path, &profile).await;
        }
        self.moderate("bob", true, false).await;
        self.moderate("dan", false, true).await;
        for (user, adjustment) in [
            (
                "fay",
                json!({"id": "case-1", "points": -1.25, "groups": ["eu"]}),
            ),
            (
                "gus",
                json!({"id": "case-2", "points": 40, "groups": ["eu"]}),
            ),
            (
                "ada",
                json!({"id": "case-3", "points": 12.5, "event": "season"}),
            ),
            (
                "fay",
                json!({"id": "case-4", "points": -900, "event": "season"}),
            ),
            (
                "gus",
                json!({"id": "case-5", "points": 7, "event": "season"}),
            ),
            ("gus", json!({"id": "case-2", "undo": true})),
            ("fay", json!({"id": "case-4", "undo": true})),
        ] {
            let mut adjustment = adjustment;
            adjustment["reason"] = json!("Case");
            self.adjust(user, adjustment).await;
        }
        self.delete("/v1/users/gone").await;
    }
}

/// Returns the activity of the demo community.
pub fn demo_community() -> Result<Vec<Value>, Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string(root().join("demo/community.jsonl"))?;
    let lines: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
    Ok(lines?)
}

/// Returns a like of some days ago, in the group `eu`.
pub fn like(user: &str, target: &str, days_ago: i64) -> Value {
    json!({"user": user, "action": "like", "target": target, "at": noon(days_ago), "groups": ["eu"]})
}

/// Returns a Worker with unusual settings, in a time zone in which it is noon, so that no day ends
/// during a test.
pub fn builder() -> WorkerBuilder {
    let wave = json!({"points": 1.25, "once": "standing", "undo": true, "by": "service",
        "cooldown": 3600});
    // The audit log has an actor.
    let keys = format!("anna@activity+profiles+content+admin:{SERVICE_KEY}");
    Worker::builder()
        .var("SERVICE_KEYS", &keys)
        .var("TIMEZONE", &zone())
        .json("POINT_DECIMALS", json!(2))
        .json("RULES", json!({"wave": wave}))
}

/// Returns the start of the test run: all tests share its hour.
fn start() -> Timestamp {
    static START: OnceLock<Timestamp> = OnceLock::new();
    *START.get_or_init(Timestamp::now)
}

/// Returns the offset from UTC in hours at which it is noon.
fn noon_offset() -> i64 {
    12 - i64::from(start().to_zoned(TimeZone::UTC).hour())
}

fn zone() -> String {
    match noon_offset() {
        0 => "UTC".to_owned(),
        // The sign of these names is inverted: Etc/GMT-3 is three hours ahead of UTC.
        east @ 1.. => format!("Etc/GMT-{east}"),
        west => format!("Etc/GMT+{}", -west),
    }
}

/// Returns the date of some days ago.
pub fn day(days_ago: i64) -> String {
    let local = start() + (noon_offset() - 24 * days_ago).hours();
    local.to_zoned(TimeZone::UTC).date().to_string()
}

/// Returns the start of the test run, moved some days into the past.
pub fn noon(days_ago: i64) -> String {
    (start() - (24 * days_ago).hours()).to_string()
}
