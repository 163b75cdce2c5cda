//! Points given and taken.

use test_support::{Api, SERVICE_KEY, Value, json};

use super::{activity, adjust, assert_boards, boards};
use crate::clock::{day, noon, standings};
use crate::site::Site;

fn points(points: impl Into<Value>) -> Value {
    json!({"id": "case-17", "points": points.into(), "reason": "Likes bought"})
}

fn undo() -> Value {
    json!({"id": "case-17", "undo": true, "reason": "Appeal granted"})
}

fn outcome(name: &str, points: impl Into<Value>, standings: Value) -> Value {
    json!({"outcome": name, "points": points.into(), "standings": standings})
}

/// Points and actions of a day.
async fn held(site: &Site, back: usize) -> Value {
    let history = site.get("/v1/users/a/activity").await;
    let day = &history.body["days"][back];
    json!([day["points"], day["actions"]])
}

#[tokio::test]
async fn it_counts_once_and_shows_in_the_history() {
    let site = Site::start();
    site.count("b", "like", "p").await;
    site.count("a", "comment", "c").await;
    let given = adjust(&site, "a", points(4)).await;
    given.assert(200, outcome("counted", 4, standings(day(0), 7, 1)));
    let again = adjust(&site, "a", points(4)).await;
    again.assert(200, outcome("duplicate", 0, standings(day(0), 7, 1)));
    let comment = json!({"count": 1, "points": 3});
    let adjusted = json!({"count": 1, "points": 4});
    assert_eq!(
        held(&site, 0).await,
        json!([7, {"comment": comment, "adjust": adjusted}])
    );
    let undone = adjust(&site, "a", undo()).await;
    undone.assert(200, outcome("undone", -4, standings(day(0), 3, 1)));
    let again = adjust(&site, "a", undo()).await;
    again.assert(200, outcome("nothing-to-undo", 0, standings(day(0), 3, 1)));
    assert_eq!(held(&site, 0).await, json!([3, {"comment": comment}]));
}

#[tokio::test]
async fn it_takes_from_each_board_what_is_there_and_gives_back_just_that() {
    let site = Site::start();
    let users = ["a", "b"];
    activity(&site, &users).await;
    let before = boards(&site, &users).await;
    // Two points on the days and in the group there, seven points in all.
    let mut taken = points(-5);
    taken["at"] = json!(noon(12));
    taken["groups"] = json!(["eu"]);
    let answer = adjust(&site, "a", taken).await;
    assert_eq!(answer.body["points"], -5);
    let standing = async |path: &str| {
        let body = site.get(path).await.body;
        (body["score"].clone(), body["rank"].clone())
    };
    let that_day = format!("/v1/ranking/day/users/a?date={}", day(12));
    assert_eq!(standing(&that_day).await, (json!(0), Value::Null));
    let in_group = format!("{that_day}&group=eu");
    assert_eq!(standing(&in_group).await, (json!(0), Value::Null));
    let in_all = "/v1/ranking/all/users/a";
    assert_eq!(standing(in_all).await, (json!(4), json!(2)));
    let group_in_all = "/v1/ranking/all/users/a?group=eu";
    assert_eq!(standing(group_in_all).await, (json!(1), json!(2)));
    let today = "/v1/ranking/day/users/a";
    assert_eq!(standing(today).await, (json!(5), json!(1)));
    let like = json!({"count": 1, "points": 2});
    let adjusted = json!({"count": 1, "points": -2});
    assert_eq!(
        held(&site, 12).await,
        json!([0, {"like": like, "adjust": adjusted}])
    );

    let answer = adjust(&site, "a", undo()).await;
    assert_eq!(answer.body["points"], 5);
    assert_eq!(held(&site, 12).await, json!([2, {"like": like}]));
    // Every score is what it was; a comes second among equals now, as a new arrival.
    let scores = |boards: &[(String, Value)]| {
        let scores = |(path, body): &(String, Value)| {
            let entries = body["entries"].as_array()?;
            let score = |user: &str| {
                let mut entries = entries.iter();
                let entry = entries.find(|entry| entry["user"]["id"] == user)?;
                Some(entry["score"].clone())
            };
            Some((path.clone(), users.map(score)))
        };
        boards.iter().filter_map(scores).collect::<Vec<_>>()
    };
    let after = boards(&site, &users).await;
    assert_eq!(scores(&after), scores(&before));
}

