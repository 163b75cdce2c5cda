//! `rules preview`, compared with services on which the changed rules were published.

use std::collections::BTreeMap;
use std::fs;

use jiff::{Timestamp, ToSpan};
use redis::Commands;
use test_support::{Fault, Forwarder, Recorded, Value, WorkerBuilder, depth, json, shards};

use crate::TestResult;
use crate::app::{TestApp, builder, noon};
use crate::cli::{fails, run, succeed};
use crate::interruption::{hang_at, interrupt};
use crate::journal_app::JournalApp;
use crate::random::Random;

const USERS: u64 = 6;
const ACTIONS: [&str; 7] = [
    "follow", "visit", "like", "bookmark", "comment", "publish", "praise",
];

/// Rules with every kind of limit.
fn rules() -> Value {
    json!({
        "like": {"daily_cap": 12},
        "comment": {"cooldown": 600},
        "visit": {"daily_cap": 4},
        "praise": {"points": 1, "received": 2, "pair_cap": 3, "own": false},
    })
}

/// Milliseconds by which the clock of the Worker that publishes rules is behind: they hold for all activity of a test.
const LAG: i64 = 20 * 86_400_000;

fn configure(worker: WorkerBuilder, shards: u32) -> WorkerBuilder {
    worker
        .var("CONTENT_PERIODS", "week,all")
        .json("SHARDS", json!(shards))
        .json("RULES", rules())
        .json("JOURNAL_REFUSED", json!(true))
        .json("FAIR_PLAY", json!({}))
        .var("BOARD_MAX_AGE", "0")
}

fn start(shards: u32) -> JournalApp {
    JournalApp::start(|worker| configure(worker, shards))
}

/// Starts a service on which changes of the rules were published.
async fn start_published(shards: u32, changes: &Value) -> JournalApp {
    let app = start(shards);
    let publisher = configure(builder(), shards)
        .without("JOURNAL_REFUSED")
        .without("FAIR_PLAY");
    let publisher = TestApp::with(&app.endpoint, publisher.ahead(-LAG));
    let from = Timestamp::now() - LAG.milliseconds() + 1.hours();
    let body = json!({"from": from.to_string(), "rules": changes, "reason": "A test"});
    publisher.post("/v1/rules", &body).await;
    app
}

/// Returns random changes of points and limits.
fn changes(random: &mut Random) -> Value {
    let mut changes = json!({});
    for action in ["like", "visit", "praise", "comment", "bookmark"] {
        let mut fields = json!({"points": 1 + random.below(5)});
        if ["like", "visit"].contains(&action) {
            fields["daily_cap"] = json!(4 + random.below(16));
        }
        if action == "praise" {
            fields["pair_cap"] = json!(2 + random.below(8));
        }
        if ["comment", "bookmark"].contains(&action) {
            // Longer than the test: the services get an activity one after the other.
            fields["cooldown"] = json!(7200 * (1 + random.below(10)));
        }
        if action != "visit" {
            fields["received"] = json!(1 + random.below(4));
        }
        changes[action] = fields;
    }
    changes
}

fn activity(random: &mut Random) -> Value {
    let user = format!("p{}", random.below(USERS));
    let action = random.choose(&ACTIONS);
    let target = match action {
        "visit" => format!("/{}", random.below(6)),
        "follow" => format!("p{}", random.below(USERS + 2)),
        "publish" => format!("{user}-{}", random.below(3)),
        _ => format!("p{}-{}", random.below(USERS), random.below(3)),
    };
    let mut activity = json!({"user": user, "action": action, "target": target});
    if !["visit", "publish"].contains(&action) && random.below(4) == 0 {
        activity["undo"] = json!(true);
    }
    if random.below(3) == 0 {
        activity["at"] = json!(noon(random.below(5) as i64));
    }
    activity
}

