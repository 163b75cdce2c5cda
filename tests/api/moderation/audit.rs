//! The list of what was done.

use test_support::{Value, json};

use super::{adjust, moderate};
use crate::clock::day;
use crate::site::Site;

/// Everything that leaves an entry, the first thing first.
async fn everything(site: &Site) {
    let reason = |text: &str| json!({"hidden": true, "frozen": true, "reason": text});
    site.count("42", "like", "p").await;
    let path = "/v1/users/42/moderation";
    site.put(path, &reason("Spam ring"))
        .await
        .assert_status(200);
    site.put(path, &reason("Once more"))
        .await
        .assert_status(200);
    moderate(site, "42", false, false).await.assert_status(200);
    let taken = json!({"id": "case-17", "points": -1, "reason": "Likes bought"});
    adjust(site, "42", taken.clone()).await.assert_status(200);
    adjust(site, "42", taken).await.assert_status(200);
    let back = json!({"id": "case-17", "undo": true, "reason": "Appeal"});
    adjust(site, "42", back.clone()).await.assert_status(200);
    adjust(site, "42", back).await.assert_status(200);
    let profile = |hidden: bool| json!({"name": "Ada", "hidden": hidden});
    for hidden in [true, true, false] {
        site.put("/v1/users/42", &profile(hidden))
            .await
            .assert_status(200);
    }
}

/// Entries without what differs each time.
async fn entries(site: &Site, question: &str) -> Vec<Value> {
    let answer = site.get(&format!("/v1/moderation{question}")).await;
    answer.assert_status(200);
    let mut entries = answer.body["entries"].as_array().cloned().unwrap();
    for entry in &mut entries {
        let fields = entry.as_object_mut().unwrap();
        let (id, at) = (fields.remove("id"), fields.remove("at"));
        assert!(id.is_some_and(|id| id.as_str().unwrap().contains('-')));
        assert!(at.is_some_and(|at| at.as_str().unwrap().ends_with('Z')));
    }
    entries
}

#[tokio::test]
async fn each_thing_that_changed_something_is_there_once_the_newest_first() {
    let site = Site::start();
    everything(&site).await;
    let ada = json!({"id": "42", "name": "Ada"});
    let entry =
        |action: &str, reason: &str| json!({"action": action, "user": ada, "reason": reason});
    let adjusted = |action: &str, reason: &str, points: i64| {
        let adjustment = json!({"id": "case-17", "date": day(0).to_string(), "points": points});
        json!({"action": action, "user": ada, "reason": reason, "adjustment": adjustment})
    };
    let own = |action: &str| json!({"action": action, "user": ada});
    let expected = [
        own("opt-in"),
        own("opt-out"),
        adjusted("undo-adjust", "Appeal", 1),
        adjusted("adjust", "Likes bought", -1),
        entry("unfreeze", "A test"),
        entry("unhide", "A test"),
        entry("freeze", "Spam ring"),
        entry("hide", "Spam ring"),
    ];
    assert_eq!(entries(&site, "").await, expected);
}

#[tokio::test]
async fn it_is_read_page_by_page() {
    let site = Site::start();
    site.get("/v1/moderation")
        .await
        .assert(200, json!({"entries": [], "next": null}));
    everything(&site).await;
    let whole = site.get("/v1/moderation").await.body;
    assert_eq!(whole["next"], Value::Null);
    let (mut pages, mut before) = (Vec::new(), String::new());
    loop {
        let page = site
            .get(&format!("/v1/moderation?limit=3{before}"))
            .await
            .body;
        pages.extend(page["entries"].as_array().cloned().unwrap());
        let Some(next) = page["next"].as_str() else {
            break;
        };
        before = format!("&before={next}");
    }
    assert_eq!(json!(pages), whole["entries"]);
    let none = site.get("/v1/moderation?before=1-0").await;
    none.assert(200, json!({"entries": [], "next": null}));
}

#[tokio::test]
async fn what_changes_nothing_leaves_no_entry() {
    let site = Site::start();
    moderate(&site, "42", false, false).await.assert_status(200);
    let undo = json!({"id": "1", "undo": true, "reason": "A test"});
    adjust(&site, "42", undo).await.assert_status(200);
    site.put("/v1/users/42", &json!({"hidden": false}))
        .await
        .assert_status(200);
    site.delete("/v1/users/nobody").await.assert_status(204);
    assert_eq!(json!(entries(&site, "").await), json!([]));
}
