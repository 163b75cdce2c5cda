//! Who is erased after moderation.

use test_support::{Value, json};

use super::{activity, adjust, assert_boards, boards, moderate, without};
use crate::site::Site;

#[tokio::test]
async fn no_trace_is_left_on_any_board_or_in_the_audit_list_which_keeps_how_much_there_was() {
    let site = Site::start();
    let users = ["a", "gone-user", "c"];
    activity(&site, &users).await;
    let before = boards(&site, &users).await;
    site.put("/v1/users/gone-user", &json!({"name": "Gone"}))
        .await
        .assert_status(200);
    moderate(&site, "gone-user", true, true)
        .await
        .assert_status(200);
    let taken = json!({"id": "case-17", "points": 5, "reason": "gone-user asked"});
    adjust(&site, "gone-user", taken).await.assert_status(200);
    moderate(&site, "c", true, false).await.assert_status(200);

    site.delete("/v1/users/gone-user").await.assert_status(204);
    let mut store = site.store();
    assert_eq!(store.traces("gone-user"), [""; 0]);
    for (key, (held, _)) in store.snapshot() {
        let held = String::from_utf8_lossy(&held).into_owned();
        assert!(!held.contains("gone"), "{key} knows them: {held}");
    }
    moderate(&site, "c", false, false).await.assert_status(200);
    let expected = without("gone-user", &before);
    assert_boards(&boards(&site, &users).await, &expected);

    let audit = site.get("/v1/moderation").await.body;
    let entries = audit["entries"].as_array().unwrap();
    let essence: Vec<Value> = entries
        .iter()
        .map(|entry| json!([entry["action"], entry["user"], entry["reason"]]))
        .collect();
    let c = json!({"id": "c"});
    let expected = json!([
        ["unhide", c, "A test"],
        ["erase", null, null],
        ["hide", c, "A test"],
        ["adjust", null, null],
        ["freeze", null, null],
        ["hide", null, null]
    ]);
    assert_eq!(json!(essence), expected);
    // Fifteen boards each of everybody and of the group, of which all time's is one; histories of
    // the spans of now and of long ago; and the marks.
    let removed = &entries[1]["removed"];
    assert_eq!(removed["profiles"], 1);
    assert!(removed["boards"].as_u64().unwrap() >= 18, "{removed}");
    assert!(removed["keys"].as_u64().unwrap() >= 3, "{removed}");
    // Coming back they are new: neither hidden nor frozen.
    let state = json!({"user": {"id": "gone-user"}, "hidden": false, "frozen": false});
    let path = "/v1/users/gone-user/moderation";
    site.get(path).await.assert(200, state);
    site.count("gone-user", "like", "p0").await;
}
