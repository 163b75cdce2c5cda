//! The response to an array: one result for each item.

use activity_rank_core::error::{Error, Problem};
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
    /// Returns the response to these results.
    pub fn new(results: Vec<Result<T, Error>>) -> Self {
        let item = |result: Result<T, Error>| match result {
            Ok(done) => Item::Done(done),
            Err(error) => Item::Failed {
                error: error.problem(),
            },
        };
        Self {
            results: results.into_iter().map(item).collect(),
        }
    }
}
