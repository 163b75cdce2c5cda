//! Cooldowns, exact to the millisecond.

use crate::requests::{act, at, expect};
use test_support::{Worker, json};

#[tokio::test]
async fn cooldown_ends_to_the_millisecond() {
    let rules = json!({ "comment": { "cooldown": 60 } });
    let worker = Worker::builder().json("RULES", rules).start();
    let api = worker.api();
    for (target, instant, outcome) in [
        ("a", "2026-11-18T12:00:00Z", "counted"),
        ("b", "2026-11-18T12:00:00Z", "capped"),
        ("b", "2026-11-18T12:00:59.999Z", "capped"),
        ("b", "2026-11-18T11:59:00.001Z", "capped"),
        ("b", "2026-11-18T12:01:00Z", "counted"),
        ("c", "2026-11-18T12:02:00Z", "counted"),
    ] {
        let comment = at(&act("42", "comment", target), instant);
        let response = expect(&api, &comment, outcome).await;
        let is_capped = response.body["reason"] == "cooldown";
        assert_eq!(is_capped, outcome == "capped", "{instant}");
    }
}
