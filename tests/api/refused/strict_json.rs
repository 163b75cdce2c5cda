//! JSON that lenient parsers accept: duplicate fields, deep nesting, long arrays.

use test_support::{Method, json};

use super::case::Case;
use crate::problem::{field_error, too_many_items, unauthenticated};

const DUPLICATE: &str = "must not be repeated";
const DEEP: &str = "is nested deeper than 8 levels";

const ROUTES: [(Method, &str); 3] = [
    (Method::POST, "/v1/activity"),
    (Method::PUT, "/v1/users/42"),
    (Method::PUT, "/v1/users"),
];

pub fn cases() -> Vec<Case> {
    let post = |body: &str, problem| Case::new(Method::POST, "/v1/activity", problem).json(body);
    let duplicate = |body: &str, field| post(body, field_error(field, DUPLICATE));
    let like = r#""user":"42","action":"like","target":"q""#;
    let mut cases = vec![
        duplicate(&format!(r#"{{{like},"user":"7"}}"#), "user"),
        // The same value; an escaped name; a field nested in an unknown field.
        duplicate(&format!(r#"{{{like},"user":"42"}}"#), "user"),
        duplicate(&format!(r#"{{{like},"\u0075ser":"7"}}"#), "user"),
        duplicate(&format!(r#"{{{like},"x":{{"y":1,"y":1}}}}"#), "x/y"),
        // A duplicate field refuses the array: the valid item is not counted either.
        duplicate(
            &format!(r#"[{{{like}}},{{{like},"undo":false,"undo":true}}]"#),
            "1/undo",
        ),
        post(
            &json!({"user": [[[[[[[[]]]]]]]]}).to_string(),
            field_error("user/0/0/0/0/0/0/0", DEEP),
        ),
        post(
            &json!([[[[[[[[{}]]]]]]]]).to_string(),
            field_error("0/0/0/0/0/0/0/0", DEEP),
        ),
        // Authentication comes before the content.
        post(
            r#"{"user":"42","user":"7"}"#,
            unauthenticated("Unknown service key."),
        )
        .with_header("authorization", "Bearer unknown"),
    ];
    for (method, path) in ROUTES {
        let case = |problem, body: String| Case::new(method.clone(), path, problem).json(body);
        let twice = r#"{"name":"Ada","name":"Eve"}"#;
        let zeros = "0,".repeat(130_000);
        cases.extend([
            case(field_error("name", DUPLICATE), twice.to_owned()),
            case(field_error("0/name", DUPLICATE), format!("[{twice}]")),
            case(
                field_error(&"0/".repeat(8)[..15], DEEP),
                "[".repeat(200_000),
            ),
            case(
                field_error(&"a/".repeat(8)[..15], DEEP),
                r#"{"a":"#.repeat(40_000),
            ),
            case(too_many_items(), format!("[{zeros}0]")),
            case(too_many_items(), format!(r#"{{"name":[{zeros}0]}}"#)),
        ]);
    }
    cases
}
