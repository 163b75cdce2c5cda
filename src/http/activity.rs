//! `POST /v1/activity`.

use super::answer::Answer;
use super::array::Results;
use super::call::Call;
use super::caller::identify;
use crate::activity::{Counted, count_all, count_one, date_in_order, read_item};
use crate::caller::Caller;
use crate::config::{Config, Scope};
use crate::error::Error;
use crate::redis::Command;
use crate::site::Site;
use crate::users::write_first_profile;
use serde_json::Value;

/// Counts one activity, or an array of them.
pub async fn post(site: &Site, call: &mut Call) -> Result<Answer, Error> {
    let body = call.body().await?;
    let caller = identify(call, &site.config).await?;
    call.no_parameters()?;
    let profile = first_profile(&caller, &site.config);
    let read = |item: &Value| read_item(item, &caller, &site.config.rules, call.now);
    let json = body.json()?;
    let Value::Array(items) = &json else {
        let counted = count_one(site, &read(&json)?, profile, call.now).await?;
        return Ok(Answer::json(&counted));
    };
    // Of no item could it be otherwise.
    caller.must_have(Scope::Activity)?;
    let mut items: Vec<_> = items.iter().map(read).collect();
    date_in_order(&mut items);
    let counted: Vec<Result<Counted, Error>> = count_all(site, &items, profile, call.now).await?;
    Ok(Answer::json(&Results::of(counted)))
}

/// What gives a user a profile on first sight, where their token tells one.
fn first_profile(caller: &Caller, config: &Config) -> Option<Command> {
    let Caller::User(Some(member)) = caller else {
        return None;
    };
    let profile = member.profile.as_ref()?;
    Some(write_first_profile(&member.id, profile, config))
}
