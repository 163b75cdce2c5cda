//! `/v1/syncs`: results of sync runs.

use crate::app::RequestContext;
use crate::journal::syncs;
use crate::platform::d1::Statement;
use crate::request::Body;
use crate::response::Response;
use activity_rank_core::caller::Caller;
use activity_rank_core::config::Scope;
use activity_rank_core::error::Error;
use activity_rank_core::sync::{SOURCE, SyncReport, is_source};

/// A request.
pub enum Operation<'a> {
    /// `GET` of the results of all sources.
    List,
    /// `PUT` of the report of a run of a source.
    Put(&'a str, Body<'a>),
    /// `DELETE` of the result of a source.
    Delete(&'a str),
}

/// Handles a request, which takes one query.
pub async fn handle(
    context: RequestContext<'_>,
    caller: Caller,
    operation: Operation<'_>,
) -> Result<Response, Error> {
    let statement = statement(context, &operation)?;
    caller.must_be_service(Scope::Admin)?;
    let detail = "This deployment has no results of sync runs: JOURNAL is not bound.";
    let journal = context.app.bindings.journal.as_ref();
    let journal = journal.ok_or_else(|| Error::NotFound(detail.to_owned()))?;
    let mut rows = journal.texts(statement).await?;
    let full = || Error::SyncConflict("There are 100 sources: delete one first.");
    Ok(match operation {
        Operation::List => Response::json_text(format!("{{\"syncs\":[{}]}}", rows.join(","))),
        Operation::Put(..) => Response::json_text(rows.pop().ok_or_else(full)?),
        Operation::Delete(_) => Response::no_content(),
    })
}

fn statement(context: RequestContext<'_>, operation: &Operation<'_>) -> Result<Statement, Error> {
    context.request.reject_parameters()?;
    let (config, now) = (&context.deployment.config, context.request.now);
    Ok(match operation {
        Operation::List => syncs::select(config),
        Operation::Put(source, body) => {
            syncs::upsert(config, &SyncReport::parse(source, &body.json()?)?, now)
        }
        Operation::Delete(source) => {
            let is_valid = is_source(source).then_some(());
            is_valid.ok_or_else(|| Error::field("/source", SOURCE))?;
            syncs::delete(config, source)
        }
    })
}
