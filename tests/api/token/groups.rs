//! The groups that a token names, where the deployment says by which claim.

use test_support::{Value, json, peer};

use super::row::forbidden;
use super::sign::{SECRET, claims_with, hs256};
use super::{client_with, like};
use crate::client::Client;
use crate::site::Site;

fn site() -> Site {
    Site::with(|worker| {
        worker
            .var("JWT_SECRET", SECRET)
            .var("JWT_GROUPS_CLAIM", "teams")
    })
}

/// The user 42 with these teams; null for none.
fn member(site: &Site, teams: Value) -> Client {
    client_with(site, &hs256(&claims_with(json!({"teams": teams}))))
}

/// Users and scores of every board, whole: of each period for everybody and for three groups.
async fn boards(site: &Site) -> Vec<(String, Value)> {
    let mut boards = Vec::new();
    for period in ["day", "week", "month", "year", "all"] {
        for of in ["", "&group=eu", "&group=us", "&group=asia"] {
            let answer = site
                .get(&format!("/v1/ranking/{period}?limit=100{of}"))
                .await;
            answer.assert_status(200);
            let rows = answer.body["entries"].as_array().expect("entries").iter();
            let rows = rows.map(|row| json!([row["user"]["id"], row["score"]]));
            boards.push((of.to_owned(), rows.collect()));
        }
    }
    boards
}

/// The same boards where everybody has what is said, in the groups named and for everybody.
fn with(boards: &[(String, Value)], groups: &[&str], rows: &Value) -> Vec<(String, Value)> {
    let counts =
        |of: &str| of.is_empty() || groups.iter().any(|group| of == format!("&group={group}"));
    let board = |(of, held): &(String, Value)| {
        let rows = if counts(of) { rows } else { held };
        (of.clone(), rows.clone())
    };
    boards.iter().map(board).collect()
}

async fn outcome(client: &Client, sent: Value) -> Value {
    let answer = client.post("/v1/activity", &like(sent)).await;
    answer.assert_status(200);
    answer.body["outcome"].clone()
}

/// A site where 7, one of the [`peers`], has two points on every board, and its boards.
async fn inhabited() -> (Site, Vec<(String, Value)>) {
    let site = site();
    let sent = like(json!({"user": peer("7"), "groups": ["eu", "us", "asia"]}));
    site.outcome(sent, "counted").await;
    let boards = boards(&site).await;
    assert!(
        boards
            .iter()
            .all(|(_, rows)| *rows == json!([[peer("7"), 2]]))
    );
    (site, boards)
}

#[tokio::test]
async fn activity_counts_in_the_groups_of_the_token_and_is_taken_back_from_them() {
    let (site, before) = inhabited().await;
    let user = member(&site, json!(["eu", "us"]));
    assert_eq!(outcome(&user, json!({})).await, "counted");
    let both = json!([[peer("7"), 2], ["42", 2]]);
    let counted = with(&before, &["eu", "us"], &both);
    assert_eq!(boards(&site).await, counted);
    assert_eq!(outcome(&user, json!({"groups": []})).await, "duplicate");
    assert_eq!(boards(&site).await, counted);
    assert_eq!(outcome(&user, json!({"undo": true})).await, "undone");
    assert_eq!(boards(&site).await, before);
}

#[tokio::test]
async fn an_undo_takes_back_from_the_groups_of_then_whatever_the_token_says_now() {
    for teams in [json!(null), json!("asia"), json!(["asia", "us"])] {
        let (site, before) = inhabited().await;
        let user = member(&site, json!(["us", "eu"]));
        assert_eq!(outcome(&user, json!({})).await, "counted");
        let moved = member(&site, teams.clone());
        assert_eq!(outcome(&moved, json!({})).await, "duplicate");
        assert_eq!(outcome(&moved, json!({"undo": true})).await, "undone");
        assert_eq!(boards(&site).await, before, "{teams}");
        // A service's undo knows no groups either.
        assert_eq!(outcome(&user, json!({})).await, "counted");
        site.outcome(like(json!({"undo": true})), "undone").await;
        assert_eq!(boards(&site).await, before, "{teams}");
    }
}

#[tokio::test]
async fn each_item_of_an_array_counts_in_them() {
    let (site, before) = inhabited().await;
    let user = member(&site, json!("asia"));
    let sent = json!([
        like(json!({})),
        like(json!({"target": "q"})),
        like(json!({"user": "7"}))
    ]);
    let answer = user.post("/v1/activity", &sent).await;
    answer.assert_status(200);
    let rows = json!([["42", 4], [peer("7"), 2]]);
    assert_eq!(boards(&site).await, with(&before, &["asia"], &rows));
}

#[tokio::test]
async fn groups_that_cannot_be_are_left_out_and_four_count() {
    let rows = [
        (json!("eu"), &["eu"][..]),
        (json!(["", "e u", "eu", 7, "eu", "us", ".."]), &["eu", "us"]),
        (json!(["a", "b", "c", "us", "eu"]), &["us"]),
        (json!({"eu": true}), &[]),
        (json!([]), &[]),
        (json!(7), &[]),
    ];
    for (teams, groups) in rows {
        let (site, before) = inhabited().await;
        let user = member(&site, teams.clone());
        assert_eq!(outcome(&user, json!({})).await, "counted");
        let both = json!([[peer("7"), 2], ["42", 2]]);
        assert_eq!(boards(&site).await, with(&before, groups, &both), "{teams}");
    }
}

#[tokio::test]
async fn groups_sent_by_a_user_stay_forbidden_even_their_own() {
    let (site, before) = inhabited().await;
    let user = member(&site, json!(["eu"]));
    let sent = like(json!({"groups": ["eu"]}));
    let answer = user.post("/v1/activity", &sent).await;
    answer.assert(403, forbidden("Only trusted services may send groups."));
    assert_eq!(boards(&site).await, before);
}

#[tokio::test]
async fn without_the_setting_no_claim_names_groups() {
    let site = Site::with(|worker| worker.var("JWT_SECRET", SECRET));
    let claims = claims_with(json!({"groups": ["eu"], "teams": ["eu"]}));
    let user = client_with(&site, &hs256(&claims));
    assert_eq!(outcome(&user, json!({})).await, "counted");
    for (of, rows) in boards(&site).await {
        let expected = if of.is_empty() {
            json!([["42", 2]])
        } else {
            json!([])
        };
        assert_eq!(rows, expected);
    }
}
