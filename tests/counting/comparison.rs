//! Runs a service and the model side by side and compares them.

use crate::generator::{Activity, Item, Request, TargetChange, VISITOR, received_at, status_of};
use crate::sign::{SECRET, claims, hs256};
use activity_rank_store::scripts::ALL;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use test_support::reference::{
    BoardId, Calendar, Content, Event, InstantRange, Model, Outcome, Rule, Store, Target, Version,
    board_key, content_board_key, event_board, now, rfc3339,
};
use test_support::{
    Api, Value, Worker, json, recount_event, redis, scaled, shard_of, shards, until,
};

/// The maximum difference between the clock readings of test and Worker, in milliseconds.
pub const SLACK: i64 = 100;

/// Milliseconds by which the clock of the Worker that publishes rules is behind: it publishes them from instants that have
/// passed already, so the test need not wait.
pub const LAG: i64 = 100_000;

/// The configuration of a service.
#[derive(Default)]
pub struct Setup {
    pub timezone: &'static str,
    pub periods: &'static [&'static str],
    pub decimals: u32,
    pub order_bits: u32,
    /// The variable `RULES`, in addition to the default rules.
    pub rules: Value,
    /// The periods with boards of content and of authors.
    pub content_periods: &'static [&'static str],
    /// The actions that visitors may send.
    pub visitors: &'static [&'static str],
    /// Whether there are events.
    pub events: bool,
    /// Whether there is a journal, so that events can be counted again.
    pub journal: bool,
    /// Whether each user has accounts, which send half of the requests.
    pub accounts: bool,
    /// Whether versions of the rules are published.
    pub versions: bool,
}

impl Setup {
    pub fn new(
        timezone: &'static str,
        periods: &'static [&'static str],
        decimals: u32,
        rules: Value,
    ) -> Self {
        Self {
            timezone,
            periods,
            decimals,
            order_bits: 30,
            rules,
            ..Self::default()
        }
    }

    pub fn calendar(&self) -> Calendar {
        Calendar::new(self.timezone)
    }

    /// Returns an empty model with the default and the configured rules.
    pub fn model(&self) -> Model {
        let steps = |points: f64| (points * 10f64.powi(self.decimals as i32)).round() as u64;
        let defaults = Rule::defaults(steps(1.0));
        let mut model = Model::new(self.calendar(), self.periods.to_vec(), defaults);
        let change = |rule: &mut Rule, changes: &Value| {
            let number = |field: &str| changes[field].as_f64();
            rule.points = number("points").map_or(rule.points, steps);
            rule.daily_cap = number("daily_cap").map(steps).or(rule.daily_cap);
            rule.member_cap = number("member_cap").map(steps).or(rule.member_cap);
            rule.pair_cap = number("pair_cap").map(steps).or(rule.pair_cap);
            let cooldown = changes["cooldown"].as_i64().map(|seconds| seconds * 1000);
            rule.cooldown = cooldown.or(rule.cooldown);
            rule.others_only = changes["own"]
                .as_bool()
                .map_or(rule.others_only, |own| !own);
            rule.on = changes["on"].as_bool().unwrap_or(rule.on);
            rule.received = number("received").map_or(rule.received, steps);
        };
        for (action, changes) in self.rules.as_object().unwrap() {
            let (first, later) = match changes.as_array() {
                Some(list) => list.split_first().expect("a rule"),
                None => (changes, &[][..]),
            };
            let is_daily = first["once"] == "day";
            let rule = model.rules.entry(action.clone());
            let rule = rule.or_insert(Rule::new(0, is_daily));
            change(rule, first);
            let mut rule = rule.clone();
            let dated = later.iter().map(|changes| {
                change(&mut rule, changes);
                (
                    self.start_of(changes["from"].as_str().unwrap()),
                    rule.clone(),
                )
            });
            model.later_rules.insert(action.clone(), dated.collect());
        }
        model
    }

    /// Returns the instant from which a rule applies.
    fn start_of(&self, from: &str) -> i64 {
        match from.parse::<jiff::Timestamp>() {
            Ok(instant) => instant.as_millisecond(),
            Err(_) => self.calendar().start(from.parse().expect("a day")),
        }
    }
}

