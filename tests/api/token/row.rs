//! One token, and what a service makes of it.

use test_support::{Method, Value, json};

use crate::client::Client;

/// What is expected.
#[derive(Clone, Debug)]
pub enum Told {
    /// It is taken.
    Taken,
    /// 401 and why.
    Invalid(&'static str),
    /// 403 and why.
    Forbidden(String),
}

/// What it is in words, the token, and what is expected.
pub type Row = (&'static str, String, Told);

/// The whole body of a 401.
pub fn unauthenticated(detail: &str) -> Value {
    json!({"type": "/problems/unauthenticated", "title": "The caller is not known",
        "status": 401, "detail": detail})
}

/// The whole body of a 403.
pub fn forbidden(detail: &str) -> Value {
    json!({"type": "/problems/forbidden", "title": "The caller may not do this",
        "status": 403, "detail": detail})
}

/// How the answer to a write of the profile of 42 differs from what is expected, if it does.
pub async fn difference(client: &Client, (what, token, told): &Row) -> Option<String> {
    let headers = [
        ("authorization", format!("Bearer {token}")),
        ("content-type", "application/json".to_owned()),
    ];
    let headers = headers
        .each_ref()
        .map(|(name, value)| (*name, value.as_str()));
    let client = client.without_key();
    let answer = client
        .send(Method::PUT, "/v1/users/42", r#"{"name":"Ada"}"#, &headers)
        .await;
    let (status, body, header) = match told {
        Told::Taken => (200, json!({"id": "42", "name": "Ada"}), None),
        Told::Invalid(detail) => {
            let header = Some("Bearer error=\"invalid_token\"");
            (401, unauthenticated(detail), header)
        }
        Told::Forbidden(detail) => (403, forbidden(detail), None),
    };
    let same = answer.status == status && answer.body == body;
    if same && answer.header("www-authenticate") == header {
        return None;
    }
    Some(format!(
        "{what}\n  expected {status} {body} {header:?}\n  answered {} {} {:?}",
        answer.status, answer.text, answer.headers
    ))
}

/// Fails the test unless every token is answered as expected.
pub async fn check(client: &Client, rows: &[Row]) {
    let mut differing = Vec::new();
    for row in rows {
        differing.extend(difference(client, row).await);
    }
    let (count, all) = (differing.len(), rows.len());
    assert!(
        differing.is_empty(),
        "{count} of {all} rows:\n{}",
        differing.join("\n")
    );
}
