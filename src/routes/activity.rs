//! `POST /v1/activity`.

use super::array::Results;
use crate::app::RequestContext;
use crate::journal::drain::{REQUEST_BATCHES, drain};
use crate::journal::{find_members, read_moderation_reason, refusals};
use crate::log;
use crate::message;
use crate::middleware::rate_limit;
use crate::platform::text::to_nfc;
use crate::request::Body;
use crate::response::Response;
use activity_rank_core::activity::{
    Activity, ActivityReader, Counted, RuledActivity, date_in_order, read_fields,
};
use activity_rank_core::caller::Caller;
use activity_rank_core::config::{Scope, is_action};
use activity_rank_core::error::{Error, FieldErrors};
use activity_rank_core::json::{Items, MAX_ITEMS};
use activity_rank_store::count::{FROZEN, count_all, count_one};
use activity_rank_store::profiles::first_profile_call;
use activity_rank_store::redis::Command;
use serde_json::{Map, Value};

/// The most items of an array that a member sends.
const MAX_MEMBER_ITEMS: usize = 50;

/// Counts one activity, or an array of them. Queues them while the store is unavailable.
pub async fn post(
    context: RequestContext<'_>,
    caller: Caller,
    body: Body<'_>,
) -> Result<Response, Error> {
    let RequestContext {
        deployment,
        request,
        ..
    } = context;
    let (config, now) = (&deployment.config, request.now);
    request.reject_parameters()?;
    let profile = first_profile(context, &caller);
    let reader = ActivityReader {
        rules: &config.rules,
        now,
        to_nfc,
    };
    let parsed = |value: &Value| {
        let item = reader.read(value, &caller);
        // A member could fill the database with names of actions.
        if let (Err(error @ Error::UnknownAction(_)), Caller::Service(_)) = (&item, &caller)
            && let Ok(activity) = read_fields(value, now, to_nfc)
            && is_action(&activity.action)
        {
            refusals::add(deployment, &activity, Err(error), now);
        }
        item
    };
    let queued = Counted::queued(config.layout.decimals);
    let items = match body.items()? {
        Items::Array(items) => items,
        Items::Other(json) => {
            if let (Value::Object(fields), Caller::Service(_)) = (&json, &caller)
                && fields.get("undo") == Some(&Value::Bool(true))
                && !fields.contains_key("user")
            {
                return undo_of_members(context, fields, reader, &caller).await;
            }
            let item = parsed(&json)?;
            let is_minimal = request.prefers_minimal();
            let result = count_one(deployment, &item, profile, now, !is_minimal).await;
            refusals::add(deployment, &item.0, result.as_ref(), now);
            let error = match result {
                Ok(counted) => {
                    let response = Response::json(&counted).with_outcome(counted.outcome());
                    return Ok(match is_minimal {
                        true => response.with("preference-applied", "return=minimal"),
                        false => response,
                    });
                }
                Err(error) => explained(context, &caller, error).await,
            };
            enqueue(context, error, &[&item.0]).await?;
            return Ok(Response::accepted(&queued).with_outcome(queued.outcome()));
        }
    };
    if let Some(user) = caller.write_limit_key() {
        check_member_array(context, user, items.len()).await?;
    }
    // An empty array has no item that would be refused.
    caller.must_have(Scope::Activity)?;
    let items = items.into_iter().map(|item| parsed(&item?));
    let mut items: Vec<_> = items.collect();
    date_in_order(&mut items, &config.rules);
    let error = match count_all(deployment, &items, profile, now).await {
        Ok(mut counted) => {
            refusals::add_all(deployment, &items, &counted, now);
            let mut frozen = counted
                .iter_mut()
                .filter(|item| is_frozen(item.as_ref().err()));
            if let Some(Err(first)) = frozen.next() {
                *first = explained(context, &caller, first.clone()).await;
                for item in frozen {
                    *item = Err(first.clone());
                }
            }
            return Ok(Response::json(&Results::new(counted)));
        }
        Err(error) => error,
    };
    let valid: Vec<_> = items.iter().flatten().map(|(item, _)| item).collect();
    enqueue(context, error, &valid).await?;
    let queued = |item: Result<RuledActivity, Error>| item.map(|_| queued.clone());
    let results = items.into_iter().map(queued).collect();
    Ok(Response::json(&Results::new(results)))
}