/// A service with its own prefix, and its model.
pub struct Comparison {
    pub api: Api,
    pub model: Model,
    pub store: Store,
    /// The number of occurrences of each outcome, reason or slug.
    pub outcome_counts: BTreeMap<&'static str, usize>,
    decimals: u32,
    worker: Worker,
    /// A Worker that publishes versions of the rules, [`LAG`] behind.
    publisher: Option<Worker>,
    /// Whether boards were rebuilt: that numbers the changes of each shard again.
    is_rebuilt: bool,
    /// The accounts that are joined, if users have accounts.
    joined: Option<BTreeSet<String>>,
    steps: usize,
}

impl Comparison {
    pub fn start(setup: &Setup) -> Self {
        let builder = Worker::builder()
            .var("TIMEZONE", setup.timezone)
            .var("PERIODS", &setup.periods.join(","))
            .json("POINT_DECIMALS", json!(setup.decimals))
            .json("ORDER_BITS", json!(setup.order_bits))
            .json("RULES", setup.rules.clone())
            .var("JWT_SECRET", SECRET)
            .var("CONTENT_PERIODS", &setup.content_periods.join(","))
            .var("VISITORS", &setup.visitors.join(","))
            .var("VISITOR_KEY", SECRET)
            .var("SETTLE_MINUTES", "0");
        let publisher = setup.versions.then(|| {
            let builder = builder.clone().ahead(-LAG);
            builder.start()
        });
        let worker = match setup.journal {
            true => builder.journal(),
            false => builder.cron(),
        }
        .start();
        let mut model = setup.model();
        model.max_points = (1 << (53 - setup.order_bits)) - 1;
        let mut store = Store::new(redis(), worker.prefix());
        // A call whose target was registered by an unknown script is repeated after the others.
        for (_, script) in ALL {
            store.load_script(&script.text());
        }
        store.order_bits = setup.order_bits;
        let has_content = !setup.content_periods.is_empty();
        model.erasures = (has_content || setup.journal).then(BTreeMap::new);
        if has_content {
            let mut content = Content::new(setup.content_periods);
            content.has_shards = shards() > 1;
            content.counted = setup.visitors.to_vec();
            model.content = Some(content);
        }
        Self {
            api: worker.api(),
            model,
            store,
            outcome_counts: BTreeMap::new(),
            decimals: setup.decimals,
            worker,
            publisher,
            joined: setup.accounts.then(BTreeSet::new),
            is_rebuilt: false,
            steps: 0,
        }
    }

    /// Sends a request and compares its response and the boards it touches.
    pub async fn step(&mut self, request: &Request) -> Result<(), String> {
        match request {
            Request::Erase(user) => return self.erase(user).await,
            Request::Moderate(user, hidden, frozen) => {
                return self.moderate(user, *hidden, *frozen).await;
            }
            Request::Adjust(adjustment, steps, event) => {
                return self.adjust(adjustment, *steps, event.as_deref()).await;
            }
            Request::Target(target, change) => return self.change_target(target, change).await,
            Request::Standings(user) => {
                self.avoid_boundaries().await;
                return self.compare_standings(user).await;
            }
            Request::Event(id, event) => return self.change_event(id, event.as_ref()).await,
            Request::Recount(id, event, preview) => return self.recount(id, event, *preview).await,
            Request::Publish(version) => return self.publish(version).await,
            Request::TakeBack(number) => return self.take_back(*number).await,
            Request::One(_) | Request::Array(_) | Request::ByMember(..) => {}
        }
        let senders = self.senders(request).await;
        let sender = |user: &str| senders.get(user).cloned().unwrap_or(user.to_owned());
        let caller = match request {
            Request::ByMember(user, _) => self.api.with_key(&hs256(&claims(sender(user)))),
            _ => self.api.clone(),
        };
        let mut body = request.json();
        for item in body.as_array_mut().map_or(&mut [][..], Vec::as_mut_slice) {
            set_sender(item, &sender);
        }
        set_sender(&mut body, &sender);
        self.avoid_boundaries().await;
        let first = now() - SLACK;
        let response = caller.post("/v1/activity", &body).await;
        let now = since(first);
        for item in request.items() {
            if let Item::Activity(activity) = item {
                self.model.register_target(activity, now);
            }
        }
        let mut touched = BTreeSet::new();
        let mut outcomes = vec![Outcome::Stale; request.items().len()];
        for index in self.call_order(request.items(), now) {
            outcomes[index] = match &request.items()[index] {
                Item::Invalid(_, slug) => Outcome::Refused(slug),
                Item::Activity(activity) => {
                    let date = self.model.calendar.date(activity.at.unwrap_or(now.first));
                    touched.extend(self.model.boards_of(date, &activity.groups));
                    touched.extend(self.model.events.keys().map(|id| event_board(id)));
                    if let Some(record) = self.model.active.get(&activity.dedup_key()) {
                        touched.extend(self.model.boards_of(record.date, &record.groups));
                    }
                    self.model.apply(activity, now)
                }
            };
        }
        for outcome in &outcomes {
            *self.outcome_counts.entry(outcome.name()).or_default() += 1;
        }
        let (status, expected) = self.expected_response(request, &outcomes, now);
        let body = without_problem_texts(&response.body);
        if (response.status, &body) != (status, &expected) {
            return Err(format!(
                "expected {status} {expected:#}\nreceived {} {body:#}",
                response.status
            ));
        }
        let touched: Vec<_> = touched.into_iter().collect();
        self.compare_boards(&touched)?;
        self.compare_content().await
    }

