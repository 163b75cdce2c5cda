//! Versions of the rules: published, taken back and listed.
//!
//! They are stored as events are, by `define.lua`: the hash of events of the first shard has each version with its
//! publication, and the definitions of every shard have the lines by which activity counts.

use crate::deployment::{Deployment, MAX_CALLS};
use crate::events::{CHANGED_MEANWHILE, Define, read_definitions_command};
use crate::redis::{Command, StoreError};
use activity_rank_core::actor::Actor;
use activity_rank_core::calendar::Instant;
use activity_rank_core::error::Error;
use activity_rank_core::event::{Definitions, RULES_MARKER};
use activity_rank_core::rules::{
    MAX_BYTES, MAX_VERSIONS, Publication, StoredVersion, TakeBack, Version, VersionList,
};

/// A version that a request has published, taken back or found as it wants it.
#[derive(Debug)]
pub struct Written {
    /// The versions afterwards.
    pub versions: VersionList,
    /// The number of the version.
    pub number: u32,
}

/// The versions and definitions of the first shard.
struct Known {
    versions: VersionList,
    definitions: Definitions,
}

/// The version that a request writes.
enum Change {
    /// It is stored already.
    None(u32),
    /// This version is new, or replaces the one with its number.
    Write(StoredVersion),
}

/// Reads the versions.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read(deployment: &Deployment) -> Result<VersionList, Error> {
    Ok(read_known(deployment).await?.versions)
}

async fn read_known(deployment: &Deployment) -> Result<Known, Error> {
    let keys = deployment.keys(0);
    let commands = vec![
        read_definitions_command(&keys),
        Command::new("HGETALL").arg(&keys.events()),
    ];
    let replies = deployment.run_commands(commands).await?;
    let [definitions, stored] = replies.as_slice() else {
        return Err(StoreError::Unavailable("unexpected replies".to_owned()).into());
    };
    let mut versions = Vec::new();
    for field in stored.list()?.chunks(2) {
        if let [name, text] = field
            && name.text()?.starts_with(RULES_MARKER)
        {
            versions.extend(StoredVersion::parse(text.text()?));
        }
    }
    Ok(Known {
        versions: VersionList::new(versions),
        definitions: Definitions::new(definitions.optional_text()?.unwrap_or_default()),
    })
}

/// Publishes a version. A request that is sent again, after one that may have failed, completes it.
///
/// # Errors
///
/// [`Error::RulesConflict`] if versions are locked, too many, or written by many requests at the same time; else as [`Deployment::run_script`].
pub async fn publish(
    deployment: &Deployment,
    publication: &Publication,
    actor: Option<&Actor>,
    now: Instant,
) -> Result<Written, Error> {
    let change = |versions: &VersionList| {
        if let Some(repeated) = versions.repeated(publication, now) {
            return Ok(Change::None(repeated));
        }
        let version = Version::published(versions.next_number(), publication, now);
        let reason = (publication.reason.as_str(), publication.has_public_reason);
        let stored = StoredVersion::new(version, now, actor, reason);
        Ok(Change::Write(stored))
    };
    write(deployment, &change, (&publication.reason, actor), now).await
}

/// Takes a version back: removes it if nothing can have counted by it yet, else publishes a version that ends it.
///
/// # Errors
///
/// [`Error::NotFound`]; else as [`publish`].
pub async fn take_back(
    deployment: &Deployment,
    request: &TakeBack,
    actor: Option<&Actor>,
    now: Instant,
) -> Result<Written, Error> {
    let change = |versions: &VersionList| {
        let Some(stored) = versions.find(request.number) else {
            let detail = format!("There is no version {} of the rules.", request.number);
            return Err(Error::NotFound(detail));
        };
        if stored.details.removed_at.is_some() {
            return Ok(Change::None(request.number));
        }
        if let Some(other) = versions.taking_back(request.number) {
            return Ok(Change::None(other.version.number));
        }
        if stored.version.is_ahead(now) {
            return Ok(Change::Write(stored.clone().removed(now)));
        }
        let version = Version::taking_back(versions.next_number(), request.number, now);
        let reason = (request.reason.as_str(), request.has_public_reason);
        let stored = StoredVersion::new(version, now, actor, reason);
        Ok(Change::Write(stored))
    };
    write(deployment, &change, (&request.reason, actor), now).await
}

/// Writes a change on the first shard, with an entry of the audit log, then on the others.
async fn write(
    deployment: &Deployment,
    change: &dyn Fn(&VersionList) -> Result<Change, Error>,
    (reason, actor): (&str, Option<&Actor>),
    now: Instant,
) -> Result<Written, Error> {
    if deployment.config.rules_locked {
        let detail = "RULES_LOCKED is true: the rules of this deployment change only in RULES.";
        return Err(Error::RulesConflict(detail.to_owned()));
    }
    for _ in 0..MAX_CALLS {
        let known = read_known(deployment).await?;
        let (number, stored) = match change(&known.versions)? {
            Change::None(number) => (number, None),
            Change::Write(stored) => (stored.version.number, Some(stored)),
        };
        let (mut versions, mut changed) = (known.versions, known.definitions.clone());
        if let Some(stored) = &stored {
            versions = versions.with(stored.clone());
            let line = stored.version.line();
            let line = stored.details.removed_at.is_none().then_some(line);
            changed = changed.changed(&stored.version.name(), line.as_deref(), now);
            check_limits(&versions, &changed)?;
        }
        let audited = stored.as_ref().map(StoredVersion::audited);
        let (action, version) = audited.unwrap_or_default();
        let define = Define {
            deployment,
            name: &Version::name_of(number),
            json: versions
                .find(number)
                .map(StoredVersion::text)
                .unwrap_or_default(),
            changed: &changed,
            audit: [action, &version.to_string(), reason, Actor::stored(actor)],
            now,
        };
        let is_written = match stored {
            Some(_) => define.run(known.definitions.number()).await?,
            None => {
                define.update_others().await?;
                true
            }
        };
        if is_written {
            return Ok(Written { versions, number });
        }
    }
    Err(Error::RulesConflict(CHANGED_MEANWHILE.to_owned()))
}

fn check_limits(versions: &VersionList, changed: &Definitions) -> Result<(), Error> {
    let bytes: usize = changed.rules().map(|line| line.len() + 1).sum();
    let detail = if versions.0.len() > MAX_VERSIONS {
        format!("There are {MAX_VERSIONS} versions of the rules: change RULES instead.")
    } else if bytes > MAX_BYTES {
        format!(
            "The versions of the rules would have {bytes} bytes, more than {MAX_BYTES}: change RULES instead."
        )
    } else {
        return Ok(());
    };
    Err(Error::RulesConflict(detail))
}
