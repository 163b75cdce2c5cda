//! `/v1/rules`: the rules that hold, and the versions that have been published.

use crate::app::RequestContext;
use crate::cache::response::cached;
use crate::request::Body;
use crate::response::Response;
use activity_rank_core::caller::Caller;
use activity_rank_core::config::Scope;
use activity_rank_core::error::Error;
use activity_rank_core::rules::{Publication, TakeBack};
use activity_rank_store::rules as store;

/// The rules and the versions: for everyone, then cached like an open board; for operators with every reason and actor.
pub async fn get(
    context: RequestContext<'_>,
    caller: Result<Caller, Error>,
) -> Result<Response, Error> {
    context.request.reject_parameters()?;
    if context.request.bearer().is_none() {
        let max_age = context.deployment.config.board_max_age;
        let read = Box::pin(read(context, false));
        return cached(context, "/v1/rules", max_age, read, None).await;
    }
    let is_operator = caller?.must_be_service(Scope::Admin).is_ok();
    Ok(Response::json_text(read(context, is_operator).await?))
}

async fn read(context: RequestContext<'_>, is_operator: bool) -> Result<String, Error> {
    let versions = store::read(context.deployment).await?;
    let (config, now) = (&context.deployment.config, context.request.now);
    Ok(versions.render(config, now, is_operator))
}

/// `POST` of a new version.
pub async fn publish(
    context: RequestContext<'_>,
    caller: Caller,
    body: Body<'_>,
) -> Result<Response, Error> {
    context.request.reject_parameters()?;
    let (deployment, now) = (context.deployment, context.request.now);
    let publication = Publication::parse(&body.json()?, &deployment.config, now)?;
    caller.must_be_service(Scope::Admin)?;
    let actor = caller.actor();
    let written = store::publish(deployment, &publication, actor.as_ref(), now).await?;
    Ok(render(context, &written))
}

/// `DELETE` of a version, which takes it back.
pub async fn take_back(
    context: RequestContext<'_>,
    version: &str,
    caller: Caller,
) -> Result<Response, Error> {
    let (deployment, now) = (context.deployment, context.request.now);
    let request = TakeBack::parse(version, &context.request.query)?;
    caller.must_be_service(Scope::Admin)?;
    let actor = caller.actor();
    let written = store::take_back(deployment, &request, actor.as_ref(), now).await?;
    Ok(render(context, &written))
}

/// Returns the version that a request has written.
fn render(context: RequestContext<'_>, written: &store::Written) -> Response {
    let (config, now) = (&context.deployment.config, context.request.now);
    let view = written.versions.version_view(written.number, config, now);
    Response::json(&view)
}
