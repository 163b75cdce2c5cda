//! Work outside of requests: scheduled jobs, and the queue.

pub mod archive;
pub mod message;
pub mod outbox;
pub mod replay;
pub mod snapshots;

use crate::app::App;
use crate::log;
use activity_rank_core::error::Error;

/// The cron trigger that only drains the outbox.
const EVERY_MINUTE: &str = "* * * * *";

/// Runs the jobs of a cron trigger. A job that fails is logged, and due again next time.
pub async fn run_scheduled(app: &App, cron: &str) {
    let Ok(deployment) = app.job_deployment() else {
        return;
    };
    if let Some(journal) = &app.bindings.journal {
        log_failure(outbox::drain(deployment, journal).await);
    }
    if cron == EVERY_MINUTE {
        return;
    }
    if let Some(archive) = &app.bindings.archive {
        log_failure(archive::run(deployment, archive).await);
    }
    if let Some(snapshots) = &app.bindings.snapshots {
        log_failure(snapshots::run(deployment, snapshots).await);
    }
}

fn log_failure(result: Result<(), Error>) {
    if let Err(error) = result {
        log::job(&error);
    }
}