#[tokio::test]
async fn where_nobody_ties_the_boards_are_what_they_were_before() {
    let site = Site::start();
    activity(&site, &["a"]).await;
    site.count("b", "publish", "p").await;
    let before = boards(&site, &["a", "b"]).await;
    for amount in [1, -1, -3, -100, 1000] {
        let id = amount.to_string();
        let reason = "A test";
        let answer = adjust(
            &site,
            "a",
            json!({"id": id, "points": amount, "reason": reason}),
        )
        .await;
        assert_eq!(answer.body["outcome"], "counted", "{}", answer.text);
        assert_ne!(boards(&site, &["a", "b"]).await, before);
        let back = json!({"id": id, "undo": true, "reason": reason});
        let answer = adjust(&site, "a", back).await;
        assert_eq!(answer.body["outcome"], "undone", "{}", answer.text);
        assert_boards(&boards(&site, &["a", "b"]).await, &before);
    }
}

#[tokio::test]
async fn no_score_goes_below_zero_also_when_what_was_adjusted_is_taken_back() {
    let site = Site::start();
    let like = json!({"user": "a", "action": "like", "target": "p"});
    site.outcome(like.clone(), "counted").await;
    let taken = adjust(&site, "a", points(-1)).await;
    taken.assert(200, outcome("counted", -1, standings(day(0), 1, 1)));
    let mut unlike = like.clone();
    unlike["undo"] = json!(true);
    let undone = site.send_activity(unlike).await;
    undone.assert(
        200,
        outcome("undone", -2, standings(day(0), 0, Value::Null)),
    );
    assert_eq!(
        held(&site, 0).await,
        json!([0, {"adjust": {"count": 1, "points": 0}}])
    );
    // The day and its board agree, also afterwards.
    site.outcome(like, "counted").await;
    let day = site.get("/v1/ranking/day/users/a").await;
    assert_eq!(
        (&day.body["score"], &held(&site, 0).await[0]),
        (&json!(2), &json!(2))
    );
    let undone = adjust(&site, "a", undo()).await;
    assert_eq!(undone.body["points"], 1);
    let day = site.get("/v1/ranking/day/users/a").await;
    assert_eq!(day.body["score"], held(&site, 0).await[0]);
}

#[tokio::test]
async fn taking_from_who_has_nothing_makes_no_board() {
    let site = Site::start();
    let taken = adjust(&site, "a", points(-3)).await;
    taken.assert(
        200,
        outcome("counted", 0, standings(day(0), 0, Value::Null)),
    );
    let boards: Vec<String> = site.store().keys();
    assert!(!boards.iter().any(|key| key.starts_with('b')), "{boards:?}");
    let again = adjust(&site, "a", points(-3)).await;
    assert_eq!(again.body["outcome"], "duplicate");
}

#[tokio::test]
async fn what_no_board_can_hold_is_refused_whole() {
    let site = Site::start();
    site.count("a", "like", "p").await;
    let held = site.store().snapshot();
    let answer = adjust(&site, "a", points(8_388_606)).await;
    answer.assert_status(422);
    assert_eq!(answer.body["type"], "/problems/score-overflow");
    assert!(site.store().snapshot() == held, "Redis was changed");
    let most = adjust(&site, "a", points(8_388_605)).await;
    assert_eq!(most.body["standings"]["all"]["score"], 8_388_607);
}

#[tokio::test]
async fn taking_back_what_was_taken_is_refused_where_a_board_cannot_hold_it() {
    let site = Site::start();
    site.count("a", "like", "p").await;
    adjust(&site, "a", points(-2)).await.assert_status(200);
    let more = json!({"id": "2", "points": 8_388_607, "reason": "A test"});
    adjust(&site, "a", more).await.assert_status(200);
    let held = site.store().snapshot();
    let answer = adjust(&site, "a", undo()).await;
    assert_eq!(answer.body["type"], "/problems/score-overflow");
    assert!(site.store().snapshot() == held, "Redis was changed");
}

#[tokio::test]
async fn points_have_the_decimals_of_the_deployment() {
    let site = Site::with(|worker| worker.var("POINT_DECIMALS", "1"));
    site.count("a", "like", "p").await;
    let path = "/v1/users/a/adjustments";
    // The document is that of a deployment without decimals.
    let client = Api::new(site.url()).with_key(SERVICE_KEY);
    let half = client.post(path, &points(-0.5)).await;
    half.assert(200, outcome("counted", -0.5, standings(day(0), 1.5, 1)));
    let finer = client.post(path, &points(0.25)).await;
    finer.assert_status(400);
    assert_eq!(finer.body["errors"][0]["pointer"], "/points");
}

#[tokio::test]
async fn an_adjustment_is_no_action_that_anybody_can_send_or_take_back() {
    let site = Site::start();
    adjust(&site, "a", points(5)).await.assert_status(200);
    for undo in [false, true] {
        let activity = json!({"user": "a", "action": "adjust", "target": "case-17", "undo": undo});
        let answer = site.send_activity(activity).await;
        assert_eq!(answer.body["type"], "/problems/unknown-action");
    }
}