/// Returns the decision about each activity of the journal: outcome, points and points of others, by user and number.
async fn journaled(app: &JournalApp, shards: u32) -> Vec<Value> {
    app.wait_for_receivers().await;
    let mut decisions = Vec::new();
    for shard in 0..shards {
        let path = format!("/v1/journal?limit=5000&shard={shard}");
        let page = app.api.get(&path).await.assert_status(200).body.clone();
        assert_eq!(page["next"], Value::Null);
        for entry in page["entries"].as_array().into_iter().flatten() {
            let text = |name: &str| entry[name].as_str().unwrap_or_default();
            let number = |text: &str| text.parse::<f64>().unwrap_or_default() / 100.0;
            let received = text("received");
            let received = received
                .split(|c: char| !c.is_ascii_digit())
                .next()
                .unwrap_or_default();
            let (outcome, points, received) = match text("did") {
                "count" => ("counted", number(text("points")), number(received)),
                "undo" if text("gave").is_empty() => ("nothing-to-undo", 0.0, 0.0),
                "undo" => ("undone", -number(text("gave")), -number(received)),
                "refused" => (text("outcome"), 0.0, 0.0),
                _ => continue,
            };
            let action = format!("{}:", text("action"));
            let mut values = entry.as_object().into_iter().flatten();
            let record = values.find_map(|(_, value)| {
                let value = value.as_str()?;
                value.starts_with(&action).then_some(value)
            });
            decisions.push(json!([text("user"), record, outcome, points, received]));
        }
    }
    by_user(decisions)
}

/// Orders decisions by user. The decisions about a user keep their order.
fn by_user(mut decisions: Vec<Value>) -> Vec<Value> {
    decisions.sort_by_key(|decision| decision[0].to_string());
    decisions
}

/// Returns the decisions of a file of outcomes.
fn decided(text: &str, set: &str) -> Result<Vec<Value>, Box<dyn std::error::Error>> {
    let mut decisions = Vec::new();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line)?;
        let record = format!(
            "{}:{}",
            line["action"].as_str().unwrap_or_default(),
            line["target"].as_str().unwrap_or_default()
        );
        let (decision, number) = (&line[set], |value: &Value| value.as_f64());
        decisions.push(json!([
            line["user"],
            record,
            decision["outcome"],
            number(&decision["points"]),
            number(&decision["received"])
        ]));
    }
    Ok(by_user(decisions))
}

#[track_caller]
fn assert_same(found: &[Value], expected: &[Value]) {
    let pairs = found.iter().zip(expected).enumerate();
    for (number, (found, expected)) in pairs {
        assert_eq!(found, expected, "activity {number}");
    }
    assert_eq!(found.len(), expected.len());
}

/// Returns points by user of a board, for positive ones.
fn points(board: &Value, before: bool) -> BTreeMap<String, f64> {
    let when = if before { "before" } else { "after" };
    let moves = board["moves"].as_array().into_iter().flatten();
    let points = moves.map(|moved| {
        let id = moved["id"].as_str().unwrap_or_default().to_owned();
        (id, moved["points"][when].as_f64().unwrap_or_default())
    });
    points.filter(|(_, points)| *points > 0.0).collect()
}

/// Decides that what two members give each other does not count for some days.
async fn exclude(app: &JournalApp) {
    let [from, until] = [3, 1].map(noon);
    let decision = json!({"state": "excluded", "from": from, "until": until, "reason": "A test"});
    app.decide_case(json!(["p0", "p1"]), decision).await;
}

