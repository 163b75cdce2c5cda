//! `GET /v1/users/{user}/points`.

use crate::app::RequestContext;
use crate::journal;
use crate::journal::drain::{REQUEST_BATCHES, drain};
use crate::platform::d1::Database;
use crate::response::Response;
use activity_rank_core::account::Accounts;
use activity_rank_core::caller::Caller;
use activity_rank_core::content::Target;
use activity_rank_core::error::Error;
use activity_rank_core::point_changes::{PointsPage, PointsRequest};
use activity_rank_core::profile::Profile;
use activity_rank_store::{accounts, point_changes, profiles, targets};

/// What changed a user's points: from the journal, or what still counts from the active records.
pub async fn get(
    context: RequestContext<'_>,
    user: &str,
    caller: Caller,
) -> Result<Response, Error> {
    let deployment = context.deployment;
    let query = &context.request.query;
    let request = PointsRequest::parse(user, query, context.today(), &deployment.calendar)?;
    caller.may_read(user)?;
    let (profile, page) = match &context.app.bindings.journal {
        Some(journal) => read_journal(context, journal, &request).await?,
        None => point_changes::read(deployment, &request).await?,
    };
    let targets = read_targets(context, page.targets()).await?;
    let decimals = deployment.config.layout.decimals;
    let body = page.render(&request.user, profile.as_ref(), &targets, decimals);
    Ok(Response::json_text(body))
}

/// Reads a page of the journal, after the outbox of the user's shard has been drained to it.
async fn read_journal(
    context: RequestContext<'_>,
    journal: &Database,
    request: &PointsRequest,
) -> Result<(Option<Profile>, PointsPage), Error> {
    let deployment = context.deployment;
    let shard = deployment.config.shard_of(&request.user);
    let shards = shard..shard + 1;
    let drained = drain(deployment, journal, shards, REQUEST_BATCHES).await?;
    let accounts = match deployment.config.refused_days.filter(|_| request.refused) {
        Some(_) => accounts::read(deployment, &request.user).await?,
        None => Accounts::default(),
    };
    let mut page = journal::read_points(journal, &deployment.config, request, &accounts).await?;
    page.is_behind = !drained;
    let (profile, flags) = profiles::read(deployment, &request.user).await?;
    if (flags.hidden || flags.frozen) && request.before.is_none() {
        let reason = journal::read_moderation_reason(journal, &deployment.config, &request.user);
        page.moderation = reason.await?.map(|reason| (flags, reason));
    }
    if flags.has_exclusions && request.before.is_none() {
        let reasons = journal::read_exclusion_reasons(journal, &deployment.config, &request.user);
        page.exclusions = reasons.await?;
    }
    Ok((profile, page))
}

/// Reads what is known of targets, if there is a register.
async fn read_targets<'a>(
    context: RequestContext<'_>,
    ids: Vec<&'a str>,
) -> Result<Vec<(&'a str, Target)>, Error> {
    if ids.is_empty() || !context.deployment.config.has_content() {
        return Ok(Vec::new());
    }
    let contents = targets::read_contents(context.deployment, &ids).await?;
    let targets = contents.into_iter().map(|content| content.target);
    Ok(ids.into_iter().zip(targets).collect())
}
