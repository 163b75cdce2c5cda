//! `/v1/events/…`: the events; `ranking.rs` and `live.rs` serve their boards.

use crate::app::RequestContext;
use crate::cache::hiding;
use crate::cache::response::cached;
use crate::events;
use crate::request::Body;
use crate::response::Response;
use activity_rank_core::caller::Caller;
use activity_rank_core::config::Scope;
use activity_rank_core::error::Error;
use activity_rank_core::event::{Event, render_list};
use activity_rank_store::events as store;
use serde_json::{Map, json};

/// All events, cached like an open board.
pub async fn list(context: RequestContext<'_>) -> Result<Response, Error> {
    context.request.reject_parameters()?;
    let read = async {
        let events = store::read_all(context.deployment).await?;
        Ok(render_list(&events, context.request.now))
    };
    let max_age = context.deployment.config.board_max_age;
    cached(context, "/v1/events", max_age, Box::pin(read), None).await
}

/// `GET` of one event.
pub async fn get(context: RequestContext<'_>, id: &str) -> Result<Response, Error> {
    context.request.reject_parameters()?;
    let id = Event::checked_id(id)?;
    let event = store::read(context.deployment, &id).await?;
    let event = event.ok_or_else(|| events::unknown(&id))?;
    Ok(Response::json(&event.view(context.request.now)))
}

/// `PUT` of one event.
pub async fn put(
    context: RequestContext<'_>,
    id: &str,
    caller: Caller,
    body: Body<'_>,
) -> Result<Response, Error> {
    context.request.reject_parameters()?;
    let (deployment, now) = (context.deployment, context.request.now);
    let event = Event::parse(id, &body.json()?, &deployment.config)?;
    caller.must_be_service(Scope::Admin)?;
    store::define(deployment, &event, now).await?;
    events::forget(&event.id);
    Ok(Response::json(&event.view(now)))
}

/// `DELETE` of one event.
pub async fn delete(
    context: RequestContext<'_>,
    id: &str,
    caller: Caller,
) -> Result<Response, Error> {
    context.request.reject_parameters()?;
    let id = Event::checked_id(id)?;
    caller.must_be_service(Scope::Admin)?;
    store::delete(context.deployment, &id, context.request.now).await?;
    events::forget(&id);
    hiding::delete_event(context, &id).await?;
    Ok(Response::no_content())
}

/// Returns the definition by which the command line counts an event again from the journal. Changes nothing.
pub async fn recount(
    context: RequestContext<'_>,
    id: &str,
    caller: Caller,
    body: Body<'_>,
) -> Result<Response, Error> {
    context.request.reject_parameters()?;
    let (deployment, now) = (context.deployment, context.request.now);
    let (id, body) = (Event::checked_id(id)?, body.json()?);
    let keeps_definition = body.as_object().is_some_and(Map::is_empty);
    let defined = match keeps_definition {
        true => None,
        false => Some(Event::parse(&id, &body, &deployment.config)?),
    };
    caller.must_be_service(Scope::Admin)?;
    if context.app.bindings.journal.is_none() {
        let detail = "A recount needs the journal: JOURNAL is not bound.";
        return Err(Error::NotFound(detail.to_owned()));
    }
    let event = match defined {
        Some(event) => event,
        None => {
            let stored = store::read(deployment, &id).await?;
            stored.ok_or_else(|| events::unknown(&id))?
        }
    };
    let event = event.recounted(deployment.config.settling, now);
    let line = store::check_recount(deployment, &event, now).await?;
    let answer = json!({"event": event.view(now), "definition": event.stored(), "line": line});
    Ok(Response::json(&answer))
}
