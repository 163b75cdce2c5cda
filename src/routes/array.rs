//! The response to an array: one result for each item.

use activity_rank_core::error::{Error, MAX_FIELD_ERRORS, Problem};
use serde::Serialize;

#[derive(Serialize)]
#[serde(untagged)]
enum Item<T> {
    Done(T),
    Failed { error: Problem },
}

/// The results of an array, in its order.
#[derive(Serialize)]
pub struct Results<T> {
    results: Vec<Item<T>>,
}

impl<T> Results<T> {
    /// Returns the response to these results. After [`MAX_FIELD_ERRORS`] failed items their problems
    /// are brief: a response must not be many times as large as its request.
    pub fn new(results: Vec<Result<T, Error>>) -> Self {
        let mut failed = 0;
        let item = |result: Result<T, Error>| match result {
            Ok(done) => Item::Done(done),
            Err(error) => {
                failed += 1;
                let problem = error.problem();
                let error = if failed > MAX_FIELD_ERRORS {
                    problem.brief()
                } else {
                    problem
                };
                Item::Failed { error }
            }
        };
        Self {
            results: results.into_iter().map(item).collect(),
        }
    }
}

impl<T: Serialize> Results<T> {
    /// Renders the response with the user of each result. `more` says that further users are left.
    pub fn render(&self, users: &[String], more: bool) -> String {
        // An id has no character that JSON escapes.
        let results = users.iter().zip(&self.results).map(|(user, item)| {
            let item = serde_json::to_string(item).unwrap_or_default();
            format!(
                "{{\"user\":\"{user}\",{}",
                item.get(1..).unwrap_or_default()
            )
        });
        let results: Vec<String> = results.collect();
        let more = if more { ",\"more\":true" } else { "" };
        format!("{{\"results\":[{}]{more}}}", results.join(","))
    }
}
