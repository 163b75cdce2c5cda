//! `/v1/targets/…`: the register of targets, and their moderation.

use super::array::Results;
use super::users::may_see_hidden;
use crate::app::RequestContext;
use crate::cache::hiding;
use crate::request::Body;
use crate::response::Response;
use activity_rank_core::caller::Caller;
use activity_rank_core::config::Scope;
use activity_rank_core::content::{ListRequest, NamedTarget, StoredTarget, TargetView, checked_id};
use activity_rank_core::error::Error;
use activity_rank_core::json::Items;
use activity_rank_core::moderation::{TargetState, TargetStateView};
use activity_rank_store::profiles;
use activity_rank_store::targets::{self, Moderation};
use serde::Serialize;

/// A registered target in a response.
#[derive(Debug, Serialize)]
struct View<'a> {
    #[serde(flatten)]
    target: TargetView<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<&'a str>,
}

impl<'a> View<'a> {
    fn new(id: &'a str, stored: &'a StoredTarget) -> Self {
        Self {
            target: TargetView::new(id, &stored.target),
            author: stored.author.as_deref(),
        }
    }
}

/// Requires boards of content.
fn require_content(context: RequestContext<'_>) -> Result<(), Error> {
    match context.deployment.config.has_content() {
        true => Ok(()),
        false => Err(Error::no_content()),
    }
}

/// `GET` of one target.
pub async fn get(context: RequestContext<'_>, id: &str) -> Result<Response, Error> {
    require_content(context)?;
    let id = path_target(context, id)?;
    let stored = targets::read(context.deployment, &id).await?;
    let shown = stored.filter(|(_, is_hidden)| !is_hidden);
    let (mut stored, _) = shown.ok_or_else(|| unregistered(&id))?;
    // A target without an author takes the same requests: else their number would reveal a hidden one.
    let author = stored.author.as_deref().unwrap_or_default();
    let flags = profiles::read_flags(context.deployment, &[author]).await?;
    if flags.iter().any(|flags| flags.is_hidden()) && !may_see_hidden(context, author).await {
        stored.author = None;
    }
    Ok(Response::json(&View::new(&id, &stored)))
}

/// Returns the target of a path without parameters.
fn path_target(context: RequestContext<'_>, id: &str) -> Result<String, Error> {
    context.request.reject_parameters()?;
    checked_id(id).map_err(|detail| Error::field("/target", &detail))
}

fn unregistered(id: &str) -> Error {
    Error::NotFound(format!("The target {id} is not registered."))
}

/// `PUT` of one target.
pub async fn put(
    context: RequestContext<'_>,
    id: &str,
    caller: Caller,
    body: Body<'_>,
) -> Result<Response, Error> {
    require_content(context)?;
    context.request.reject_parameters()?;
    let named = NamedTarget::parse(id, &body.json()?)?;
    caller.must_be_service(Scope::Content)?;
    let now = context.request.now;
    let mut stored = targets::write(context.deployment, std::slice::from_ref(&named), now).await?;
    let stored = stored.pop().flatten().ok_or_else(|| conflict(&named))?;
    Ok(Response::json(&View::new(&named.id, &stored)))
}

/// `PUT` of an array of targets.
pub async fn put_all(
    context: RequestContext<'_>,
    caller: Caller,
    body: Body<'_>,
) -> Result<Response, Error> {
    require_content(context)?;
    context.request.reject_parameters()?;
    let Items::Array(items) = body.items()? else {
        return Err(Error::invalid("Targets are a JSON array."));
    };
    caller.must_be_service(Scope::Content)?;
    let items = items
        .into_iter()
        .map(|item| NamedTarget::parse_item(&item?));
    let items: Vec<_> = items.collect();
    let written: Vec<NamedTarget> = items.iter().flatten().cloned().collect();
    let stored = match written.as_slice() {
        [] => Vec::new(),
        written => targets::write(context.deployment, written, context.request.now).await?,
    };
    let mut stored = stored.iter();
    let results = items.iter().map(|item| {
        let named = item.as_ref().map_err(Error::clone)?;
        let stored = stored.next().and_then(Option::as_ref);
        let stored = stored.ok_or_else(|| conflict(named))?;
        Ok(View::new(&named.id, stored))
    });
    Ok(Response::json(&Results::new(results.collect())))
}

/// `DELETE` of one target.
pub async fn delete(
    context: RequestContext<'_>,
    id: &str,
    caller: Caller,
) -> Result<Response, Error> {
    require_content(context)?;
    let id = path_target(context, id)?;
    caller.must_be_service(Scope::Admin)?;
    let (actor, now) = (caller.actor(), context.request.now);
    let deletion = Moderation::Delete;
    targets::moderate(context.deployment, &id, deletion, actor.as_ref(), now).await?;
    hiding::delete_target(context, &id).await?;
    Ok(Response::no_content())
}

/// `GET` of the targets of an author.
pub async fn list(context: RequestContext<'_>, user: &str) -> Result<Response, Error> {
    require_content(context)?;
    let request = ListRequest::parse(user, &context.request.query)?;
    let shows_hidden = may_see_hidden(context, &request.user).await;
    let page = targets::list(context.deployment, &request, shows_hidden).await?;
    let decimals = context.deployment.config.layout.decimals;
    Ok(Response::json_text(page.render(decimals)))
}

/// `GET` of whether a target is hidden.
pub async fn get_state(
    context: RequestContext<'_>,
    id: &str,
    caller: Caller,
) -> Result<Response, Error> {
    require_content(context)?;
    let id = path_target(context, id)?;
    caller.must_be_service(Scope::Admin)?;
    let stored = targets::read(context.deployment, &id).await?;
    let (stored, hidden) = stored.ok_or_else(|| unregistered(&id))?;
    let view = TargetStateView::new(&id, &stored.target, hidden);
    Ok(Response::json(&view))
}

/// `PUT` of whether a target is hidden.
pub async fn put_state(
    context: RequestContext<'_>,
    id: &str,
    caller: Caller,
    body: Body<'_>,
) -> Result<Response, Error> {
    require_content(context)?;
    context.request.reject_parameters()?;
    let state = TargetState::parse(id, &body.json()?)?;
    caller.must_be_service(Scope::Admin)?;
    let (id, actor, now) = (&state.target, caller.actor(), context.request.now);
    let moderation = match state.hidden {
        true => Moderation::Hide(&state.reason),
        false => Moderation::Show(&state.reason),
    };
    if state.hidden {
        hiding::before_hiding_target(context, id).await?;
    }
    let stored = targets::moderate(context.deployment, id, moderation, actor.as_ref(), now).await?;
    let stored = stored.ok_or_else(|| unregistered(id))?;
    hiding::update_target(context, id, state.hidden).await?;
    let view = TargetStateView::new(id, &stored.target, state.hidden);
    Ok(Response::json(&view))
}

fn conflict(named: &NamedTarget) -> Error {
    Error::AuthorConflict(format!("The target {} has another author.", named.id))
}
