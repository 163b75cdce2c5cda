//! `GET /healthz`

use test_support::{RedisOptions, RedisServer, Value, json, shards};

use crate::client::Client;
use crate::clock::{day, id, noon_zone};
use crate::site::{Site, patient};

fn configured(prefix: &str) -> Value {
    json!({"timezone": noon_zone(), "periods": ["day", "week", "month", "year", "all"],
        "actions": ["bookmark", "comment", "follow", "like", "publish", "visit"], "decimals": 0,
        "board_max_age": 5, "store_timeout_ms": 20_000, "prefix": prefix, "shards": shards(),
        "service_keys": 1, "user_tokens": [], "allowed_origins": [], "bound": []})
}

#[tokio::test]
async fn a_working_service_tells_its_settings_and_no_secret() {
    let site = Site::start();
    let answer = site.without_key().get("/healthz").await;
    let settings = configured(site.prefix());
    answer.assert(
        200,
        json!({"status": "ok", "configured": settings, "warnings": []}),
    );
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    for secret in [test_support::TOKEN, test_support::SERVICE_KEY] {
        assert!(!answer.text.contains(secret));
    }
    assert_eq!(site.store().keys(), [""; 0]);
}

#[tokio::test]
async fn the_defaults_are_those_documented() {
    let left_out = ["STORE_TIMEOUT_MS", "TIMEZONE"];
    let site = Site::with(|worker| {
        left_out
            .into_iter()
            .fold(worker, |worker, name| worker.without(name))
    });
    let mut settings = configured(site.prefix());
    settings["store_timeout_ms"] = json!(800);
    settings["timezone"] = json!("UTC");
    assert_eq!(site.get("/healthz").await.body["configured"], settings);
}

#[tokio::test]
async fn every_setting_is_told() {
    let site = Site::with(|worker| {
        let worker = worker
            .json("POINT_DECIMALS", json!(1))
            .var("BOARD_MAX_AGE", "60");
        let worker = worker
            .var("STORE_TIMEOUT_MS", "5000")
            .var("PERIODS", "year,day");
        worker
            .var("SERVICE_KEYS", "one, two,three")
            .var("JWT_SECRET", &"s3cret".repeat(6))
            .var("JWKS_URL", "https://id.example.com/keys")
            .var("JWT_ISSUER", "https://id.example.com/")
            .var("JWT_AUDIENCE", "board")
            .var("JWT_GROUPS_CLAIM", "teams")
            .json("RULES", json!({"answer": {"points": 0.5}}))
    });
    let mut settings = configured(site.prefix());
    settings["decimals"] = json!(1);
    settings["board_max_age"] = json!(60);
    settings["store_timeout_ms"] = json!(5000);
    settings["periods"] = json!(["day", "year"]);
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
    let answer = site.get("/healthz").await;
    answer.assert(
        200,
        json!({"status": "ok", "configured": settings, "warnings": []}),
    );
}

#[tokio::test]
async fn a_store_that_does_not_answer_is_503() {
    let site = Site::with(|worker| worker.store("http://127.0.0.1:1"));
    let problem = json!({"type": "/problems/store-unavailable", "status": 503,
        "title": "The store did not answer in time",
        "detail": "Nothing is half-done; sending the same request again is safe."});
    let answer = site.get("/healthz").await;
    let settings = configured(site.prefix());
    answer.assert(
        503,
        json!({"status": "store-unavailable", "problem": problem, "configured": settings, "warnings": []}),
    );
    assert_eq!(answer.header("retry-after"), Some("1"));
}

#[tokio::test]
async fn without_any_key_it_warns_that_nothing_can_be_counted() {
    let site = Site::with(|worker| worker.without("SERVICE_KEYS"));
    let mut settings = configured(site.prefix());
    settings["service_keys"] = json!(0);
    let warning =
        "Neither SERVICE_KEYS nor JWT_SECRET nor JWKS_URL are configured: nothing can be counted.";
    let answer = site.get("/healthz").await;
    answer.assert(
        200,
        json!({"status": "ok", "configured": settings, "warnings": [warning]}),
    );
}

#[tokio::test]
async fn it_warns_when_a_board_has_used_most_of_its_order_numbers() {
    let site = Site::start();
    site.count("42", "like", "p").await;
    let mut store = site.store();
    let orders = f64::from(1 << 30);
    let (week, all) = (
        store.key(&format!("bw:{}", id("week", day(0)))),
        store.key("ba:all"),
    );
    store.run::<i64>("ZADD", &[&week, &(orders * 0.79).floor().to_string(), "#"]);
    store.run::<i64>("ZADD", &[&all, &(orders * 0.81).floor().to_string(), "#"]);
    let warning = "The all board has used 80 % of its order numbers or more; after the last, equals tie by id.";
    let answer = site.get("/healthz").await;
    let settings = configured(site.prefix());
    answer.assert(
        200,
        json!({"status": "ok", "configured": settings, "warnings": [warning]}),
    );
    // Nothing is refused for it, not even at the last one.
    store.run::<i64>("ZADD", &[&all, &(orders - 1.0).to_string(), "#"]);
    site.count("42", "like", "q").await;
    site.count("7", "like", "q").await;
}

#[tokio::test]
async fn it_warns_of_a_store_that_would_drop_data_when_full() {
    let redis = RedisServer::spawn(
        RedisOptions::default()
            .arg("--maxmemory-policy")
            .arg("allkeys-lru"),
    );
    let gateway = test_support::Gateway::spawn(&redis.url());
    let worker = patient().store(&gateway.url()).start();
    let answer = Client::new(worker.api()).get("/healthz").await;
    let warning = "The store's maxmemory-policy is allkeys-lru: when full it would drop boards and marks. Set noeviction.";
    answer.assert_status(200);
    assert_eq!(answer.body["warnings"], json!([warning]));
}
