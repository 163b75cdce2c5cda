//! `GET /v1/users/{user}/standings`: all standings of a user.

use test_support::{Value, json};

use crate::app::TestApp;
use crate::bodies::{dated, like, with};
use crate::clock::noon;

const PERIODS: [&str; 5] = ["day", "week", "month", "year", "all"];

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
    let path = "/v1/users/a/standings";
    assert_eq!(
        app.get(path).await.header("cache-control"),
        Some("no-store")
    );
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
