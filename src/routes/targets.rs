//! `/v1/targets/…`: the register of targets.

use super::array::Results;
use crate::app::RequestContext;
use crate::middleware::authentication::authenticate;
use crate::response::Response;
use activity_rank_core::config::Scope;
use activity_rank_core::content::{NamedTarget, StoredTarget, TargetView, checked_id};
use activity_rank_core::error::Error;
use activity_rank_store::targets;
use serde::Serialize;
use serde_json::Value;

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

/// `GET` and `PUT` of one target.
pub async fn target(context: RequestContext<'_>, id: &str) -> Result<Response, Error> {
    if context.request.method == "PUT" {
        put(context, id).await
    } else {
        get(context, id).await
    }
}

/// Requires boards of content.
fn require_content(context: RequestContext<'_>) -> Result<(), Error> {
    match context.deployment.config.has_content() {
        true => Ok(()),
        false => Err(Error::no_content()),
    }
}

async fn get(context: RequestContext<'_>, id: &str) -> Result<Response, Error> {
    require_content(context)?;
    context.request.reject_parameters()?;
    let id = checked_id(id).map_err(|detail| Error::field("/target", &detail))?;
    let stored = targets::read(context.deployment, &id).await?;
    let stored = stored.filter(|stored| !stored.hidden);
    let missing = || Error::NotFound(format!("The target {id} is not registered."));
    let stored = stored.ok_or_else(missing)?;
    Ok(Response::json(&View::new(&id, &stored)))
}

async fn put(context: RequestContext<'_>, id: &str) -> Result<Response, Error> {
    let body = context.request.body()?;
    let caller = authenticate(context).await?;
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
pub async fn put_all(context: RequestContext<'_>) -> Result<Response, Error> {
    let body = context.request.body()?;
    let caller = authenticate(context).await?;
    require_content(context)?;
    context.request.reject_parameters()?;
    let json = body.json()?;
    let Value::Array(items) = &json else {
        return Err(Error::invalid("Targets are a JSON array."));
    };
    caller.must_be_service(Scope::Content)?;
    let items: Vec<_> = items.iter().map(NamedTarget::parse_item).collect();
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

fn conflict(named: &NamedTarget) -> Error {
    Error::AuthorConflict(format!("The target {} has another author.", named.id))
}
