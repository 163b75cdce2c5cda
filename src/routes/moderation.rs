//! `/v1/moderation`, and what moderators do to a user.

use crate::app::RequestContext;
use crate::cache::hiding;
use crate::events::unknown;
use crate::request::Body;
use crate::response::Response;
use activity_rank_core::caller::Caller;
use activity_rank_core::config::Scope;
use activity_rank_core::error::Error;
use activity_rank_core::event::State;
use activity_rank_core::moderation::{Adjustment, AuditRequest, ModerationState, render_flags};
use activity_rank_store::{count, events, moderation, profiles};

/// `GET` of whether a user is hidden or frozen.
pub async fn get_state(
    context: RequestContext<'_>,
    user: &str,
    caller: Caller,
) -> Result<Response, Error> {
    let user = context.request.path_user(user)?;
    caller.must_be_service(Scope::Admin)?;
    let (profile, flags) = profiles::read(context.deployment, &user).await?;
    let body = render_flags(&user, profile.as_ref(), flags);
    Ok(Response::json_text(body))
}

/// `PUT` of whether a user is hidden or frozen.
pub async fn put_state(
    context: RequestContext<'_>,
    user: &str,
    caller: Caller,
    body: Body<'_>,
) -> Result<Response, Error> {
    context.request.reject_parameters()?;
    let state = ModerationState::parse(user, &body.json()?)?;
    caller.must_be_service(Scope::Admin)?;
    if state.hidden {
        hiding::before_hiding(context, &[user], None).await?;
    }
    let (actor, now) = (caller.actor(), context.request.now);
    let moderated = moderation::moderate(context.deployment, &state, actor.as_ref(), now);
    let (profile, flags) = moderated.await?;
    hiding::update_visibility(context, &[user]).await?;
    let body = render_flags(&state.user, profile.as_ref(), flags);
    Ok(Response::json_text(body))
}

/// `POST` of an adjustment.
pub async fn adjust(
    context: RequestContext<'_>,
    user: &str,
    caller: Caller,
    body: Body<'_>,
) -> Result<Response, Error> {
    let (deployment, now) = (context.deployment, context.request.now);
    context.request.reject_parameters()?;
    let adjustment = Adjustment::parse(user, &body.json()?, deployment.config.layout, now)?;
    caller.must_be_service(Scope::Admin)?;
    let event = adjustment.event.clone();
    let actor = caller.actor();
    let counted = count::adjust(deployment, adjustment, actor.as_ref(), now).await;
    match (counted, event) {
        (Err(Error::EventConflict(_)), Some(event)) => Err(refusal(context, &event).await?),
        (counted, _) => Ok(Response::json(&counted?)),
    }
}

/// Returns why an event cannot be adjusted.
async fn refusal(context: RequestContext<'_>, id: &str) -> Result<Error, Error> {
    let event = events::read(context.deployment, id).await?;
    let state = event.map(|event| event.state(context.request.now));
    let conflict = |detail: &str| Error::EventConflict(detail.to_owned());
    Ok(match state {
        None => unknown(id),
        Some(State::Coming) => conflict("The event has not begun."),
        Some(State::Final) => conflict("The event is final."),
        Some(State::Running | State::Settling) => {
            Error::StoreUnavailable("the shard lacks the event".to_owned())
        }
    })
}

/// `GET` of the audit log.
pub async fn audit_log(context: RequestContext<'_>, caller: Caller) -> Result<Response, Error> {
    let page = AuditRequest::parse(&context.request.query)?;
    caller.must_be_service(Scope::Admin)?;
    let entries = moderation::read_audit_log(context.deployment, &page).await?;
    Ok(Response::json_text(page.render(
        &entries,
        context.deployment.config.layout.decimals,
    )))
}
