//! `GET /metrics`.

use std::collections::{BTreeMap, BTreeSet};

use redis::Connection;
use test_support::{Fault, Gateway, RedisOptions, RedisServer, json, shards, until};

use crate::app::TestApp;
use crate::bodies::{dated, like, undo};
use crate::client::Client;
use crate::clock::{noon, noon_zone};
use crate::problem::{problem, unauthenticated};
use crate::store::{Store, take_commands};
use crate::token::sign::{SECRET, claims, hs256};

const PATH: &str = "/metrics";

/// The families whose values depend on the clock, or on what else uses the server.
const VARIABLE: [&str; 6] = [
    "activity_rank_store_latency_seconds",
    "activity_rank_store_uptime_seconds",
    "activity_rank_store_memory_bytes",
    "activity_rank_store_commands_total",
    "activity_rank_cron_run_timestamp_seconds",
    "activity_rank_cron_run_duration_seconds",
];

/// Reads the metrics.
async fn read(client: &Client) -> String {
    let response = client.get(PATH).await;
    response.assert_status(200);
    let media_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    assert_eq!(response.header("content-type"), Some(media_type));
    assert_eq!(response.header("cache-control"), Some("no-store"));
    check_format(&response.text);
    response.text.clone()
}

/// Asserts what the format demands of all samples: one block for each family, no sample twice, and the end.
fn check_format(text: &str) {
    let (mut families, mut samples) = (BTreeSet::new(), BTreeSet::new());
    let mut family = "";
    assert!(text.ends_with("\n# EOF\n"), "{text}");
    for line in text.lines().take_while(|line| *line != "# EOF") {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            family = rest.split(' ').next().expect("a name");
            assert!(families.insert(family), "{family} twice");
        }
        let (name, value) = line.rsplit_once(' ').expect("a space");
        let is_in_family = if let Some(rest) = line.strip_prefix("# ") {
            rest.split(' ').nth(1).expect("a name") == family
        } else {
            assert!(samples.insert(name), "{name} twice");
            assert!(value.parse::<f64>().is_ok(), "{line}");
            name.starts_with(family)
        };
        assert!(is_in_family, "{line} is not of {family}");
    }
}

/// Returns the samples by name and labels, without the prefix.
fn samples(text: &str) -> BTreeMap<&str, &str> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let samples = lines.map(|line| line.rsplit_once(' ').expect("a sample"));
    samples
        .map(|(name, value)| {
            (
                name.strip_prefix("activity_rank_").expect("the prefix"),
                value,
            )
        })
        .collect()
}

