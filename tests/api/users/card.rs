//! `GET /v1/users/{user}/card`: what everyone may know of a member.

use test_support::{Value, json, peers};

use super::history::{like_on, streak};
use crate::app::TestApp;
use crate::bodies::with;
use crate::clock::{day, id};
use crate::problem::problem;

const PERIODS: [&str; 5] = ["day", "week", "month", "year", "all"];

fn card_of(user: &str) -> String {
    format!("/v1/users/{user}/card")
}

/// Returns a card with the same place in each period.
fn everywhere(user: Value, place: &Value, streak: Value) -> Value {
    let period_standing = |kind: &str| with(place.clone(), json!({"id": id(kind, day(0))}));
    let standings = PERIODS.map(|kind| (kind.to_owned(), period_standing(kind)));
    json!({"user": user, "standings": Value::from_iter(standings), "streak": streak})
}

fn place(score: u32, rank: impl Into<Value>, total: u32) -> Value {
    json!({"score": score, "rank": rank.into(), "total": total})
}

#[tokio::test]
async fn card_has_places_of_all_periods() {
    let app = TestApp::start();
    let [a, b, c] = &peers(["a", "b", "c"]);
    app.count(a, "comment", "p").await;
    for user in [b, c] {
        app.count(user, "like", "p").await;
    }
    app.set_name(b, "Ada").await;
    app.set_name("quiet", "Bob").await;
    let named = json!({"id": "quiet", "name": "Bob"});
    for (user, place) in [
        (json!({"id": a}), place(3, 1, 3)),
        (json!({"id": b, "name": "Ada"}), place(2, 2, 3)),
        (json!({"id": c}), place(2, 3, 3)),
        (named, place(0, Value::Null, 3)),
    ] {
        let path = card_of(user["id"].as_str().expect("an id"));
        let expected = everywhere(user, &place, Value::Null);
        app.without_key().assert_get(&path, expected).await;
    }
}

#[tokio::test]
async fn streak_needs_public_activity() {
    let app = TestApp::start();
    // The longest streak reaches into the older of the two histories.
    for back in [0, 1, 2, 26, 27, 28, 29] {
        like_on(&app, "42", back).await;
    }
    let profile = json!({"name": "\"public_activity\":true"});
    app.put_profile("42", profile.clone()).await;
    let path = card_of("42");
    assert_eq!(app.read(&path).await["streak"], Value::Null);
    let public = with(profile, json!({"public_activity": true}));
    app.put_profile("42", public).await;
    let streak = streak(3, 4, &[0, 1, 2, 26, 27, 28, 29]);
    assert_eq!(app.read(&path).await["streak"], streak);
    let history = app.without_key().read("/v1/users/42/activity").await;
    assert_eq!(history["streak"], streak);
}

#[tokio::test]
async fn level_is_that_of_all_time_points() {
    let levels = json!({"Newcomer": 1, "Regular": 3});
    let app = TestApp::with(|worker| worker.json("LEVELS", levels));
    app.set_name("42", "Ada").await;
    let level = async || app.read(&card_of("42")).await["user"]["level"].clone();
    assert_eq!(level().await, Value::Null);
    app.count("42", "like", "p").await;
    assert_eq!(level().await, json!({"number": 1, "name": "Newcomer"}));
    app.count("42", "like", "q").await;
    assert_eq!(level().await, json!({"number": 2, "name": "Regular"}));
}

#[tokio::test]
async fn pictures_show_the_card_and_load_nothing() {
    let app = TestApp::start();
    app.set_name("42", "<Ada & Bob>").await;
    app.count("42", "comment", "p").await;
    app.put_profile("hidden", json!({"name": "Bob", "hidden": true}))
        .await;
    for (path, label) in [
        ("/v1/users/42/card.svg", "All time"),
        ("/v1/users/42/badge.svg", "activity"),
        ("/u/42/share.svg", "of 1 this week"),
    ] {
        let response = app.without_key().get(path).await;
        response.assert_status(200);
        for (name, value) in [
            ("content-type", "image/svg+xml; charset=utf-8"),
            (
                "content-security-policy",
                "default-src 'none'; style-src 'unsafe-inline'",
            ),
            ("x-content-type-options", "nosniff"),
            ("cache-control", "public, max-age=0, stale-if-error=86400"),
        ] {
            assert_eq!(response.header(name), Some(value), "{path}");
        }
        for text in ["&lt;Ada &amp; Bob&gt;", "#1", "3 points", label] {
            assert!(response.text.contains(text), "{text}: {}", response.text);
        }
        let tag = response.header("etag").expect("a tag");
        // Sites that show a picture append parameters of their own.
        for path in [path, &format!("{path}?v=2&fbclid=abc")] {
            let same = app.get_if_none_match(path, tag).await;
            same.assert(304, json!(null));
        }
        let other = app.get(&format!("{path}?theme=dark&lang=zh-Hans")).await;
        assert!(other.text.contains("3 分"), "{}", other.text);
        assert_ne!(other.header("etag"), Some(tag));
        for (user, detail) in [("hidden", "hidden"), ("unknown", "unknown")] {
            let missing = app.get(&path.replace("/42/", &format!("/{user}/"))).await;
            let detail = format!("The user {detail} has no card.");
            missing.assert(404, problem("not-found", detail));
        }
    }
}

#[tokio::test]
async fn card_is_cached_like_an_open_board() {
    let (app, forwarder) =
        TestApp::behind_forwarder(|worker| worker.var("BOARD_MAX_AGE", "60").cached());
    app.set_name("42", "Ada").await;
    let path = card_of("42");
    forwarder.reset();
    let first = app.without_key().get(&path).await;
    let control = "public, max-age=60, stale-if-error=86400";
    assert_eq!(first.header("cache-control"), Some(control));
    let tag = first.header("etag").expect("a tag");
    let same = app.get_if_none_match(&path, tag).await;
    same.assert(304, json!(null));
    let head = app.head(&path).await;
    assert_eq!((head.status, head.header("etag")), (200, Some(tag)));
    let again = app.without_key().get(&path).await;
    again.assert(200, first.body.clone());
    assert!(again.header("age").is_some(), "{}", again.text);
}
