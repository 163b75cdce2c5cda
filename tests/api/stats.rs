//! `GET /v1/stats`: numbers of the site by day, week and month.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use futures::future::join_all;
use jiff::civil::Date;
use test_support::reference::{Activity, Calendar, InstantRange, Model, Rule, now, rfc3339};
use test_support::{Value, WorkerBuilder, json, peer};

use crate::app::TestApp;
use crate::bodies::{activity, dated, like, undo, with};
use crate::clock::{day, id, noon, noon_zone};
use crate::events::Event;
use crate::problem::{problem, unauthenticated};
use crate::token::sign::{SECRET, claims, hs256};

fn start(configure: impl FnOnce(WorkerBuilder) -> WorkerBuilder) -> TestApp {
    TestApp::with(|worker| {
        let worker = worker.archive().journal().cached();
        configure(worker.json("CRON_BUDGET", json!(1000)))
    })
}

/// Returns the path of the numbers of `back` days ago until today.
fn since(back: i64) -> String {
    format!("/v1/stats?from={}", day(back))
}

/// Returns a day with activity of one action.
fn likes(back: i64, active: u32, new: u32, count: u32) -> Value {
    json!({"date": day(back).to_string(), "active": active, "new": new, "activities": count,
        "points": 2 * count, "actions": {"like": {"count": count, "points": 2 * count}}})
}

/// Returns a day without activity.
fn quiet(back: i64) -> Value {
    json!({"date": day(back).to_string(), "active": 0, "new": 0, "activities": 0, "points": 0,
        "actions": {}})
}

/// Returns the days of a response.
fn days(body: &Value) -> &Value {
    &body["days"]
}

#[tokio::test]
async fn adjustment_of_event_is_not_in_stats() {
    let app = start(|worker| worker);
    Event::new("hackathon").begin(&app, &mut app.store()).await;
    app.count("a", "like", "p0").await;
    let adjustment = json!({"id": "1", "event": "hackathon", "points": 5, "reason": "r"});
    app.adjust("a", &adjustment).await.assert_status(200);
    let undo = json!({"id": "1", "undo": true, "reason": "r"});
    app.worker.tick().await;
    let expected = &json!([likes(0, 1, 1, 1)]);
    assert_eq!(days(&app.read(&since(0)).await), expected);
    app.adjust("a", &undo).await.assert_status(200);
    app.worker.tick().await;
    let expected = &json!([likes(0, 1, 1, 1)]);
    assert_eq!(days(&app.read(&since(0)).await), expected);
}

#[tokio::test]
async fn stats_cover_30_days_by_default() {
    let app = TestApp::start();
    let body = app.read("/v1/stats").await;
    let list = body["days"].as_array().unwrap();
    assert_eq!(list.len(), 30);
    assert_eq!(list[0], json!({"date": day(0).to_string(), "active": 0}));
    assert_eq!(list[29]["date"], day(29).to_string());
    let weeks = body["weeks"].as_array().unwrap().len();
    assert!((5..=6).contains(&weeks), "{body}");
    // Without a journal, its fields are absent.
    assert_eq!(body.get("as_of"), None);
    let year = format!("/v1/stats?from={}&to={}", day(366), day(1));
    assert_eq!(app.read(&year).await["days"].as_array().unwrap().len(), 366);
}

#[tokio::test]
async fn periods_without_boards_are_absent() {
    let app = TestApp::with(|worker| worker.var("PERIODS", "week,all"));
    app.count("42", "like", "p").await;
    let path = format!("/v1/stats?from={}", day(0));
    let expected = json!({"timezone": noon_zone(), "days": [{"date": day(0).to_string()}],
        "weeks": [{"id": id("week", day(0)), "active": 1}]});
    app.assert_get(&path, expected).await;
}

