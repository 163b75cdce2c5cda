//! Work outside of requests: scheduled jobs, and the queue.

pub mod archive;
pub mod message;
pub mod outbox;
pub mod replay;
pub mod snapshots;

use crate::app::App;
use crate::log;
use activity_rank_core::error::Error;
use outbox::CRON_BATCHES;

/// The cron trigger that only drains the outbox.
const EVERY_MINUTE: &str = "* * * * *";

/// Runs the jobs of a cron trigger, the ones that matter most first: a run may end at the limits of
/// the platform. A job that fails is logged, and due again next time.
pub async fn run_scheduled(app: &App, cron: &str) {
    let Ok(deployment) = app.job_deployment() else {
        return;
    };
    if cron != EVERY_MINUTE {
        // The copies for an outage take one request for each period; a board that is not archived
        // before it expires is lost.
        if let Some(snapshots) = &app.bindings.snapshots {
            log_failure(snapshots::run(deployment, snapshots).await);
        }
        if let Some(archive) = &app.bindings.archive {
            log_failure(archive::run(deployment, archive).await);
        }
    }
    if let Some(journal) = &app.bindings.journal {
        let shards = 0..deployment.config.shards;
        let drained = outbox::drain(deployment, journal, shards, CRON_BATCHES).await;
        log_failure(drained.map(|_| ()));
    }
}

fn log_failure(result: Result<(), Error>) {
    if let Err(error) = result {
        log::job(&error);
    }
}
