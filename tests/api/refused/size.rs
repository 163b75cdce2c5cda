//! Bodies that are too large, or not declared as JSON.

use test_support::{Method, json};

use super::problem::{Problem, invalid, not_json};
use super::row::{Row, post, put};
use super::strict::too_many;

const MOST: usize = 256 * 1024;

fn too_large() -> Problem {
    Problem::new("too-large", "A body is at most 262144 bytes.")
}

pub fn rows() -> Vec<Row> {
    let like = json!({"user": "42", "action": "like", "target": "q"});
    let bodies = [
        (Method::POST, "/v1/activity"),
        (Method::PUT, "/v1/users/42"),
        (Method::PUT, "/v1/users"),
    ];
    let mut rows = vec![
        post(&json!(vec![&like; 501]), too_many()),
        put(
            "/v1/users",
            &json!(vec![json!({"id": "42"}); 501]),
            too_many(),
        ),
    ];
    for (method, path) in bodies {
        let row = |problem| Row::new(method.clone(), path, problem);
        rows.push(row(too_large()).json(" ".repeat(MOST + 1)));
        rows.push(
            row(not_json())
                .json(like.to_string())
                .without("content-type"),
        );
        rows.push(
            row(not_json())
                .json(like.to_string())
                .with("content-type", "text/plain"),
        );
    }
    let types = [
        "application/x-www-form-urlencoded",
        "application/json5",
        "text/json",
        "multipart/form-data; boundary=application/json",
        "application/problem+json",
        "",
    ];
    let like = like.to_string();
    rows.extend(types.map(|media_type| {
        post(&json!(0), not_json())
            .json(like.clone())
            .with("content-type", media_type)
    }));
    rows
}

/// Bodies whose length nobody knows before their end.
pub fn chunked() -> Vec<Row> {
    let row = |problem, body: String| Row::new(Method::POST, "/v1/activity", problem).json(body);
    vec![
        row(too_large(), " ".repeat(MOST + 1)),
        row(too_large(), " ".repeat(4 * MOST)),
        row(
            invalid("An activity is a JSON object."),
            format!("7{}", " ".repeat(MOST - 1)),
        ),
        row(not_json(), "{}".to_owned()).with("content-type", "text/plain"),
    ]
}
