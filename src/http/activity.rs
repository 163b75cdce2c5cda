//! `POST /v1/activity`.

use super::answer::Answer;
use super::array::Results;
use super::call::Call;
use super::caller::identify;
use crate::activity::{Counted, count_all, count_one, read_item};
use crate::error::Error;
use crate::site::Site;
use serde_json::Value;

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
    let items = items.iter().map(read).collect();
    let counted: Vec<Result<Counted, Error>> = count_all(site, items, call.now).await?;
    Ok(Answer::json(&Results::of(counted)))
}
