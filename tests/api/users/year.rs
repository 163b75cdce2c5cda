//! `GET /v1/users/{user}/activity` with an archive: a year of days.

use std::collections::BTreeSet;

use test_support::{Value, json};

use super::history::{days, history, like_on, streak};
use crate::app::TestApp;
use crate::bodies::{like, undo};
use crate::clock::{day, noon};
use crate::problem::field_error;

const YEAR: &str = "/v1/users/42/activity?days=366";

fn start() -> TestApp {
    TestApp::with(|worker| worker.archive().json("CRON_BUDGET", json!(1000)))
}

/// Returns the history of user 42 with an archive, which has the years of days with points.
fn archived(days: Value, current: u32, longest: u32, active: &[i64]) -> Value {
    let years = active.iter().map(|back| day(*back).year().to_string());
    let years: BTreeSet<String> = years.collect();
    let counted: Vec<i64> = active.iter().copied().filter(|back| *back < 366).collect();
    let streak = streak(current, longest, &counted);
    let mut history = history(json!({"id": "42"}), days, streak);
    history["years"] = years.into_iter().rev().collect();
    history
}

/// Returns the days of a year with points; the last 31 have actions.
fn year(points: &[(i64, u32)]) -> Value {
    let recent: Vec<(i64, u32, Value)> = points
        .iter()
        .map(|(back, points)| {
            (
                *back,
                *points,
                json!({"like": {"count": 1, "points": points}}),
            )
        })
        .collect();
    let mut all = days(366, &recent);
    for day in all.as_array_mut().unwrap().iter_mut().skip(31) {
        day.as_object_mut().unwrap().remove("actions");
    }
    all
}

#[tokio::test]
async fn archived_days_have_points_and_no_actions() {
    let app = start();
    for back in [0, 30, 31, 32, 33, 100, 365, 366] {
        like_on(&app, "42", back).await;
        like_on(&app, "other", back).await;
    }
    app.outcome(undo(like("42", "p100")), "undone").await;
    let recent = [(0, 2), (30, 2)];
    // Nothing is archived yet.
    let expected = archived(year(&recent), 1, 1, &[0, 30]);
    app.assert_get(YEAR, expected).await;

    app.worker.tick().await;
    let points = [recent.as_slice(), &[(31, 2), (32, 2), (33, 2), (365, 2)]].concat();
    let expected = archived(year(&points), 1, 4, &[0, 30, 31, 32, 33, 100, 365, 366]);
    app.assert_get(YEAR, expected.clone()).await;
    app.store().drop_closed_days();
    app.assert_get(YEAR, expected.clone()).await;

    // The archive has the scores of hidden users too.
    app.moderate("42", true, false).await;
    app.assert_get(YEAR, expected).await;
    let first = app.read("/v1/users/42/activity").await;
    assert_eq!(first["days"].as_array().unwrap().len(), 31);
    assert_eq!(first["streak"], streak(1, 4, &[0, 30, 31, 32, 33, 365]));

    app.erase("42").await;
    let expected = archived(year(&[]), 0, 0, &[]);
    app.assert_get(YEAR, expected).await;
}

/// A calendar year has its days until today, whatever the streaks count.
#[tokio::test]
async fn year_selects_its_days() {
    let app = start();
    let active = [0, 1, 40, 366, 500, 800];
    for back in active {
        like_on(&app, "42", back).await;
    }
    app.worker.tick().await;
    app.store().drop_closed_days();
    for year in (0..4).map(|back| day(0).year() - back) {
        let path = format!("/v1/users/42/activity?year={year}");
        let body = app.read(&path).await;
        let days = (0..1500).map(|back| (back, day(back)));
        let days: Vec<Value> = days
            .filter(|(_, day)| day.year() == year)
            .map(|(back, day)| {
                let points = if active.contains(&back) { 2 } else { 0 };
                let mut entry = json!({"date": day.to_string(), "points": points});
                if back < 31 {
                    entry["actions"] = match points {
                        0 => json!({}),
                        _ => json!({"like": {"count": 1, "points": 2}}),
                    };
                }
                entry
            })
            .collect();
        assert_eq!(body, archived(json!(days), 2, 2, &active), "{year}");
    }
    let this_year = day(0).year();
    let range = format!("must be a year from 1970 to {this_year}");
    for (query, detail) in [
        (format!("year={}", this_year + 1), range.as_str()),
        ("year=1969".to_owned(), &range),
        ("year=26".to_owned(), &range),
        ("year=2026-11".to_owned(), &range),
        ("year=".to_owned(), &range),
        (
            "year=2026&days=7".to_owned(),
            "must be given without `days`",
        ),
    ] {
        let expected = field_error("year", detail).body();
        let path = format!("/v1/users/42/activity?{query}");
        app.get(&path).await.assert(400, expected);
    }
}

#[tokio::test]
async fn streak_counts_archived_days() {
    let app = start();
    let likes = (0..40).map(|back| crate::bodies::dated(like("42", &back.to_string()), noon(back)));
    let likes: Vec<Value> = likes.collect();
    app.send_activity(json!(likes)).await.assert_status(200);
    app.worker.tick().await;
    let history = app.read("/v1/users/42/activity?days=1").await;
    let active: Vec<i64> = (0..40).collect();
    let streak = streak(40, 40, &active);
    assert_eq!(history["streak"], streak);
    app.put_profile("42", json!({"public_activity": true}))
        .await;
    assert_eq!(app.read("/v1/users/42/card").await["streak"], streak);
}

/// Without boards of days, the archive knows no points by day.
#[tokio::test]
async fn year_without_day_boards_returns_400() {
    let app = TestApp::with(|worker| worker.archive().json("PERIODS", json!(["week", "all"])));
    app.get(YEAR).await.assert_status(400);
    let response = app.get("/v1/users/42/activity?days=31").await;
    response.assert_status(200);
}