/// Replaces the values of [`VARIABLE`] by `…`.
fn without_variable(text: &str) -> String {
    let line = |line: &str| match line.split_once(' ') {
        Some((name, _)) if VARIABLE.contains(&name) => format!("{name} …\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

/// Returns the metrics of a store that responds.
fn store_metrics(entries: [u64; 5]) -> String {
    let [day, week, month, year, all] = entries;
    let version = env!("CARGO_PKG_VERSION");
    let (shards, zone) = (shards(), noon_zone());
    format!(
        r#"# TYPE activity_rank_build info
# HELP activity_rank_build The version of the service.
activity_rank_build_info{{version="{version}"}} 1
# TYPE activity_rank_schema info
# HELP activity_rank_schema The settings that the stored data depends on.
activity_rank_schema_info{{fingerprint="v4 shards={shards} decimals=0 timezone={zone}"}} 1
# TYPE activity_rank_store_up gauge
# HELP activity_rank_store_up Whether the store responded.
activity_rank_store_up 1
# TYPE activity_rank_store_circuit gauge
# HELP activity_rank_store_circuit The state of the circuit breaker, in the isolate that responded.
activity_rank_store_circuit{{state="closed"}} 1
activity_rank_store_circuit{{state="open"}} 0
activity_rank_store_circuit{{state="half-open"}} 0
# TYPE activity_rank_store_latency_seconds gauge
# UNIT activity_rank_store_latency_seconds seconds
# HELP activity_rank_store_latency_seconds The time that the store took to answer this request.
activity_rank_store_latency_seconds …
# TYPE activity_rank_store_uptime_seconds gauge
# UNIT activity_rank_store_uptime_seconds seconds
# HELP activity_rank_store_uptime_seconds The time since the store started.
activity_rank_store_uptime_seconds …
# TYPE activity_rank_store_memory_bytes gauge
# UNIT activity_rank_store_memory_bytes bytes
# HELP activity_rank_store_memory_bytes Memory in use.
activity_rank_store_memory_bytes …
# TYPE activity_rank_store_memory_limit_bytes gauge
# UNIT activity_rank_store_memory_limit_bytes bytes
# HELP activity_rank_store_memory_limit_bytes The most memory that the store may use; 0 for no limit.
activity_rank_store_memory_limit_bytes 0
# TYPE activity_rank_store_commands counter
# HELP activity_rank_store_commands Commands of all clients since the store started.
activity_rank_store_commands_total …
# TYPE activity_rank_store_evicted_keys counter
# HELP activity_rank_store_evicted_keys Keys that the store has evicted, with their data.
activity_rank_store_evicted_keys_total 0
# TYPE activity_rank_board_members gauge
# HELP activity_rank_board_members Visible entries of the current board of a period.
activity_rank_board_members{{period="day"}} {day}
activity_rank_board_members{{period="week"}} {week}
activity_rank_board_members{{period="month"}} {month}
activity_rank_board_members{{period="year"}} {year}
activity_rank_board_members{{period="all"}} {all}
"#
    )
}

const IDLE_JOBS: &str = "\
# TYPE activity_rank_pending_changes gauge
# HELP activity_rank_pending_changes Changes of visibility and erasures that are not complete on all boards.
activity_rank_pending_changes 0
# TYPE activity_rank_waiting_receipts gauge
# HELP activity_rank_waiting_receipts Entries of streams that targets and authors have not received yet, of the first few hundred of each shard.
activity_rank_waiting_receipts 0
";

#[tokio::test]
async fn metrics_are_for_keys_with_their_scope() {
    let app = TestApp::with(|worker| {
        let worker = worker.var("SERVICE_KEYS", "full,metrics:scraper,admin:admin");
        worker.var("JWT_SECRET", SECRET)
    });
    let full = read(&app.with_key("full")).await;
    let expected = without_variable(&read(&app.with_key("scraper")).await);
    assert_eq!(without_variable(&full), expected);
    for secret in [test_support::TOKEN, "full", "scraper", SECRET, app.prefix()] {
        assert!(!full.contains(secret), "{full}");
    }
    let lacking = app.with_key("admin").get(PATH).await;
    let detail = "This service key lacks the scope metrics.";
    lacking.assert(403, problem("forbidden", detail));
    let member = app.with_key(&hs256(&claims("42"))).get(PATH).await;
    let detail = "Only trusted services may do this.";
    member.assert(403, problem("forbidden", detail));
    let detail = "Send the header Authorization: Bearer <service key or user token>.";
    let anonymous = app.without_key().get(PATH).await;
    anonymous.assert(401, unauthenticated(detail).body());
    // A scraper can do nothing else.
    let scraper = app.with_key("scraper");
    let response = scraper.send_activity(like("42", "p")).await;
    response.assert_status(403);
    scraper.get("/v1/status").await.assert_status(403);
    scraper.delete("/v1/users/42").await.assert_status(403);
}

#[tokio::test]
async fn empty_deployment_has_metrics() {
    let app = TestApp::start();
    let expected = store_metrics([0; 5]) + IDLE_JOBS + "# EOF\n";
    assert_eq!(without_variable(&read(&app).await), expected);
    // Nothing is written.
    assert_eq!(app.store().full_keys(), [""; 0]);
}

#[tokio::test]
async fn metrics_count_visible_members_of_boards() {
    let app = TestApp::with(|worker| worker.var("CONTENT_PERIODS", "week,all"));
    for number in 0..12 {
        let user = format!("u{number}");
        app.count(&user, "like", "p").await;
        app.counted(dated(like(&user, "old"), noon(400))).await;
    }
    app.moderate("u0", true, false).await;
    app.erase("u1").await;
    app.outcome(undo(like("u2", "p")), "undone").await;
    app.write("/v1/targets/p", &json!({"author": "a"})).await;
    app.count("u3", "bookmark", "p").await;
    let text = until("the deliveries", async || {
        let text = read(&app).await;
        let done = samples(&text).get("waiting_receipts") == Some(&"0");
        done.then_some(text)
    })
    .await;
    let samples = samples(&text);
    let members = |period: &str| samples[&*format!("board_members{{period=\"{period}\"}}")];
    // All but u0, u1 and u2; the like of u2 of 400 days ago stays.
    let found = ["day", "week", "month", "year", "all"].map(members);
    assert_eq!(found, ["9", "9", "9", "9", "10"]);
    for name in ["board_targets", "board_authors"] {
        for period in ["week", "all"] {
            let name = format!("{name}{{period=\"{period}\"}}");
            assert_eq!(samples[&*name], "1", "{name}");
        }
        assert!(!samples.contains_key(&*format!("{name}{{period=\"day\"}}")));
    }
}

/// Values of the journal and of jobs before and after cron.
#[tokio::test]
async fn metrics_of_a_journal_follow_cron() {
    let app = TestApp::with(|worker| worker.journal());
    let empty = read(&app).await;
    let jobs = "\
# TYPE activity_rank_changes counter
# HELP activity_rank_changes Changes that were written to the outbox.
activity_rank_changes_total 0
# TYPE activity_rank_outbox_entries gauge
# HELP activity_rank_outbox_entries Changes that are not in the journal yet.
activity_rank_outbox_entries 0
";
    let actions = ["visit", "like", "bookmark", "follow", "comment", "publish"];
    let action_values = |name: &str| {
        let lines =
            actions.map(|action| format!("activity_rank_{name}{{action=\"{action}\"}} 0\n"));
        lines.concat()
    };
    let journal = format!(
        "\
# TYPE activity_rank_journal_up gauge
# HELP activity_rank_journal_up Whether the database of the journal responded.
activity_rank_journal_up 1
# TYPE activity_rank_webhook_messages gauge
# HELP activity_rank_webhook_messages Messages to webhooks that wait.
activity_rank_webhook_messages 0
# TYPE activity_rank_day_new_members gauge
# HELP activity_rank_day_new_members Members whose first activity counted today.
activity_rank_day_new_members 0
# TYPE activity_rank_day_activities gauge
# HELP activity_rank_day_activities Activities that counted today, less those that were undone.
{}# TYPE activity_rank_day_points gauge
# HELP activity_rank_day_points Net points of today.
{}# EOF
",
        action_values("day_activities"),
        action_values("day_points")
    );
    let expected = store_metrics([0; 5]) + jobs + IDLE_JOBS + &journal;
    let sorted = |text: &str| {
        let text = without_variable(text);
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&empty), sorted(&expected));

    for user in ["a", "b", "c"] {
        app.count(user, "like", "p").await;
    }
    app.count("a", "visit", "/").await;
    app.outcome(undo(like("c", "p")), "undone").await;
    let text = read(&app).await;
    let before = samples(&text);
    assert_eq!(before["outbox_entries"], "5");
    assert_eq!(before["changes_total"], "5");
    let oldest = before["outbox_oldest_timestamp_seconds"].to_owned();
    assert!(!before.contains_key("journal_entry_timestamp_seconds"));
    assert!(!before.contains_key("cron_run_timestamp_seconds"));
    assert_eq!(before["day_activities{action=\"like\"}"], "0");

    app.worker.tick().await;
    let text = read(&app).await;
    let after = samples(&text);
    assert_eq!(after["outbox_entries"], "0");
    assert_eq!(after["changes_total"], "5");
    assert!(!after.contains_key("outbox_oldest_timestamp_seconds"));
    let number = |name: &str| after[name].parse::<f64>().expect("a number");
    let oldest: f64 = oldest.parse().expect("a number");
    assert!(number("journal_entry_timestamp_seconds") >= oldest);
    assert!(number("journal_sums_timestamp_seconds") >= oldest);
    assert!(number("cron_run_timestamp_seconds") >= oldest);
    assert!(number("cron_run_duration_seconds") >= 0.0);
    assert_eq!(after["cron_run_success"], "1");
    assert_eq!(after["day_new_members"], "3");
    for (name, value) in [("like", "2"), ("visit", "1"), ("comment", "0")] {
        assert_eq!(
            after[&*format!("day_activities{{action=\"{name}\"}}")],
            value
        );
    }
    assert_eq!(after["day_points{action=\"like\"}"], "4");
    assert_eq!(after["board_members{period=\"day\"}"], "2");
}

#[tokio::test]
async fn points_have_their_decimals() {
    let app = TestApp::with(|worker| {
        let worker = worker.json("POINT_DECIMALS", json!(2)).journal();
        worker.json("RULES", json!({"like": {"points": 0.25}}))
    });
    app.count("a", "like", "p").await;
    app.count("a", "like", "q").await;
    app.worker.tick().await;
    let text = read(&app).await;
    assert_eq!(samples(&text)["day_points{action=\"like\"}"], "0.50");
}

/// Cron is recorded when it goes other than the time before, and else once in a quarter of an hour.
#[tokio::test]
async fn failed_cron_is_recorded_at_once() {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| worker.journal());
    app.worker.tick().await;
    let success = async || {
        let text = read(&app).await;
        let samples = samples(&text);
        let began = samples["cron_run_timestamp_seconds"].to_owned();
        (began, samples["cron_run_success"].to_owned())
    };
    let first = success().await;
    assert_eq!(first.1, "1");
    app.worker.tick().await;
    assert_eq!(success().await, first);
    // The entry is read, but not removed.
    app.count("a", "like", "p").await;
    forwarder.fail(|request| request.runs("XRANGE").then_some(Fault::CutBefore));
    app.worker.tick().await;
    let failed = success().await;
    assert_eq!(failed.1, "0");
    assert!(failed.0 > first.0);
    forwarder.heal();
    app.worker.tick().await;
    let recovered = success().await;
    assert_eq!(recovered.1, "1");
    assert!(recovered.0 > failed.0);
    // As if it was a quarter of an hour ago.
    let key = app.store().key_on(0, "j");
    app.store().run::<i64>("HSET", &[&key, "cron", "1000 5 1"]);
    app.worker.tick().await;
    let later = success().await;
    assert!(later.0 > recovered.0);
}

#[tokio::test]
async fn queue_has_metrics_after_a_delivery() {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| worker.queued(100));
    let text = read(&app).await;
    assert!(!samples(&text).contains_key("queue_delay_seconds"));
    forwarder.fail_next(Fault::CutBefore);
    app.send_activity(like("42", "p")).await.assert_status(202);
    let text = until("a delivery", async || {
        let text = read(&app).await;
        let is_known = samples(&text).contains_key("queue_delay_seconds");
        is_known.then_some(text)
    })
    .await;
    let samples = samples(&text);
    let number = |name: &str| samples[name].parse::<f64>().expect("a number");
    assert!((0.0..60.0).contains(&number("queue_delay_seconds")));
    assert!(number("queue_delivery_timestamp_seconds") > 1_700_000_000.0);
}

