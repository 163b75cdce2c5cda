//! `GET /v1/stats`.

use crate::app::RequestContext;
use crate::archive;
use crate::cache::response::cached;
use crate::journal::sums;
use crate::response::Response;
use activity_rank_core::board::CLOSED_MAX_AGE;
use activity_rank_core::caller::Caller;
use activity_rank_core::error::Error;
use activity_rank_core::stats::StatsRequest;
use activity_rank_store::stats;

/// The numbers of the site: for services, and with `PUBLIC_STATS` for everyone, then cached like closed
/// boards.
pub async fn get(
    context: RequestContext<'_>,
    caller: Result<Caller, Error>,
) -> Result<Response, Error> {
    let request = context.request;
    let is_public = context.deployment.config.public_stats;
    let parse = || StatsRequest::parse(&request.query, context.today());
    if is_public
        && request.bearer().is_none()
        && let Err(Error::Unauthenticated(_)) = caller
    {
        let stats = parse()?;
        let (form, read) = (stats.normal_form(), read(context, &stats));
        return cached(context, &form, CLOSED_MAX_AGE, Box::pin(read), None).await;
    }
    let (caller, stats) = (caller?, parse()?);
    if !is_public {
        caller.require_service("read the numbers of the site")?;
    }
    Ok(Response::json_text(read(context, &stats).await?))
}

/// Reads the boards and the sums of the journal, and renders the response body.
async fn read(context: RequestContext<'_>, request: &StatsRequest) -> Result<String, Error> {
    let (deployment, bindings) = (context.deployment, &context.app.bindings);
    let config = &deployment.config;
    let boards = request.boards(config);
    let mut totals = stats::read_totals(deployment, &boards).await?;
    if let Some(archive) = &bindings.archive {
        archive::add_totals(archive, config, &boards, &mut totals).await?;
    }
    let sums = match &bindings.journal {
        Some(journal) => {
            let days = (request.from.to_string(), request.to.to_string());
            Some(sums::read(journal, config, days).await?)
        }
        None => None,
    };
    let total = |index: usize| {
        let shard_totals = totals.iter().filter_map(|totals| *totals.get(index)?);
        shard_totals.sum()
    };
    let boards: Vec<_> = boards.into_iter().zip((0..).map(total)).collect();
    Ok(request.render(&boards, sums.as_ref(), &deployment.calendar, config))
}
