//! Deliveries between shards: what targets and authors receive on another shard than that of the activity.
//!
//! The counting script appends them to a stream of its shard in its atomic step; `count_receive.lua` describes
//! them. Each is applied on the shard of its receiver, in order, and then leaves the stream. A shard keeps the
//! id of the last delivery from each other one, so a delivery is applied once, however often it is sent.

use crate::count::{Delivery, Plan, apply};
use crate::deployment::Deployment;
use crate::redis::{Command, Pipeline, Reply};
use activity_rank_core::calendar::Instant;
use activity_rank_core::error::Error;
use std::collections::{BTreeMap, BTreeSet};

/// Deliveries of one shard that one round takes.
const BATCH: usize = 200;

/// What a run of [`deliver`] has done.
#[derive(Debug, Default)]
pub struct Delivered {
    /// The streams that may have more deliveries.
    pub left: BTreeSet<u32>,
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
    shards: BTreeSet<u32>,
    rounds: u32,
    now: Instant,
) -> Result<Delivered, Error> {
    let mut delivered = Delivered {
        left: shards,
        failed: Vec::new(),
    };
    let mut applied: Vec<Command> = Vec::new();
    for round in 0..=rounds {
        let removals = applied.len();
        let sources: Vec<u32> = match round < rounds {
            true => delivered.left.iter().copied().collect(),
            false => Vec::new(),
        };
        applied.extend(sources.iter().map(|shard| read(deployment, *shard)));
        if applied.is_empty() {
            break;
        }
        let requests = Pipeline::new(std::mem::take(&mut applied));
        let replies = deployment.store.run(&requests).await?;
        if sources.is_empty() {
            break;
        }
        delivered.left.clear();
        let mut routes: BTreeMap<(u32, u32), Vec<Delivery>> = BTreeMap::new();
        for (source, entries) in sources.into_iter().zip(replies.iter().skip(removals)) {
            let entries = entries.list()?;
            if entries.len() == BATCH {
                delivered.left.insert(source);
            }
            applied.extend(removal(deployment, source, entries)?);
            for entry in entries {
                let delivery = Delivery::decode(source, entry)?;
                let shard = delivery.shard(&deployment.config);
                // Its own stream may have something to send on.
                delivered.left.insert(shard);
                routes.entry((source, shard)).or_default().push(delivery);
            }
        }
        let plan =
            |((_, shard), deliveries)| Plan::of_deliveries(deployment, now, shard, deliveries);
        let mut plans: Vec<Plan<'_>> = routes.into_iter().map(plan).collect();
        for (outcomes, _) in apply(deployment, &mut plans, None, false).await? {
            delivered
                .failed
                .extend(outcomes.into_iter().filter_map(Result::err));
        }
    }
    Ok(delivered)
}

fn read(deployment: &Deployment, shard: u32) -> Command {
    let read = Command::new("XRANGE").arg(&deployment.keys(shard).deliveries());
    read.arg("-").arg("+").arg("COUNT").arg(&BATCH.to_string())
}

/// Returns the command that removes entries from a stream, if there are any.
fn removal(
    deployment: &Deployment,
    shard: u32,
    entries: &[Reply],
) -> Result<Option<Command>, Error> {
    if entries.is_empty() {
        return Ok(None);
    }
    let mut removal = Command::new("XDEL").arg(&deployment.keys(shard).deliveries());
    for entry in entries {
        removal = removal.arg(entry.at(0)?.text()?);
    }
    Ok(Some(removal))
}
