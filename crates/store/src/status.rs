//! Reads the state of the store and of the jobs, for the operator.

use crate::deployment::Deployment;
use crate::fingerprint;
use crate::progress::{self, CRON, Outbox, QUEUE, QueueDelivery, RecordedRun};
use crate::receive;
use crate::redis::{Command, Pipeline, Reply, StoreError};
use activity_rank_core::board::BoardKind;
use activity_rank_core::calendar::{Date, Instant, Period};
use activity_rank_core::error::Error;

/// The state of the store and of the jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreStatus {
    /// The server, as far as its `INFO` describes it.
    pub server: Server,
    /// The visible entries of each board.
    pub entries: Vec<u64>,
    /// Changes of visibility and erasures that are not complete.
    pub pending_changes: u64,
    /// The outboxes of all shards; `None` without a journal, or if the store does not describe them.
    pub outbox: Option<OutboxStatus>,
    /// Entries that others have not received yet, of at most a few hundred for each shard.
    pub waiting_receipts: u64,
    /// The last delivery of queued activity, if there has been one.
    pub delivery: Option<QueueDelivery>,
    /// The last recorded run of cron, if there has been one.
    pub cron: Option<RecordedRun>,
}

/// The outboxes of all shards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutboxStatus {
    /// The entries that are not in the journal yet.
    pub entries: u64,
    /// When the oldest one was written.
    pub oldest: Option<Instant>,
    /// All entries so far, if the store counts them.
    pub added: Option<u64>,
}

/// A server of the store. A cluster has several: one of them has replied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Server {
    /// The commands since it started.
    pub commands: Option<u64>,
    /// The time since it started, in seconds.
    pub uptime: Option<u64>,
    /// The memory in use, in bytes.
    pub memory: Option<u64>,
    /// The most memory that it may use, in bytes; 0 for no limit.
    pub memory_limit: Option<u64>,
    /// The keys that it has evicted since it started.
    pub evicted: Option<u64>,
}

/// Reads the state, and the visible entries of some current boards, also while the circuit is open and while a
/// rebuild locks the store. These are two commands, and for each shard one, one more for each board, one with a
/// journal, and two in a request before with boards of content.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read(
    deployment: &Deployment,
    boards: &[(BoardKind, Period)],
    today: Date,
) -> Result<StoreStatus, Error> {
    let config = &deployment.config;
    // First: the boards have what nobody waits for.
    let waiting_receipts = match config.has_content() {
        true => receive::waiting(deployment).await?,
        false => 0,
    };
    let progress = Command::new("HMGET").arg(&deployment.keys(0).progress());
    let mut commands = vec![Command::new("INFO"), progress.arg(QUEUE).arg(CRON)];
    for shard in 0..config.shards {
        let keys = deployment.keys(shard);
        commands.push(fingerprint::read(&keys));
        for (kind, period) in boards {
            let board = match kind {
                BoardKind::Members => keys.board(*period, today, None),
                kind => keys.received_board(*kind, *period, today),
            };
            // As in `totals.lua`.
            commands.push(Command::new("ZREVRANK").arg(&board).arg("#"));
        }
        if config.bound.journal {
            let info = Command::new("XINFO").arg("STREAM");
            commands.push(info.arg(&keys.outbox()));
        }
    }
    let replies = deployment.store.run_each(&Pipeline::new(commands)).await?;
    let mut replies = replies.into_iter();
    let mut next = || {
        let missing = || Err(StoreError::Unavailable("no reply".into()));
        replies.next().unwrap_or_else(missing)
    };
    // Some stores do not support INFO.
    let server = match next() {
        Ok(Reply::Text(info)) => Server::parse(&info),
        Ok(_) | Err(_) => Server::default(),
    };
    let progress = next()?;
    let mut status = StoreStatus {
        server,
        entries: vec![0; boards.len()],
        outbox: config.bound.journal.then_some(NO_ENTRIES),
        delivery: progress
            .at(0)?
            .optional_text()?
            .and_then(QueueDelivery::parse),
        cron: progress
            .at(1)?
            .optional_text()?
            .and_then(RecordedRun::parse),
        waiting_receipts,
        ..StoreStatus::default()
    };
    for shard in 0..config.shards {
        let stored = next()?;
        deployment.check(shard, &stored)?;
        let pending = stored.optional_text()?.unwrap_or_default();
        // A line for each follows the settings.
        status.pending_changes += pending.lines().skip(1).count() as u64;
        for entries in &mut status.entries {
            *entries += next()?.optional_unsigned()?.unwrap_or_default();
        }
        if config.bound.journal {
            let outbox = progress::outbox(next());
            let sum = status.outbox.zip(outbox);
            status.outbox = sum.map(|(sum, outbox)| sum.plus(&outbox));
        }
    }
    Ok(status)
}

/// The sum of no outboxes.
const NO_ENTRIES: OutboxStatus = OutboxStatus {
    entries: 0,
    oldest: None,
    added: Some(0),
};

impl OutboxStatus {
    /// Adds the outbox of a shard.
    fn plus(self, outbox: &Outbox) -> Self {
        let oldest = written(&outbox.first);
        // An outbox that does not exist has had no entries.
        let added = match outbox.last.as_str() {
            "" => Some(0),
            _ => outbox.added,
        };
        Self {
            entries: self.entries + outbox.length,
            oldest: self.oldest.into_iter().chain(oldest).min(),
            added: self.added.zip(added).map(|(sum, added)| sum + added),
        }
    }
}

/// Returns when an entry of a stream was written: its id begins with Unix ms.
fn written(id: &str) -> Option<Instant> {
    id.split('-').next()?.parse().ok().map(Instant)
}

impl Server {
    /// Parses the reply to `INFO`.
    fn parse(info: &str) -> Self {
        let number = |name: &str| {
            let mut values = info.lines().filter_map(|line| line.strip_prefix(name));
            values.next()?.trim().parse().ok()
        };
        Self {
            commands: number("total_commands_processed:"),
            uptime: number("uptime_in_seconds:"),
            memory: number("used_memory:"),
            memory_limit: number("maxmemory:"),
            evicted: number("evicted_keys:"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_is_known_as_far_as_info_describes_it() {
        let info = "# Server\r\nuptime_in_seconds:5678\r\n\r\n# Stats\r\ntotal_commands_processed:1234\r\n\
            used_memory_human:1K\r\nused_memory:1024\r\nmaxmemory:x\r\n";
        let server = Server {
            commands: Some(1234),
            uptime: Some(5678),
            memory: Some(1024),
            ..Server::default()
        };
        assert_eq!(Server::parse(info), server);
        assert_eq!(Server::parse(""), Server::default());
    }

    #[test]
    fn outboxes_outboxs_add_up() {
        let outbox = |length, first: &str, added| Outbox {
            length,
            last: "9-0".into(),
            first: first.into(),
            added,
        };
        let sum = NO_ENTRIES.plus(&outbox(2, "7-1", Some(5)));
        let sum = sum.plus(&outbox(1, "5-0", Some(1)));
        let sum = sum.plus(&outbox(0, "", Some(4)));
        let expected = OutboxStatus {
            entries: 3,
            oldest: Some(Instant(5)),
            added: Some(10),
        };
        assert_eq!(sum.plus(&Outbox::default()), expected);
        assert_eq!(sum.plus(&outbox(0, "", None)).added, None);
    }

    #[test]
    fn entry_id_names_its_instant() {
        assert_eq!(written("1795132800000-3"), Some(Instant(1_795_132_800_000)));
        assert_eq!(written("x-1"), None);
    }
}
