//! Hiding, erasing and deleting in the copies of boards outside of Redis: edge cache, snapshots and archive.
//!
//! When a user is hidden or erased, copies made before must not be shown any more. The instant until
//! which copies may show such a user is recorded in the edge cache and beside the snapshots; the
//! archive is updated.
//!
//! A hiding is recorded before the store has it: if the record fails, nothing has changed, and a retry
//! records it. Only users whom boards show are recorded, so that repeated requests cost nothing.

use super::edge;
use crate::app::RequestContext;
use crate::archive;
use crate::journal::drain::{REQUEST_BATCHES, drain};
use crate::log;
use crate::movement;
use crate::platform::clock;
use crate::platform::snapshots::HIDING_MARGIN;
use activity_rank_core::calendar::Instant;
use activity_rank_core::content::member;
use activity_rank_core::error::Error;
use activity_rank_core::moderation::Flags;
use activity_rank_store::daily::{self, Daily};
use activity_rank_store::deployment::MAX_CALLS;
use activity_rank_store::fingerprint::Participant;
use activity_rank_store::{profiles, targets};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// Returns the first instant whose copies show no user who has been hidden or erased since, as far
/// as this location knows.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the snapshots fail.
pub async fn oldest_allowed(context: RequestContext<'_>) -> Result<Instant, Error> {
    let cached = edge::find(&hiding_url(context), Instant(0)).await;
    let mut last = cached.map_or(Instant(0), |cached| cached.made);
    if let Some(snapshots) = &context.app.bindings.snapshots {
        let id = archive::deployment_id(&context.deployment.config);
        last = last.max(snapshots.hidden_until(&id).await?);
    }
    Ok(Instant(last.0 + 1))
}

/// Invalidates the copies before users are hidden, if boards show one of them. `member` is the user who hides their
/// own profile.
///
/// # Errors
///
/// [`Error::RateLimited`] for a member who has done so too often; [`Error::StoreUnavailable`] if the copies cannot be
/// invalidated.
pub async fn before_hiding(
    context: RequestContext<'_>,
    users: &[&str],
    member: Option<&str>,
) -> Result<(), Error> {
    let flags = profiles::read_flags(context.deployment, users).await?;
    // The store refuses the profile of a frozen member.
    let changes = |flags: &Flags| !(flags.is_hidden() || flags.frozen && member.is_some());
    if !flags.iter().any(changes) {
        return Ok(());
    }
    if let Some(user) = member {
        daily::count(
            context.deployment,
            Daily::Hidings(user),
            context.request.now,
        )
        .await?;
    }
    invalidate(context).await
}

/// Updates the archive after users were hidden or shown again.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the archive cannot be updated. The change in Redis is made; sending the
/// request again is safe.
pub async fn update_visibility(context: RequestContext<'_>, users: &[&str]) -> Result<(), Error> {
    movement::forget();
    let Some(archive) = &context.app.bindings.archive else {
        return Ok(());
    };
    let mut written = None;
    // Two requests that change the same user arrive here in any order: the last one finds that the
    // store agrees with what it wrote.
    for _ in 0..MAX_CALLS {
        let flags = profiles::read_flags(context.deployment, users).await?;
        let hidden = flags.iter().map(|flags| flags.is_hidden());
        let visibility: Vec<(&str, bool)> = users.iter().copied().zip(hidden).collect();
        if written.as_ref() == Some(&visibility) {
            break;
        }
        archive::set_visibility(archive, &context.deployment.config, &visibility).await?;
        written = Some(visibility);
    }
    Ok(())
}

/// Removes an erased user from the copies.
///
/// # Errors
///
/// As [`update_visibility`].
pub async fn erase(context: RequestContext<'_>, user: &str) -> Result<(), Error> {
    invalidate(context).await?;
    // If this fails, cron drains the outbox.
    if let Some(journal) = &context.app.bindings.journal {
        let shard = context.deployment.config.shard_of(user);
        let shards = shard..shard + 1;
        let drained = drain(context.deployment, journal, shards, REQUEST_BATCHES).await;
        if let Err(error) = drained {
            log::warning(context.request, &error.cause().unwrap_or_default());
        }
    }
    match &context.app.bindings.archive {
        Some(archive) => {
            let erased = Participant::User(user);
            archive::erase(archive, &context.deployment.config, erased).await
        }
        None => Ok(()),
    }
}

/// Invalidates the copies before a target that boards show is hidden.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the copies cannot be invalidated.
pub async fn before_hiding_target(context: RequestContext<'_>, id: &str) -> Result<(), Error> {
    match targets::read(context.deployment, id).await? {
        Some((_, false)) => invalidate(context).await,
        Some((_, true)) | None => Ok(()),
    }
}

/// Updates the archive after a target was hidden or shown again.
///
/// # Errors
///
/// As [`update_visibility`].
pub async fn update_target(
    context: RequestContext<'_>,
    id: &str,
    is_hidden: bool,
) -> Result<(), Error> {
    movement::forget();
    let (archive, config) = (&context.app.bindings.archive, &context.deployment.config);
    match archive {
        Some(archive) => {
            archive::set_target_visibility(archive, config, &member(id), is_hidden).await
        }
        None => Ok(()),
    }
}

/// Removes a deleted target from the copies.
///
/// # Errors
///
/// As [`update_visibility`].
pub async fn delete_target(context: RequestContext<'_>, id: &str) -> Result<(), Error> {
    invalidate(context).await?;
    match &context.app.bindings.archive {
        Some(archive) => {
            let member = member(id);
            let deleted = Participant::Target(&member);
            archive::erase(archive, &context.deployment.config, deleted).await
        }
        None => Ok(()),
    }
}

/// Removes a deleted event from the archive.
///
/// # Errors
///
/// As [`update_visibility`].
pub async fn delete_event(context: RequestContext<'_>, id: &str) -> Result<(), Error> {
    match &context.app.bindings.archive {
        Some(archive) => archive::delete_event(archive, &context.deployment.config, id).await,
        None => Ok(()),
    }
}

/// Records that every copy made until now is invalid, and every copy made before a change that follows within half of
/// [`HIDING_MARGIN`].
async fn invalidate(context: RequestContext<'_>) -> Result<(), Error> {
    movement::forget();
    let now = clock::now();
    let until = Instant(now.0 + HIDING_MARGIN);
    if let Err(cause) = edge::store(&hiding_url(context), until, "").await {
        log::debug(&format!("cache: {cause}"));
    }
    match &context.app.bindings.snapshots {
        Some(snapshots) => {
            let id = archive::deployment_id(&context.deployment.config);
            snapshots.set_hidden_until(&id, now, until).await
        }
        None => Ok(()),
    }
}

/// Returns the URL of the edge cache's entry for the last hiding. It is the same for each host name of the deployment: a
/// moderator may use another one than readers.
fn hiding_url(context: RequestContext<'_>) -> String {
    let id = archive::deployment_id(&context.deployment.config);
    let id = utf8_percent_encode(&id, NON_ALPHANUMERIC);
    format!("https://activity-rank.invalid/hiding?{id}")
}
