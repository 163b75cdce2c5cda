//! Reads what an operator needs to know about the store.

use crate::deployment::Deployment;
use crate::fingerprint;
use crate::redis::{Command, Pipeline, Reply, StoreError};
use activity_rank_core::calendar::{Date, Period};
use activity_rank_core::error::Error;

/// The condition of the store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreHealth {
    /// The value of `maxmemory-policy`, if the store reports it.
    pub eviction_policy: Option<String>,
    /// Periods whose current board has used 80 % of its order numbers.
    pub nearly_full: Vec<Period>,
    /// Periods with a user on the current board who has 80 % of the maximum points.
    pub near_maximum: Vec<Period>,
    /// Entries of all outboxes.
    pub outbox_length: u64,
    /// Whether a shard has nothing yet, or has lost everything.
    pub is_empty: bool,
}

/// Checks the store, also while the circuit is open: reads, and writes that change nothing.
///
/// # Errors
///
/// As [`Deployment::run_script`], also if the store refuses writes: it is full, or a replica.
pub async fn check(deployment: &Deployment, today: Date) -> Result<StoreHealth, Error> {
    let config = &deployment.config;
    let layout = config.layout;
    let (orders, points) = (layout.orders(), layout.max_points());
    // Only the order counter can be in the first range: it is below every user.
    let ranges = [
        ((orders / 5 * 4).to_string(), format!("({orders}")),
        (
            ((points * 4).div_ceil(5) * orders).to_string(),
            "+inf".to_owned(),
        ),
    ];
    let mut commands = vec![Command::new("INFO").arg("memory")];
    for shard in 0..config.shards {
        let keys = deployment.keys(shard);
        commands.push(fingerprint::read(&keys));
        // No member is empty, so this updates none; a store without memory refuses it all the same.
        let write = Command::new("ZADD").arg(&keys.index());
        commands.push(write.arg("XX").arg("0").arg(""));
        for period in &config.periods {
            let board = keys.board(*period, today, None);
            commands.extend(ranges.iter().map(|(low, high)| {
                let count = Command::new("ZCOUNT").arg(&board);
                count.arg(low).arg(high)
            }));
        }
        if config.bound.journal {
            commands.push(Command::new("XLEN").arg(&keys.outbox()));
        }
    }
    let replies = deployment.store.run_each(&Pipeline::new(commands)).await?;
    let mut replies = replies.into_iter();
    let mut next = || {
        let missing = || Err(StoreError::Unavailable("no reply".into()));
        replies.next().unwrap_or_else(missing)
    };
    let mut health = StoreHealth::default();
    // Some stores do not support INFO.
    if let Ok(Reply::Text(memory)) = next() {
        let mut lines = memory.lines();
        let policy = lines.find_map(|line| line.strip_prefix("maxmemory_policy:"));
        health.eviction_policy = policy.map(|policy| policy.trim().to_owned());
    }
    for shard in 0..config.shards {
        let stored = next()?;
        deployment.check(shard, &stored)?;
        health.is_empty |= stored.some().is_none();
        next()?;
        for period in &config.periods {
            for near_limit in [&mut health.nearly_full, &mut health.near_maximum] {
                if next()?.integer()? > 0 && !near_limit.contains(period) {
                    near_limit.push(*period);
                }
            }
        }
        if config.bound.journal {
            health.outbox_length += next()?.unsigned()?;
        }
    }
    Ok(health)
}