/// Hidden members are not active; boards that Redis has dropped come from the archive.
#[tokio::test]
async fn active_members_are_those_of_boards() {
    let app = start(|worker| worker);
    let users: Vec<String> = (0..12).map(|number| format!("u{number}")).collect();
    for (number, user) in (0..).zip(&users) {
        for back in [0, 1 + number % 3] {
            let like = dated(like(user, &format!("{back}")), noon(back));
            app.counted(like).await;
        }
    }
    app.moderate("u0", true, false).await;
    app.erase("u1").await;
    let active = async || -> Vec<Value> {
        let body = app.read(&since(3)).await;
        let list = body["days"].as_array().unwrap().iter();
        list.map(|day| day["active"].clone()).collect()
    };
    assert_eq!(active().await, [10, 3, 3, 4]);
    app.worker.tick().await;
    app.store().drop_closed_days();
    assert_eq!(active().await, [10, 3, 3, 4]);
    app.moderate("u0", false, false).await;
    assert_eq!(active().await, [11, 4, 3, 4]);
}

#[tokio::test]
async fn stats_are_for_services() {
    let app = TestApp::with(|worker| {
        let worker = worker.var("SERVICE_KEYS", "profiles:p");
        worker.var("JWT_SECRET", SECRET)
    });
    let response = app.with_key("p").get("/v1/stats").await;
    response.assert_status(200);
    assert_eq!(response.header("cache-control"), Some("no-store"));
    let member = app.with_key(&hs256(&claims("42")));
    let detail = "Only trusted services may read the numbers of the site.";
    let response = member.get("/v1/stats").await;
    response.assert(403, problem("forbidden", detail));
    let detail = "Send the header Authorization: Bearer <service key or user token>.";
    let response = app.without_key().get("/v1/stats").await;
    response.assert(401, unauthenticated(detail).body());
}

#[tokio::test]
async fn public_stats_are_cached_without_a_key() {
    let app = start(|worker| worker.json("PUBLIC_STATS", json!(true)));
    let anonymous = app.without_key();
    let first = anonymous.get("/v1/stats").await;
    first.assert_status(200);
    let control = "public, max-age=300, stale-if-error=86400";
    assert_eq!(first.header("cache-control"), Some(control));
    app.count("42", "like", "p").await;
    let path = format!("/v1/stats?to={}", day(0));
    for path in ["/v1/stats", &path] {
        let cached = anonymous.get(path).await;
        assert_eq!(cached.body, first.body);
        assert!(cached.header("age").is_some(), "{path}");
    }
    let current = app.get("/v1/stats").await;
    assert_eq!(current.header("cache-control"), Some("no-store"));
    assert_eq!(current.body["days"][0]["active"], 1);
    let tag = first.header("etag").expect("an ETag");
    let unchanged = anonymous.get_if_none_match("/v1/stats", tag).await;
    unchanged.assert_status(304);
}

/// Concurrent runs, entries that a backup brings back, and later runs change nothing.
#[tokio::test]
async fn journal_rows_are_summed_once() {
    let app = start(|worker| worker);
    for target in 0..5 {
        app.count(&peer("a"), "like", &format!("{target}")).await;
    }
    // The numbers of the journal follow with cron.
    let before = app.read(&since(0)).await;
    assert_eq!(before["as_of"], Value::Null);
    assert_eq!(
        days(&before),
        &json!([with(quiet(0), json!({"active": 1}))])
    );
    let outbox = app.store().key("o");
    let dump: Vec<u8> = app.store().run("DUMP", &[&outbox]);
    join_all((0..4).map(|_| app.worker.tick())).await;
    app.worker.tick().await;
    let mut command = redis::cmd("RESTORE");
    command.arg(&outbox).arg(0).arg(dump).arg("REPLACE");
    let mut connection = test_support::redis().connection();
    command.exec(&mut connection).expect("RESTORE");
    app.worker.tick().await;
    let body = app.read(&since(0)).await;
    assert_eq!(days(&body), &json!([likes(0, 1, 1, 5)]));
    assert!(body["as_of"].is_string());
    assert_eq!(body["timezone"], noon_zone());
    app.count(&peer("b"), "like", "p").await;
    app.worker.minute().await;
    app.worker.tick().await;
    let expected = &json!([likes(0, 2, 2, 6)]);
    assert_eq!(days(&app.read(&since(0)).await), expected);
}

