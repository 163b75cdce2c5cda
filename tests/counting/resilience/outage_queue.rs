//! A Redis outage with a queue bound: afterwards the boards are the same as without the outage.

use crate::comparison::{SLACK, Setup};
use crate::generator::{Activity, Item, Request};
use crate::requests::{ACTIVITY, PERIODS};
use fastrand::Rng;
use std::collections::BTreeMap;
use test_support::reference::{BoardId, InstantRange, Model, Store, board_key, now};
use test_support::{Api, Gateway, RedisOptions, RedisServer, Value, Worker, json, until};

const REQUESTS: usize = 200;

/// Returns a random like, undo or visit on few targets, or a comment of yesterday beyond the cap.
///
/// The groups depend only on the user. Otherwise the first of two repeats would decide the groups,
/// and the queue does not guarantee an order.
fn activity(random: &mut Rng, yesterday: i64) -> Activity {
    let action = ["like", "like", "visit", "comment"][random.usize(..4)];
    let user = random.u8(..8);
    let groups = ["eu".to_owned()].into_iter().filter(|_| user < 4);
    Activity {
        user: format!("u{user}"),
        action: action.to_owned(),
        target: format!("/{}", random.u8(..12)),
        undo: action == "like" && random.u8(..3) == 0,
        at: (action == "comment").then_some(yesterday),
        groups: groups.collect(),
        ..Activity::default()
    }
}

fn request(random: &mut Rng, yesterday: i64) -> Request {
    let mut item = || Item::Activity(activity(random, yesterday));
    let one = item();
    let more: Vec<Item> = (0..4).map(|_| item()).collect();
    if random.u8(..10) > 0 {
        return Request::One(one);
    }
    let bad = Item::Invalid(json!("like"), "invalid-request");
    Request::Array([one, bad].into_iter().chain(more).collect())
}

/// Returns status and outcomes of a request during the outage.
fn expected_in_outage(request: &Request) -> (u16, Vec<&'static str>) {
    let name = |item: &Item| match item {
        Item::Activity(_) => "queued",
        Item::Invalid(_, slug) => slug,
    };
    let status = match request {
        Request::Array(_) => 200,
        _ => 202,
    };
    (status, request.items().iter().map(name).collect())
}

/// Returns the outcomes of a response, and asserts that queued items have no points.
fn outcomes(body: &Value) -> Vec<&str> {
    let items = body["results"].as_array();
    let items = items.map_or(std::slice::from_ref(body), Vec::as_slice);
    let outcome = |item: &Value| {
        if !item["error"]["type"].is_null() {
            return "invalid-request";
        }
        assert_eq!(*item, json!({"outcome": "queued", "points": 0}));
        "queued"
    };
    items.iter().map(outcome).collect()
}

/// Sends a request and applies it to the model.
async fn send(api: &Api, model: &mut Model, request: &Request) -> (u16, Value) {
    let first = now() - SLACK;
    let response = api.post(ACTIVITY, &request.json()).await;
    let last = now() + SLACK;
    for item in request.items() {
        if let Item::Activity(activity) = item {
            model.apply(activity, InstantRange { first, last });
        }
    }
    (response.status, response.body)
}

/// Points of all users on a board. Ties depend on the order of the queue and are not compared.
type Points = BTreeMap<String, u64>;

fn expected(model: &Model, names: &[BoardId]) -> Vec<Points> {
    let points = |name| model.ranking(name).into_iter().flatten().collect();
    names.iter().map(points).collect()
}

fn found(store: &mut Store, names: &[BoardId]) -> Vec<Points> {
    let keys: Vec<String> = names.iter().map(board_key).collect();
    let boards = store.boards(&keys).into_iter();
    boards
        .map(|board| board.into_iter().flatten().collect())
        .collect()
}

/// A model that knows no outage predicts the boards.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn outage_activity_is_counted_after_recovery() {
    let setup = Setup::new(
        "UTC",
        &PERIODS,
        0,
        json!({"comment": {"points": 3, "daily_cap": 10}}),
    );
    let mut redis = RedisServer::spawn(RedisOptions::default().append_only());
    let gateway = Gateway::spawn(&redis.url());
    let worker = Worker::builder()
        .store(&gateway.url())
        .without("STORE_TIMEOUT_MS")
        .json("RULES", setup.rules.clone())
        .queued(100)
        .miniflare()
        .start();
    let api = worker.api();
    let mut model = setup.model();
    let mut random = Rng::with_seed(20);
    let yesterday = now() - 86_400_000;

    for _ in 0..20 {
        let request = request(&mut random, yesterday);
        let (status, body) = send(&api, &mut model, &request).await;
        assert_eq!(status, 200, "{body}");
    }
    redis.kill();
    for _ in 0..REQUESTS {
        let request = request(&mut random, yesterday);
        let (status, body) = send(&api, &mut model, &request).await;
        assert_eq!(
            (status, outcomes(&body)),
            expected_in_outage(&request),
            "{body}"
        );
    }
    redis.restart();
    let names: Vec<BoardId> = model.boards.keys().cloned().collect();
    let mut store = Store::new(&redis, worker.prefix());
    let expected = expected(&model, &names);
    until("all activity to be counted", async || {
        (found(&mut store, &names) == expected).then_some(())
    })
    .await;
}
