//! `GET /healthz`.

use test_support::{Method, RedisOptions, RedisServer, Value, WorkerBuilder, json, shards, until};

use crate::app::TestApp;
use crate::bodies::{like, with};
use crate::clock::{noon, noon_zone};
use crate::problem::store_unavailable;
use crate::store::Store;

/// Returns the default rules.
fn rules() -> Value {
    let rule = |points: u32, member_cap: u32, received: u32, own: bool| {
        json!({"points": points, "once": "standing", "undo": true, "by": "user",
            "member_cap": member_cap, "received": received, "own": own})
    };
    let others = || rule(2, 100, 2, false);
    let comment = with(rule(3, 90, 3, true), json!({"on": true}));
    json!({"bookmark": others(), "like": others(), "follow": others(), "comment": comment,
        "visit": {"points": 1, "once": "day", "undo": false, "by": "user", "member_cap": 200, "own": true},
        "publish": {"points": 10, "once": "standing", "undo": true, "by": "service", "own": true}})
}

/// The warning of a service without user tokens.
const NO_TOKENS: &str =
    "Neither JWT_SECRET nor JWKS_URL is configured: members cannot call, only services.";
/// The warning of a service that no page may embed.
pub const NO_ORIGINS: &str =
    "ALLOWED_ORIGINS is not configured: no page of another origin may embed a board or call.";

/// Returns these warnings, and the two of a service without user tokens and origins.
pub fn with_setup(warnings: &[&str]) -> Value {
    json!([warnings, &[NO_TOKENS, NO_ORIGINS]].concat())
}

/// Returns the response of a healthy service.
fn healthy(configured: Value, warnings: Value) -> Value {
    json!({"status": "ok", "version": env!("CARGO_PKG_VERSION"), "configured": configured, "warnings": warnings})
}

fn configured(prefix: &str) -> Value {
    json!({"timezone": noon_zone(), "periods": ["day", "week", "month", "year", "all"], "content_periods": [],
        "actions": ["bookmark", "comment", "follow", "like", "publish", "visit"],
        "rules": rules(), "levels": [], "public_stats": false, "playground": false, "decimals": 0,
        "order_bits": 30, "board_max_age": 0, "store_timeout_ms": 30_000, "cron_budget": 50, "prefix": prefix, "shards": shards(),
        "service_keys": 1, "user_tokens": [], "allowed_origins": [], "bound": []})
}

#[tokio::test]
async fn health_lists_settings_and_no_secrets() {
    let app = TestApp::start();
    let response = app.without_key().get("/healthz").await;
    let settings = configured(app.prefix());
    response.assert(200, healthy(settings, with_setup(&[])));
    assert_eq!(response.header("cache-control"), Some("no-store"));
    for secret in [test_support::TOKEN, test_support::SERVICE_KEY] {
        assert!(!response.text.contains(secret));
    }
    assert_eq!(app.store().keys(), [""; 0]);
}

/// A Redis whose disk was lost, before and after the rebuild.
#[tokio::test]
async fn empty_store_with_journal_needs_a_rebuild() {
    let app = TestApp::with(WorkerBuilder::journal);
    let empty = app.read("/healthz").await["warnings"].clone();
    for target in ["a", "b", "c"] {
        app.counted(like("42", target)).await;
    }
    app.worker.minute().await;
    assert_eq!(app.read("/healthz").await["warnings"], empty);
    let mut store = Store::shared(app.worker.prefix());
    for key in store.full_keys() {
        store.run::<i64>("DEL", &[&key]);
    }
    let mut expected = vec![json!(
        "The store is empty, but the journal has 3 entries: run activity-rank rebuild."
    )];
    let warnings = app.read("/healthz").await["warnings"].clone();
    expected.splice(0..0, empty.as_array().expect("warnings").iter().cloned());
    assert_eq!(warnings, json!(expected));
}

#[tokio::test]
async fn health_lists_the_documented_defaults() {
    let removed = ["BOARD_MAX_AGE", "STORE_TIMEOUT_MS", "TIMEZONE"];
    let app = TestApp::with(|worker| removed.into_iter().fold(worker, WorkerBuilder::without));
    let mut settings = configured(app.prefix());
    settings["board_max_age"] = json!(5);
    settings["store_timeout_ms"] = json!(2000);
    settings["timezone"] = json!("UTC");
    assert_eq!(app.read("/healthz").await["configured"], settings);
}

