//! A site with everything in it.

use std::any::Any;
use std::sync::OnceLock;

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use test_support::{Answer, Api, Value, Worker, WorkerBuilder, json};

use crate::command::Place;

/// More members than are read at once.
pub const MANY: usize = 700;

/// Users of whom something is known.
pub const USERS: [&str; 9] = [
    "ada", "bob", "cyd", "dan", "eve", "fay", "gus", "many", "gone",
];

/// A running service and where its data lie.
pub struct Site {
    /// What runs; ends on drop.
    _running: Box<dyn Any + Send + Sync>,
    /// A client with the service key.
    pub api: Api,
    /// Its place in the store.
    pub place: Place,
}

impl Site {
    /// One on data that lie here, perhaps restored.
    pub fn on(place: &Place) -> Self {
        let worker = builder().var("PREFIX", &place.prefix).store(&place.store);
        let worker = worker.start();
        Self::of(worker.api(), place.clone(), worker)
    }

    /// One that runs, for as long as it is there.
    pub fn of(api: Api, place: Place, running: impl Any + Send + Sync) -> Self {
        let _running = Box::new(running);
        Self {
            _running,
            api,
            place,
        }
    }

    /// Sends activity; every item of it is taken.
    pub async fn send(&self, activity: Value) -> Answer {
        let answer = self.api.post("/v1/activity", &activity).await;
        answer.assert_status(200);
        answer
    }

    /// Fills it: equals, groups, days long ago, hidden, frozen, adjusted, undone, many.
    pub async fn fill(&self) {
        for back in [0, 12, 3000] {
            for user in ["ada", "bob", "cyd", "dan", "eve", "fay", "gus", "gone"] {
                self.send(like(user, &format!("p{back}"), back)).await;
            }
        }
        self.send(json!({"user": "ada", "action": "comment", "target": "a \"c\" – 艾, %_*[]"}))
            .await;
        self.send(json!({"user": "ada", "action": "visit", "target": "/", "groups": ["a|b:c"]}))
            .await;
        self.send(json!({"user": "bob", "action": "wave", "target": "w"}))
            .await;
        let undo = |user: &str, target: &str| json!({"user": user, "action": "like", "target": target, "undo": true, "at": noon(0)});
        self.send(undo("cyd", "p12")).await;
        self.send(undo("cyd", "never")).await;
        for start in [0, MANY / 2] {
            let numbers = start..start + MANY / 2;
            let mut items = Vec::new();
            for number in numbers {
                let action = if number % 2 == 0 { "like" } else { "visit" };
                items.push(json!({"user": format!("u{number}"), "action": action, "target": "/m"}));
            }
            self.send(json!(items)).await;
            let of_one = (start..start + MANY / 2).flat_map(|number| {
                let target = format!("/{number}");
                ["visit", "bookmark"]
                    .map(|action| json!({"user": "many", "action": action, "target": target}))
            });
            let (first, second): (Vec<_>, Vec<_>) =
                of_one.partition(|item| item["action"] == "visit");
            self.send(json!(first)).await;
            self.send(json!(second)).await;
        }
        self.moderate().await;
    }

    async fn moderate(&self) {
        let api = &self.api;
        let put = async |path: &str, body: Value| {
            api.put(path, &body).await.assert_status(200);
        };
        let link = "https://example.org/艾?a=\"b\"";
        put(
            "/v1/users/ada",
            json!({"name": "Ada \"the first\" 艾\\", "url": link.replace('"', "%22")}),
        )
        .await;
        put("/v1/users/eve", json!({"name": "Eve", "hidden": true})).await;
        put("/v1/users/gone", json!({"name": "Gone"})).await;
        put(
            "/v1/users/bob/moderation",
            json!({"hidden": true, "frozen": false, "reason": "Spam \"ring\""}),
        )
        .await;
        put(
            "/v1/users/dan/moderation",
            json!({"hidden": false, "frozen": true, "reason": "Fights"}),
        )
        .await;
        for (user, id, points) in [("fay", "case-1", -1.25), ("gus", "case-2", 40.0)] {
            let path = format!("/v1/users/{user}/adjustments");
            let adjustment =
                json!({"id": id, "points": points, "reason": "Case", "groups": ["eu"]});
            api.post(&path, &adjustment).await.assert_status(200);
        }
        let back = json!({"id": "case-2", "undo": true, "reason": "Appeal"});
        let path = "/v1/users/gus/adjustments";
        api.post(path, &back).await.assert_status(200);
        api.delete("/v1/users/gone").await.assert_status(204);
    }
}

/// A like of that many days ago, in a group.
pub fn like(user: &str, target: &str, back: i64) -> Value {
    json!({"user": user, "action": "like", "target": target, "at": noon(back), "groups": ["eu"]})
}

/// Settings unlike the usual ones, where it is noon: no day ends while a test runs.
pub fn builder() -> WorkerBuilder {
    let wave = json!({"points": 1.25, "once": "standing", "undo": true, "by": "service",
        "cooldown": 3600});
    Worker::builder()
        .var("STORE_TIMEOUT_MS", "20000")
        .var("TIMEZONE", &zone())
        .json("POINT_DECIMALS", json!(2))
        .json("RULES", json!({"wave": wave}))
}

/// The start of the test run, by which all are the same hour.
fn start() -> Timestamp {
    static START: OnceLock<Timestamp> = OnceLock::new();
    *START.get_or_init(Timestamp::now)
}

/// Hours to add to UTC so that it is noon.
fn east() -> i64 {
    12 - i64::from(start().to_zoned(TimeZone::UTC).hour())
}

fn zone() -> String {
    match east() {
        0 => "UTC".to_owned(),
        // These zones count westwards: Etc/GMT-3 is three hours ahead.
        east @ 1.. => format!("Etc/GMT-{east}"),
        west => format!("Etc/GMT+{}", -west),
    }
}

/// The date of a day that many days ago.
pub fn day(back: i64) -> String {
    let local = start() + (east() - 24 * back).hours();
    local.to_zoned(TimeZone::UTC).date().to_string()
}

/// The instant of the start, that many days ago.
pub fn noon(back: i64) -> String {
    (start() - (24 * back).hours()).to_string()
}
