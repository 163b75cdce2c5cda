//! `recount --accounts`: a service whose accounts are joined late, compared with one that joined them at first, and with one
//! that never did.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use activity_rank_sync::token::sign;
use jiff::{Timestamp, ToSpan};
use test_support::{Forwarder, Value, WorkerBuilder, depth, json, scaled, shards, until};

use crate::TestResult;
use crate::app::{day, demo_community, noon};
use crate::cli::{assert_verified, rebuild, succeed};
use crate::interruption::run_and_kill;
use crate::journal_app::JournalApp;
use crate::random::{Random, variable};
use crate::recount::RecountFile;
use crate::stored::redis_command;

/// Members; `p1a` and `p1b` are accounts of `p1`.
const PERSONS: u64 = 5;
const ACTIONS: [&str; 8] = [
    "follow", "visit", "like", "bookmark", "comment", "publish", "wave", "praise",
];
/// The days of the activity.
const DAYS: i64 = 4;

fn rules() -> Value {
    json!({
        "like": {"daily_cap": 12},
        "comment": {"cooldown": 3600},
        "visit": {"daily_cap": 4},
        "praise": {"points": 1, "received": 2, "pair_cap": 3},
        "wave": {"points": 1.25, "once": "standing", "undo": true, "by": "service", "cooldown": 3600},
    })
}

/// The secret of user tokens.
const SECRET: &str = "a secret of thirty-two bytes, ok?";

fn start(shards: u32) -> JournalApp {
    JournalApp::start(|worker: WorkerBuilder| {
        worker
            .var("JWT_SECRET", SECRET)
            .var("CONTENT_PERIODS", "day,week,all")
            .json("SHARDS", json!(shards))
            .json("RULES", rules())
            .json("JOURNAL_REFUSED", json!(true))
            .json("FAIR_PLAY", json!({}))
            .json("ACHIEVEMENTS", achievements())
            .var("BOARD_MAX_AGE", "0")
    })
}

/// The output of a recount that has nothing to do.
const NOTHING: &str = "nothing to recount: since the last recount no account has been joined or has left, and no exclusion has changed\n";

/// Achievements that members keep when their value falls.
const KEPT: [&str; 5] = ["kept", "likes", "europe", "days", "member"];

/// Conditions whose value is that of a board, and others.
fn achievements() -> Value {
    let named = |fields: &Value| {
        let mut fields = fields.clone();
        fields["name"] = json!("A");
        fields
    };
    let steps = json!([1, 4, 9, 20, 40, 90, 200, 400]);
    json!({
        "points": named(&json!({"points": true, "steps": steps, "revoke": true})),
        "kept": named(&json!({"points": true, "steps": steps})),
        "likes": named(&json!({"count": "like", "steps": steps})),
        "follows": named(&json!({"count": "follow", "steps": steps, "revoke": true})),
        "received": named(&json!({"received": true, "steps": steps, "revoke": true})),
        "europe": named(&json!({"count": "like", "steps": steps, "groups": ["eu"]})),
        "days": named(&json!({"streak": "days", "steps": [2, 3, 4]})),
        "member": named(&json!({"member_since": "days", "steps": [1, 2, 3]})),
    })
}

/// A request of one sender.
fn request(random: &mut Random) -> Vec<Value> {
    let sender = user(random);
    let count = 1 + random.below(4);
    (0..count).map(|_| activity(random, &sender)).collect()
}

fn user(random: &mut Random) -> String {
    let account = random.choose(&["", "", "a", "b"]);
    format!("p{}{account}", random.below(PERSONS + 1))
}

fn activity(random: &mut Random, sender: &str) -> Value {
    // The journal does not have follows of an erased user.
    let actions = match sender.starts_with(&format!("p{ERASED}")) {
        true => &ACTIONS[1..],
        false => &ACTIONS[..],
    };
    let action = random.choose(actions);
    let target = match action {
        "visit" => format!("/{}", random.below(6)),
        "follow" => user(random),
        // A recount of accounts does not decide again what others gave them: the author is no person.
        "praise" => format!("t{}", 6 + random.below(3)),
        _ => format!("t{}", random.below(10)),
    };
    let mut activity = json!({"user": sender, "action": action, "target": target});
    if action != "visit" && random.below(4) == 0 {
        activity["undo"] = json!(true);
    }
    if random.below(4) == 0 {
        activity["groups"] = json!(["eu"]);
    }
    if random.below(3) == 0 {
        // Within a cooldown from the end of the test, and no two the same: the instant identifies a receipt.
        let noon: Timestamp = noon(random.below(DAYS as u64) as i64)
            .parse()
            .unwrap_or_default();
        let earlier = (random.below(1_200_000) as i64).milliseconds();
        activity["at"] = json!((noon - earlier).to_string());
    }
    activity
}

