//! `erase.lua`: erases a user.

use crate::deployment::Deployment;
use crate::fingerprint::fingerprint;
use crate::keys::Keys;
use crate::redis::Command;
use crate::scripts::ERASE;
use activity_rank_core::calendar::Instant;
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;

/// Erases a user from every board, history and record, and writes a tombstone.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn erase(deployment: &Deployment, user: &str, now: Instant) -> Result<(), Error> {
    let call = |_, names: &[String]| call(&deployment.config, user, now, names);
    let shard = deployment.config.shard_of(user);
    deployment.run_on_shards(&[shard], &call).await?;
    Ok(())
}

/// Returns the call that erases a user from everything that the shard's index names.
#[must_use]
pub fn call(config: &Config, user: &str, now: Instant, names: &[String]) -> Command {
    let keys = Keys::of_user(config, user);
    // The index names boards by key, and spans of histories by number.
    let (boards, spans): (Vec<&String>, Vec<&String>) =
        names.iter().partition(|name| name.starts_with('{'));
    let mut all = keys.moderation_keys();
    all.push(keys.tombstones());
    all.extend(boards.iter().map(|board| (*board).clone()));
    for span in &spans {
        all.push(keys.history(span, user));
        all.push(keys.daily_records(span, user));
    }
    all.push(keys.active_records(user));
    all.extend(keys.all_undo_records(user, now));
    Command::script(&ERASE, &all)
        .arg(&fingerprint(config))
        .number(now.0)
        .arg(user)
        .arg(config.bound.journal_flag())
        .arg(config.bound.tombstone_flag())
        .arg(&boards.len().to_string())
        .args(spans)
}
