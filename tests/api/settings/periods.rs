//! `PERIODS`: which boards exist.

use test_support::json;

use crate::app::TestApp;
use crate::bodies::{board, entry, like, outcome, with};
use crate::clock::{day, id, period};
use crate::problem::problem;

#[tokio::test]
async fn disabled_period_is_404_and_omitted() {
    let app = TestApp::with(|worker| worker.var("PERIODS", "all, day"));
    let like = with(like("42", "p"), json!({"groups": ["eu"]}));
    let standings = json!({"day": {"id": id("day", day(0)), "score": 2, "rank": 1},
        "all": {"id": "all", "score": 2, "rank": 1}});
    app.assert_activity(like, outcome("counted", 2, standings))
        .await;
    for kind in ["week", "month", "year"] {
        for rest in ["", "/users/42", "/users?ids=42"] {
            let response = app.get(&format!("/v1/ranking/{kind}{rest}")).await;
            let detail = format!("The period {kind} is switched off.");
            response.assert(404, problem("not-found", detail));
        }
    }
    for kind in ["day", "all"] {
        let expected = board(period(kind, day(0)), 1, [entry(1, 2, "42")]);
        app.assert_get(&format!("/v1/ranking/{kind}?group=eu"), expected)
            .await;
    }
    let mut boards = app.store().keys();
    boards.retain(|key| key.starts_with('b'));
    assert_eq!(boards.len(), 4, "{boards:?}");
}
