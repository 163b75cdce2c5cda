//! Delivers what targets and authors receive on other shards: after the response that counted it, and in each
//! run of cron.

use crate::app::App;
use crate::log;
use crate::platform::clock;
use activity_rank_core::error::Error;
use activity_rank_store::deliveries::{Delivered, deliver};
use activity_rank_store::deployment::Deployment;

/// The rounds of one run after a response. What is left waits for the next response, or for cron.
const ROUNDS: u32 = 10;

/// The rounds of a run of cron: they leave most of its budget to the jobs that follow.
const CRON_ROUNDS: u32 = 5;

/// Delivers the stream of one shard.
pub async fn run(app: &App, shard: u32) {
    if let Ok(deployment) = app.job_deployment() {
        report(deliver(deployment, vec![shard], ROUNDS, clock::now()).await);
    }
}

/// Delivers the streams of all shards.
pub async fn run_all(deployment: &Deployment) {
    let config = &deployment.config;
    if config.shards > 1 && config.has_content() {
        let shards = (0..config.shards).collect();
        report(deliver(deployment, shards, CRON_ROUNDS, clock::now()).await);
    }
}

fn report(delivered: Result<Delivered, Error>) {
    match delivered {
        Ok(delivered) => delivered.failed.iter().for_each(log::job),
        Err(error) => log::job(&error),
    }
}
