//! JSON that others would take: a field twice, too deep, a list too long.

use test_support::{Method, json};

use super::problem::{Problem, fault, unauthenticated};
use super::row::Row;

const TWICE: &str = "must not be there twice";
const DEEP: &str = "is nested deeper than 8 levels";

const BODIES: [(Method, &str); 3] = [
    (Method::POST, "/v1/activity"),
    (Method::PUT, "/v1/users/42"),
    (Method::PUT, "/v1/users"),
];

pub fn rows() -> Vec<Row> {
    let post = |body: &str, problem| Row::new(Method::POST, "/v1/activity", problem).json(body);
    let nobody = unauthenticated("This service key is not known.");
    let like = r#""user":"42","action":"like","target":"q""#;
    let mut rows = vec![
        post(&format!(r#"{{{like},"user":"7"}}"#), fault("user", TWICE)),
        // The same value, another spelling, a field that is not known, one that is nested.
        post(&format!(r#"{{{like},"user":"42"}}"#), fault("user", TWICE)),
        post(
            &format!(r#"{{{like},"\u0075ser":"7"}}"#),
            fault("user", TWICE),
        ),
        post(
            &format!(r#"{{{like},"x":{{"y":1,"y":1}}}}"#),
            fault("x/y", TWICE),
        ),
        // No item is counted beside it.
        post(
            &format!(r#"[{{{like}}},{{{like},"undo":false,"undo":true}}]"#),
            fault("1/undo", TWICE),
        ),
        post(
            &json!({"user": [[[[[[[[]]]]]]]]}).to_string(),
            fault("user/0/0/0/0/0/0/0", DEEP),
        ),
        post(
            &json!([[[[[[[[{}]]]]]]]]).to_string(),
            fault("0/0/0/0/0/0/0/0", DEEP),
        ),
        // Who is calling is asked first.
        post(r#"{"user":"42","user":"7"}"#, nobody).with("authorization", "Bearer nobody's"),
    ];
    for (method, path) in BODIES {
        let row = |problem, body: String| Row::new(method.clone(), path, problem).json(body);
        rows.extend([
            row(
                fault("name", TWICE),
                r#"{"name":"Ada","name":"Eve"}"#.to_owned(),
            ),
            row(
                fault("0/name", TWICE),
                r#"[{"name":"Ada","name":"Eve"}]"#.to_owned(),
            ),
            row(fault(&"0/".repeat(8)[..15], DEEP), "[".repeat(200_000)),
            row(
                fault(&"a/".repeat(8)[..15], DEEP),
                r#"{"a":"#.repeat(40_000),
            ),
            row(too_many(), format!("[{}0]", "0,".repeat(130_000))),
            row(
                too_many(),
                format!(r#"{{"name":[{}0]}}"#, "0,".repeat(130_000)),
            ),
        ]);
    }
    rows
}

/// More items than an array has.
pub fn too_many() -> Problem {
    Problem::new("too-large", "An array is at most 500 items.")
}
