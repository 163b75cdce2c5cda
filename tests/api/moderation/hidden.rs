//! Who is hidden.

use std::collections::BTreeSet;

use test_support::{Api, Value, json, peers, rest};

use super::{activity, assert_boards, boards, moderate, without};
use crate::client::Client;
use crate::clock::{day, noon, period, standings};
use crate::site::Site;
use crate::token::sign;

const USERS: [&str; 4] = ["a", "b", "c", "d"];

#[tokio::test]
async fn nobody_sees_them_on_any_board_and_brought_back_nothing_is_lost() {
    let site = Site::start();
    activity(&site, &USERS).await;
    let before = boards(&site, &USERS).await;
    let mut store = site.store();
    let held = store.snapshot();
    for user in USERS {
        let answer = moderate(&site, user, true, false).await;
        answer.assert(
            200,
            json!({"user": {"id": user}, "hidden": true, "frozen": false}),
        );
        let found = boards(&site, &USERS).await;
        assert_boards(&found, &without(user, &before));
        moderate(&site, user, false, false).await.assert_status(200);
        assert_boards(&boards(&site, &USERS).await, &before);
    }
    // Each key of points and marks is what it was, expiry too; what is new is the list of what was done.
    let now = store.snapshot();
    for (key, what) in &held {
        assert!(now.get(key) == Some(what), "{key} has changed");
    }
    let new = now.keys().filter(|key| !held.contains_key(*key));
    let new: BTreeSet<&str> = new.map(|key| rest(key)).collect();
    assert_eq!(new, BTreeSet::from(["f", "l", "w"]));
}

#[tokio::test]
async fn they_have_no_rank_and_nobody_stands_behind_them() {
    let site = Site::start();
    let users = peers(USERS);
    let [a, b, c, d] = users.each_ref().map(String::as_str);
    activity(&site, &[a, b, c, d]).await;
    moderate(&site, a, true, false).await.assert_status(200);
    let nobody = json!({"period": period("all", day(0)), "user": {"id": a}, "rank": null, "score": 0,
        "total": 3, "percentile": null, "next": null, "around": []});
    site.get(&format!("/v1/ranking/all/users/{a}?around=5"))
        .await
        .assert(200, nobody);
    let entry = |rank: u32, user: &str| json!({"rank": rank, "score": 6, "user": {"id": user}});
    let first = json!({"period": period("all", day(0)), "user": {"id": b}, "rank": 1, "score": 6,
        "total": 3, "percentile": 100.0, "next": null,
        "around": [entry(1, b), entry(2, c), entry(3, d)]});
    site.get(&format!("/v1/ranking/all/users/{b}?around=5"))
        .await
        .assert(200, first);
    let last = json!({"period": period("all", day(0)), "user": {"id": d}, "rank": 3, "score": 6,
        "total": 3, "percentile": 33.3, "next": {"rank": 2, "score": 6, "points": 1},
        "around": [entry(2, c), entry(3, d)]});
    site.get(&format!("/v1/ranking/all/users/{d}?around=1"))
        .await
        .assert(200, last);
    let row = |position: Value, rank: Value, score: u32, user: &str| json!({"position": position, "rank": rank, "score": score, "user": {"id": user}});
    let compared = json!({"period": period("all", day(0)), "total": 3, "entries": [
        row(json!(1), json!(2), 6, c), row(Value::Null, Value::Null, 0, a)]});
    site.get(&format!("/v1/ranking/all/users?ids={a},{c}"))
        .await
        .assert(200, compared);
    let beyond = site.get("/v1/ranking/all?offset=3").await;
    beyond.assert(
        200,
        json!({"period": period("all", day(0)), "total": 3, "entries": []}),
    );
}

#[tokio::test]
async fn what_they_do_counts_and_keeps_its_order_of_arrival() {
    let site = Site::start();
    let users = peers(USERS);
    let [a, b, c, d] = users.each_ref().map(String::as_str);
    site.count(a, "like", "p").await;
    moderate(&site, b, true, false).await.assert_status(200);
    let like = |user: &str| json!({"user": user, "action": "like", "target": "p"});
    let counted =
        json!({"outcome": "counted", "points": 2, "standings": standings(day(0), 2, Value::Null)});
    site.send_activity(like(b)).await.assert(200, counted);
    site.count(c, "like", "p").await;
    site.count(b, "comment", "c").await;
    let undone = json!({"user": b, "action": "comment", "target": "c", "undo": true});
    site.outcome(undone, "undone").await;
    site.count(d, "like", "p").await;
    // On a board that came into being meanwhile too.
    let then =
        |user: &str| json!({"user": user, "action": "like", "target": "then", "at": noon(3000)});
    for user in [a, b, c] {
        site.outcome(then(user), "counted").await;
    }
    let history = site.get(&format!("/v1/users/{b}/activity?days=1")).await;
    assert_eq!(history.body["days"][0]["points"], 2);
    moderate(&site, b, false, false).await.assert_status(200);
    let ranked = async |path: &str| {
        let board = site.get(path).await.body;
        let entries = board["entries"].as_array().cloned().unwrap_or_default();
        let ids = entries.iter().map(|entry| entry["user"]["id"].clone());
        ids.collect::<Value>()
    };
    // Taking the comment back was a new arrival at two points: after c, before d.
    assert_eq!(ranked("/v1/ranking/day").await, json!([a, c, b, d]));
    let then = format!("/v1/ranking/day?date={}", day(3000));
    assert_eq!(ranked(&then).await, json!([a, b, c]));
}

