//! Data points for Workers Analytics Engine, as workerd sends them.

use std::time::Duration;

use test_support::{DataPoint, Fault, Method, json, scaled, until};

use crate::app::TestApp;
use crate::bodies::{dated, like};
use crate::clock::noon;
use crate::problem::columns;

/// Waits for the data points of so many events; workerd sends one after the response.
async fn points(app: &TestApp, count: usize) -> Vec<DataPoint> {
    let points = until("data points", async || {
        let points = app.points();
        (points.len() >= count).then_some(points)
    })
    .await;
    assert_eq!(points.len(), count, "{points:?}");
    points
}

/// Returns the index, the texts, and the numbers that do not depend on the clock.
fn facts(point: &DataPoint) -> (String, Vec<String>, Vec<f64>) {
    let [count, duration, store, numbers @ ..] = point.doubles;
    assert_eq!(count, 1.0);
    let times = 0.0..60_000.0;
    assert!(times.contains(&duration), "{point:?}");
    assert!(times.contains(&store), "{point:?}");
    let last = numbers.iter().rposition(|number| *number != 0.0);
    let written = last.map_or(0, |last| last + 1);
    (
        point.index.clone(),
        point.blobs.clone(),
        numbers[..written].to_vec(),
    )
}

#[tokio::test]
async fn each_request_is_a_data_point() {
    let app = TestApp::with(|worker| worker.json("SHARDS", json!(1)).analytics());
    // The first one sends the text of the script.
    app.count("42", "like", "first").await;
    app.count("42", "like", "p").await;
    app.outcome(like("42", "p"), "duplicate").await;
    app.send_activity(json!([like("42", "q"), {}])).await;
    app.without_key().send_activity(like("42", "p")).await;
    app.get("/v1/users/42/standings?x=1").await;
    app.head("/healthz").await;
    app.get("/nothing/42").await;
    let delete = "/v1/ranking/day";
    app.send(Method::DELETE, delete, "", &[]).await;
    app.send(Method::PATCH, delete, "", &[]).await;
    let points = points(&app, 10).await;
    let health = app.read("/healthz").await;
    assert_eq!(health["configured"]["bound"], json!(["analytics"]));
    // Route, method, class, outcome; store requests, commands and status.
    let expected = "
        /v1/activity                POST    2xx  counted             1 1 200
        /v1/activity                POST    2xx  duplicate           1 1 200
        /v1/activity                POST    2xx  ok                  1 1 200
        /v1/activity                POST    4xx  unauthenticated     0 0 401
        /v1/users/{user}/standings  GET     4xx  invalid-request     0 0 400
        /healthz                    HEAD    2xx  ok                  1 13 200
        unknown                     GET     4xx  not-found           0 0 404
        /v1/ranking/{period}        DELETE  4xx  method-not-allowed  0 0 405
        /v1/ranking/{period}        other   4xx  method-not-allowed  0 0 405
    ";
    for (point, [index, method, class, outcome, numbers]) in
        points[1..].iter().zip(columns(expected))
    {
        let (found, blobs, found_numbers) = facts(point);
        assert_eq!(
            (&*found, blobs),
            (
                index,
                [method, class, outcome, "none", ""]
                    .map(str::to_owned)
                    .to_vec()
            )
        );
        let numbers = numbers.split(' ');
        let numbers = numbers.map(|number| number.parse().expect("a number"));
        assert_eq!(found_numbers, numbers.collect::<Vec<f64>>(), "{index}");
    }
}

#[tokio::test]
async fn data_points_name_the_source_of_boards() {
    let (app, forwarder) = TestApp::behind_forwarder(|worker| {
        let worker = worker.json("SHARDS", json!(1)).cached();
        let max_age = scaled(Duration::from_secs(2)).as_secs();
        worker.json("BOARD_MAX_AGE", json!(max_age)).analytics()
    });
    let path = "/v1/ranking/day";
    // The isolate does not answer a service.
    let anonymous = app.without_key();
    anonymous.get(path).await.assert_status(200);
    anonymous.get(path).await.assert_status(200);
    let response = anonymous.get("/v1/ranking/day?limit=30").await;
    response.assert_status(200);
    let sources = async |count| {
        let points = points(&app, count).await;
        let sources = points.iter().map(|point| point.blobs[3].clone());
        (sources.collect::<Vec<_>>(), points)
    };
    let (first, _) = sources(3).await;
    assert_eq!(first, ["miss", "isolate", "edge"]);
    // Stale responses follow when the copies are no longer fresh.
    forwarder.fail(|_| Some(Fault::CutBefore));
    until("a stale board", async || {
        let board = anonymous.get(path).await;
        (board.body["stale"] == true).then_some(())
    })
    .await;
    let points = until("a stale data point", async || {
        let points = app.points();
        let is_stale = |point: &&DataPoint| point.blobs[3] == "stale";
        points.iter().find(is_stale).cloned()
    })
    .await;
    assert_eq!(points.blobs[..3], ["GET", "2xx", "ok"]);
    assert!(points.doubles[3] >= 1.0, "{points:?}");
}