#[tokio::test]
async fn health_lists_every_setting() {
    // Two rules, of which the second one applies from now on.
    let later = json!([{"points": 2}, {"from": noon(1), "points": 4, "received": 0}, {"from": noon(-2), "points": 8}]);
    let app = TestApp::with(|worker| {
        worker
            .json("POINT_DECIMALS", json!(1))
            .json("ORDER_BITS", json!(24))
            .var("BOARD_MAX_AGE", "60")
            .var("STORE_TIMEOUT_MS", "5000")
            .json("CRON_BUDGET", json!(1000))
            .var("PERIODS", "year,day,all")
            .var("SERVICE_KEYS", "one, two,three")
            .var("JWT_SECRET", &"s3cret".repeat(6))
            .var("JWKS_URL", "https://id.example.com/keys")
            .var("JWT_ISSUER", "https://id.example.com/")
            .var("JWT_AUDIENCE", "board")
            .var("JWT_GROUPS_CLAIM", "teams")
            .json(
                "RULES",
                json!({"answer": {"points": 0.5, "once": "day", "by": "service",
                "daily_cap": 10, "cooldown": 60}, "like": later}),
            )
            .json("LEVELS", json!({"Regular": 50.5, "Newcomer": 0}))
            .json("PUBLIC_STATS", json!(true))
            .json("PLAYGROUND", json!(true))
    });
    let mut settings = configured(app.prefix());
    settings["decimals"] = json!(1);
    settings["order_bits"] = json!(24);
    settings["board_max_age"] = json!(60);
    settings["store_timeout_ms"] = json!(5000);
    settings["cron_budget"] = json!(1000);
    settings["periods"] = json!(["day", "year", "all"]);
    let level = |name: &str, points: f64| json!({"name": name, "points": points});
    settings["levels"] = json!([{"name": "Newcomer", "points": 0}, level("Regular", 50.5)]);
    settings["public_stats"] = json!(true);
    settings["playground"] = json!(true);
    settings["rules"]["answer"] = json!({"points": 0.5, "once": "day", "undo": false, "by": "service",
        "daily_cap": 10, "cooldown": 60, "own": true});
    let like = settings["rules"]["like"].as_object_mut().expect("a rule");
    like.insert("points".to_owned(), json!(4));
    like.remove("received");
    settings["service_keys"] = json!(3);
    settings["user_tokens"] = json!([
        "JWT_SECRET",
        "JWKS_URL",
        "JWT_ISSUER",
        "JWT_AUDIENCE",
        "JWT_GROUPS_CLAIM"
    ]);
    settings["actions"] = json!([
        "answer", "bookmark", "comment", "follow", "like", "publish", "visit"
    ]);
    app.assert_get("/healthz", healthy(settings, json!([NO_ORIGINS])))
        .await;
}

#[tokio::test]
async fn unreachable_store_returns_503() {
    let app = TestApp::with(|worker| worker.store("http://127.0.0.1:1"));
    let response = app.get("/healthz").await;
    let settings = configured(app.prefix());
    let expected = json!({"status": "store-unavailable", "version": env!("CARGO_PKG_VERSION"), "problem": store_unavailable(), "configured": settings, "warnings": []});
    response.assert(503, expected);
    assert_eq!(response.header("retry-after"), Some("1"));
}

#[tokio::test]
async fn health_warns_without_any_credentials() {
    let app = TestApp::with(|worker| worker.without("SERVICE_KEYS"));
    let mut settings = configured(app.prefix());
    settings["service_keys"] = json!(0);
    let warning =
        "None of SERVICE_KEYS, JWT_SECRET and JWKS_URL is configured: nothing can be counted.";
    app.assert_get("/healthz", healthy(settings, json!([warning, NO_ORIGINS])))
        .await;
}

#[tokio::test]
async fn health_warns_of_an_evicting_store() {
    let options = RedisOptions::default().arg("--maxmemory-policy");
    let redis = RedisServer::spawn(options.arg("allkeys-lru"));
    let gateway = test_support::Gateway::spawn(&redis.url());
    let app = TestApp::with(|worker| worker.store(&gateway.url()));
    let health = app.read("/healthz").await;
    let warning = "The store's maxmemory-policy is allkeys-lru: a full store would evict boards and deduplication records. Set noeviction.";
    assert_eq!(health["warnings"], with_setup(&[warning]));
}

/// A full store still answers reads.
#[tokio::test]
async fn full_store_returns_503() {
    let redis = RedisServer::spawn(RedisOptions::default());
    let gateway = test_support::Gateway::spawn(&redis.url());
    let app = TestApp::with(|worker| worker.store(&gateway.url()));
    app.count("42", "like", "p").await;
    assert_eq!(app.read("/healthz").await["status"], "ok");
    let mut store = Store::of(&redis, app.prefix());
    let mut set_memory = |bytes| store.run::<()>("CONFIG", &["SET", "maxmemory", bytes]);
    set_memory("1");
    app.read("/v1/ranking/day").await;
    let response = app.get("/healthz").await;
    let expected = "store-unavailable";
    assert_eq!(response.assert_status(503).body["status"], expected);
    until("the cause in the log", async || {
        let lines = app.log_lines();
        let mut causes = lines.iter().filter_map(|line| line["cause"].as_str());
        causes
            .any(|cause| cause.starts_with("OOM command not allowed"))
            .then_some(())
    })
    .await;
    set_memory("0");
    assert_eq!(app.read("/healthz").await["status"], "ok");
}

#[tokio::test]
async fn health_warns_of_workers_dev() {
    let app = TestApp::start();
    let host = [("host", "rank.example.workers.dev")];
    let response = app.send(Method::GET, "/healthz", "", &host).await;
    let warning = "The Cache API stores nothing under workers.dev: each isolate caches boards for itself, and there are no cached copies while the store is unavailable. Use a domain of your own.";
    let expected = json!([NO_TOKENS, NO_ORIGINS, warning]);
    assert_eq!(response.assert_status(200).body["warnings"], expected);
}
