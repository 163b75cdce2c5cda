//! Deliveries between shards: what targets and authors receive on another shard than that of the activity.
//!
//! The counting script appends them to a stream of its shard in its atomic step; `count_receive.lua` describes
//! them. Each is applied on the shard of its receiver, in order, and then leaves the stream. A shard keeps the
//! id of the last delivery from each other one, so a delivery is applied once, however often it is sent.

use crate::count::{Applied, Delivery, Plan, UndoLog, apply};
use crate::deployment::Deployment;
use crate::fingerprint::fingerprint;
use crate::redis::Command;
use crate::scripts::WAITING;
use activity_rank_core::calendar::Instant;
use activity_rank_core::error::Error;

/// Deliveries of one shard that one round takes.
const BATCH: usize = 200;

/// What a run of [`deliver`] has done.
#[derive(Debug, Default)]
pub struct Delivered {
    /// The streams that may have more deliveries.
    pub left: Vec<u32>,
    /// The causes of deliveries that can never be applied, because a value of the store is damaged.
    pub failed: Vec<Error>,
}

/// Applies the deliveries that wait in the streams of some shards, and those that follow from them, in at most so
/// many rounds of two requests.
///
/// # Errors
///
/// As [`Deployment::run_script`]; then the deliveries wait.
pub async fn deliver(
    deployment: &Deployment,
    shards: Vec<u32>,
    rounds: u32,
    now: Instant,
) -> Result<Delivered, Error> {
    let mut delivered = Delivered {
        left: shards,
        failed: Vec::new(),
    };
    // The ids of the deliveries that have been applied, by the shard that sent them.
    let mut applied: Vec<(u32, Vec<String>)> = Vec::new();
    for round in 0..=rounds {
        let is_last = round == rounds;
        let mut sources = if is_last {
            Vec::new()
        } else {
            delivered.left.clone()
        };
        sources.extend(applied.iter().map(|(shard, _)| *shard));
        sources.sort_unstable();
        sources.dedup();
        if sources.is_empty() {
            break;
        }
        let limit = if is_last { 0 } else { BATCH };
        let call = |shard: &u32| waiting(deployment, *shard, limit, &applied);
        let calls = sources.iter().map(call).collect();
        let replies = deployment.run_scripts(calls).await?;
        if is_last {
            break;
        }
        applied.clear();
        delivered.left.clear();
        let mut deliveries = Vec::new();
        for (source, reply) in sources.into_iter().zip(&replies) {
            let (entries, logs) = (reply.at(1)?.list()?, UndoLog::decode_all(reply.at(2)?)?);
            recover(deployment, source, &logs).await?;
            if entries.len() == BATCH || !logs.is_empty() {
                delivered.left.push(source);
            }
            let mut ids = Vec::new();
            for entry in entries {
                let delivery = Delivery::decode(source, entry)?;
                let shard = delivery.shard(&deployment.config);
                // Its own stream may have something to send on.
                delivered.left.push(shard);
                ids.push(delivery.id.clone());
                deliveries.push((shard, delivery));
            }
            if !ids.is_empty() {
                applied.push((source, ids));
            }
        }
        let mut plans = plans(deployment, now, deliveries);
        for Applied { outcomes, .. } in apply(deployment, &mut plans, None, false).await? {
            let failed = outcomes.into_iter().filter_map(Result::err);
            delivered.failed.extend(failed);
        }
    }
    Ok(delivered)
}

/// Returns the plans of deliveries to their shards: one for each pair of shards.
fn plans(
    deployment: &Deployment,
    now: Instant,
    mut deliveries: Vec<(u32, Delivery)>,
) -> Vec<Plan<'_>> {
    let route = |(shard, delivery): &(u32, Delivery)| (delivery.from, *shard);
    // Stable: those of a pair stay in their order.
    deliveries.sort_by_key(route);
    let mut plans: Vec<Plan<'_>> = Vec::new();
    let mut last = None;
    for delivery in deliveries {
        let new = Some(route(&delivery));
        let (shard, delivery) = delivery;
        if last != new {
            let calendar = &deployment.calendar;
            plans.push(Plan::new(&deployment.config, calendar, now, shard));
            last = new;
        }
        if let Some(plan) = plans.last_mut() {
            plan.operations.deliver(delivery);
        }
    }
    plans
}

/// Returns the call that removes deliveries of a shard, and reads the next ones.
fn waiting(
    deployment: &Deployment,
    shard: u32,
    limit: usize,
    applied: &[(u32, Vec<String>)],
) -> Command {
    let keys = deployment.keys(shard);
    let call = Command::script(&WAITING, &[keys.users(), keys.deliveries()]);
    let applied = applied.iter().filter(|(source, _)| *source == shard);
    let ids = applied.flat_map(|(_, ids)| ids);
    call.arg(&limit.to_string()).args(ids)
}

/// Undoes the changes of a call that the store refused in the middle.
async fn recover(deployment: &Deployment, shard: u32, logs: &[UndoLog]) -> Result<(), Error> {
    let (keys, fingerprint) = (deployment.keys(shard), fingerprint(&deployment.config));
    let calls: Vec<Command> = logs
        .iter()
        .map(|log| log.recovery(&keys, &fingerprint))
        .collect();
    if !calls.is_empty() {
        deployment.run_scripts(calls).await?;
    }
    Ok(())
}