/// The activity of an erased member stays in the numbers, also if the erasure reaches the journal with it.
#[tokio::test]
async fn erasure_keeps_sums() {
    let app = start(|worker| worker);
    app.count("42", "like", "a").await;
    app.worker.minute().await;
    app.count("42", "like", "b").await;
    app.erase("42").await;
    app.worker.minute().await;
    app.worker.tick().await;
    let expected = &json!([likes(0, 0, 1, 2)]);
    assert_eq!(days(&app.read(&since(0)).await), expected);
    // Nothing of the first time is known.
    app.count("42", "like", "a").await;
    app.worker.tick().await;
    let expected = &json!([likes(0, 1, 2, 3)]);
    assert_eq!(days(&app.read(&since(0)).await), expected);
    let rows = app.worker.sql("SELECT * FROM sums").await;
    assert!(!rows.to_string().contains("\"42\""), "{rows}");
}

/// The board of the day has expired.
#[tokio::test]
async fn undo_takes_back_the_points_of_its_activity() {
    let app = start(|worker| worker.json("KEEP_DAYS", json!({"day": 2})));
    let action = dated(activity("42", "like", "p"), noon(3));
    app.counted(action).await;
    app.count("42", "like", "q").await;
    let board = app.store().key_of("42", &format!("bd:{}", day(3)));
    assert_eq!(app.store().run::<i64>("DEL", &[&board]), 1);
    app.outcome(undo(like("42", "p")), "undone").await;
    app.worker.tick().await;
    let body = app.read(&since(3)).await;
    assert_eq!(days(&body)[0], likes(0, 1, 0, 1));
    assert_eq!(days(&body)[3], with(quiet(3), json!({"new": 1})));
}

/// Compares the numbers with the reference model on random activity and adjustments.
#[tokio::test]
async fn random_activity_matches_model() {
    for shards in [1, 8] {
        compare_with_model(shards).await;
    }
}

async fn compare_with_model(shards: u32) {
    const ACTIONS: [&str; 5] = ["visit", "like", "bookmark", "comment", "publish"];
    const DAYS: i64 = 5;
    let app = start(|worker| worker.json("SHARDS", json!(shards)));
    let periods = vec!["day", "week", "month", "all"];
    let mut model = Model::new(Calendar::new(noon_zone()), periods, Rule::defaults(1));
    let mut rng = Rng::with_seed(7 + u64::from(shards));
    let mut first: BTreeMap<String, Date> = BTreeMap::new();
    for round in 0..6i64 {
        let mut activities = Vec::new();
        for number in 0..150i64 {
            let action = *rng.choice(&ACTIONS).expect("an action");
            let back = rng.i64(0..DAYS);
            let at = noon(back).parse::<jiff::Timestamp>().expect("an instant");
            // Each has another instant.
            let at = at.as_millisecond() - 3_600_000 + (round * 150 + number) * 1000;
            activities.push(Activity {
                user: format!("u{}", rng.u32(0..25)),
                action: action.to_owned(),
                target: format!("/{}", rng.u32(0..12)),
                undo: action != "visit" && rng.u32(0..4) == 0,
                at: Some(at),
                groups: Vec::new(),
                by_member: false,
                on: None,
                author: None,
            });
        }
        let body: Vec<Value> = activities.iter().map(Activity::json).collect();
        let response = app.send_activity(json!(body)).await;
        let results = response.assert_status(200).body["results"].clone();
        for (index, activity) in activities.iter().enumerate() {
            let outcome = model.apply(activity, InstantRange::exact(now()));
            let name = results[index]["reason"].as_str();
            let name = name.or(results[index]["outcome"].as_str());
            assert_eq!(name, Some(outcome.name()), "{activity:?}");
            if name == Some("counted") {
                let date = model.calendar.date(activity.at.expect("an instant"));
                first.entry(activity.user.clone()).or_insert(date);
            }
        }
        adjust_some(&app, &mut model, &mut rng, round).await;
        let user = format!("u{}", rng.u32(0..25));
        let is_hidden = rng.bool();
        model.moderate(&user, is_hidden, false);
        app.moderate(&user, is_hidden, false).await;
        if rng.bool() {
            app.worker.minute().await;
        }
        app.worker.tick().await;
        compare(&app, &model, &first).await;
    }
}

