//! `GET /v1/users/{user}/standings`: all standings of a user.

use test_support::{Value, json, peers};

use crate::app::TestApp;
use crate::bodies::{activity, dated, like, with};
use crate::clock::{day, id, noon};

const PERIODS: [&str; 5] = ["day", "week", "month", "year", "all"];

/// Returns the response of a user with the same standing in each period.
fn everywhere(user: Value, standing: &Value) -> Value {
    let period_standing = |kind: &str| with(standing.clone(), json!({"id": id(kind, day(0))}));
    let standings = PERIODS.map(|kind| (kind.to_owned(), period_standing(kind)));
    json!({"user": user, "standings": Value::from_iter(standings)})
}

fn unranked(total: u32) -> Value {
    json!({"rank": null, "score": 0, "total": total, "percentile": null, "next": null})
}

#[tokio::test]
async fn standings_have_places_of_all_periods() {
    let app = TestApp::start();
    let [a, b, c] = &peers(["a", "b", "c"]);
    app.count(a, "comment", "p").await;
    for user in [b, c] {
        app.count(user, "like", "p").await;
    }
    app.set_name(b, "Ada").await;
    let next = |rank, score, points| json!({"rank": rank, "score": score, "points": points});
    let standing = |rank, score, percentile, next| json!({"rank": rank, "score": score, "total": 3, "percentile": percentile, "next": next});
    for (user, standing) in [
        (json!({"id": a}), standing(1, 3, 100.0, Value::Null)),
        (
            json!({"id": b, "name": "Ada"}),
            standing(2, 2, 66.7, next(1, 3, 2)),
        ),
        (json!({"id": c}), standing(3, 2, 33.3, next(2, 2, 1))),
        (json!({"id": "unknown"}), unranked(3)),
    ] {
        let path = format!(
            "/v1/users/{}/standings",
            user["id"].as_str().expect("an id")
        );
        let response = app.get(&path).await;
        response.assert(200, everywhere(user, &standing));
        assert_eq!(response.header("cache-control"), Some("no-store"));
    }
}

#[tokio::test]
async fn standings_have_requested_groups() {
    let app = TestApp::start();
    let [a, b] = &peers(["a", "b"]);
    for (user, groups) in [(a, json!(["eu", "us"])), (b, json!(["eu"]))] {
        let like = with(like(user, "p"), json!({"groups": groups}));
        app.counted(like).await;
    }
    app.count(b, "visit", "/").await;
    let standing = |rank, total, percentile, next: Value| json!({"rank": rank, "score": 2, "total": total, "percentile": percentile, "next": next});
    let groups = json!({"us": standing(1, 1, 100.0, Value::Null), "none": unranked(0),
        "eu": standing(1, 2, 100.0, Value::Null)});
    let next = json!({"rank": 1, "score": 3, "points": 2});
    let expected = with(standing(2, 2, 50.0, next), json!({"groups": groups}));
    let path = format!("/v1/users/{a}/standings?groups=us,none,eu");
    app.assert_get(&path, everywhere(json!({"id": a}), &expected))
        .await;
}

/// Authors with equal scores rank by id, on whatever shard they are.
#[tokio::test]
async fn standings_have_places_of_authors() {
    let configure = |worker: test_support::WorkerBuilder| {
        worker
            .var("PERIODS", "day,week")
            .var("CONTENT_PERIODS", "week,all")
            .cron()
    };
    let app = TestApp::with(configure);
    let authors: Vec<String> = (0..20).map(|number| format!("a{number}")).collect();
    for author in &authors {
        let body = json!({"author": author});
        let path = format!("/v1/targets/of-{author}");
        app.write(&path, &body).await;
    }
    let likes = authors
        .iter()
        .map(|author| like("42", &format!("of-{author}")));
    app.send_activity(json!(likes.collect::<Vec<_>>()))
        .await
        .assert_status(200);
    app.counted(activity("43", "comment", "of-a7")).await;
    app.minute().await;
    for author in authors.iter().map(String::as_str).chain(["42"]) {
        let all = app.read(&format!("/v1/users/{author}/standings")).await;
        let mut expected = json!({});
        for (kind, period) in [
            ("ranking", "day"),
            ("ranking", "week"),
            ("authors", "week"),
            ("authors", "all"),
        ] {
            let mut standing = app
                .read(&format!("/v1/{kind}/{period}/users/{author}"))
                .await;
            let fields = standing.as_object_mut().expect("an object");
            for name in ["period", "user", "around"] {
                fields.remove(name);
            }
            let period_standing = expected[period].clone();
            let period_standing = if period_standing.is_null() {
                json!({})
            } else {
                period_standing
            };
            let standing = if kind == "authors" {
                json!({"author": standing})
            } else {
                standing
            };
            let id = json!({"id": id(period, day(0))});
            expected[period] = with(with(period_standing, standing), id);
        }
        assert_eq!(all, json!({"user": {"id": author}, "standings": expected}));
    }
}

