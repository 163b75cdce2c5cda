//! Sends arrays, one after another.

use activity_rank_core::MAX_BODY_BYTES;
use activity_rank_sync::Failure;
use activity_rank_sync::client::Client;
use activity_rank_sync::item::{ItemCheck, ItemKind};
use activity_rank_sync::problem::Problem;
use activity_rank_sync::request_error::RequestError;
use activity_rank_sync::session::{Sent, Upload};
use http::Method;
use serde::Deserialize;
use serde_json::Value;

use crate::settings::RETRIES;

/// The most items of a request.
const BATCH: usize = 200;

/// Sends to a deployment.
pub struct Uploader(pub Client);

/// The answer to an array.
#[derive(Deserialize)]
struct Results {
    results: Vec<ItemResult>,
}

#[derive(Deserialize)]
struct ItemResult {
    error: Option<Problem>,
    reason: Option<String>,
}

impl Upload for Uploader {
    async fn send(
        &self,
        kind: ItemKind,
        _: &ItemCheck,
        items: &[Value],
    ) -> Result<Vec<Sent>, Failure> {
        let (method, path) = match kind {
            ItemKind::Activity => (Method::POST, "activity"),
            ItemKind::Profile => (Method::PUT, "users"),
            ItemKind::Target => (Method::PUT, "targets"),
        };
        let url = self.0.url(&["v1", path]);
        let mut sent = Vec::new();
        for body in bodies(items) {
            let send = || async {
                let answer = self.0.send(method.clone(), &url, body.clone()).await?;
                let results = serde_json::from_slice::<Results>(&answer);
                let Results { results } = results.map_err(|error| unexpected(&url, error))?;
                let mut errors = results.iter().filter_map(|result| result.error.as_ref());
                match errors.find(|problem| problem.is_transient()) {
                    Some(problem) => Err(RequestError::Refused {
                        problem: Box::new(problem.clone()),
                        retry_after: None,
                        keyless: false,
                    }),
                    None => Ok(results),
                }
            };
            let results = self.0.with_backoff(RETRIES, |_, _| (), send).await?;
            sent.extend(results.into_iter().map(|result| {
                Some(match result.error {
                    Some(problem) => Err(problem),
                    None => Ok(result.reason),
                })
            }));
        }
        Ok(sent)
    }
}

fn unexpected(url: &url::Url, error: serde_json::Error) -> RequestError {
    RequestError::UnexpectedResponse {
        url: url.to_string(),
        what: error.to_string(),
    }
}

/// Returns the items as arrays within the limits of a request.
fn bodies(items: &[Value]) -> Vec<String> {
    let mut bodies = Vec::new();
    let (mut body, mut number) = (String::new(), 0);
    for item in items {
        let item = item.to_string();
        if number == BATCH || number > 0 && body.len() + item.len() + 2 > MAX_BODY_BYTES {
            bodies.push(format!("[{}]", std::mem::take(&mut body)));
            number = 0;
        }
        if number > 0 {
            body.push(',');
        }
        body.push_str(&item);
        number += 1;
    }
    if number > 0 {
        bodies.push(format!("[{body}]"));
    }
    bodies
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arrays_are_within_the_limits() {
        assert_eq!(bodies(&[]), [""; 0]);
        assert_eq!(bodies(&[json!(1), json!("a")]), ["[1,\"a\"]"]);
        let many = bodies(&vec![json!(1); BATCH + 1]);
        assert_eq!((many.len(), many[1].as_str()), (2, "[1]"));
        let large = bodies(&vec![json!("x".repeat(MAX_BODY_BYTES / 2 - 8)); 3]);
        assert_eq!(large.len(), 2);
        assert!(large.iter().all(|body| body.len() <= MAX_BODY_BYTES));
    }
}