#[tokio::test]
async fn outage_is_the_outcome() {
    let app = TestApp::with(|worker| worker.store("http://127.0.0.1:1").analytics());
    app.send_activity(like("42", "p")).await.assert_status(503);
    let points = points(&app, 1).await;
    let (index, blobs, numbers) = facts(&points[0]);
    assert_eq!(index, "/v1/activity");
    assert_eq!(blobs, ["POST", "5xx", "store-unavailable", "none", ""]);
    assert_eq!((numbers[0], numbers[2]), (1.0, 503.0));
}

/// Ids, targets, groups, addresses, queries, names and keys are unlike every word of the columns.
#[tokio::test]
async fn data_points_contain_nothing_of_the_request() {
    let app = TestApp::with(|worker| worker.cached().analytics().cron());
    let secrets = [
        "zoe-1",
        "target-2",
        "group-3",
        "Name-4",
        "198.51.100.7",
        "key-5",
    ];
    let headers = [
        ("content-type", "application/json"),
        ("cf-connecting-ip", "198.51.100.7"),
        ("user-agent", "key-5"),
    ];
    let activity = json!({"user": "zoe-1", "action": "like", "target": "target-2",
        "groups": ["group-3"]});
    let body = activity.to_string();
    let response = app.send(Method::POST, "/v1/activity", body, &headers).await;
    response.assert_status(200);
    let body = json!({"name": "Name-4"}).to_string();
    app.send(Method::PUT, "/v1/users/zoe-1", body, &headers)
        .await
        .assert_status(200);
    for path in [
        "/v1/ranking/day?group=group-3",
        "/v1/ranking/day?group=group-3",
        "/v1/ranking/day/users/zoe-1",
        "/v1/users/zoe-1?key-5",
        "/zoe-1/target-2",
        "/u/zoe-1",
    ] {
        app.send(Method::GET, path, "", &headers).await;
    }
    app.with_key("key-5").get("/v1/users/zoe-1/activity").await;
    app.minute().await;
    for point in points(&app, 10).await {
        let texts = format!("{} {}", point.index, point.blobs.join(" "));
        for secret in secrets
            .into_iter()
            .chain([test_support::SERVICE_KEY, app.prefix()])
        {
            assert!(!texts.contains(secret), "{secret} in {texts}");
        }
        assert_eq!(point.blobs.len(), 5);
    }
}

#[tokio::test]
async fn each_run_of_cron_is_a_data_point() {
    let app = TestApp::with(|worker| worker.json("SHARDS", json!(1)).analytics().cron());
    app.minute().await;
    let (index, blobs, numbers) = facts(&points(&app, 1).await[0]);
    assert_eq!(index, "scheduled");
    assert_eq!(blobs, ["* * * * *", "", "ok", "", ""]);
    // Without a journal it looks for pending changes.
    assert_eq!(numbers, [1.0]);

    let down = TestApp::with(|worker| {
        let worker = worker.store("http://127.0.0.1:1").analytics();
        worker.json("SHARDS", json!(1)).cron()
    });
    down.minute().await;
    let (_, blobs, _) = facts(&points(&down, 1).await[0]);
    assert_eq!(blobs, ["* * * * *", "", "failed", "", ""]);
}

#[tokio::test]
async fn each_batch_of_the_queue_is_a_data_point() {
    let consume = async |app: &TestApp| {
        let messages = [
            json!([
                dated(like("42", "p"), noon(1)),
                dated(like("42", "q"), noon(1))
            ])
            .to_string(),
            "?".to_owned(),
            json!([dated(like("43", "p"), noon(1))]).to_string(),
        ];
        let body = json!(messages).to_string();
        let api = test_support::Api::new(app.url());
        let path = "/cdn-cgi/handler/queue";
        let response = api.send(Method::POST, path, body, &[]).await;
        response.assert_status(200);
    };
    let app = TestApp::with(|worker| worker.analytics().cron());
    consume(&app).await;
    let (index, blobs, numbers) = facts(&points(&app, 1).await[0]);
    assert_eq!(index, "queue");
    // Without a dead-letter queue, an unreadable message is delivered again.
    assert_eq!(blobs, ["", "", "retried", "", ""]);
    assert_eq!(numbers[..5], [0.0, 0.0, 0.0, 3.0, 1.0]);

    let down = TestApp::with(|worker| worker.store("http://127.0.0.1:1").analytics().cron());
    consume(&down).await;
    let (_, blobs, numbers) = facts(&points(&down, 1).await[0]);
    assert_eq!(blobs, ["", "", "retried", "", ""]);
    assert_eq!(numbers[..5], [0.0, 0.0, 0.0, 3.0, 3.0]);
}