/// Prometheus takes an answer without samples for an outage of the service.
#[tokio::test]
async fn metrics_report_an_outage_of_the_store() {
    let app = TestApp::with(|worker| worker.store("http://127.0.0.1:1"));
    let text = read(&app).await;
    let samples = samples(&text);
    assert_eq!(samples["store_up"], "0");
    assert_eq!(samples["store_circuit{state=\"closed\"}"], "1");
    let mut names: Vec<_> = samples.keys().map(|name| name.split('{').next()).collect();
    names.dedup();
    let expected = ["build_info", "schema_info", "store_circuit", "store_up"];
    assert_eq!(names, expected.map(Some));
}

#[tokio::test]
async fn metrics_report_a_failing_journal() {
    let app = TestApp::with(|worker| worker.journal());
    app.count("42", "like", "p").await;
    app.worker.sql("DROP TABLE summed").await;
    let text = read(&app).await;
    let samples = samples(&text);
    assert_eq!((samples["journal_up"], samples["store_up"]), ("0", "1"));
    assert_eq!(samples["outbox_entries"], "1");
    assert!(!samples.contains_key("day_new_members"));
}

/// A Redis of its own, whose commands can be counted.
fn own_store() -> (RedisServer, Gateway, Connection) {
    let server = RedisServer::spawn(RedisOptions::default());
    let gateway = Gateway::spawn(&server.url());
    let connection = server.connection();
    (server, gateway, connection)
}

