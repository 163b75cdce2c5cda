//! Everything that is refused: each request with its whole answer, and Redis unchanged by all.
//!
//! Rows are grouped by route; a row is a request and the problem it is answered with.

mod activity;
mod callers;
mod moderation;
mod order;
mod problem;
mod profiles;
mod queries;
mod routes;
mod row;
mod size;
mod strict;

use std::collections::BTreeSet;

use test_support::json;

use crate::document::document;
use crate::site::Site;
use row::Row;

fn rows() -> Vec<Row> {
    let groups = [
        routes::rows(),
        callers::rows(),
        size::rows(),
        strict::rows(),
        activity::rows(),
        activity::ruled(),
        queries::rows(),
        moderation::rows(),
        profiles::rows(),
        order::rows(),
    ];
    groups.into_iter().flatten().collect()
}

/// A site with something on every board, one score full, and a period switched off.
async fn site() -> Site {
    let site = Site::with(|worker| {
        let rules = json!({"jackpot": {"points": 8_000_000}, "once": {"points": 1, "undo": false}});
        worker
            .json("RULES", rules)
            .var("PERIODS", "day,week,month,all")
    });
    let of =
        |action: &str| json!({"user": "42", "action": action, "target": "/p", "groups": ["eu"]});
    let sent = json!([of("jackpot"), of("like"), of("visit")]);
    site.send_activity(sent).await.assert_status(200);
    site.put("/v1/users/42", &json!({"name": "Ada"}))
        .await
        .assert_status(200);
    site
}

#[tokio::test]
async fn every_bad_request_is_told_what_is_wrong_and_changes_nothing() {
    let rows = rows();
    assert!(rows.len() >= 80, "only {} rows", rows.len());
    let site = site().await;
    let before = site.store().snapshot();
    let mut differing = Vec::new();
    for row in &rows {
        let answer = row.send(&site).await;
        differing.extend(row.difference(&answer));
    }
    let unchanged = site.store().snapshot() == before;
    assert!(
        differing.is_empty(),
        "{} of {} rows:\n{}",
        differing.len(),
        rows.len(),
        differing.join("\n")
    );
    assert!(unchanged, "Redis was changed");
}

#[tokio::test]
async fn a_body_of_unknown_length_is_read_no_further_than_is_taken() {
    let site = site().await;
    let before = site.store().snapshot();
    for row in size::chunked() {
        let answer = row.send_chunked(&site);
        assert_eq!(
            (answer.status, &answer.body),
            (row.problem.status(), &row.problem.body()),
            "{}",
            answer.head
        );
    }
    assert!(site.store().snapshot() == before, "Redis was changed");
}

#[test]
fn every_problem_of_the_document_occurs_here_or_where_the_service_is_broken() {
    let mut slugs: BTreeSet<String> = rows()
        .iter()
        .map(|row| row.problem.slug().to_owned())
        .collect();
    // These are tested in `token`, `limited`, `misconfigured` and `unavailable`.
    slugs.extend(
        [
            "forbidden",
            "rate-limited",
            "misconfigured",
            "store-unavailable",
            "keys-unavailable",
        ]
        .map(str::to_owned),
    );
    let types = &document().json["components"]["schemas"]["Problem"]["properties"]["type"]["enum"];
    let types = types
        .as_array()
        .expect("an enum")
        .iter()
        .map(|kind| kind.as_str().expect("text"));
    let documented: BTreeSet<String> = types.map(|kind| kind.replace("/problems/", "")).collect();
    assert_eq!(slugs, documented);
}

#[test]
fn every_parameter_of_the_document_is_refused_here_at_least_once() {
    let pointers: BTreeSet<String> = rows()
        .iter()
        .flat_map(|row| row.problem.pointers())
        .collect();
    let parameters = document().parameters();
    assert!(parameters.len() >= 8, "{parameters:?}");
    // Headers may be anything.
    let headers = ["If-None-Match", "Last-Event-ID"];
    for name in parameters
        .iter()
        .filter(|name| !headers.contains(&name.as_str()))
    {
        assert!(pointers.contains(&format!("/{name}")), "no row for {name}");
    }
}
