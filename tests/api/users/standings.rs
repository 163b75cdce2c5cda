//! `GET /v1/users/{user}/standings`: all standings of a user.

use test_support::{Value, json, peers};

use crate::app::TestApp;
use crate::bodies::{dated, like, with};
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