/// One for the progress, and for each shard one for the fingerprint and one for each board. `INFO` is not counted.
#[tokio::test]
async fn metrics_take_few_commands_in_one_request() {
    let (_server, gateway, mut redis) = own_store();
    for shards in [1, 8] {
        let app =
            TestApp::with(|worker| worker.store(&gateway.url()).json("SHARDS", json!(shards)));
        take_commands(&mut redis);
        read(&app).await;
        assert_eq!(take_commands(&mut redis), 1 + shards * 6);
    }
}

/// A community sees its own numbers, whatever else is in the same Redis.
#[tokio::test]
async fn communities_have_metrics_of_their_own() {
    let (server, gateway, _) = own_store();
    let community = |prefix: &str, key: &str| {
        TestApp::with(|worker| {
            let worker = worker.var("PREFIX", prefix).store(&gateway.url());
            worker.var("SERVICE_KEYS", key)
        })
    };
    let (one, two) = (community("one", "key-1"), community("two", "key-2"));
    let one_client = one.with_key("key-1");
    one_client.count("42", "like", "p").await;
    let before = Store::of(&server, "one").snapshot();
    let text = read(&two.with_key("key-2")).await;
    assert_eq!(samples(&text)["board_members{period=\"all\"}"], "0");
    two.with_key("key-1").get(PATH).await.assert_status(401);
    let text = read(&one_client).await;
    assert_eq!(samples(&text)["board_members{period=\"all\"}"], "1");
    assert!(Store::of(&server, "one").snapshot() == before);
}