    /// Returns the account that sends every other request of one user in the user's place, by the user. Joins it first.
    async fn senders(&mut self, request: &Request) -> BTreeMap<String, String> {
        self.steps += 1;
        let users = request.items().iter().filter_map(|item| match item {
            Item::Activity(Activity { user, .. }) => Some(user),
            Item::Invalid(..) => None,
        });
        let users: BTreeSet<&String> = users.collect();
        let joined = self.joined.as_mut().filter(|_| self.steps % 2 == 1);
        let (Some(joined), Some(user), 1) = (joined, users.first(), users.len()) else {
            return BTreeMap::new();
        };
        let account = format!("{user}@{}", self.steps % 5);
        if joined.insert(account.clone()) {
            let path = format!("/v1/users/{}/account", encoded(&account));
            let response = self.api.put(&path, &json!({ "of": user })).await;
            response.assert_status(200);
        }
        [((*user).clone(), account)].into()
    }

    /// Returns the indexes of items in the order in which they are applied: one call for each user, in the order of the
    /// users' first items that the Worker does not refuse; then again the calls that an undo needs a second time.
    fn call_order(&self, items: &[Item], now: InstantRange) -> Vec<usize> {
        let mut first_items: BTreeMap<&str, usize> = BTreeMap::new();
        let mut repeated = BTreeSet::new();
        for (index, item) in items.iter().enumerate() {
            if let Item::Activity(activity) = item
                && self.model.find_rule(activity, now).is_ok()
            {
                let user = activity.user.as_str();
                first_items.entry(user).or_insert(index);
                if self.model.needs_second_call(activity, now) {
                    repeated.insert(user);
                }
            }
        }
        let mut order: Vec<usize> = (0..items.len()).collect();
        order.sort_by_key(|index| match &items[*index] {
            Item::Activity(activity) => {
                let user = activity.user.as_str();
                let first = first_items.get(user).copied();
                (repeated.contains(user), first.unwrap_or_default())
            }
            Item::Invalid(..) => (false, 0),
        });
        order
    }

    async fn erase(&mut self, user: &str) -> Result<(), String> {
        let received = received_at(user, &self.model).map(|at| at.last);
        let last = received.filter(|last| *last < now() + 1000).max();
        wait_for(last).await;
        let first = now() - SLACK;
        let response = self.api.delete(&format!("/v1/users/{user}")).await;
        if response.status != 204 {
            let (status, text) = (response.status, response.text);
            return Err(format!("DELETE {user}: {status} {text}"));
        }
        let erased = since(first);
        if let Some(joined) = &mut self.joined {
            joined.retain(|account| !account.starts_with(&format!("{user}@")));
        }
        self.model.erase(user, erased);
        if self.model.erasures.is_some() {
            wait_for(Some(erased.last)).await;
        }
        self.compare_all_boards().await
    }

