//! Reads the state of the store and of the jobs, for the operator.

use crate::deployment::Deployment;
use crate::fingerprint;
use crate::progress::{Delivery, QUEUE};
use crate::redis::{Command, Pipeline, Reply, StoreError};
use activity_rank_core::calendar::Instant;
use activity_rank_core::error::Error;

/// The state of the store and of the jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreStatus {
    /// The outboxes of all shards; `None` without a journal.
    pub outbox: Option<OutboxStatus>,
    /// The last delivery of queued activity, if there has been one.
    pub delivery: Option<Delivery>,
    /// The commands that the store has run, if it reports them.
    pub commands: Option<Commands>,
}

/// The entries that are not in the journal yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutboxStatus {
    /// Their number.
    pub entries: u64,
    /// When the oldest one was written.
    pub oldest: Option<Instant>,
}

/// The commands of one server since it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Commands {
    /// Their number.
    pub processed: u64,
    /// The time since then, in seconds.
    pub uptime: u64,
}

/// Reads the state, also while the circuit is open and while a rebuild locks the store.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read(deployment: &Deployment) -> Result<StoreStatus, Error> {
    let (config, first) = (&deployment.config, deployment.keys(0));
    let queue = Command::new("HGET").arg(&first.progress()).arg(QUEUE);
    let mut commands = vec![Command::new("INFO"), fingerprint::read(&first), queue];
    let shards = if config.bound.journal {
        config.shards
    } else {
        0
    };
    for shard in 0..shards {
        let outbox = deployment.keys(shard).outbox();
        commands.push(Command::new("XLEN").arg(&outbox));
        let oldest = Command::new("XRANGE").arg(&outbox).arg("-").arg("+");
        commands.push(oldest.arg("COUNT").arg("1"));
    }
    let replies = deployment.store.run_each(&Pipeline::new(commands)).await?;
    let mut replies = replies.into_iter();
    let mut next = || {
        let missing = || Err(StoreError::Unavailable("no reply".into()));
        replies.next().unwrap_or_else(missing)
    };
    // Some stores do not support INFO.
    let commands = match next() {
        Ok(Reply::Text(info)) => Commands::parse(&info),
        Ok(_) | Err(_) => None,
    };
    deployment.check_even_locked(&next()?)?;
    let delivery = next()?.optional_text()?.and_then(Delivery::parse);
    let mut status = StoreStatus {
        outbox: config.bound.journal.then(OutboxStatus::default),
        delivery,
        commands,
    };
    if let Some(outbox) = &mut status.outbox {
        for _ in 0..shards {
            outbox.entries += next()?.unsigned()?;
            let entries = next()?;
            let id = entries.at(0)?.at(0).ok().and_then(|id| id.text().ok());
            let oldest = id.and_then(written);
            outbox.oldest = outbox.oldest.into_iter().chain(oldest).min();
        }
    }
    Ok(status)
}

/// Returns when an entry of a stream was written: its id begins with Unix ms.
fn written(id: &str) -> Option<Instant> {
    id.split('-').next()?.parse().ok().map(Instant)
}

impl Commands {
    /// Parses the reply to `INFO`.
    fn parse(info: &str) -> Option<Self> {
        let number = |name: &str| {
            let mut values = info.lines().filter_map(|line| line.strip_prefix(name));
            values.next()?.trim().parse().ok()
        };
        Some(Self {
            processed: number("total_commands_processed:")?,
            uptime: number("uptime_in_seconds:")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_parsed_from_info() {
        let info = "# Server\r\nuptime_in_seconds:5678\r\n\r\n# Stats\r\ntotal_commands_processed:1234\r\n";
        let commands = Commands {
            processed: 1234,
            uptime: 5678,
        };
        assert_eq!(Commands::parse(info), Some(commands));
        for partial in [
            "",
            "uptime_in_seconds:1",
            "total_commands_processed:x\nuptime_in_seconds:1",
        ] {
            assert_eq!(Commands::parse(partial), None, "{partial}");
        }
    }

    #[test]
    fn entry_id_names_its_instant() {
        assert_eq!(written("1795132800000-3"), Some(Instant(1_795_132_800_000)));
        assert_eq!(written("x-1"), None);
    }
}
