//! `GET /v1/journal`.

use crate::app::RequestContext;
use crate::jobs::outbox::{self, REQUEST_BATCHES};
use crate::journal::JournalRequest;
use crate::middleware::authentication::authenticate;
use crate::response::Response;
use activity_rank_core::config::Scope;
use activity_rank_core::error::Error;

/// A page of the journal, after the outbox has been drained to it.
pub async fn get(context: RequestContext<'_>) -> Result<Response, Error> {
    let deployment = context.deployment;
    let caller = authenticate(context).await?;
    let page = JournalRequest::parse(&context.request.query)?;
    caller.must_be_service(Scope::Admin)?;
    let Some(journal) = &context.app.bindings.journal else {
        let detail = "This deployment keeps no journal: JOURNAL is not bound.";
        return Err(Error::NotFound(detail.to_owned()));
    };
    let shards = page.shards(&deployment.config);
    let drained = outbox::drain(deployment, journal, shards, REQUEST_BATCHES).await?;
    let entries = page.read(journal, &deployment.config).await?;
    let body = page.render(&entries, !drained, &deployment.config);
    Ok(Response::json_text(body))
}