/// Adjusts the points of some users, and undoes some of the adjustments.
async fn adjust_some(app: &TestApp, model: &mut Model, rng: &mut Rng, round: i64) {
    for number in 0..8 {
        let id = format!("{}", 8 * round + number);
        let (points, undone) = (rng.i64(-8..8), rng.u32(0..3) == 0);
        let points = if points == 0 { -3 } else { points };
        let at = noon(rng.i64(0..5)).parse::<jiff::Timestamp>();
        let at = at.expect("an instant");
        let at = at.as_millisecond() + (8 * round + number) * 1000;
        let mut adjustment = Activity {
            user: format!("u{}", rng.u32(0..25)),
            action: "adjust".to_owned(),
            target: id.clone(),
            undo: false,
            at: Some(at),
            groups: Vec::new(),
            by_member: false,
            on: None,
            author: None,
        };
        let at = rfc3339(at);
        let body = json!({"id": id, "points": points, "at": at, "reason": "r"});
        let outcome = model.adjust(&adjustment, points, None, InstantRange::exact(now()));
        let response = app.adjust(&adjustment.user, &body).await;
        assert_eq!(response.body["outcome"], outcome.name(), "{body}");
        if undone {
            (adjustment.undo, adjustment.at) = (true, None);
            let body = json!({"id": id, "undo": true, "reason": "r"});
            let outcome = model.adjust(&adjustment, 0, None, InstantRange::exact(now()));
            let response = app.adjust(&adjustment.user, &body).await;
            assert_eq!(response.body["outcome"], outcome.name(), "{body}");
        }
    }
}

async fn compare(app: &TestApp, model: &Model, first: &BTreeMap<String, Date>) {
    let body = app.read(&since(6)).await;
    let active = |kind: &'static str, id: String| {
        let [visible, _] = model.ranking(&(kind, id, None));
        visible.len()
    };
    for back in 0..=6 {
        let date = day(back);
        let (mut count, mut points) = (0, 0);
        let mut actions: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
        for ((_, _), day) in model.histories.iter().filter(|((day, _), _)| *day == date) {
            for (action, (action_count, steps)) in day {
                let total = actions.entry(action).or_default();
                *total = (total.0 + *action_count as i64, total.1 + steps);
                points += steps;
                if action != "adjust" {
                    count += *action_count as i64;
                }
            }
        }
        actions.retain(|_, (count, _)| *count > 0);
        let total = |(count, points): &(i64, i64)| json!({"count": count, "points": points});
        let actions = actions.iter().map(|(name, sum)| (name, total(sum)));
        let actions: BTreeMap<_, _> = actions.collect();
        let new = first.values().filter(|first| **first == date).count();
        let expected = json!({"date": date.to_string(), "active": active("day", id("day", date)),
            "new": new, "activities": count, "points": points, "actions": actions});
        assert_eq!(body["days"][back as usize], expected);
    }
    for (list, kind) in [("weeks", "week"), ("months", "month")] {
        let ids: BTreeSet<String> = (0..=6).map(|back| id(kind, day(back))).collect();
        let expected = ids.into_iter().rev();
        let expected = expected.map(|id| json!({"id": id, "active": active(kind, id.clone())}));
        let expected: Vec<Value> = expected.collect();
        assert_eq!(body[list], json!(expected));
    }
}
