//! `ORDER_BITS`: the border between points and order of arrival in a score.

use test_support::{Api, SERVICE_KEY, Value, WorkerBuilder, json, peer, peers, until};

use crate::app::TestApp;
use crate::bodies::{activity as act, dated, ids, outcome, undo};
use crate::clock::{day, id, noon, standings};
use crate::healthz::with_setup;

const ORDERS: f64 = 1_048_576.0;
/// The maximum points: 8,589,934,591 smallest steps.
const MAX: f64 = 858_993.459_1;

/// Twenty bits of order and four decimals. `tip` is worth the smallest step, `grant` the maximum less one step.
fn configure(worker: WorkerBuilder) -> WorkerBuilder {
    let rules = json!({"tip": {"points": 0.0001}, "grant": {"points": 858_993.459}});
    let worker = worker.var("ORDER_BITS", "20").var("POINT_DECIMALS", "4");
    worker.json("RULES", rules)
}

fn start() -> TestApp {
    TestApp::with(configure)
}

fn entry(rank: u32, score: impl Into<Value>, user: &str) -> Value {
    json!({"rank": rank, "score": score.into(), "user": {"id": user}})
}

#[tokio::test]
async fn adjustments_and_undo_reach_the_maximum() {
    let app = start();
    // `Client` checks against the OpenAPI document, which describes the default settings.
    let client = Api::new(app.url()).with_key(SERVICE_KEY);
    let path = "/v1/users/a/adjustments";
    let adjust = |points: f64| json!({"id": points.to_string(), "points": points, "reason": "r"});
    let added = client.post(path, &adjust(MAX)).await;
    added.assert(200, outcome("counted", MAX, standings(day(0), MAX, 1)));
    let beyond = client.post(path, &adjust(0.0001)).await;
    let expected = "/problems/score-overflow";
    assert_eq!(beyond.assert_status(422).body["type"], expected);
    let removed = client.post(path, &adjust(-858_993.459)).await;
    let expected = outcome("counted", -858_993.459, standings(day(0), 0.0001, 1));
    removed.assert(200, expected);
    for points in [858_993.459_2, 0.000_05] {
        let refused = client.post(path, &adjust(points)).await;
        let detail = "must be a number, -858993 to 858993 and not 0, with at most 4 decimals";
        assert_eq!(
            refused.assert_status(400).body["errors"][0]["detail"],
            detail
        );
    }
}

/// Later equal scores tie by id, and the counter goes on to show changes.
#[tokio::test]
async fn order_numbers_run_out_and_nothing_is_refused() {
    let app = start();
    let users = peers(["b", "c", "a"]);
    app.counted(act(&peer("first"), "grant", "p")).await;
    let (mut store, first) = (app.store(), peer("first"));
    let key = store.key_of(&first, "ba:all");
    store.run::<i64>("ZADD", &[&key, &(ORDERS - 1.0).to_string(), "#"]);
    let mut counter = ORDERS - 1.0;
    for user in &users {
        app.counted(act(user, "tip", "p")).await;
        let next = store.run::<f64>("ZSCORE", &[&key, "#"]);
        assert!(counter < next && next < ORDERS, "{counter}, {next}");
        counter = next;
    }
    let mut expected = users.to_vec();
    expected.sort_by(|a, b| b.cmp(a));
    expected.insert(0, first.clone());
    let all = app.read("/v1/ranking/all").await;
    assert_eq!(ids(&all), expected);
    assert_eq!(all["entries"][1]["score"], 0.0001);
    app.outcome(undo(act(&users[0], "tip", "p")), "undone")
        .await;
    app.moderate(&users[1], true, false).await;
    app.moderate(&users[1], false, false).await;
    expected.retain(|user| *user != users[0]);
    assert_eq!(ids(&app.read("/v1/ranking/all?limit=5").await), expected);
    let next = store.run::<f64>("ZSCORE", &[&key, "#"]);
    assert!(counter < next && next < ORDERS, "{counter}, {next}");
    // After the highest fraction it starts again.
    let highest = f64::from_bits(ORDERS.to_bits() - 1);
    store.run::<i64>("ZADD", &[&key, &format!("{highest:.17}"), "#"]);
    app.counted(act(&users[0], "tip", "q")).await;
    assert_eq!(store.run::<f64>("ZSCORE", &[&key, "#"]), ORDERS - 1.0);
    assert_eq!(ids(&app.read("/v1/ranking/all?limit=6").await)[0], first);
}