impl JournalApp {
    /// Adds profiles, because unknown users do not receive, and targets of persons, of accounts and of another author.
    async fn register_persons(&self) {
        for user in all_users() {
            let path = format!("/v1/users/{user}");
            self.put(&path, &json!({"name": user})).await;
        }
        let authors = ["p0", "p1", "p2", "p3a", "p4a", "p5a", "other", "other"];
        for (number, author) in authors.into_iter().enumerate() {
            let path = format!("/v1/targets/t{number}");
            self.put(&path, &json!({"author": author})).await;
        }
    }

    /// Returns users and scores of the board of all time.
    async fn scores(&self) -> Value {
        let board = self.api.get("/v1/ranking/all").await.body;
        let entries = board["entries"].as_array().into_iter().flatten();
        let scores = entries.map(|entry| json!([entry["user"]["id"], entry["score"]]));
        scores.collect()
    }

    /// Runs a recount of accounts, and returns what it prints.
    #[track_caller]
    pub fn recount_accounts(&self, mode: &[&str]) -> Result<String, Box<dyn std::error::Error>> {
        let file = RecountFile::new(&rules())?;
        let run = file.run(self, &[&["--accounts"], mode].concat())?;
        Ok(run.assert_code(0).stdout)
    }

    /// Returns the scores of all boards by id, and the histories of these users.
    async fn points(&self, users: &[String], shards: u32) -> BTreeMap<String, Value> {
        // Cron calls receivers whose Worker has ended.
        self.api.minute().await;
        self.wait_for_receivers().await;
        let mut points = BTreeMap::new();
        let mut paths = Vec::new();
        for days in 0..DAYS {
            let date = day(days);
            for period in ["day", "week", "all"] {
                let query = format!("{period}?limit=100&date={date}");
                for board in ["ranking", "content", "authors"] {
                    paths.push(format!("/v1/{board}/{query}"));
                }
                paths.push(format!("/v1/ranking/{query}&group=eu"));
            }
        }
        paths.push("/v1/events/season/ranking?limit=100".to_owned());
        for path in paths {
            let response = self.api.get(&path).await;
            if !path.starts_with("/v1/events") {
                response.assert_status(200);
            }
            let entries = response.body["entries"].as_array().into_iter().flatten();
            let row =
                |entry: &Value| json!([entry["user"]["id"], entry["target"]["id"], entry["score"]]);
            let mut scores: Vec<Value> = entries.map(row).collect();
            scores.sort_by_key(Value::to_string);
            points.insert(path, json!(scores));
        }
        for user in users {
            let path = format!("/v1/users/{user}/activity");
            let history = self.api.get(&path).await;
            let days = history.assert_status(200).body["days"].clone();
            points.insert(path, days);
        }
        let mut left = u64::MAX;
        while left > 0 {
            left = until("progress of the achievements", async || {
                self.api.minute().await;
                let status = self.api.get("/v1/status").await.body.clone();
                let number = |value: &Value| value.as_u64().unwrap_or(u64::MAX / 2);
                let now = number(&status["outbox"]["entries"])
                    + number(&status["achievements"]["behind"]);
                (now < left).then_some(now)
            })
            .await;
        }
        for user in users {
            let path = format!("/v1/users/{user}/achievements");
            let body = self.api.get(&path).await.assert_status(200).body.clone();
            for achievement in body["achievements"].as_array().into_iter().flatten() {
                let steps = achievement["steps"].as_array().into_iter().flatten();
                let earned = steps.filter(|step| !step["at"].is_null()).count();
                // The journal does not have the order of entries of several shards, in which a sum may fall again.
                let is_last = shards == 1 || KEPT.iter().all(|id| achievement["id"] != *id);
                let earned = is_last.then_some(earned);
                let path = format!("{path} {}", achievement["id"]);
                points.insert(path, json!([achievement["value"], earned]));
            }
            let path = format!("/v1/users/{user}/points");
            for (kind, changes) in self.changes(user).await {
                points.insert(format!("{path} {kind}"), json!(changes));
            }
        }
        points
    }

