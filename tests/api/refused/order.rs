//! Requests with several things wrong: what is told first.
//!
//! The order is path and method, size, media type, who, content, rules.

use test_support::{Method, json};

use super::problem::{ID, Problem, fault, no_route, not_json, only, unauthenticated};
use super::row::{Row, post};

pub fn rows() -> Vec<Row> {
    let large = || "{".repeat(256 * 1024 + 1);
    let too_large = || Problem::new("too-large", "A body is at most 262144 bytes.");
    let unknown = || unauthenticated("Send the header Authorization: Bearer <service key>.");
    let plain = |row: Row| {
        row.with("content-type", "text/plain")
            .without("authorization")
    };
    let activity = "/v1/activity";
    vec![
        plain(Row::new(Method::POST, "/nowhere", no_route()).json(large())),
        plain(Row::new(Method::PUT, activity, only("POST")).json(large())),
        plain(Row::new(Method::POST, activity, too_large()).json(large())),
        plain(Row::new(Method::PUT, "/v1/users/4%202", too_large()).json(large())),
        plain(Row::new(Method::POST, activity, not_json()).json("{")),
        plain(Row::new(Method::PUT, "/v1/users?dry=1", not_json()).json("{")),
        Row::new(Method::POST, activity, unknown())
            .json("{")
            .without("authorization"),
        Row::new(Method::POST, "/v1/activity?dry=1", unknown())
            .json("{}")
            .without("authorization"),
        Row::new(Method::PUT, "/v1/users/4%202", unknown())
            .json("7")
            .without("authorization"),
        Row::new(Method::DELETE, "/v1/users/4%202", unknown()).without("authorization"),
        Row::new(Method::GET, "/v1/users/4%202/activity?days=0", unknown())
            .without("authorization"),
        post(
            &json!({"user": "4 2", "action": "dance", "target": "q"}),
            fault("user", ID),
        ),
        post(
            &json!({"user": "42", "action": "visit", "target": "q", "undo": true}),
            fault("target", "of a visit must be a path beginning with /"),
        ),
        Row::new(
            Method::GET,
            "/v1/ranking/year?limit=0",
            fault("limit", "must be a whole number, 1 to 100"),
        ),
    ]
}
