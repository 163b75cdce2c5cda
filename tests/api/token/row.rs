//! One token, and the expected response to it.

use test_support::{Method, json};

use crate::client::Client;
use crate::problem::problem;

/// The expected response.
#[derive(Clone, Debug)]
pub enum Expected {
    /// 200.
    Accepted,
    /// 401 with this detail.
    Invalid(&'static str),
    /// 403 with this detail.
    Forbidden(String),
}

/// A description for failure messages, the token, and the expected response.
pub type Row = (&'static str, String, Expected);

/// Writes the profile of user 42 with a token, and describes how the response differs from the
/// expected one.
async fn difference(client: &Client, (name, token, expected): &Row) -> Option<String> {
    let authorization = format!("Bearer {token}");
    let headers = [
        ("authorization", &*authorization),
        ("content-type", "application/json"),
    ];
    let client = client.without_key();
    let response = client
        .send(Method::PUT, "/v1/users/42", r#"{"name":"Ada"}"#, &headers)
        .await;
    let (status, body, header) = match expected {
        Expected::Accepted => (200, json!({"id": "42", "name": "Ada"}), None),
        Expected::Invalid(detail) => {
            let header = Some("Bearer error=\"invalid_token\"");
            (401, problem("unauthenticated", *detail), header)
        }
        Expected::Forbidden(detail) => (403, problem("forbidden", detail), None),
    };
    let same = response.status == status && response.body == body;
    if same && response.header("www-authenticate") == header {
        return None;
    }
    Some(format!(
        "{name}\n  expected {status} {body} {header:?}\n  received {} {} {:?}",
        response.status, response.text, response.headers
    ))
}

/// Asserts that every token gets its expected response.
pub async fn check(client: &Client, rows: &[Row]) {
    let mut failures = Vec::new();
    for row in rows {
        failures.extend(difference(client, row).await);
    }
    assert!(
        failures.is_empty(),
        "{} of {} rows:\n{}",
        failures.len(),
        rows.len(),
        failures.join("\n")
    );
}