    /// Returns the number of changes of a user's points by kind and target, the number of undone ones, and their sum.
    /// Adjustments are left out: they stay with whom the audit log names.
    async fn changes(&self, user: &str) -> BTreeMap<String, (u32, u32, f64)> {
        let (mut changes, mut next) = (BTreeMap::new(), String::new());
        loop {
            let path = format!("/v1/users/{user}/points?limit=100{next}");
            let page = self.api.get(&path).await.assert_status(200).body.clone();
            let entries = page["entries"].as_array().into_iter().flatten();
            for entry in entries.filter(|entry| entry["type"] != "adjustment") {
                let fields = [&entry["type"], &entry["action"], &entry["target"]["id"]];
                let kind = fields.map(Value::to_string).join(" ");
                let (count, undone, sum) = changes.entry(kind).or_insert((0, 0, 0.0));
                *count += 1;
                *undone += u32::from(entry["undone"] == true);
                *sum += entry["points"].as_f64().unwrap_or(f64::NAN);
            }
            match page["next"].as_str() {
                Some(position) => next = format!("&before={position}"),
                None => break,
            }
        }
        changes
    }
}

fn members() -> Vec<String> {
    (0..PERSONS).map(|person| format!("p{person}")).collect()
}

fn all_users() -> Vec<String> {
    let letters = ["", "a", "b"];
    let of = |person| letters.map(|letter| format!("p{person}{letter}"));
    (0..PERSONS).flat_map(of).collect()
}

