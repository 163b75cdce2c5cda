//! Redis away for a while, with a queue bound: in the end the boards are what they would have been.

use crate::activity::{Activity, Item, Request};
use crate::run::{SLACK, Setup};
use crate::site::{ACTIVITY, KINDS};
use fastrand::Rng;
use std::collections::BTreeMap;
use test_support::reference::{BoardName, Model, Moment, Store, board_key, now};
use test_support::{Api, Gateway, RedisOptions, RedisServer, Value, Worker, json, until};

const REQUESTS: usize = 200;

/// Likes, some taken back, on few targets; visits; comments of yesterday, beyond their cap.
///
/// Half of the users are in a group, always: of two that count once the first would decide it, and
/// which of them the queue brings first nobody knows.
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
    }
}

fn request(random: &mut Rng, yesterday: i64) -> Request {
    let mut item = || Item::Activity(activity(random, yesterday));
    let one = item();
    let more: Vec<Item> = (0..4).map(|_| item()).collect();
    if random.u8(..10) > 0 {
        return Request::One(one);
    }
    let bad = Item::Bad(json!("like"), "invalid-request");
    Request::Array([one, bad].into_iter().chain(more).collect())
}

/// What is answered while Redis is away.
fn queued(request: &Request) -> (u16, Vec<&'static str>) {
    let name = |item: &Item| match item {
        Item::Activity(_) => "queued",
        Item::Bad(_, slug) => slug,
    };
    let status = if matches!(request, Request::Array(_)) {
        200
    } else {
        202
    };
    (status, request.items().iter().map(name).collect())
}

fn names(body: &Value) -> Vec<&str> {
    let items = body["results"].as_array();
    let items = items.map_or(std::slice::from_ref(body), Vec::as_slice);
    let name = |item: &'_ Value| item["error"]["type"].is_null();
    let told = |item: &Value| {
        if name(item) {
            "queued"
        } else {
            "invalid-request"
        }
    };
    for item in items.iter().filter(|item| name(item)) {
        assert_eq!(*item, json!({"outcome": "queued", "points": 0}));
    }
    items.iter().map(told).collect()
}

async fn send(api: &Api, model: &mut Model, request: &Request) -> (u16, Value) {
    let first = now() - SLACK;
    let answer = api.post(ACTIVITY, &request.json()).await;
    let last = now() + SLACK;
    for item in request.items() {
        if let Item::Activity(activity) = item {
            model.apply(activity, Moment { first, last });
        }
    }
    (answer.status, answer.body)
}

/// Points of all users on a board; who reached them first depends on the queue.
type Points = BTreeMap<String, u64>;

fn expected(model: &Model, names: &[BoardName]) -> Vec<Points> {
    let points = |name| model.ranking(name).into_iter().flatten().collect();
    names.iter().map(points).collect()
}

fn found(store: &mut Store, names: &[BoardName]) -> Vec<Points> {
    let keys: Vec<String> = names.iter().map(board_key).collect();
    let boards = store.boards(&keys).into_iter();
    boards
        .map(|board| board.into_iter().flatten().collect())
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_sent_while_redis_is_away_is_counted_when_it_is_back() {
    let setup = Setup {
        timezone: "UTC",
        kinds: &KINDS,
        decimals: 0,
        rules: json!({"comment": {"points": 3, "daily_cap": 10}}),
    };
    let mut redis = RedisServer::spawn(RedisOptions::default().append_only());
    let gateway = Gateway::spawn(&redis.url());
    let worker = Worker::builder()
        .store(&gateway.url())
        .json("RULES", setup.rules.clone())
        .queued(100)
        .start_wrangler();
    let api = worker.api();
    let mut model = Model::new(setup.calendar(), setup.kinds.to_vec(), setup.rules());
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
        assert_eq!((status, names(&body)), queued(&request), "{body}");
    }
    redis.restart();
    let names: Vec<BoardName> = model.boards.keys().cloned().collect();
    let mut store = Store::new(&redis, worker.prefix());
    let expected = expected(&model, &names);
    until("all of it counted", async || {
        (found(&mut store, &names) == expected).then_some(())
    })
    .await;
}
