//! Missing and unknown service keys.

use test_support::{Method, SERVICE_KEY};

use super::case::Case;
use crate::problem::unauthenticated;

const MISSING: &str = "Send the header Authorization: Bearer <service key>.";
const UNKNOWN: &str = "Unknown service key.";

pub fn cases() -> Vec<Case> {
    let routes = [
        (Method::POST, "/v1/activity", "{}"),
        (Method::PUT, "/v1/users/42", "{}"),
        (Method::PUT, "/v1/users", "[]"),
        (Method::DELETE, "/v1/users/42", ""),
        (Method::GET, "/v1/users/42/activity", ""),
        (Method::GET, "/v1/users/42/points", ""),
        (Method::GET, "/v1/users/42/done", ""),
        (Method::GET, "/v1/users/42/standings", ""),
        (Method::GET, "/v1/users/42/moderation", ""),
        (Method::PUT, "/v1/users/42/moderation", "{}"),
        (Method::POST, "/v1/users/42/adjustments", "{}"),
        (Method::GET, "/v1/moderation", ""),
        (Method::GET, "/v1/journal", ""),
        (Method::GET, "/v1/stats", ""),
    ];
    let mut cases = Vec::new();
    for (method, path, body) in routes {
        let case = |detail| Case::new(method.clone(), path, unauthenticated(detail)).json(body);
        cases.push(case(MISSING).without_header("authorization"));
        cases.push(case(UNKNOWN).with_header("authorization", "Bearer unknown"));
    }
    let headers = [
        (MISSING, format!("Basic {SERVICE_KEY}")),
        (MISSING, SERVICE_KEY.to_owned()),
        (MISSING, "Bearer".to_owned()),
        (UNKNOWN, format!("Bearer {SERVICE_KEY}x")),
        (UNKNOWN, format!("Bearer {}", SERVICE_KEY.to_uppercase())),
        (UNKNOWN, format!("Bearer {SERVICE_KEY},{SERVICE_KEY}")),
        (UNKNOWN, format!("Bearer {}", &SERVICE_KEY[1..])),
        (UNKNOWN, format!("Bearer {}", "x".repeat(4096))),
    ];
    cases.extend(headers.map(|(detail, authorization)| {
        Case::new(Method::POST, "/v1/activity", unauthenticated(detail))
            .json(r#"{"user":"42","action":"like","target":"q"}"#)
            .with_header("authorization", &authorization)
    }));
    cases
}
