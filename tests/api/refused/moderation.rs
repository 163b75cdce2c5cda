//! Invalid content of `/v1/users/{user}/moderation`, `/v1/users/{user}/adjustments` and
//! `/v1/moderation`.

use test_support::{Method, Value, json};

use super::case::{Case, get, put};
use crate::problem::{ID, NO_PARAMETERS, Problem, field_error, field_errors, invalid_request};

const ENTRY: &str = "must be the id of an entry such as 1795132800000-0";
const FLAG: &str = "must be true or false";
const LIMIT: &str = "must be an integer from 1 to 100";
const POINTS: &str = "must be a number, -8388607 to 8388607 and not 0, with at most 0 decimals";
const REASON: &str = "must be a text of 1 to 500 characters";
const UNDO_FIELD: &str = "must be left out of an undo";
const EVENT_FIELD: &str = "must be left out of the adjustment of an event";

fn moderation(body: &Value, problem: Problem) -> Case {
    put("/v1/users/42/moderation", body, problem)
}

fn adjustment(body: &Value, problem: Problem) -> Case {
    Case::new(Method::POST, "/v1/users/42/adjustments", problem).json(body.to_string())
}

/// A moderation request with one invalid field.
fn bad_moderation(field: &str, value: Value, detail: &str) -> Case {
    let mut body = json!({"hidden": true, "frozen": true, "reason": "Spam"});
    body[field] = value;
    moderation(&body, field_error(field, detail))
}

/// An adjustment with one invalid field.
fn bad_adjustment(field: &str, value: Value, detail: &str) -> Case {
    let mut body = json!({"id": "1", "points": 5, "reason": "Spam"});
    body[field] = value;
    adjustment(&body, field_error(field, detail))
}

pub fn cases() -> Vec<Case> {
    let unknown = || field_error("a", NO_PARAMETERS);
    let mut cases = vec![
        moderation(
            &json!([]),
            invalid_request("A moderation state is a JSON object."),
        ),
        put("/v1/users/42/moderation?a=1", &json!({}), unknown()),
        put(
            "/v1/users/4%202/moderation",
            &json!({"hidden": 1, "why": "Spam"}),
            field_errors(&[
                (
                    "why",
                    "is unknown; expected one of hidden, frozen, reason, public_reason",
                ),
                ("user", ID),
                ("hidden", FLAG),
                ("frozen", FLAG),
                ("reason", REASON),
            ]),
        ),
        get("/v1/users/4%202/moderation", field_error("user", ID)),
        get("/v1/users/42/moderation?a=1", unknown()),
        adjustment(
            &json!("case-17"),
            invalid_request("An adjustment is a JSON object."),
        ),
        adjustment(
            &json!({"id": "1", "points": 5, "at": "2026-01-01T00:00:00Z", "groups": ["eu"],
                "event": "hackathon", "undo": true, "reason": "Spam"}),
            field_errors(&[
                ("points", UNDO_FIELD),
                ("at", UNDO_FIELD),
                ("groups", UNDO_FIELD),
                ("event", UNDO_FIELD),
            ]),
        ),
        adjustment(
            &json!({"id": "1", "points": 5, "at": "2026-01-01T00:00:00Z", "groups": [],
                "event": "hackathon", "undo": false, "reason": "Spam"}),
            field_errors(&[("at", EVENT_FIELD), ("groups", EVENT_FIELD)]),
        ),
        adjustment(
            &json!({"user": "42", "undo": 1}),
            field_errors(&[
                (
                    "user",
                    "is unknown; expected one of id, points, reason, public_reason, undo, at, groups, event",
                ),
                ("id", ID),
                ("undo", FLAG),
                ("points", POINTS),
                ("reason", REASON),
            ]),
        ),
        get("/v1/moderation?limit=0", field_error("limit", LIMIT)),
        get("/v1/moderation?limit=101", field_error("limit", LIMIT)),
    ];
    let length = "must be 1 to 500 characters";
    for (reason, detail) in [
        (json!(null), REASON),
        (json!(7), REASON),
        (json!(""), length),
        (json!("é".repeat(501)), length),
        (json!("  "), "must contain a visible character"),
        (json!("a\nb"), "must not contain control characters"),
        (
            json!("a\u{2028}b"),
            "must not contain line or paragraph separators",
        ),
    ] {
        cases.push(bad_moderation("reason", reason.clone(), detail));
        cases.push(bad_adjustment("reason", reason, detail));
    }
    for flag in ["hidden", "frozen"] {
        let values = [json!(null), json!("yes"), json!(1)];
        cases.extend(values.map(|value| bad_moderation(flag, value, FLAG)));
    }
    let points = json!([0, 0.5, "5", null, 8_388_608, -8_388_608, 1e300]);
    let points = points.as_array().expect("points").iter().cloned();
    cases.extend(points.map(|value| bad_adjustment("points", value, POINTS)));
    let ids = [json!(""), json!("a b"), json!(1.5), json!("..")];
    cases.extend(ids.clone().map(|id| bad_adjustment("id", id, ID)));
    let events = ids.into_iter().chain([json!(null), json!(7), json!(["a"])]);
    cases.extend(events.map(|event| bad_adjustment("event", event, ID)));
    let entries = " x 1 1- -1 0-0 01-0 1-0-0 %2B %28 1-18446744073709551616".split(' ');
    cases.extend(entries.map(|before| {
        let path = format!("/v1/moderation?before={before}");
        get(&path, field_error("before", ENTRY))
    }));
    cases
}
