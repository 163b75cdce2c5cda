//! One service and one model, asked the same.

use crate::activity::{Activity, Item, Request, status_of};
use std::collections::{BTreeMap, BTreeSet};
use test_support::reference::{
    BoardName, Calendar, Model, Moment, Outcome, Rule, Store, board_key, now, written,
};
use test_support::{Api, Value, Worker, json, redis, until};

/// How far apart the test's clock reading and the Worker's may lie, in milliseconds.
pub const SLACK: i64 = 20;

/// A configuration.
pub struct Setup {
    pub timezone: &'static str,
    pub kinds: &'static [&'static str],
    pub decimals: u32,
    /// As configured, beside the default rules.
    pub rules: Value,
}

impl Setup {
    pub fn calendar(&self) -> Calendar {
        Calendar::of(self.timezone)
    }

    /// The default rules and those configured.
    pub fn rules(&self) -> BTreeMap<String, Rule> {
        let steps = |points: f64| (points * 10f64.powi(self.decimals as i32)).round() as u64;
        let mut rules = Rule::defaults(steps(1.0));
        for (action, changes) in self.rules.as_object().unwrap() {
            let rule = rules
                .entry(action.clone())
                .or_insert(Rule::new(0, changes["once"] == "day"));
            let read = |field: &str| changes[field].as_f64();
            rule.points = read("points").map_or(rule.points, steps);
            rule.daily_cap = read("daily_cap").map(steps);
            rule.cooldown = changes["cooldown"].as_i64().map(|seconds| seconds * 1000);
        }
        rules
    }
}

/// A service with a prefix of its own, and the model of it.
pub struct Run {
    pub api: Api,
    pub model: Model,
    pub store: Store,
    /// How often each outcome came, or its reason or slug.
    pub seen: BTreeMap<&'static str, usize>,
    decimals: u32,
    _worker: Worker,
}

impl Run {
    pub fn start(setup: &Setup) -> Self {
        let worker = Worker::builder()
            .var("TIMEZONE", setup.timezone)
            .var("PERIODS", &setup.kinds.join(","))
            .json("POINT_DECIMALS", json!(setup.decimals))
            .json("RULES", setup.rules.clone())
            .json("STORE_TIMEOUT_MS", json!(30_000))
            .start();
        Self {
            api: worker.api(),
            model: Model::new(setup.calendar(), setup.kinds.to_vec(), setup.rules()),
            store: Store::new(redis(), worker.prefix()),
            seen: BTreeMap::new(),
            decimals: setup.decimals,
            _worker: worker,
        }
    }

    /// Sends a request and compares outcome and touched boards.
    pub async fn step(&mut self, request: &Request) -> Result<(), String> {
        match request {
            Request::Erase(user) => return self.erase(user).await,
            Request::Moderate(user, hidden, frozen) => {
                return self.moderate(user, *hidden, *frozen).await;
            }
            Request::Adjust(adjustment, steps) => return self.adjust(adjustment, *steps).await,
            Request::One(_) | Request::Array(_) => {}
        }
        self.keep_off_midnight().await;
        let first = now() - SLACK;
        let answer = self.api.post("/v1/activity", &request.json()).await;
        let now = Moment {
            first,
            last: now() + SLACK,
        };
        let mut touched = BTreeSet::new();
        let mut outcomes = Vec::new();
        for item in request.items() {
            outcomes.push(match item {
                Item::Bad(_, slug) => Outcome::Refused(slug),
                Item::Activity(activity) => {
                    let date = self.model.calendar.date(activity.at.unwrap_or(now.first));
                    touched.extend(self.model.boards_of(date, &activity.groups));
                    if let Some(held) = self.model.standing.get(&activity.mark()) {
                        touched.extend(self.model.boards_of(held.date, &held.groups));
                    }
                    self.model.apply(activity, now)
                }
            });
        }
        for outcome in &outcomes {
            *self.seen.entry(outcome.name()).or_default() += 1;
        }
        let (status, expected) = self.expected(request, &outcomes, now);
        let body = essence(&answer.body);
        if (answer.status, &body) != (status, &expected) {
            let answered = answer.status;
            return Err(format!(
                "expected {status} {expected:#}\nanswered {answered} {body:#}"
            ));
        }
        let touched: Vec<_> = touched.into_iter().collect();
        self.compare_boards(&touched)
    }

    async fn erase(&mut self, user: &str) -> Result<(), String> {
        let answer = self.api.delete(&format!("/v1/users/{user}")).await;
        if answer.status != 204 {
            return Err(format!("DELETE {user}: {} {}", answer.status, answer.text));
        }
        self.model.erase(user);
        let names: Vec<_> = self.model.boards.keys().cloned().collect();
        self.compare_boards(&names)
    }

    async fn moderate(&mut self, user: &str, hidden: bool, frozen: bool) -> Result<(), String> {
        let path = format!("/v1/users/{user}/moderation");
        let verdict = json!({ "hidden": hidden, "frozen": frozen, "reason": "A test" });
        let answer = self.api.put(&path, &verdict).await;
        let expected = json!({ "user": { "id": user }, "hidden": hidden, "frozen": frozen });
        if (answer.status, &answer.body) != (200, &expected) {
            return Err(format!("{path}: {} {}", answer.status, answer.text));
        }
        self.model.moderate(user, hidden, frozen);
        let names: Vec<_> = self.model.boards.keys().cloned().collect();
        self.compare_boards(&names)
    }