    async fn change_event(&mut self, id: &str, event: Option<&Event>) -> Result<(), String> {
        let path = format!("/v1/events/{}", encoded(id));
        self.avoid_boundaries().await;
        let first = now() - SLACK;
        let (response, status) = match event {
            None => {
                let response = self.api.delete(&path).await;
                self.model.delete_event(id);
                (response, 204)
            }
            Some(event) => {
                let response = self.api.put(&path, &self.event_json(event)).await;
                match self.model.define(id, event.clone(), since(first)) {
                    true => (response, 200),
                    false => (response, 409),
                }
            }
        };
        *self
            .outcome_counts
            .entry(if status == 409 {
                "refused-event"
            } else {
                "event"
            })
            .or_default() += 1;
        if response.status != status {
            let (found, text) = (response.status, response.text);
            return Err(format!("{path} {event:?}: {found}, not {status}: {text}"));
        }
        self.compare_all_boards().await
    }

    fn event_json(&self, event: &Event) -> Value {
        let mut body = json!({ "title": "An event", "from": rfc3339(event.from), "to": rfc3339(event.to),
            "groups": event.groups });
        if let Some(actions) = &event.actions {
            let points = actions.iter();
            let points = points.map(|(name, steps)| (name.clone(), self.points(*steps as i64)));
            body["actions"] = points.collect();
        }
        body
    }

    async fn publish(&mut self, version: &Version) -> Result<(), String> {
        self.avoid_boundaries().await;
        let mut rules = json!({});
        for (action, field, value) in &version.changes {
            rules[action][field] = match *field {
                "cooldown" => json!(value),
                _ => value.map_or(Value::Null, |steps| self.points(steps as i64)),
            };
        }
        let from = rfc3339(version.from);
        let body = json!({ "from": from, "rules": rules, "reason": "A test" });
        let publisher = self.publisher.as_ref().expect("a publisher").api();
        let response = publisher.post("/v1/rules", &body).await;
        if response.status != 200 {
            return Err(format!("{body}: {} {}", response.status, response.text));
        }
        self.record_version(&response.body, version.changes.clone());
        Ok(())
    }

    async fn take_back(&mut self, number: u64) -> Result<(), String> {
        self.avoid_boundaries().await;
        let publisher = self.publisher.as_ref().expect("a publisher").api();
        let path = format!("/v1/rules/{number}?reason=A+test");
        let response = publisher.delete(&path).await;
        if response.status != 200 {
            return Err(format!("{path}: {} {}", response.status, response.text));
        }
        let outcome = match response.body["state"].as_str() {
            Some("removed") => {
                self.model.versions.remove(&number);
                "removed-version"
            }
            _ => {
                self.record_version(&response.body, Vec::new());
                "taken-back-version"
            }
        };
        *self.outcome_counts.entry(outcome).or_default() += 1;
        Ok(())
    }

