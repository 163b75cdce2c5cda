//! `erase.lua`: erases a user.

use crate::deployment::Deployment;
use crate::deployment::pending::{self, STEP};
use crate::keys::Keys;
use crate::redis::{Command, Reply};
use crate::scripts::ERASE;
use activity_rank_core::account::Accounts;
use activity_rank_core::actor::Actor;
use activity_rank_core::calendar::Instant;
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;

/// Erases a user, and writes a tombstone. Boards that are left after a few requests are completed by
/// cron; until then every reader of a board removes the user from it first. Changes nothing and returns the accounts of a user
/// who is one, or has some: they are to be detached first.
///
/// # Errors
///
/// As [`pending::begin`].
pub async fn erase(
    deployment: &Deployment,
    user: &str,
    actor: Option<&Actor>,
    now: Instant,
) -> Result<Option<Accounts>, Error> {
    let shard = deployment.config.shard_of(user);
    let (config, keys) = (&deployment.config, deployment.keys(shard));
    let call = call(
        config,
        &keys,
        &deployment.fingerprint(shard),
        user,
        actor,
        now,
    );
    let replies = pending::begin(deployment, vec![call]).await?;
    let accounts = replies.first().unwrap_or(&Reply::Nil).at(2)?.text()?;
    if !accounts.is_empty() {
        return Ok(Some(Accounts::new(accounts)));
    }
    if deployment.config.shards > 1 {
        deployment.report_receivers(deployment.config.shard_of(user));
    }
    Ok(None)
}

/// Returns the call that begins an erasure.
#[must_use]
pub fn call(
    config: &Config,
    keys: &Keys,
    fingerprint: &str,
    user: &str,
    actor: Option<&Actor>,
    now: Instant,
) -> Command {
    let mut all = keys.moderation_keys();
    all.extend(keys.own_keys(user, now));
    all.extend(keys.author_keys(user, config));
    Command::script(&ERASE, &all)
        .arg(fingerprint)
        .number(now.0)
        .arg(user)
        .arg(Actor::stored(actor))
        .arg(config.bound.journal_flag())
        .arg(config.tombstone_flag())
        .number(STEP)
}