/// As everywhere, hidden users have no rank; frozen users keep theirs, and erased ones are unknown.
#[tokio::test]
async fn moderation_changes_standings_as_it_does_boards() {
    let app = TestApp::start();
    let [a, b] = &peers(["a", "b"]);
    for user in [a, b] {
        app.count(user, "like", "p").await;
    }
    app.set_name(a, "Ada").await;
    let path = format!("/v1/users/{a}/standings");
    let named = json!({"id": a, "name": "Ada"});
    let first = json!({"rank": 1, "score": 2, "total": 2, "percentile": 100.0, "next": null});
    app.moderate(a, false, true).await;
    app.assert_get(&path, everywhere(named.clone(), &first))
        .await;
    app.moderate(a, true, false).await;
    app.assert_get(&path, everywhere(named.clone(), &unranked(1)))
        .await;
    app.moderate(a, false, false).await;
    app.assert_get(&path, everywhere(named, &first)).await;
    app.erase(a).await;
    app.assert_get(&path, everywhere(json!({"id": a}), &unranked(1)))
        .await;
}

#[tokio::test]
async fn disabled_periods_have_no_standings() {
    let app = TestApp::with(|worker| worker.var("PERIODS", "all"));
    let expected = json!({"user": {"id": "42"},
        "standings": {"all": with(unranked(0), json!({"id": "all"}))}});
    app.assert_get("/v1/users/42/standings", expected).await;
}

/// The ranks are those that each board has with `movement=true`.
#[tokio::test]
async fn standings_have_ranks_of_the_period_before() {
    let app = TestApp::start();
    let users = ["a", "b", "c", "d"];
    for (index, user) in users.into_iter().enumerate() {
        for back in [0, 1, 7, 31, 366] {
            // Each board has another order.
            for number in 0..(index + back as usize) % 4 {
                let like = with(
                    like(user, &format!("{back}-{number}")),
                    json!({"groups": ["eu"]}),
                );
                app.counted(dated(like, noon(back))).await;
            }
        }
    }
    let mut ranks = 0;
    for user in users {
        let path = format!("/v1/users/{user}/standings?groups=eu&movement=true");
        let found = app.read(&path).await;
        for period in PERIODS {
            let standing = &found["standings"][period];
            for (standing, query) in [(standing, ""), (&standing["groups"]["eu"], "&group=eu")] {
                let path = format!("/v1/ranking/{period}/users/{user}?movement=true{query}");
                let board = app.read(&path).await;
                for field in ["rank", "previous_rank", "score", "total", "next"] {
                    let values = (standing.get(field), board.get(field));
                    assert_eq!(values.0, values.1, "{field} of {path}");
                }
                ranks += usize::from(standing["previous_rank"].is_u64());
            }
        }
    }
    assert!(ranks > 20, "{ranks}");
}

#[tokio::test]
async fn standings_have_the_level_of_all_time() {
    let levels = json!({"Newcomer": 0, "Regular": 3});
    let app = TestApp::with(|worker| worker.json("LEVELS", levels));
    app.count("a", "comment", "p").await;
    app.count("b", "like", "p").await;
    for (user, level, next) in [
        ("a", json!({"number": 2, "name": "Regular"}), Value::Null),
        (
            "b",
            json!({"number": 1, "name": "Newcomer"}),
            json!({"name": "Regular", "points": 1}),
        ),
        (
            "unknown",
            json!({"number": 1, "name": "Newcomer"}),
            json!({"name": "Regular", "points": 3}),
        ),
    ] {
        let found = app.read(&format!("/v1/users/{user}/standings")).await;
        assert_eq!(found["user"], json!({"id": user, "level": level}));
        assert_eq!(found["next_level"], next, "{user}");
    }
}
