//! Gives targets and authors what they receive for activities: after the response that counted them, and in each run
//! of cron.

use crate::app::App;
use crate::log;
use crate::platform::clock;
use activity_rank_core::error::Error;
use activity_rank_store::deployment::{Changed, Deployment};
use activity_rank_store::receive::{Received, receive};

/// The rounds of one run after a response.
const ROUNDS: u32 = 10;

/// A round takes two requests. A run of cron leaves most of its budget to the jobs that follow.
const CRON_SHARE: u32 = 10;

/// Follows the stream of one shard. What is left follows in another run, while the platform keeps the event alive, else
/// after the next response, or by cron.
pub async fn run(app: &App, shard: u32) {
    if let Ok(deployment) = app.job_deployment() {
        let left = report(receive(deployment, vec![shard], ROUNDS, clock::now()).await);
        for shard in left {
            (deployment.on_change)(Changed::Receivers(shard));
        }
    }
}

/// Follows the streams of all shards.
pub async fn run_all(deployment: &Deployment) {
    let config = &deployment.config;
    if config.has_content() {
        let shards = (0..config.shards).collect();
        let rounds = config.cron_budget / CRON_SHARE;
        report(receive(deployment, shards, rounds, clock::now()).await);
    }
}

/// Logs what failed. Returns the shards whose streams may have more.
fn report(received: Result<Received, Error>) -> Vec<u32> {
    match received {
        Ok(Received { left, failed }) => {
            failed.iter().for_each(log::job);
            left
        }
        Err(error) => {
            log::job(&error);
            Vec::new()
        }
    }
}
