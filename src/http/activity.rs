//! `POST /v1/activity`.

use super::answer::Answer;
use super::array::Results;
use super::call::Call;
use super::caller::identify;
use super::queue::Queues;
use crate::activity::{Counted, Ruled, count_all, count_one, date_in_order, read_item};
use crate::calendar::Instant;
use crate::caller::Caller;
use crate::config::{Config, Scope};
use crate::error::Error;
use crate::redis::Command;
use crate::site::Site;
use crate::users::write_first_profile;
use serde_json::Value;

/// Counts one activity, or an array of them; holds back what the store does not take in time.
pub async fn post(site: &Site, call: &Call, queues: &Queues) -> Result<Answer, Error> {
    let body = call.body()?;
    let caller = identify(call, &site.config).await?;
    call.no_parameters()?;
    let profile = first_profile(&caller, call.now, &site.config);
    let read = |item: &Value| read_item(item, &caller, &site.config.rules, call.now);
    let queued = Counted::queued(site.config.decimals);
    let json = body.json()?;
    let Value::Array(items) = &json else {
        let item = read(&json)?;
        let error = match count_one(site, &item, profile, call.now).await {
            Ok(counted) => return Ok(Answer::json(&counted)),
            Err(error) => error,
        };
        queues.hold(call, error, &[&item.0]).await?;
        return Ok(Answer::accepted(&queued));
    };
    // Of no item could it be otherwise.
    caller.must_have(Scope::Activity)?;
    let mut items: Vec<_> = items.iter().map(read).collect();
    date_in_order(&mut items);
    let error = match count_all(site, &items, profile, call.now).await {
        Ok(counted) => return Ok(Answer::json(&Results::of(counted))),
        Err(error) => error,
    };
    let readable: Vec<_> = items.iter().flatten().map(|(item, _)| item).collect();
    queues.hold(call, error, &readable).await?;
    let queued = |item: Result<Ruled, Error>| item.map(|_| queued.clone());
    Ok(Answer::json(&Results::of(
        items.into_iter().map(queued).collect(),
    )))
}

/// What gives a user a profile on first sight, where their token tells one.
fn first_profile(caller: &Caller, now: Instant, config: &Config) -> Option<Command> {
    let Caller::User(Some(member)) = caller else {
        return None;
    };
    let profile = member.profile.as_ref()?;
    Some(write_first_profile(&member.id, profile, now, config))
}
