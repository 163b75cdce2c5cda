//! Arrays of items: how long they may be, and an answer item by item.

use crate::error::{Error, Problem};
use serde::Serialize;
use serde_json::Value;

/// The most items of an array.
const MOST_ITEMS: usize = 500;

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

/// Refuses an array with too many items.
pub fn check_length(items: &[Value]) -> Result<(), Error> {
    if items.len() <= MOST_ITEMS {
        return Ok(());
    }
    Err(Error::TooLarge(format!(
        "An array is at most {MOST_ITEMS} items, not {}.",
        items.len()
    )))
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