    /// Records a version in the model, unless an earlier request has published it.
    fn record_version(&mut self, view: &Value, changes: Vec<(String, &'static str, Option<u64>)>) {
        let from = view["from"].as_str().expect("an instant");
        let from = from.parse::<jiff::Timestamp>().expect("an instant");
        let version = Version {
            from: from.as_millisecond(),
            takes_back: view["takes_back"].as_u64(),
            changes,
        };
        let number = view["version"].as_u64().expect("a number");
        self.model.versions.entry(number).or_insert(version);
        *self.outcome_counts.entry("version").or_default() += 1;
    }

    async fn recount(&mut self, id: &str, event: &Event, preview: bool) -> Result<(), String> {
        self.avoid_boundaries().await;
        let body = self.event_json(event);
        let recount = |mode: &[&str]| recount_event(&self.worker, id, &body, mode);
        let previewed = preview.then(|| recount(&["--dry-run", "--json", "--limit", "0"]));
        let applied = recount(&["--apply", "--yes", "--fresh"]);
        let path = format!("/v1/events/{}", encoded(id));
        let defined = self.api.get(&path).await;
        let final_at = defined.body["final_at"].as_str();
        let final_at = final_at.map(|at| at.parse::<jiff::Timestamp>().expect("an instant"));
        let mut event = event.clone();
        event.final_at = final_at.map_or(event.to, jiff::Timestamp::as_millisecond);
        let is_late = event.final_at < event.to || event.final_at > event.to.max(now() + SLACK);
        let is_counted = self.model.recount(id, event);
        let text = format!("{:?} {:?}", previewed, applied);
        let is_refused = text.contains("a score would exceed its maximum");
        if applied.is_ok() != is_counted || is_refused == is_counted || is_counted && is_late {
            return Err(format!("recount of {id} {body}: {is_counted}, {text}"));
        }
        let outcome = match is_counted {
            true => "recount",
            false => "refused-recount",
        };
        *self.outcome_counts.entry(outcome).or_default() += 1;
        self.store.generation += u32::from(is_counted);
        self.is_rebuilt |= is_counted;
        let [visible, _] = self.model.ranking(&event_board(id));
        if let Some(Ok(previewed)) = previewed.filter(|_| is_counted) {
            let preview: Value = serde_json::from_str(&previewed).expect("JSON");
            if preview["boards"][0]["members"] != visible.len() {
                return Err(format!("recount of {id}: {previewed}, not {visible:?}"));
            }
        }
        wait_for(Some(now() + SLACK)).await;
        self.compare_all_boards().await
    }

    async fn change_target(&mut self, id: &str, change: &TargetChange) -> Result<(), String> {
        let path = format!("/v1/targets/{}", encoded(id));
        let content = self.model.content.as_mut().expect("boards of content");
        let (response, status) = match change {
            TargetChange::Register { author, title } => {
                let mut body = json!({});
                for (field, value) in [("author", author), ("title", title)] {
                    if let Some(value) = value {
                        body[field] = json!(value);
                    }
                }
                let response = self.api.put(&path, &body).await;
                match content.register(id, author.as_deref(), title.as_deref()) {
                    true => (response, 200),
                    false => (response, 409),
                }
            }
            TargetChange::Delete => {
                let response = self.api.delete(&path).await;
                content.delete(id);
                (response, 204)
            }
            TargetChange::Moderate(hidden) => {
                let body = json!({ "hidden": hidden, "reason": "A test" });
                let response = self.api.put(&format!("{path}/moderation"), &body).await;
                match content.moderate(id, *hidden) {
                    true => (response, 200),
                    false => (response, 404),
                }
            }
        };
        if response.status != status {
            let (found, text) = (response.status, response.text);
            return Err(format!("{path} {change:?}: {found}, not {status}: {text}"));
        }
        self.compare_content().await
    }

    async fn moderate(&mut self, user: &str, hidden: bool, frozen: bool) -> Result<(), String> {
        let path = format!("/v1/users/{user}/moderation");
        let moderation = json!({ "hidden": hidden, "frozen": frozen, "reason": "A test" });
        let response = self.api.put(&path, &moderation).await;
        let expected = json!({ "user": { "id": user }, "hidden": hidden, "frozen": frozen });
        if (response.status, &response.body) != (200, &expected) {
            return Err(format!("{path}: {} {}", response.status, response.text));
        }
        self.model.moderate(user, hidden, frozen);
        self.compare_all_boards().await
    }

    async fn adjust(
        &mut self,
        adjustment: &Activity,
        steps: i64,
        event: Option<&str>,
    ) -> Result<(), String> {
        self.avoid_boundaries().await;
        let first = now() - SLACK;
        let path = format!("/v1/users/{}/adjustments", adjustment.user);
        let mut body = json!({ "id": adjustment.target, "reason": "A test" });
        if adjustment.undo {
            body["undo"] = json!(true);
        } else {
            body["points"] = self.points(steps);
            match event {
                Some(event) => body["event"] = json!(event),
                None => body["groups"] = json!(adjustment.groups),
            }
        }
        let record = self.model.active.get(&adjustment.dedup_key());
        let recorded_event = record.and_then(|record| record.event.clone());
        if let Some(at) = adjustment.at.filter(|_| !adjustment.undo) {
            body["at"] = json!(rfc3339(at));
        }
        let response = self.api.post(&path, &body).await;
        let now = since(first);
        let outcome = self.model.adjust(adjustment, steps, event, now);
        let item = Request::One(Item::Activity(adjustment.clone()));
        let (status, mut expected) =
            self.expected_response(&item, std::slice::from_ref(&outcome), now);
        let undone = recorded_event.filter(|_| adjustment.undo);
        let ranked = undone.as_deref().or(event).filter(|_| status == 200);
        if event.is_some() && status == 200 {
            expected["standings"] = json!({});
        }
        if let Some(id) = ranked.filter(|id| self.model.is_open(id, now, now)) {
            let (steps, rank) = self.model.standing(&event_board(id), &adjustment.user);
            let score = self.points(steps as i64);
            expected["events"][id] = json!({ "score": score, "rank": rank });
        }
        let found = without_problem_texts(&response.body);
        if (response.status, &found) != (status, &expected) {
            return Err(format!(
                "{path} {body}\nexpected {status} {expected:#}\nreceived {} {found:#}",
                response.status
            ));
        }
        *self.outcome_counts.entry("adjusted").or_default() += 1;
        if let Some(id) = ranked {
            let name = if adjustment.undo {
                "undone-event"
            } else {
                "adjusted-event"
            };
            *self.outcome_counts.entry(name).or_default() += 1;
            self.compare_boards(&[event_board(id)])?;
        }
        if let Outcome::Refused(slug @ ("event-conflict" | "not-found")) = outcome {
            *self.outcome_counts.entry(slug).or_default() += 1;
        }
        self.compare_all_boards().await
    }

    fn expected_response(
        &self,
        request: &Request,
        outcomes: &[Outcome],
        now: InstantRange,
    ) -> (u16, Value) {
        let bodies = outcomes.iter().map(|outcome| self.outcome_json(outcome));
        match (request, outcomes) {
            (Request::Array(_) | Request::ByMember(..), _) => {
                let items = bodies.map(|body| match body.get("type") {
                    Some(_) => json!({ "error": body }),
                    None => body,
                });
                (200, json!({ "results": items.collect::<Vec<_>>() }))
            }
            (Request::One(Item::Activity(activity)), [outcome]) => {
                let mut body = self.outcome_json(outcome);
                if let Outcome::Refused(slug) = outcome {
                    return (status_of(slug), body);
                }
                if activity.user == VISITOR {
                    return (200, body);
                }
                let date = self.model.calendar.date(activity.at.unwrap_or(now.first));
                for board in self.model.boards_of(date, &[]) {
                    let (steps, rank) = self.model.standing(&board, &activity.user);
                    let score = self.points(steps as i64);
                    body["standings"][board.0] =
                        json!({ "id": board.1, "score": score, "rank": rank });
                }
                let at = activity.at.map_or(now, InstantRange::exact);
                let (action, groups) = (&activity.action, &activity.groups);
                for (board, _) in self.model.events_of(at, action, groups, 1, now) {
                    let (steps, rank) = self.model.standing(&board, &activity.user);
                    let score = self.points(steps as i64);
                    body["events"][board.1] = json!({ "score": score, "rank": rank });
                }
                (200, body)
            }
            (_, _) => {
                let body = self.outcome_json(&outcomes[0]);
                (body["status"].as_u64().unwrap() as u16, body)
            }
        }
    }

    fn outcome_json(&self, outcome: &Outcome) -> Value {
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

    /// Converts smallest steps to points as the API renders them.
    pub fn points(&self, steps: i64) -> Value {
        let one = 10i64.pow(self.decimals);
        if steps % one == 0 {
            json!(steps / one)
        } else {
            json!(steps as f64 / one as f64)
        }
    }

    async fn compare_all_boards(&mut self) -> Result<(), String> {
        let boards: Vec<_> = self.model.boards.keys().cloned().collect();
        self.compare_boards(&boards)?;
        self.compare_content().await
    }

    /// Compares the register and all boards of content and of authors with those stored in Redis, after others have
    /// received everything.
    pub async fn compare_content(&mut self) -> Result<(), String> {
        let Some(content) = &self.model.content else {
            return Ok(());
        };
        self.api.minute().await;
        let waiting = self.store.waiting();
        if waiting > 0 {
            return Err(format!("{waiting} entries wait"));
        }
        let keys: Vec<String> = content.boards.keys().map(content_board_key).collect();
        let boards = self.store.content_boards(&keys);
        for (id, found) in content.boards.keys().zip(boards) {
            let expected = content.ranking(id, &self.model.hidden);
            if found != expected {
                return Err(format!("{id:?}\nexpected {expected:?}\nfound    {found:?}"));
            }
        }
        let targets = content.targets.iter();
        let registration = |(id, target): (&String, &Target)| {
            let number = if content.has_shards { 0 } else { target.number };
            (id.clone(), (number, target.author.clone()))
        };
        let (expected, found) = (targets.map(registration).collect(), self.store.targets());
        match found == expected {
            true => Ok(()),
            false => Err(format!(
                "targets\nexpected {expected:?}\nfound    {found:?}"
            )),
        }
    }

    /// Compares complete boards with those stored in Redis.
    pub fn compare_boards(&mut self, boards: &[BoardId]) -> Result<(), String> {
        let keys: Vec<String> = boards.iter().map(board_key).collect();
        for (board, found) in boards.iter().zip(self.store.boards(&keys)) {
            let expected = self.model.ranking(board);
            let is_same = match self.is_rebuilt {
                true => by_shard(&found) == by_shard(&expected),
                false => found == expected,
            };
            if !is_same {
                return Err(format!(
                    "board {board:?}\nexpected {expected:?}\nfound    {found:?}"
                ));
            }
        }
        Ok(())
    }

    /// Waits if midnight, a later rule, a boundary of an event or an undo that was dated ahead is near, because it would be
    /// unknown on which side the Worker's clock reading is.
    async fn avoid_boundaries(&self) {
        let calendar = &self.model.calendar;
        let later: Vec<i64> = later_rules(&self.model).collect();
        let events = self.model.events.values();
        let boundaries = events.flat_map(|event| [event.from, event.to]);
        let versions = self.model.versions.values().map(|version| version.from);
        let boundaries: Vec<i64> = boundaries.chain(versions).collect();
        let undone = self.model.undone.values();
        let undone: Vec<i64> = undone
            .filter(|at| at.first == at.last)
            .map(|at| at.first)
            .collect();
        until("an instant far from boundaries", async || {
            let now = now();
            // A request begins and ends on one side.
            let ends_in = |ms| now + scaled(Duration::from_millis(ms)).as_millis() as i64;
            let near = now - 500..ends_in(5_000);
            let near_event = now - SLACK..ends_in(2_000);
            let near_undo = now - SLACK..ends_in(500);
            let is_near = later.iter().any(|from| near.contains(from))
                || boundaries
                    .iter()
                    .any(|instant| near_event.contains(instant))
                || undone.iter().any(|instant| near_undo.contains(instant));
            let is_new_day = calendar.date(near.start) != calendar.date(near.end);
            (!is_new_day && !is_near).then_some(())
        })
        .await;
    }
}

/// Returns the instants from which later rules apply.
pub fn later_rules(model: &Model) -> impl Iterator<Item = i64> {
    let rules = model.later_rules.values().flatten();
    rules.map(|(from, _)| *from)
}

/// Returns a text as a segment of a path.
pub fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// Waits until the ranges of later instants do not overlap one that ends at this instant.
async fn wait_for(last: Option<i64>) {
    until("a later instant", async || {
        (last.is_none_or(|last| last < now() - SLACK)).then_some(())
    })
    .await;
}

/// Returns the range from an instant until now.
fn since(first: i64) -> InstantRange {
    let last = now() + SLACK;
    InstantRange { first, last }
}

/// Asserts that problems have a title and, unless they are brief, a detail. Reduces them to type and
/// status.
fn without_problem_texts(body: &Value) -> Value {
    match body {
        Value::Object(fields) if fields.contains_key("type") => {
            let has_text = |field: &str| fields.get(field).is_some_and(Value::is_string);
            let is_brief = fields.len() == 3;
            assert!(
                has_text("title") && (has_text("detail") || is_brief),
                "{body:#}"
            );
            json!({ "type": fields["type"], "status": fields["status"] })
        }
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), without_problem_texts(value)))
            .collect(),
        Value::Array(items) => items.iter().map(without_problem_texts).collect(),
        other => other.clone(),
    }
}

/// Sets the user of an activity to the account that sends it.
fn set_sender(activity: &mut Value, sender: &dyn Fn(&str) -> String) {
    let user = match &activity["user"] {
        Value::Number(number) => number.to_string(),
        other => other.as_str().unwrap_or_default().to_owned(),
    };
    let account = sender(&user);
    if account != user {
        activity["user"] = json!(account);
    }
}

/// Orders users with equal points by shard. Users of one shard keep their order.
fn by_shard(ranking: &[Vec<(String, u64)>; 2]) -> [Vec<(String, u64)>; 2] {
    let mut ranking = ranking.clone();
    for users in &mut ranking {
        users.sort_by_key(|(user, points)| (Reverse(*points), shard_of(user)));
    }
    ranking
}
