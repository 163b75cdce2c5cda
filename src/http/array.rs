//! Arrays of items: an answer item by item.

use crate::error::{Error, Problem};
use serde::Serialize;

/// One item of an answer to an array.
#[derive(Serialize)]
#[serde(untagged)]
enum Item<T> {
    Done(T),
    Failed { error: Problem },
}

/// The answer to an array.
#[derive(Serialize)]
pub struct Results<T> {
    results: Vec<Item<T>>,
}

impl<T> Results<T> {
    /// The answer of what became of each item.
    pub fn of(results: Vec<Result<T, Error>>) -> Self {
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