/// Services with the rules in force and with published changes get the same activity. The preview of each change decides
/// every activity as the service on which it was published did, and the boards of authors agree.
async fn compare_with_service(shards: u32) -> TestResult {
    let mut random = Random::new(u64::from(shards));
    let in_force = start(shards);
    // Each change has a service of its own.
    let (count, requests) = depth((1, 30), (10, 40));
    let changes: Vec<Value> = (0..count).map(|_| changes(&mut random)).collect();
    let mut services = Vec::new();
    for changes in &changes {
        services.push(start_published(shards, changes).await);
    }
    let all = || [&in_force].into_iter().chain(&services);
    // With several shards, whether an unknown user receives depends on the requests: the journal does not have them.
    let known = if shards == 1 { USERS / 2 } else { USERS + 2 };
    for number in 0..known {
        for app in all() {
            let path = format!("/v1/users/p{number}");
            app.put(&path, &json!({"name": "P"})).await;
        }
    }
    for number in 0..requests {
        for app in all().filter(|_| number == requests / 2) {
            exclude(app).await;
        }
        let items: Vec<Value> = (0..1 + random.below(20))
            .map(|_| activity(&mut random))
            .collect();
        for app in all() {
            app.send(json!(items)).await;
            // Whether an unknown user receives depends on when points arrive.
            app.wait_for_receivers().await;
        }
    }
    let folder = tempfile::tempdir()?;
    let (file, outcomes) = (folder.path().join("rules.json"), folder.path().join("out"));
    let [file_name, outcomes_name] = [&file, &outcomes].map(|path| path.to_string_lossy());
    for (changes, other) in changes.iter().zip(&services) {
        fs::write(&file, changes.to_string())?;
        let args = ["rules", "preview", &file_name, "--yes", "--json"];
        let output = ["--limit=1000", "--outcomes", &outcomes_name];
        let preview = succeed(&in_force, &[&args[..], &output].concat())?;
        let text = fs::read_to_string(&outcomes)?;
        let before = decided(&text, "before")?;
        assert_same(&before, &journaled(&in_force, shards).await);
        let after = decided(&text, "after")?;
        assert_same(&after, &journaled(other, shards).await);
        let report: Value = serde_json::from_str(&preview.stdout)?;
        let by_worker = preview_of_worker(&in_force, changes, &report).await;
        // The Worker reads shards in the order in which they were drained.
        let names = match shards {
            1 => "from until activities changes unknown changed_activities boards actions limits",
            _ => "from until activities changes unknown",
        };
        for name in names.split(' ') {
            assert_eq!(by_worker[name], report[name], "{name}");
        }
        for (index, path) in [(0, "ranking"), (1, "authors")] {
            let board = &report["boards"][index];
            let path = format!("/v1/{path}/all?limit=100");
            let body = other.api.get(&path).await.assert_status(200).body.clone();
            let entries = body["entries"].as_array().into_iter().flatten();
            let scores = entries.map(|entry| {
                let id = entry["user"]["id"].as_str().unwrap_or_default().to_owned();
                (id, entry["score"].as_f64().unwrap_or_default())
            });
            let scores: BTreeMap<String, f64> = scores.collect();
            for (user, points) in points(board, false) {
                assert_eq!(scores.get(&user), Some(&points), "{path} {user}");
            }
            let after = board["points"]["after"].as_f64().unwrap_or_default();
            let sum: f64 = scores.values().sum();
            assert!((sum - after).abs() < 0.001, "{path} {sum} {after}");
        }
    }
    assert_no_scratch_keys(&in_force)?;
    Ok(())
}

/// Runs the preview of the Worker over the span of a report, until its keys are deleted. Returns its report.
async fn preview_of_worker(app: &JournalApp, changes: &Value, report: &Value) -> Value {
    let (from, to) = (&report["from"], &report["until"]);
    let body = json!({"rules": changes, "from": from, "to": to, "confirm": true});
    app.post("/v1/rules/preview", &body).await;
    let mut preview = Value::Null;
    // A busy machine may take longer than `until` waits.
    for _ in 0..100 {
        app.api.minute().await;
        let response = app.api.get("/v1/rules/preview").await;
        preview = response.assert_status(200).body["preview"].clone();
        let is_cleared = scratch_keys(app).is_ok_and(|keys| keys.is_empty());
        if preview["state"] != "running" && is_cleared {
            break;
        }
    }
    assert_eq!(preview["state"], "done", "{preview}");
    preview["result"].clone()
}

/// Fails unless all keys are on shards of the deployment.
#[track_caller]
fn assert_no_scratch_keys(app: &JournalApp) -> TestResult {
    assert_eq!(scratch_keys(app)?, [""; 0]);
    Ok(())
}

