//! Missing and unknown service keys.

use test_support::{Method, SERVICE_KEY};

use super::case::Case;
use crate::problem::unauthenticated;

const MISSING: &str = "Send the header Authorization: Bearer <service key>.";
const UNKNOWN: &str = "Unknown service key.";

pub fn cases() -> Vec<Case> {
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
    let cases = headers.map(|(detail, authorization)| {
        Case::new(Method::POST, "/v1/activity", unauthenticated(detail))
            .json(r#"{"user":"42","action":"like","target":"q"}"#)
            .with_header("authorization", &authorization)
    });
    Vec::from(cases)
}