/// Undoes an activity of a service for each member whose activity stands. The journal knows these members.
///
/// # Errors
///
/// [`Error::NotUndoable`] without a journal, [`Error::StoreUnavailable`] if the store or the journal fails, or if
/// the journal is far behind.
async fn undo_of_members(
    context: RequestContext<'_>,
    fields: &Map<String, Value>,
    reader: ActivityReader<'_>,
    caller: &Caller,
) -> Result<Response, Error> {
    let mut errors = FieldErrors::default();
    errors.reject_unknown(
        fields.keys(),
        &["action", "target", "undo", "source_gone", "at"],
    );
    errors.finish(Some(()))?;
    let read_of = |user: &str| {
        let mut fields = fields.clone();
        fields.insert("user".to_owned(), user.into());
        reader.read(&Value::Object(fields), caller)
    };
    // Everything but the user is the same in each undo.
    let (undo, _) = read_of("-")?;
    let Some(journal) = &context.app.bindings.journal else {
        let detail = "needs a user: this deployment keeps no journal (JOURNAL is not bound) that names the members";
        return Err(Error::NotUndoable(detail.to_owned()));
    };
    let (deployment, shards) = (context.deployment, 0..context.deployment.config.shards);
    if !drain(deployment, journal, shards, REQUEST_BATCHES).await? {
        let cause = "an undo without a user needs the whole journal, which is behind";
        return Err(Error::StoreUnavailable(cause.to_owned()));
    }
    let mut users = find_members(journal, &deployment.config, &undo, MAX_ITEMS + 1).await?;
    let more = users.len() > MAX_ITEMS;
    users.truncate(MAX_ITEMS);
    let undos: Vec<_> = users.iter().map(|user| read_of(user)).collect();
    let results = count_all(deployment, &undos, None, context.request.now).await?;
    Ok(Response::json_text(
        Results::new(results).render(&users, more),
    ))
}

fn is_frozen(error: Option<&Error>) -> bool {
    matches!(error, Some(Error::Forbidden(detail)) if detail == FROZEN)
}

/// Adds the reason of the moderator to the error for a frozen member, if it is that and the member may read the reason.
async fn explained(context: RequestContext<'_>, caller: &Caller, error: Error) -> Error {
    let (Caller::User(Ok(member)), Some(journal)) = (caller, &context.app.bindings.journal) else {
        return error;
    };
    if !is_frozen(Some(&error)) {
        return error;
    }
    let user = context.deployment.counted_member(&member.id);
    match read_moderation_reason(journal, &context.deployment.config, &user).await {
        Ok(Some(reason)) => Error::Forbidden(format!("{FROZEN} Reason: {reason}")),
        Ok(None) | Err(_) => error,
    }
}

/// Checks the length of a member's array, and counts each item against the write limit.
///
/// Authentication has counted the first item and refused the array if the limit was used up, so an
/// array exceeds the limit by less than its length.
///
/// # Errors
///
/// [`Error::TooLarge`].
async fn check_member_array(
    context: RequestContext<'_>,
    user: &str,
    items: usize,
) -> Result<(), Error> {
    if items > MAX_MEMBER_ITEMS {
        let detail =
            format!("An array sent with a user token has at most {MAX_MEMBER_ITEMS} items.");
        return Err(Error::TooLarge(detail));
    }
    rate_limit::count_writes(context, user, items.saturating_sub(1)).await;
    Ok(())
}

/// Returns the call that gives a user their first profile, if the token contains one.
fn first_profile(context: RequestContext<'_>, caller: &Caller) -> Option<Command> {
    let Caller::User(Ok(member)) = caller else {
        return None;
    };
    let profile = member.profile.as_ref()?;
    let (deployment, now) = (context.deployment, context.request.now);
    Some(first_profile_call(deployment, &member.id, profile, now))
}

/// Sends activities to the queue after the store failed to count them.
///
/// # Errors
///
/// The error of the store, if it is permanent or no queue accepts the activities.
async fn enqueue(
    context: RequestContext<'_>,
    error: Error,
    activities: &[&Activity],
) -> Result<(), Error> {
    let (Error::StoreUnavailable(cause), Some(queue)) = (&error, &context.app.bindings.queue)
    else {
        return Err(error);
    };
    for text in message::write(activities) {
        if let Err(failure) = queue.send(&text).await {
            log::warning(context.request, &format!("HELD: {failure}"));
            return Err(error);
        }
    }
    log::warning(context.request, &format!("queued: {cause}"));
    Ok(())
}