#[tokio::test]
async fn health_warns_before_either_limit() {
    let app = start();
    app.counted(act("a", "tip", "p")).await;
    let mut store = app.store();
    let week = store.key_of("a", &format!("bw:{}", id("week", day(0))));
    let all = store.key_of("a", "ba:all");
    let mut warnings = async |order: f64, steps: f64| {
        for (key, share) in [(&week, 0.79 / 0.8), (&all, 1.0)] {
            let (order, steps) = ((order * share).floor(), (steps * share).floor());
            let score = (steps * ORDERS).to_string();
            store.run::<i64>("ZADD", &[key, &order.to_string(), "#", &score, "a"]);
        }
        app.read("/healthz").await["warnings"].clone()
    };
    let (order, steps) = (ORDERS * 0.8, 8_589_934_591.0 * 0.8);
    assert_eq!(warnings(order - 1.0, steps - 1.0).await, with_setup(&[]));
    let order_warning = "The all board has used 80 % of its order numbers or more; after the last one, equal scores are ordered by user id.";
    let points_warning = "A user of the all board has 80 % of the maximum points or more; activity that would exceed the maximum is refused. Fewer ORDER_BITS or POINT_DECIMALS raise it, under another PREFIX.";
    let expected = with_setup(&[order_warning]);
    assert_eq!(warnings(order + 1.0, steps - 1.0).await, expected);
    let expected = with_setup(&[points_warning]);
    assert_eq!(warnings(order - 1.0, steps + 1.0).await, expected);
    let both = with_setup(&[order_warning, points_warning]);
    assert_eq!(warnings(order + 1.0, steps + 1.0).await, both);
    // A fraction follows the last order number.
    store.run::<i64>("ZADD", &[&all, "1048575.5", "#"]);
    assert_eq!(app.read("/healthz").await["warnings"], both);
}

#[tokio::test]
async fn deployment_with_other_bits_is_misconfigured() {
    let app = start();
    app.counted(act("a", "tip", "p")).await;
    let prefix = app.prefix();
    for (configured, value) in [(Some("16"), "16"), (None, "30")] {
        let other = TestApp::with(|worker| {
            let worker = configure(worker).var("PREFIX", prefix);
            match configured {
                Some(bits) => worker.var("ORDER_BITS", bits),
                None => worker.without("ORDER_BITS").without("RULES"),
            }
        });
        let detail = format!(
            "ORDER_BITS: is {value}, but the data under PREFIX {prefix} was written with 20; set \
             ORDER_BITS back to 20, or choose another PREFIX to start anew"
        );
        let refused = other.send_activity(act("a", "like", "q")).await;
        assert_eq!(refused.assert_status(500).body["detail"], detail);
        let health = other.get("/healthz").await;
        assert_eq!(health.assert_status(503).body["problem"]["detail"], detail);
    }
    app.counted(act("a", "tip", "q")).await;
}

/// Received points, in ranks and sums of days.
#[tokio::test]
async fn boards_of_content_hold_large_points() {
    let app = TestApp::with(|worker| {
        let rules = json!({"grant": {"points": 1, "received": MAX}, "tip": {"points": 1, "received": 0.0001}});
        let worker = configure(worker).cron().json("RULES", rules);
        worker.var("CONTENT_PERIODS", "day,all")
    });
    app.write("/v1/targets/p", &json!({"author": "9"})).await;
    for action in ["grant", "tip"] {
        app.counted(act("a", action, "p")).await;
    }
    app.outcome(undo(act("a", "grant", "p")), "undone").await;
    app.counted(act("b", "grant", "p")).await;
    for path in ["/v1/content/all", "/v1/authors/day"] {
        until("the deliveries", async || {
            app.minute().await;
            let board = app
                .read(&format!("{path}?limit={}", fastrand::u8(1..100)))
                .await;
            (board["entries"][0]["score"] == 858_993.459_2).then_some(())
        })
        .await;
    }
    let hot = app.read("/v1/content/hot").await;
    assert_eq!(hot["entries"][0]["score"], 858_993.459);
}

/// The archive keeps scores as they are stored.
#[tokio::test]
async fn archived_board_keeps_large_scores_and_ties() {
    let app = TestApp::with(|worker| {
        let worker = configure(worker).archive();
        worker.json("CRON_BUDGET", json!(1000))
    });
    let [b, a] = peers(["b", "a"]);
    for user in [&b, &a] {
        app.counted(dated(act(user, "grant", "p"), noon(2))).await;
    }
    app.counted(dated(act(&a, "tip", "p"), noon(2))).await;
    app.outcome(undo(act(&a, "tip", "p")), "undone").await;
    let path = format!("/v1/ranking/day?date={}", day(2));
    let entries = json!([entry(1, 858_993.459, &b), entry(2, 858_993.459, &a)]);
    let before = app.read(&path).await;
    assert_eq!(before["entries"], entries);
    app.worker.tick().await;
    let key = app.store().key_of(&a, &format!("bd:{}", day(2)));
    app.store().run::<i64>("DEL", &[&key]);
    assert_eq!(app.read(&format!("{path}&limit=7")).await, before);
    let winners = app.read("/v1/ranking/day/winners").await;
    assert_eq!(winners["boards"][0]["entries"], entries);
}
