//! `GET /v1/status`: the state of the store and of the jobs, for operators.

use crate::app::RequestContext;
use crate::journal::achievements::read_behind;
use crate::log;
use crate::platform::clock;
use crate::response::Response;
use activity_rank_core::caller::Caller;
use activity_rank_core::config::Scope;
use activity_rank_core::error::Error;
use activity_rank_store::progress::QueueDelivery;
use activity_rank_store::status::{self, OutboxStatus};

/// The version of the service.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The state; without what the store knows while it does not respond.
pub async fn get(context: RequestContext<'_>, caller: Caller) -> Result<Response, Error> {
    let deployment = context.deployment;
    caller.must_be_service(Scope::Admin)?;
    context.request.reject_parameters()?;
    // A response closes it.
    let circuit = deployment.store.circuit();
    let sent = clock::millis();
    let (latency, found) = match status::read(deployment, &[], context.today()).await {
        Ok(found) => (Some(clock::millis() - sent), found),
        Err(error @ Error::StoreUnavailable(_)) => {
            log::failure(context.request, &error);
            (None, status::StoreStatus::default())
        }
        Err(error) => return Err(error),
    };
    let queue = found.delivery.filter(|_| deployment.config.bound.queue);
    let bound = context.app.bindings.journal.as_ref();
    let mut behind = None;
    if let Some(journal) = bound.filter(|_| !deployment.config.achievements.is_empty()) {
        match read_behind(journal, &deployment.config).await {
            Ok(rows) => behind = Some(rows),
            Err(error) => log::failure(context.request, &error),
        }
    }
    // Nothing in it needs an escape.
    Ok(Response::json_text(format!(
        "{{\"version\":\"{VERSION}\",\"store\":{{\"latency_ms\":{},\"circuit\":\"{}\"}},\
         \"outbox\":{},\"queue\":{},\"commands\":{},\"achievements\":{}}}",
        or_null(latency),
        circuit.name(),
        or_null(found.outbox.map(outbox)),
        or_null(queue.map(delivery)),
        or_null(found.server.commands.zip(found.server.uptime).map(commands)),
        or_null(behind.map(|rows| format!("{{\"behind\":{rows}}}"))),
    )))
}

fn or_null(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "null".to_owned(), |value| value.to_string())
}

fn outbox(outbox: OutboxStatus) -> String {
    let entries = outbox.entries;
    let oldest = or_null(outbox.oldest.map(|oldest| format!("\"{oldest}\"")));
    format!("{{\"entries\":{entries},\"oldest\":{oldest}}}")
}

fn delivery(QueueDelivery { oldest, delivered }: QueueDelivery) -> String {
    format!("{{\"oldest\":\"{oldest}\",\"delivered\":\"{delivered}\"}}")
}

fn commands((processed, uptime): (u64, u64)) -> String {
    format!("{{\"processed\":{processed},\"uptime_seconds\":{uptime}}}")
}