#[tokio::test]
async fn who_hides_themself_is_seen_again_when_they_want_and_not_before() {
    let site = Site::with(|worker| worker.var("JWT_SECRET", sign::SECRET));
    activity(&site, &USERS).await;
    let before = boards(&site, &USERS).await;
    let token = sign::hs256(&sign::claims("b"));
    let own = Client::new(Api::new(site.url()).with_key(&token));
    let hidden = json!({"id": "b", "hidden": true});
    let answer = own.put("/v1/users/b", &json!({"hidden": true})).await;
    answer.assert(200, hidden.clone());
    site.get("/v1/users/b").await.assert(200, hidden);
    let gone = without("b", &before);
    assert_boards(&boards(&site, &USERS).await, &gone);
    // Whoever keeps names up to date does not bring them back.
    let named = json!({"id": "b", "name": "Bea", "hidden": true});
    let answer = site.put("/v1/users/b", &json!({"name": "Bea"})).await;
    answer.assert(200, named.clone());
    let answer = site
        .put("/v1/users", &json!([{"id": "b", "name": "Bea"}]))
        .await;
    answer.assert(200, json!({"results": [named]}));
    assert_boards(&boards(&site, &USERS).await, &gone);
    // Nor does a moderator who had hidden them as well.
    moderate(&site, "b", true, false).await.assert_status(200);
    let both = json!({"user": {"id": "b", "name": "Bea", "hidden": true}, "hidden": false, "frozen": false});
    moderate(&site, "b", false, false).await.assert(200, both);
    assert_boards(&boards(&site, &USERS).await, &gone);
    moderate(&site, "b", true, false).await.assert_status(200);
    let answer = own.put("/v1/users/b", &json!({"hidden": false})).await;
    answer.assert(200, json!({"id": "b"}));
    assert_boards(&boards(&site, &USERS).await, &gone);
    let state = json!({"user": {"id": "b"}, "hidden": true, "frozen": false});
    site.get("/v1/users/b/moderation").await.assert(200, state);
    moderate(&site, "b", false, false).await.assert_status(200);
    assert_boards(&boards(&site, &USERS).await, &before);
}

#[tokio::test]
async fn many_are_hidden_by_one_array_of_profiles_the_last_word_counts() {
    let site = Site::start();
    activity(&site, &USERS).await;
    let before = boards(&site, &USERS).await;
    let profiles = json!([
        {"id": "a", "hidden": true}, {"id": "b", "hidden": true}, {"id": "x y", "hidden": true},
        {"id": "c", "hidden": true}, {"id": "c", "hidden": false}, {"id": "b"},
    ]);
    let answer = site.put("/v1/users", &profiles).await;
    answer.assert_status(200);
    let hidden: Vec<bool> = ["a", "b", "c"]
        .map(|user| {
            let results = answer.body["results"].as_array().unwrap();
            results
                .iter()
                .any(|one| one["id"] == user && one["hidden"] == true)
        })
        .to_vec();
    assert_eq!(hidden, [true, true, false], "{}", answer.text);
    let expected = without("b", &without("a", &before));
    assert_boards(&boards(&site, &USERS).await, &expected);
    let back = json!([{"id": "a", "hidden": false}, {"id": "b", "hidden": false}]);
    site.put("/v1/users", &back).await.assert_status(200);
    assert_boards(&boards(&site, &USERS).await, &before);
}

#[tokio::test]
async fn somebody_who_has_done_nothing_yet_can_be_hidden() {
    let site = Site::start();
    let nothing = json!({"user": {"id": "new"}, "hidden": false, "frozen": false});
    let path = "/v1/users/new/moderation";
    site.get(path).await.assert(200, nothing.clone());
    moderate(&site, "new", false, false)
        .await
        .assert(200, nothing);
    assert_eq!(site.store().keys(), [""; 0]);
    moderate(&site, "new", true, false).await.assert_status(200);
    site.count("new", "like", "p").await;
    let board = site.get("/v1/ranking/day").await;
    assert_eq!(board.body["total"], 0);
    moderate(&site, "new", false, false)
        .await
        .assert_status(200);
    let board = site.get("/v1/ranking/day").await;
    assert_eq!(board.body["entries"][0]["user"]["id"], "new");
}
