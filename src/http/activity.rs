//! `POST /v1/activity`.

use super::answer::Answer;
use super::call::Call;
use super::caller::identify;
use crate::activity::{Counted, count_all, count_one, read_item};
use crate::error::{Error, Problem};
use crate::site::Site;
use serde::Serialize;
use serde_json::Value;

/// The most items of an array.
pub(super) const MOST_ITEMS: usize = 500;

/// One item of an answer to an array.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Item<T> {
    Done(T),
    Failed { error: Problem },
}

/// The answer to an array.
#[derive(Serialize)]
pub(super) struct Results<T> {
    results: Vec<Item<T>>,
}

/// Counts one activity, or an array of them.
pub async fn post(site: &Site, call: &mut Call) -> Result<Answer, Error> {
    let body = call.body().await?;
    let caller = identify(call, &site.config).await?;
    call.no_parameters()?;
    let read = |item: &Value| read_item(item, &caller, &site.config.rules, call.now);
    let json = body.json()?;
    let Value::Array(items) = &json else {
        let counted = count_one(site, read(&json)?, call.now).await?;
        return Ok(Answer::json(&counted));
    };
    check_length(items)?;
    let items = items.iter().map(read).collect();
    let counted: Vec<Result<Counted, Error>> = count_all(site, items, call.now).await?;
    Ok(Answer::json(&Results::of(counted)))
}

/// Refuses an array with too many items.
pub(super) fn check_length(items: &[Value]) -> Result<(), Error> {
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
    pub(super) fn of(results: Vec<Result<T, Error>>) -> Self {
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