    async fn adjust(&mut self, adjustment: &Activity, steps: i64) -> Result<(), String> {
        self.keep_off_midnight().await;
        let first = now() - SLACK;
        let path = format!("/v1/users/{}/adjustments", adjustment.user);
        let mut body = json!({ "id": adjustment.target, "reason": "A test" });
        if adjustment.undo {
            body["undo"] = json!(true);
        } else {
            body["points"] = self.points(steps);
            body["groups"] = json!(adjustment.groups);
        }
        if let Some(at) = adjustment.at.filter(|_| !adjustment.undo) {
            body["at"] = json!(written(at));
        }
        let answer = self.api.post(&path, &body).await;
        let now = Moment {
            first,
            last: now() + SLACK,
        };
        let outcome = self.model.adjust(adjustment, steps, now);
        let item = Request::One(Item::Activity(adjustment.clone()));
        let (status, expected) = self.expected(&item, std::slice::from_ref(&outcome), now);
        let found = essence(&answer.body);
        if (answer.status, &found) != (status, &expected) {
            let answered = answer.status;
            return Err(format!(
                "{path} {body}\nexpected {status} {expected:#}\nanswered {answered} {found:#}"
            ));
        }
        *self.seen.entry("adjusted").or_default() += 1;
        let names: Vec<_> = self.model.boards.keys().cloned().collect();
        self.compare_boards(&names)
    }

    fn expected(&self, request: &Request, outcomes: &[Outcome], now: Moment) -> (u16, Value) {
        let bodies = outcomes.iter().map(|outcome| self.outcome(outcome));
        match (request, outcomes) {
            (Request::Array(_), _) => {
                let items = bodies.map(|body| match body.get("type") {
                    Some(_) => json!({ "error": body }),
                    None => body,
                });
                (200, json!({ "results": items.collect::<Vec<_>>() }))
            }
            (Request::One(Item::Activity(activity)), [outcome]) => {
                let mut body = self.outcome(outcome);
                if let Outcome::Refused(slug) = outcome {
                    return (status_of(slug), body);
                }
                let date = self.model.calendar.date(activity.at.unwrap_or(now.first));
                for name in self.model.boards_of(date, &[]) {
                    let (steps, rank) = self.model.stands(&name, &activity.user);
                    let score = self.points(steps as i64);
                    body["standings"][name.0] =
                        json!({ "id": name.1, "score": score, "rank": rank });
                }
                (200, body)
            }
            (_, _) => {
                let body = self.outcome(&outcomes[0]);
                (body["status"].as_u64().unwrap() as u16, body)
            }
        }
    }

    fn outcome(&self, outcome: &Outcome) -> Value {
        let body = |name: &str, steps| json!({ "outcome": name, "points": self.points(steps) });
        match outcome {
            Outcome::Counted(steps) => body("counted", *steps),
            Outcome::Duplicate => body("duplicate", 0),
            Outcome::Undone(steps) => body("undone", *steps),
            Outcome::NothingToUndo => body("nothing-to-undo", 0),
            Outcome::Capped(reason) => {
                json!({ "outcome": "capped", "reason": reason, "points": 0 })
            }
            Outcome::Stale => body("stale", 0),
            Outcome::Refused(slug) => {
                json!({ "type": format!("/problems/{slug}"), "status": status_of(slug) })
            }
        }
    }

    /// Points as the API writes them.
    pub fn points(&self, steps: i64) -> Value {
        let one = 10i64.pow(self.decimals);
        if steps % one == 0 {
            json!(steps / one)
        } else {
            json!(steps as f64 / one as f64)
        }
    }

    /// Compares whole boards with what lies in Redis.
    pub fn compare_boards(&mut self, names: &[BoardName]) -> Result<(), String> {
        let keys: Vec<String> = names.iter().map(board_key).collect();
        for (name, found) in names.iter().zip(self.store.boards(&keys)) {
            let expected = self.model.ranking(name);
            if found != expected {
                return Err(format!(
                    "board {name:?}\nexpected {expected:?}\nfound    {found:?}"
                ));
            }
        }
        Ok(())
    }

    /// The Worker reads its clock on its own: near midnight nobody could say on which day.
    async fn keep_off_midnight(&self) {
        let calendar = &self.model.calendar;
        until("the next day", async || {
            let now = now();
            (calendar.date(now - 500) == calendar.date(now + 5_000)).then_some(())
        })
        .await;
    }
}

/// An answer with its problems cut down to type and status, once they are whole.
fn essence(body: &Value) -> Value {
    match body {
        Value::Object(fields) if fields.contains_key("type") => {
            let worded = |field: &str| fields.get(field).is_some_and(Value::is_string);
            assert!(worded("title") && worded("detail"), "{body:#}");
            json!({ "type": fields["type"], "status": fields["status"] })
        }
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), essence(value)))
            .collect(),
        Value::Array(items) => items.iter().map(essence).collect(),
        other => other.clone(),
    }
}
