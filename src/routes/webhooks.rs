//! `/v1/webhooks/deliveries`.

use crate::app::RequestContext;
use crate::platform::d1::Database;
use crate::response::Response;
use crate::webhooks;
use activity_rank_core::caller::Caller;
use activity_rank_core::config::Scope;
use activity_rank_core::error::Error;
use activity_rank_core::query::Query;
use activity_rank_core::webhook::{DeliveriesRequest, checked_id};

/// `GET` of a page of deliveries.
pub async fn list(context: RequestContext<'_>, caller: Caller) -> Result<Response, Error> {
    let page = DeliveriesRequest::parse(&context.request.query)?;
    caller.must_be_service(Scope::Admin)?;
    let (journal, config) = (journal(context)?, &context.deployment.config);
    let deliveries = webhooks::read_page(journal, config, &page).await?;
    Ok(Response::json_text(page.render(&deliveries)))
}

/// `POST` that makes a delivery due again.
pub async fn retry(
    context: RequestContext<'_>,
    id: &str,
    caller: Caller,
) -> Result<Response, Error> {
    let mut query = Query::parse(&context.request.query, &[]);
    let id = query.check("/id", checked_id(id)).unwrap_or_default();
    query.finish()?;
    caller.must_be_service(Scope::Admin)?;
    let (journal, now) = (journal(context)?, context.request.now);
    let delivery = webhooks::retry(journal, &context.deployment.config, &id, now).await?;
    let unknown = || Error::NotFound("No delivery has this id.".to_owned());
    Ok(Response::json_text(delivery.ok_or_else(unknown)?))
}

fn journal(context: RequestContext<'_>) -> Result<&Database, Error> {
    let journal = context.app.bindings.journal.as_ref();
    let journal = journal.filter(|_| !context.deployment.config.webhooks.is_empty());
    let missing =
        || Error::NotFound("This deployment has no webhooks: WEBHOOKS is not set.".to_owned());
    journal.ok_or_else(missing)
}
