//! Reads what an operator needs to know about the store.

use crate::deployment::Deployment;
use crate::fingerprint;
use crate::redis::{Command, Pipeline, Reply, StoreError};
use activity_rank_core::calendar::{Date, Period};
use activity_rank_core::error::Error;
use activity_rank_core::score::ORDERS;

/// From this order number on, a board counts as nearly full: 80 %.
const NEARLY_FULL: u64 = ORDERS / 5 * 4;

/// The condition of the store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreHealth {
    /// The value of `maxmemory-policy`, if the store reports it.
    pub eviction_policy: Option<String>,
    /// Periods whose current board has used 80 % of its order numbers.
    pub nearly_full: Vec<Period>,
    /// Entries of all outboxes.
    pub outbox_length: u64,
}

/// Checks the store, also while the circuit is open: reads, and writes that change nothing.
///
/// # Errors
///
/// As [`Deployment::run_script`], also if the store refuses writes: it is full, or a replica.
pub async fn check(deployment: &Deployment, today: Date) -> Result<StoreHealth, Error> {
    let config = &deployment.config;
    // Only the order counter can be in this range: it is below every user.
    let (low, high) = (NEARLY_FULL.to_string(), (ORDERS - 1).to_string());
    let mut commands = vec![Command::new("INFO").arg("memory")];
    for shard in 0..config.shards {
        let keys = deployment.keys(shard);
        commands.push(fingerprint::read(&keys));
        // No member is empty, so this updates none; a store without memory refuses it all the same.
        let write = Command::new("ZADD").arg(&keys.index());
        commands.push(write.arg("XX").arg("0").arg(""));
        commands.extend(config.periods.iter().map(|period| {
            let count = Command::new("ZCOUNT").arg(&keys.board(*period, today, None));
            count.arg(&low).arg(&high)
        }));
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
    for _ in 0..config.shards {
        fingerprint::check(config, &next()?)?;
        next()?;
        for period in &config.periods {
            if next()?.integer()? > 0 && !health.nearly_full.contains(period) {
                health.nearly_full.push(*period);
            }
        }
        if config.bound.journal {
            health.outbox_length += next()?.unsigned()?;
        }
    }
    Ok(health)
}
