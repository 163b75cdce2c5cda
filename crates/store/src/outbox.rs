//! The outbox: a stream of changes that the writing scripts append to, for the journal and for [`receive`](crate::receive).
//!
//! See `journal.lua` for the fields of an entry.

use crate::deployment::Deployment;
use crate::fingerprint;
use crate::keys::Keys;
use crate::progress::{DRAINS, LATE};
use crate::redis::{Command, Pipeline, Reply};
use crate::stream::{Change, START, is_after, position_field};
pub use crate::stream::{OutboxEntry, PREVIEW};
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;
use std::ops::Range;

/// The most entries that are read at once.
pub const BATCH: usize = 1000;

/// Entries of an outbox that are in the journal now.
#[derive(Clone, Copy, Debug, Default)]
pub struct Drained<'a> {
    /// The ids of the entries that no other reader needs.
    pub ids: &'a [String],
    /// The id of the last one that this drain has read; empty before the first.
    pub last: &'a str,
    /// Whether one of them changed a board that the archive may have already.
    pub late: bool,
    /// Whether the outbox was long when the drain began: then the store counts the drains that end before they remove a
    /// batch.
    pub is_long: bool,
}

/// The next entries of an outbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The entries.
    pub entries: Vec<OutboxEntry>,
    /// Whether a change of visibility or an erasure is pending on the shard.
    pub is_pending: bool,
    /// The last entry that all receivers have applied; `None` without boards of content.
    pub received: Option<String>,
    /// In the first batch of a long outbox, the drains before this one that ended since one removed a batch: the platform
    /// may end a run between the journal and the removal. Else 0.
    pub ended: u64,
}

impl Batch {
    /// Returns whether no reader but the journal needs an entry.
    #[must_use]
    pub fn is_received(&self, entry: &OutboxEntry, config: &Config) -> bool {
        let unread = self.received.as_ref();
        let unread = unread.is_some_and(|last| is_after(&entry.id, last));
        !unread || Change::decode(entry, config.shards > 1).is_none()
    }
}

/// Returns each shard and the number of entries of its outbox. Also works during a rebuild.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn lengths(
    deployment: &Deployment,
    shards: Range<u32>,
) -> Result<Vec<(u32, u64)>, Error> {
    let (mut commands, mut lengths) = (Vec::new(), Vec::new());
    for keys in shards.clone().map(|shard| deployment.keys(shard)) {
        commands.push(fingerprint::read(&keys));
        commands.push(Command::new("XLEN").arg(&keys.outbox()));
    }
    let replies = deployment.store.run(&Pipeline::new(commands)).await?;
    let mut replies = replies.into_iter();
    for shard in shards {
        let mut next = || replies.next().unwrap_or_default();
        deployment.check_drained(shard, &next())?;
        lengths.push((shard, next().unsigned()?));
    }
    Ok(lengths)
}

/// Removes entries that are in the journal, and reads up to `length` of the next ones. Also works
/// during a rebuild.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn advance(
    deployment: &Deployment,
    shard: u32,
    drained: Drained<'_>,
    length: usize,
) -> Result<Batch, Error> {
    let outbox = deployment.keys(shard).outbox();
    let first = match drained.last {
        "" => "-".to_owned(),
        last => format!("({last}"),
    };
    let read = Command::new("XRANGE").arg(&outbox).arg(&first).arg("+");
    let read = read.arg("COUNT").arg(&length.to_string());
    let replies = run(deployment, shard, drained, Some(read)).await?;
    let first = replies.first().unwrap_or(&Reply::Nil);
    let entries = replies.last().unwrap_or(&Reply::Nil).list()?;
    let begun = match begins(drained) {
        true => replies
            .iter()
            .rev()
            .nth(1)
            .unwrap_or(&Reply::Nil)
            .unsigned()?,
        false => 0,
    };
    let received = first.at(1)?.optional_text()?.unwrap_or(START).to_owned();
    Ok(Batch {
        is_pending: fingerprint::has_pending_changes(first.at(0)?),
        received: deployment.config.has_content().then_some(received),
        ended: begun.saturating_sub(1),
        entries: entries
            .iter()
            .map(OutboxEntry::decode)
            .collect::<Result<_, _>>()?,
    })
}

/// Removes entries that are in the journal.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn remove(
    deployment: &Deployment,
    shard: u32,
    drained: Drained<'_>,
) -> Result<(), Error> {
    run(deployment, shard, drained, None).await.map(|_| ())
}

/// Returns whether this is the first request of the drain of a long outbox.
fn begins(drained: Drained<'_>) -> bool {
    drained.is_long && drained.last.is_empty()
}

/// Removes entries, runs another command and returns the fingerprint and the other replies.
async fn run(
    deployment: &Deployment,
    shard: u32,
    drained: Drained<'_>,
    last: Option<Command>,
) -> Result<Vec<Reply>, Error> {
    let keys = deployment.keys(shard);
    let stored = Command::new("HMGET")
        .arg(&keys.users())
        .arg(Keys::FINGERPRINT);
    let mut commands = vec![stored.arg(&position_field(deployment.config.shards > 1))];
    // Before the removal: entries that are removed are not found again.
    if drained.late {
        let count = Command::new("HINCRBY").arg(&keys.progress());
        commands.push(count.arg(LATE).arg("1"));
    }
    if !drained.ids.is_empty() {
        commands.push(Command::new("XDEL").arg(&keys.outbox()).args(drained.ids));
    }
    if drained.is_long && !drained.last.is_empty() {
        commands.push(Command::new("HDEL").arg(&keys.progress()).arg(DRAINS));
    } else if begins(drained) {
        let count = Command::new("HINCRBY").arg(&keys.progress());
        commands.push(count.arg(DRAINS).arg("1"));
    }
    commands.extend(last);
    let replies = deployment.store.run(&Pipeline::new(commands)).await?;
    deployment.check_drained(shard, replies.first().unwrap_or(&Reply::Nil).at(0)?)?;
    Ok(replies)
}
