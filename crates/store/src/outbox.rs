//! The outbox of the journal: a stream that the writing scripts append to.
//!
//! See `journal.lua` for the fields of an entry.

use crate::deployment::{Deployment, DuringRebuild};
use crate::fingerprint;
use crate::redis::{Command, Pipeline, Reply, StoreError};
use activity_rank_core::error::Error;
use std::ops::Range;

/// The most entries that are read at once.
pub const BATCH: usize = 1000;

/// One change, in the order in which the store made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxEntry {
    /// The id within the shard's stream.
    pub id: String,
    /// Names and values.
    pub fields: Vec<(String, String)>,
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
    let mut commands = Vec::new();
    for keys in shards.clone().map(|shard| deployment.keys(shard)) {
        commands.push(fingerprint::read(&keys));
        commands.push(Command::new("XLEN").arg(&keys.outbox()));
    }
    if commands.is_empty() {
        return Ok(Vec::new());
    }
    let replies = deployment.store.run(&Pipeline::new(commands)).await?;
    let mut lengths = Vec::new();
    for (shard, replies) in shards.zip(replies.chunks(2)) {
        if let [fingerprint, length] = replies {
            deployment.check_fingerprint(fingerprint, DuringRebuild::Run)?;
            lengths.push((shard, length.unsigned()?));
        }
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
    done: &[String],
    length: usize,
) -> Result<Vec<OutboxEntry>, Error> {
    let outbox = deployment.keys(shard).outbox();
    let read = Command::new("XRANGE").arg(&outbox).arg("-").arg("+");
    let read = read.arg("COUNT").arg(&length.to_string());
    let mut commands = delete(&outbox, done);
    commands.push(read);
    let replies = run(deployment, shard, commands).await?;
    let entries = replies.last().unwrap_or(&Reply::Nil).list()?;
    Ok(entries.iter().map(decode).collect::<Result<_, _>>()?)
}

/// Removes entries that are in the journal.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn remove(deployment: &Deployment, shard: u32, done: &[String]) -> Result<(), Error> {
    let commands = delete(&deployment.keys(shard).outbox(), done);
    run(deployment, shard, commands).await.map(|_| ())
}

async fn run(
    deployment: &Deployment,
    shard: u32,
    commands: Vec<Command>,
) -> Result<Vec<Reply>, Error> {
    let keys = deployment.keys(shard);
    deployment
        .run_commands(&keys, commands, DuringRebuild::Run)
        .await
}

fn delete(outbox: &str, done: &[String]) -> Vec<Command> {
    if done.is_empty() {
        return Vec::new();
    }
    vec![Command::new("XDEL").arg(outbox).args(done)]
}

fn decode(entry: &Reply) -> Result<OutboxEntry, StoreError> {
    let mut fields = Vec::new();
    for pair in entry.at(1)?.list()?.chunks(2) {
        if let [name, value] = pair {
            fields.push((name.text()?.to_owned(), value.text()?.to_owned()));
        }
    }
    Ok(OutboxEntry {
        id: entry.at(0)?.text()?.to_owned(),
        fields,
    })
}
