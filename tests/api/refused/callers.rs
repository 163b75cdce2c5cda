//! Who is not known.

use test_support::{Method, SERVICE_KEY};

use super::problem::unauthenticated;
use super::row::Row;

const HOW: &str = "Send the header Authorization: Bearer <service key>.";
const NOT_KNOWN: &str = "This service key is not known.";

pub fn rows() -> Vec<Row> {
    let routes = [
        (Method::POST, "/v1/activity", "{}"),
        (Method::PUT, "/v1/users/42", "{}"),
        (Method::PUT, "/v1/users", "[]"),
        (Method::DELETE, "/v1/users/42", ""),
        (Method::GET, "/v1/users/42/activity", ""),
        (Method::GET, "/v1/users/42/moderation", ""),
        (Method::PUT, "/v1/users/42/moderation", "{}"),
        (Method::POST, "/v1/users/42/adjustments", "{}"),
        (Method::GET, "/v1/moderation", ""),
        (Method::GET, "/v1/journal", ""),
    ];
    let mut rows = Vec::new();
    for (method, path, body) in routes {
        let row = |detail| Row::new(method.clone(), path, unauthenticated(detail)).json(body);
        rows.push(row(HOW).without("authorization"));
        rows.push(row(NOT_KNOWN).with("authorization", "Bearer nobody's"));
    }
    let like = r#"{"user":"42","action":"like","target":"q"}"#;
    let row = |detail, authorization: &str| {
        let row = Row::new(Method::POST, "/v1/activity", unauthenticated(detail)).json(like);
        row.with("authorization", authorization)
    };
    rows.extend([
        row(HOW, &format!("Basic {SERVICE_KEY}")),
        row(HOW, SERVICE_KEY),
        row(HOW, "Bearer"),
        row(NOT_KNOWN, &format!("Bearer {SERVICE_KEY}x")),
        row(NOT_KNOWN, &format!("Bearer {}", SERVICE_KEY.to_uppercase())),
        row(NOT_KNOWN, &format!("Bearer {SERVICE_KEY},{SERVICE_KEY}")),
        row(NOT_KNOWN, &format!("Bearer {}", &SERVICE_KEY[1..])),
        row(NOT_KNOWN, &format!("Bearer {}", "x".repeat(4096))),
    ]);
    rows
}
