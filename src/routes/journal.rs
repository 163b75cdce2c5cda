//! `GET /v1/journal`.

use crate::app::RequestContext;
use crate::journal::JournalRequest;
use crate::journal::drain::{REQUEST_BATCHES, drain};
use crate::response::Response;
use activity_rank_core::caller::Caller;
use activity_rank_core::config::Scope;
use activity_rank_core::error::Error;

/// A page of the journal, after the outbox has been drained to it.
pub async fn get(context: RequestContext<'_>, caller: Caller) -> Result<Response, Error> {
    let deployment = context.deployment;
    let page = JournalRequest::parse(&context.request.query)?;
    caller.must_be_service(Scope::Admin)?;
    let Some(journal) = &context.app.bindings.journal else {
        let detail = "This deployment keeps no journal: JOURNAL is not bound.";
        return Err(Error::NotFound(detail.to_owned()));
    };
    let shards = page.shards(&deployment.config);
    let drained = drain(deployment, journal, shards, REQUEST_BATCHES).await?;
    let entries = page.read(journal, &deployment.config).await?;
    let body = page.render(&entries, !drained, &deployment.config);
    Ok(Response::json_text(body))
}
