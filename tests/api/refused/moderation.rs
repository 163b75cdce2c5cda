//! `/v1/users/{user}/moderation`, `/v1/users/{user}/adjustments`, `/v1/moderation`: content.

use test_support::{Method, Value, json};

use super::problem::{ID, fault, faults, invalid};
use super::row::{Row, get, put};

const NONE: &str = "is not known: there are no parameters here";
const FLAG: &str = "must be true or false";
const REASON: &str = "must say why, in 1 to 500 characters";
const POINTS: &str = "must be a number, -8388607 to 8388607 and not 0, with at most 0 decimals";
const LEFT_OUT: &str = "must be left out of an undo";
const ENTRY: &str = "must be the id of an entry such as 1795132800000-0";

fn verdict(field: &str, value: Value, detail: &str) -> Row {
    let mut verdict = json!({"hidden": true, "frozen": true, "reason": "Spam"});
    verdict[field] = value;
    put("/v1/users/42/moderation", &verdict, fault(field, detail))
}

fn adjust(field: &str, value: Value, detail: &str) -> Row {
    let mut adjustment = json!({"id": "1", "points": 5, "reason": "Spam"});
    adjustment[field] = value;
    let row = Row::new(
        Method::POST,
        "/v1/users/42/adjustments",
        fault(field, detail),
    );
    row.json(adjustment.to_string())
}

pub fn rows() -> Vec<Row> {
    let post = |body: &Value, problem| {
        let row = Row::new(Method::POST, "/v1/users/42/adjustments", problem);
        row.json(body.to_string())
    };
    let long = "é".repeat(501);
    let mut rows = vec![
        put(
            "/v1/users/42/moderation",
            &json!([]),
            invalid("A verdict is a JSON object."),
        ),
        put("/v1/users/42/moderation?a=1", &json!({}), fault("a", NONE)),
        put(
            "/v1/users/4%202/moderation",
            &json!({"hidden": 1, "why": "Spam"}),
            faults(&[
                ("why", "is not known; known are hidden, frozen, reason"),
                ("user", ID),
                ("hidden", FLAG),
                ("frozen", FLAG),
                ("reason", REASON),
            ]),
        ),
        get("/v1/users/4%202/moderation", fault("user", ID)),
        get("/v1/users/42/moderation?a=1", fault("a", NONE)),
        post(
            &json!("case-17"),
            invalid("An adjustment is a JSON object."),
        ),
        post(
            &json!({"id": "1", "points": 5, "at": "2026-01-01T00:00:00Z", "groups": ["eu"], "undo": true, "reason": "Spam"}),
            faults(&[("points", LEFT_OUT), ("at", LEFT_OUT), ("groups", LEFT_OUT)]),
        ),
        post(
            &json!({"user": "42", "undo": 1}),
            faults(&[
                (
                    "user",
                    "is not known; known are id, points, reason, undo, at, groups",
                ),
                ("id", ID),
                ("undo", FLAG),
                ("points", POINTS),
                ("reason", REASON),
            ]),
        ),
        get(
            "/v1/moderation?user=42",
            fault("user", "is not known; known are before, limit"),
        ),
        get(
            "/v1/moderation?limit=0",
            fault("limit", "must be a whole number, 1 to 100"),
        ),
        get(
            "/v1/moderation?limit=101",
            fault("limit", "must be a whole number, 1 to 100"),
        ),
    ];
    for reason in [json!(""), json!("  "), json!(null), json!(7), json!(long)] {
        rows.push(verdict("reason", reason.clone(), REASON));
        rows.push(adjust("reason", reason, REASON));
    }
    let control = "must not contain control characters";
    rows.push(verdict("reason", json!("a\nb"), control));
    for flag in ["hidden", "frozen"] {
        rows.extend([json!(null), json!("yes"), json!(1)].map(|value| verdict(flag, value, FLAG)));
    }
    let points = [
        json!(0),
        json!(0.5),
        json!("5"),
        json!(null),
        json!(8_388_608),
        json!(-8_388_608),
        json!(1e300),
    ];
    rows.extend(points.map(|value| adjust("points", value, POINTS)));
    rows.extend([json!(""), json!("a b"), json!(1.5), json!("..")].map(|id| adjust("id", id, ID)));
    for before in [
        "",
        "x",
        "1",
        "1-",
        "-1",
        "0-0",
        "01-0",
        "1-0-0",
        "%2B",
        "%28",
        "1-18446744073709551616",
    ] {
        rows.push(get(
            &format!("/v1/moderation?before={before}"),
            fault("before", ENTRY),
        ));
    }
    rows
}