/// Returns the keys on shards that the deployment does not have.
fn scratch_keys(app: &JournalApp) -> redis::RedisResult<Vec<String>> {
    let pattern = format!("{{{}:*}}*", app.endpoint.prefix);
    let mut keys: Vec<String> = app.redis().keys(&pattern)?;
    keys.retain(|key| {
        key.find('}')
            .is_some_and(|end| end > app.endpoint.prefix.len() + 6)
    });
    Ok(keys)
}

#[tokio::test(flavor = "multi_thread")]
async fn preview_decides_as_published_rules() -> TestResult {
    for shards in [1, shards().max(8)] {
        compare_with_service(shards).await?;
    }
    Ok(())
}

/// Without refused activity in the journal, the preview states a bound. Equal rules change nothing.
#[tokio::test(flavor = "multi_thread")]
async fn preview_reports_unknown_and_no_changes() -> TestResult {
    let app = JournalApp::start(|worker| worker.json("RULES", json!({"like": {"daily_cap": 4}})));
    for target in ["p0", "p1", "p2", "p3"] {
        app.act("42", "like", target).await;
    }
    let preview = |args: &str| {
        let args = format!("rules preview --yes --set like.{args}");
        run(&app, &args.split(' ').collect::<Vec<_>>())
    };
    let same = preview("points=2")?.assert_code(0);
    for part in [
        "the rules in force have these values already\n2 activities from ",
        "\nNothing changes: no member's rank or points differ.\n",
    ] {
        assert!(same.stdout.contains(part), "{same:?}");
    }
    let changed = preview("points=1 --set like.daily_cap=6")?;
    for part in [
        "like.points 2 → 1, like.daily_cap 4 → 6\n",
        "board members: 1 of 1 member change, 4 → 2 points\n",
        "like: members reached the cap on 1 day. The journal lacks activity that it refused then (JOURNAL_REFUSED is off): \
         at most 4 points more by the changed rules.",
    ] {
        assert!(changed.stdout.contains(part), "{changed:?}");
    }
    let earlier = preview("points=1 --until 2020-01-01")?;
    // The time zone of the service depends on the time of the test.
    let from = ["1", "2"].map(|day| format!("\n0 activities from 2019-12-0{day}"));
    let is_earlier = from.iter().any(|from| earlier.stdout.contains(from));
    assert!(is_earlier, "{earlier:?}");
    assert_no_scratch_keys(&app)
}

/// The command needs `--yes` without a terminal, and refuses changes that the service would refuse.
#[tokio::test(flavor = "multi_thread")]
async fn unusable_previews_are_refused() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    let (late, span) = ("--from 2999-01-01 --yes", "--span fortnight");
    for (set, args, expected) in [
        ("like.points=3", "", "Use --yes to continue without asking."),
        ("wave.own=1", "--yes", "rules/wave/own: cannot be published"),
        ("nod.points=1", "--yes", "rules/nod: must be one of "),
        ("like.pair_cap=1", "--yes", "needs boards of content"),
        ("like.points=3", late, "--from must be before --until"),
        ("like.points=3", span, "must be week, month or a duration"),
    ] {
        let args = args.split_whitespace();
        let args = ["rules", "preview", "--set", set].into_iter().chain(args);
        fails(&app, &args.collect::<Vec<_>>(), 2, expected)?;
    }
    Ok(())
}

/// SIGINT after the first scratch keys: the command deletes them.
#[tokio::test(flavor = "multi_thread")]
async fn interrupted_preview_deletes_its_keys() -> TestResult {
    let app = JournalApp::start(|worker| worker);
    let profile = json!({"name": "Ada"});
    app.put("/v1/users/ada", &profile).await;
    app.act("ada", "like", "p0").await;
    let forwarder = Forwarder::to(&app.store());
    let is_last = |request: &Recorded| String::from_utf8_lossy(&request.body).contains("\"limit\"");
    let args = ["rules", "preview", "--set", "like.points=3", "--yes"];
    let child = hang_at(&app, &forwarder, &args, Fault::HangBefore, is_last).await?;
    assert!(!scratch_keys(&app)?.is_empty());
    interrupt(child)?;
    assert_no_scratch_keys(&app)
}