#[track_caller]
fn assert_same(found: &BTreeMap<String, Value>, expected: &BTreeMap<String, Value>) {
    let paths: BTreeSet<&String> = expected.keys().chain(found.keys()).collect();
    let differences = paths.into_iter().filter_map(|path| {
        let [found, expected] = [found, expected].map(|all| all.get(path).unwrap_or(&Value::Null));
        (found != expected).then(|| format!("{path}\nexpected {expected}\nfound    {found}"))
    });
    let differences: Vec<String> = differences.collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// A request to a service.
#[derive(Debug)]
enum Step {
    Activity(Value),
    /// Hides or freezes a user, or no longer.
    Moderate(String, bool, bool),
    Adjust(String, Value),
    /// The user of [`ERASED`].
    Erase,
    Join(String),
    Detach(String),
    /// Opens the case of these members, or excludes what they give each other, or no longer.
    Decide(Vec<String>, Option<i64>),
}

/// A member whose accounts are joined from the beginning. Later recounts cannot decide again what an erased user did.
const ERASED: u64 = PERSONS;

impl JournalApp {
    async fn run(&self, step: &Step) {
        match step {
            Step::Activity(items) => drop(self.send(items.clone()).await),
            Step::Moderate(user, hidden, frozen) => {
                self.moderate(user, *hidden, *frozen).await;
            }
            Step::Adjust(user, adjustment) => self.adjust(user, adjustment.clone()).await,
            Step::Erase => {
                let path = format!("/v1/users/p{ERASED}");
                self.delete(&path).await;
                // Targets lose their author some time later.
                self.wait_for_receivers().await;
                // Whether an unknown user receives depends on when points arrive.
                for letter in ["", "a", "b"] {
                    let path = format!("/v1/users/p{ERASED}{letter}");
                    self.put(&path, &json!({"name": "new"})).await;
                }
            }
            Step::Decide(members, days) => self.decide(members, *days).await,
            Step::Join(account) => self.join(account).await,
            Step::Detach(account) => self.detach(account).await,
        }
    }

    async fn detach(&self, account: &str) {
        let path = format!("/v1/users/{account}/account");
        self.delete(&path).await;
    }

    /// Decides that activity between members does not count since the beginning of a day, or on any day.
    async fn decide(&self, members: &[String], days: Option<i64>) {
        let decision = match days {
            Some(days) => {
                let from = format!("{}T00:00:00Z", day(days));
                json!({"state": "excluded", "from": from, "reason": "Ring"})
            }
            None => json!({"state": "dismissed", "reason": "No ring"}),
        };
        self.decide_case(json!(members), decision).await;
    }

    /// Publishes a version, and lets it hold since an hour ago: a service accepts only instants ahead.
    async fn publish_earlier(&self, rules: Value) -> TestResult {
        let body = json!({"rules": rules, "reason": "Too many"});
        let version = self.api.post("/v1/rules", &body).await;
        let from = version.assert_status(200).body["from"].clone();
        let from: Timestamp = from.as_str().unwrap_or_default().parse()?;
        let [from, earlier] = [from, from - 1.hour()].map(|at| at.as_millisecond().to_string());
        self.api.get("/v1/journal").await.assert_status(200);
        let statement = format!("UPDATE journal SET entry = replace(entry, '{from}', '{earlier}')");
        self.sql(&statement).await;
        let (mut redis, prefix) = (self.redis(), &self.endpoint.prefix);
        for (pattern, field) in [("p", "\t!"), ("v", "#1")] {
            let pattern = format!("{{{prefix}:*}}{pattern}");
            let keys: Vec<String> = redis_command(&mut redis, &["KEYS", &pattern])?;
            for key in keys {
                let text: String = redis_command(&mut redis, &["HGET", &key, field])?;
                let text = text.replace(&from, &earlier);
                redis_command::<i64>(&mut redis, &["HSET", &key, field, &text])?;
            }
        }
        Ok(())
    }

    async fn join(&self, account: &str) {
        let path = format!("/v1/users/{account}/account");
        let member = account.trim_end_matches(['a', 'b']);
        self.put(&path, &json!({"of": member})).await;
    }
}

/// Random steps, and the accounts that are joined after them.
struct Steps {
    random: Random,
    joined: BTreeSet<String>,
    /// The members of cases, and the days since which they are excluded.
    excluded: BTreeMap<Vec<String>, i64>,
    is_erased: bool,
    adjustments: usize,
}

impl Steps {
    fn next(&mut self) -> Step {
        let random = &mut self.random;
        match random.below(60) {
            0..=3 => {
                let account = format!("p{}{}", random.below(PERSONS), random.choose(&["a", "b"]));
                match self.joined.remove(&account) {
                    true => Step::Detach(account),
                    false => {
                        self.joined.insert(account.clone());
                        Step::Join(account)
                    }
                }
            }
            4 => {
                let (hidden, frozen) = (random.below(4) == 0, random.below(3) == 0);
                Step::Moderate(format!("p{}", random.below(PERSONS)), hidden, frozen)
            }
            5 => {
                let user = format!("p{}", random.below(PERSONS));
                let points = [-9, -2, 3, 20][random.below(4) as usize];
                self.adjustments += 1;
                let id = format!("case-{}", self.adjustments);
                let adjustment = json!({"id": id, "points": points, "reason": "Case"});
                Step::Adjust(user, adjustment)
            }
            6..=7 => {
                let first = random.below(PERSONS);
                let count = 2 + random.below(2);
                let members = (first..first + count).map(|person| format!("p{}", person % PERSONS));
                let mut members: Vec<String> = members.collect();
                members.sort_unstable();
                let days = match self.excluded.remove(&members) {
                    Some(_) => None,
                    None => Some(random.below(DAYS as u64) as i64),
                };
                if let Some(days) = days {
                    self.excluded.insert(members.clone(), days);
                }
                Step::Decide(members, days)
            }
            8 if !self.is_erased && random.below(10) == 0 => {
                self.is_erased = true;
                Step::Erase
            }
            _ => Step::Activity(json!(request(random))),
        }
    }
}

/// Sends random steps to a service that joins accounts, excludes what members give each other, and takes that back, in between.
/// After each part it is recounted, and has what a service has that is sent the same, and has had the joins and exclusions of
/// then from the beginning.
async fn check(shards: u32) -> TestResult {
    let (seed, parts) = (variable("SEED", 1), depth(2, 3));
    let steps = variable("STEPS", depth(80, 150)) as usize;
    let apps: Vec<JournalApp> = (0..=parts).map(|_| start(shards)).collect();
    let (app, references) = apps.split_first().ok_or("no services")?;
    let from = Timestamp::now() + scaled(Duration::from_secs(5));
    let event = json!({"title": "Season", "from": from.to_string(), "to": (from + 24.hours()).to_string(),
        "actions": {"like": 5, "publish": 1}});
    for app in &apps {
        app.put("/v1/events/season", &event).await;
    }
    for app in &apps {
        app.register_persons().await;
        // The journal has the amounts of the time for adjustments that a member has too few points for.
        for user in members() {
            let start = json!({"id": "start", "points": 50, "reason": "Case"});
            app.run(&Step::Adjust(user, start)).await;
        }
        for letter in ["a", "b"] {
            app.join(&format!("p{ERASED}{letter}")).await;
        }
    }
    let has_begun = async || (Timestamp::now() > from).then_some(());
    until("the event has begun", has_begun).await;
    let mut random = Steps {
        random: Random::new(seed),
        joined: BTreeSet::new(),
        excluded: BTreeMap::new(),
        is_erased: false,
        adjustments: 0,
    };
    let mut sent = Vec::new();
    for reference in references {
        for _ in 0..steps / parts {
            let step = random.next();
            app.run(&step).await;
            sent.push(step);
        }
        for account in &random.joined {
            reference.join(account).await;
        }
        for (members, days) in &random.excluded {
            reference.decide(members, Some(*days)).await;
        }
        for step in &sent {
            match step {
                Step::Join(_) | Step::Detach(_) | Step::Decide(..) => {}
                step => reference.run(step).await,
            }
        }
        let mut users = all_users();
        users.retain(|user| !random.joined.contains(user));
        if random.is_erased {
            users.push(format!("p{ERASED}"));
        }
        app.api.minute().await;
        app.recount_accounts(&["--apply", "--yes"])?;
        let expected = reference.points(&users, shards).await;
        assert_same(&app.points(&users, shards).await, &expected);
        assert_verified(app)?;
    }
    let users = members();
    let before = app.points(&users, shards).await;
    app.lose_data().await?;
    rebuild(app, &[])?;
    assert_same(&app.points(&users, shards).await, &before);
    assert_verified(app)
}

/// `STEPS=40000 SEED=2` takes more steps, with another seed.
#[tokio::test(flavor = "multi_thread")]
async fn random_joins_match_reference() -> TestResult {
    check(1).await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "soak"]
async fn random_joins_match_reference_on_shards() -> TestResult {
    check(8).await
}

/// A killed recount of accounts continues, and has the result of one that was not killed.
#[tokio::test(flavor = "multi_thread")]
async fn recount_of_accounts_survives_kill_in_every_phase() -> TestResult {
    let shards = shards();
    let (app, twin) = (start(shards), start(shards));
    let mut random = Random::new(7);
    for app in [&app, &twin] {
        app.register_persons().await;
    }
    for _ in 0..depth(60, 150) {
        let items = Step::Activity(json!(request(&mut random)));
        for app in [&app, &twin] {
            app.run(&items).await;
        }
    }
    let users = members();
    let (forwarder, file) = (Forwarder::to(&app.store()), RecountFile::new(&rules())?);
    let args = file.args(&["--accounts", "--apply", "--yes"]);
    let soak = [("a", false), ("b", false), ("a", true)];
    for (letter, leaves) in depth(&soak[1..], &soak).iter().copied() {
        for person in 0..PERSONS {
            let account = format!("p{person}{letter}");
            for app in [&app, &twin] {
                match leaves {
                    true => app.detach(&account).await,
                    false => app.join(&account).await,
                }
            }
        }
        let (mut runs, mut seen) = (0, BTreeSet::new());
        let path = format!("/v1/users/p0{letter}/account");
        while !run_and_kill(&app, &forwarder, &mut random, runs, &args)? {
            runs += 1;
            assert!(runs < 400, "the recount never completes");
            seen.extend(app.api.get(&path).await.body["recount"].as_u64());
        }
        assert_eq!(seen.is_empty(), leaves, "{seen:?}");
        assert!(seen.iter().all(|percent| *percent <= 100), "{seen:?}");
        assert_eq!(app.api.get(&path).await.body["recount"], Value::Null);
        println!("killed {runs} times");
        twin.recount_accounts(&["--apply", "--yes"])?;
        let expected = twin.points(&users, shards).await;
        assert_same(&app.points(&users, shards).await, &expected);
        assert_verified(&app)?;
    }
    Ok(())
}

/// A recount that changes nothing says so; a preview changes nothing.
#[tokio::test(flavor = "multi_thread")]
async fn recount_of_accounts_is_previewed_and_made_once() -> TestResult {
    let app = start(1);
    for user in ["p1", "p1a"] {
        app.act(user, "like", "t1").await;
    }
    app.join("p1a").await;
    let past = async |expected: [&str; 2]| {
        for (user, expected) in ["p1", "p1a"].into_iter().zip(expected) {
            let path = format!("/v1/users/{user}/account");
            assert_eq!(app.api.get(&path).await.body["past"], expected, "{user}");
        }
    };
    past(["pending", "pending"]).await;
    let before = app.scores().await;
    let preview = app.recount_accounts(&["--dry-run"])?;
    let expected = "board all: 1 of 1 member change, 4 → 2 points\n";
    assert!(preview.starts_with(expected), "{preview}");
    assert_eq!(app.scores().await, before);
    app.recount_accounts(&["--apply", "--yes"])?;
    assert_eq!(app.scores().await, json!([["p1", 2]]));
    assert_verified(&app)?;
    past(["counted", "counted"]).await;
    app.join("p1b").await;
    past(["pending", "counted"]).await;
    for mode in [["--apply", "--yes"].as_slice(), &["--dry-run"]] {
        app.detach("p1b").await;
        app.recount_accounts(&["--apply", "--yes"])?;
        let output = app.recount_accounts(mode)?;
        assert_eq!(output, NOTHING);
    }
    Ok(())
}

/// No account is joined.
#[tokio::test]
async fn recount_of_exclusions_is_made_once() -> TestResult {
    let app = start(1);
    app.register_persons().await;
    app.act("p0", "like", "t1").await;
    let members = ["p0", "p1"].map(str::to_owned);
    for (days, change) in [(Some(1), "2 → 0 points"), (None, "0 → 2 points")] {
        app.decide(&members, days).await;
        let preview = app.recount_accounts(&["--dry-run"])?;
        assert!(preview.contains(change), "{preview}");
        app.recount_accounts(&["--apply", "--yes"])?;
        assert_verified(&app)?;
        assert_eq!(app.recount_accounts(&["--dry-run"])?, NOTHING);
    }
    Ok(())
}

/// Two likes of one person in a day exceed the cap of the version, and not that of the configuration.
#[tokio::test]
async fn recount_of_accounts_decides_by_versions() -> TestResult {
    for shards in [1, 3] {
        let app = start(shards);
        let rules = json!({"like": {"daily_cap": 2}});
        app.publish_earlier(rules).await?;
        for (user, target) in [("p1", "t8"), ("p1a", "t9")] {
            app.act(user, "like", target).await;
        }
        app.join("p1a").await;
        let preview = app.recount_accounts(&["--dry-run"])?;
        let expected = "board all: 1 of 1 member change, 4 → 2 points\n";
        assert!(preview.starts_with(expected), "{preview}");
        app.recount_accounts(&["--apply", "--yes"])?;
        assert_verified(&app)?;
    }
    Ok(())
}

/// The third like exceeds the cap of members, and not that of services.
#[tokio::test]
async fn recount_of_accounts_keeps_member_cap() -> TestResult {
    let app = start(1);
    let rules = json!({"like": {"member_cap": 4}});
    app.publish_earlier(rules).await?;
    let claims = json!({"sub": "p1a", "exp": Timestamp::now().as_second() + 600});
    let token = sign(&json!({"alg": "HS256"}), &claims, SECRET.as_bytes()).ok_or("no token")?;
    let member = app.api.with_key(&token);
    let counted = json!(["counted", null]);
    for (target, expected) in [
        ("t6", counted.clone()),
        ("t7", counted),
        ("t8", json!(["capped", "daily-cap"])),
    ] {
        let like = json!({"user": "p1a", "action": "like", "target": target});
        let answer = member.post("/v1/activity", &like).await;
        let body = &answer.assert_status(200).body;
        assert_eq!(json!([body["outcome"], body["reason"]]), expected);
    }
    app.join("p1a").await;
    app.recount_accounts(&["--apply", "--yes"])?;
    assert_eq!(app.scores().await, json!([["p1", 4]]));
    assert_verified(&app)
}

/// The community of the demo, with the activity of `person` counted once for each action and target: the scores of each board.
fn community_boards(
    lines: &[Value],
    person: impl Fn(&str) -> String,
) -> BTreeMap<(&'static str, String), BTreeMap<String, i64>> {
    let text = |line: &Value, field: &str| line[field].as_str().unwrap_or_default().to_owned();
    let (mut boards, mut seen) = (BTreeMap::new(), BTreeSet::new());
    for line in lines {
        let (user, action) = (person(&text(line, "user")), text(line, "action"));
        let points = match action.as_str() {
            "publish" => 10,
            "comment" => 3,
            _ => 2,
        };
        if seen.insert((user.clone(), action, text(line, "target"))) {
            let first = |text: &str, length| text.chars().take(length).collect::<String>();
            let date = first(&text(line, "at"), 10);
            // Any day of a month or a year names it.
            let [month, year] = [7, 4].map(|length| first(&date, length));
            for board in [
                ("day", date),
                ("month", month + "-01"),
                ("year", year + "-01-01"),
                ("all", String::new()),
            ] {
                let scores: &mut BTreeMap<String, i64> = boards.entry(board).or_default();
                *scores.entry(user.clone()).or_default() += points;
            }
        }
    }
    boards
}

/// Asserts all scores of all boards.
async fn assert_community(
    app: &JournalApp,
    expected: &BTreeMap<(&'static str, String), BTreeMap<String, i64>>,
) {
    for ((period, date), expected) in expected {
        let mut found = BTreeMap::new();
        loop {
            let mut path = format!("/v1/ranking/{period}?limit=100&offset={}", found.len());
            if !date.is_empty() {
                path.push_str(&format!("&date={date}"));
            }
            let page = app.api.get(&path).await.assert_status(200).body.clone();
            let entries = page["entries"].as_array().into_iter().flatten();
            let scores = entries.map(|entry| {
                let user = entry["user"]["id"].as_str().unwrap_or_default();
                (user.to_owned(), entry["score"].as_i64().unwrap_or(-1))
            });
            let before = found.len();
            found.extend(scores);
            if found.len() == before {
                break;
            }
        }
        assert_eq!(&found, expected, "{period} {date}");
    }
}

/// 50 random pairs of a real community, joined after everything, and detached again.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "soak"]
async fn community_is_recounted_by_accounts() -> TestResult {
    let lines = demo_community()?;
    let app = JournalApp::start(|worker| {
        let worker = worker.var("TIMEZONE", "UTC").var("BOARD_MAX_AGE", "0");
        worker.json("SHARDS", json!(shards()))
    });
    for lines in lines.chunks(500) {
        app.send(json!(lines)).await;
    }
    let users = lines.iter().filter_map(|line| line["user"].as_str());
    let users: BTreeSet<&str> = users.collect();
    let mut users: Vec<&str> = users.into_iter().collect();
    let (mut random, mut pairs) = (Random::new(5), BTreeMap::new());
    for _ in 0..50 {
        let [account, member] = [(); 2].map(|()| {
            let index = random.below(users.len() as u64);
            users.swap_remove(index as usize)
        });
        pairs.insert(account, member);
    }
    for (account, member) in &pairs {
        let path = format!("/v1/users/{account}/account");
        app.put(&path, &json!({"of": member})).await;
    }
    let recount = ["recount", "--accounts", "--apply", "--yes"];
    succeed(&app, &recount)?;
    let person = |user: &str| pairs.get(user).copied().unwrap_or(user).to_owned();
    assert_community(&app, &community_boards(&lines, person)).await;
    assert_verified(&app)?;
    for account in pairs.keys() {
        let path = format!("/v1/users/{account}/account");
        app.delete(&path).await;
    }
    succeed(&app, &recount)?;
    assert_community(&app, &community_boards(&lines, str::to_owned)).await;
    assert_verified(&app)
}
