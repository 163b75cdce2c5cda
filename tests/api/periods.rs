//! `PERIODS`: the boards that are kept.

use test_support::json;

use crate::clock::{day, id, period};
use crate::site::Site;

#[tokio::test]
async fn a_period_switched_off_is_not_found_and_in_no_answer() {
    let site = Site::with(|worker| worker.var("PERIODS", "all, day"));
    let like = json!({"user": "42", "action": "like", "target": "p", "groups": ["eu"]});
    let standings = json!({"day": {"id": id("day", day(0)), "score": 2, "rank": 1},
        "all": {"id": "all", "score": 2, "rank": 1}});
    site.send_activity(like).await.assert(
        200,
        json!({"outcome": "counted", "points": 2, "standings": standings}),
    );
    for kind in ["week", "month", "year"] {
        for rest in ["", "/users/42", "/users?ids=42"] {
            let answer = site.get(&format!("/v1/ranking/{kind}{rest}")).await;
            let detail = format!("The period {kind} is switched off.");
            let title = "There is nothing here";
            answer.assert(
                404,
                json!({"type": "/problems/not-found", "title": title, "status": 404, "detail": detail}),
            );
        }
    }
    for kind in ["day", "all"] {
        let entry = json!({"rank": 1, "score": 2, "user": {"id": "42"}});
        let answer = site.get(&format!("/v1/ranking/{kind}?group=eu")).await;
        let period = period(kind, day(0));
        answer.assert(
            200,
            json!({"period": period, "total": 1, "entries": [entry]}),
        );
    }
    let boards: Vec<String> = site.store().keys();
    let boards: Vec<&String> = boards.iter().filter(|key| key.starts_with('b')).collect();
    assert_eq!(boards.len(), 4, "{boards:?}");
}

#[tokio::test]
async fn periods_may_be_a_list() {
    let site = Site::with(|worker| worker.json("PERIODS", json!(["week"])));
    let like = json!({"user": "42", "action": "like", "target": "p"});
    let counted = site.outcome(like, "counted").await;
    let week = json!({"week": {"id": id("week", day(0)), "score": 2, "rank": 1}});
    assert_eq!(counted["standings"], week);
    site.get("/v1/ranking/day").await.assert_status(404);
}
