//! `GET /v1/journal`, and how what was done gets there.

use super::answer::Answer;
use super::call::Call;
use super::caller::identify;
use super::database::Database;
use super::kept::Kept;
use crate::archive;
use crate::config::Scope;
use crate::error::Error;
use crate::journal::{self, Batch, Page};
use crate::redis::Reply;
use crate::site::Site;
use std::ops::Range;

/// Batches in one go: what is left is for the next.
const MOST_BATCHES: u32 = 25;

/// Brings what is in the outboxes of all shards to the journal.
///
/// # Errors
///
/// What the store and the database can fail with; whoever comes next goes on.
pub async fn drain(site: &Site, journal: &Database) -> Result<(), Error> {
    drain_shards(site, journal, 0..site.config.shards)
        .await
        .map(|_| ())
}

/// Brings what is in their outboxes to the journal; whether that was all.
async fn drain_shards(site: &Site, journal: &Database, shards: Range<u32>) -> Result<bool, Error> {
    let mut all = true;
    for shard in shards {
        all &= drain_shard(site, journal, shard).await?;
    }
    Ok(all)
}

async fn drain_shard(site: &Site, journal: &Database, shard: u32) -> Result<bool, Error> {
    let (id, keys) = (archive::site(&site.config), site.config.keys(shard));
    let ask = async |taken: &[String], next| {
        let commands = journal::read(taken, next, &keys);
        let replies = site.ask_even_held(&keys, commands).await?;
        Ok::<_, Error>(replies.into_iter().last().unwrap_or(Reply::Nil))
    };
    let mut taken = Vec::new();
    for _ in 0..MOST_BATCHES {
        let batch = Batch::of(&ask(&taken, true).await?)?;
        if batch.ids.is_empty() {
            return Ok(true);
        }
        journal.run(&batch.statements(&id, shard)).await?;
        taken = batch.ids;
        if !batch.more {
            ask(&taken, false).await?;
            return Ok(true);
        }
    }
    ask(&taken, false).await?;
    Ok(false)
}

/// What was done, after a number.
pub async fn get(site: &Site, kept: &Kept, call: &Call) -> Result<Answer, Error> {
    let caller = identify(call, &site.config).await?;
    let page = Page::read(&call.query)?;
    caller.must_be_service(Scope::Admin)?;
    let Some(journal) = &kept.journal else {
        let detail = "This deployment keeps no journal: JOURNAL is not bound.";
        return Err(Error::NotFound(detail.to_owned()));
    };
    let all = drain_shards(site, journal, page.shards(&site.config)).await?;
    let rows = journal.run(&[page.statement(&site.config)]).await?;
    let body = page.view(rows.first().unwrap_or(&Reply::Nil), !all, &site.config)?;
    Ok(Answer::text("application/json", body).with("cache-control", "no-store"))
}
