//! What is kept besides the store, by the bindings a deployment has.

use super::call::Call;
use super::database::Database;
use super::edge::is_bound;
use super::snapshots::Snapshots;
use super::{cache, edge, journal, log};
use crate::archive::{self, Found, Lookup, Visibility};
use crate::calendar::Instant;
use crate::error::Error;
use crate::keys::Keys;
use crate::ranking::{Which, from_top};
use crate::redis::{Command, Reply};
use crate::site::{MOST_CALLS, Site};
use worker::Env;

/// The bindings.
pub struct Kept {
    /// Closed boards: a D1 database with the tables of `migrations/archive`.
    pub archive: Option<Database>,
    /// What was done: a D1 database with the table of `migrations/journal`.
    pub journal: Option<Database>,
    /// Boards as they were lately: a KV namespace.
    pub snapshots: Option<Snapshots>,
    /// Boards that are watched: a Durable Object each, of the class `Live`.
    pub live: bool,
}

/// How far clocks may disagree, and for how long one mark of a hiding is good for those that
/// follow, in milliseconds.
const MARGIN: i64 = 3000;

impl Kept {
    /// Those that a deployment has.
    #[must_use]
    pub fn of(env: &Env) -> Self {
        Self {
            archive: Database::bound(env, "ARCHIVE"),
            journal: Database::bound(env, "JOURNAL"),
            snapshots: is_bound(env, "SNAPSHOTS").then_some(Snapshots),
            live: is_bound(env, "LIVE"),
        }
    }

    /// What the archive has of a board.
    ///
    /// # Errors
    ///
    /// [`Error::StoreUnavailable`].
    pub async fn find(
        &self,
        site: &Site,
        which: &Which,
        lookup: &Lookup<'_>,
    ) -> Result<Option<Found>, Error> {
        let Some(archive) = &self.archive else {
            return Ok(None);
        };
        let statements = lookup.statements(&site.config, &which.name());
        Ok(lookup.found(&archive.run(&statements).await?)?)
    }

    /// What is known of a board without the store, and of when: from its snapshot, or where it is
    /// closed from the archive, which has no profiles.
    ///
    /// # Errors
    ///
    /// [`Error::StoreUnavailable`] where that cannot be known.
    pub async fn known(
        &self,
        site: &Site,
        (which, closed): (&Which, bool),
        lookup: &Lookup<'_>,
        oldest: Instant,
    ) -> Result<Option<(Reply, Instant)>, Error> {
        if let Some(snapshots) = &self.snapshots {
            let (site, name) = (archive::site(&site.config), which.name());
            let found = snapshots.find(&site, &name).await?;
            if let Some((made, top)) = found.filter(|(made, _)| *made >= oldest)
                && let Some(reply) = from_top(&top, made, lookup)?
            {
                return Ok(Some((reply, made)));
            }
        }
        if !closed {
            return Ok(None);
        }
        let found = self.find(site, which, lookup).await?;
        Ok(found.map(|found| {
            let nameless = vec![Reply::Nil; lookup.users(&found).len()];
            (lookup.reply(&found, &nameless), found.made)
        }))
    }

    /// The first instant whose copies show nobody who has been hidden or erased since.
    ///
    /// # Errors
    ///
    /// [`Error::StoreUnavailable`] where that cannot be known.
    pub async fn since_hiding(&self, site: &Site, call: &Call) -> Result<Instant, Error> {
        let mut last = cache::last_hiding(&call.origin).await;
        if let Some(snapshots) = &self.snapshots {
            let told = snapshots.last_hiding(&archive::site(&site.config)).await?;
            last = last.max(told);
        }
        Ok(Instant(last.0 + 1))
    }

    /// Forgets all copies, because somebody has been hidden or erased just now. What they hold
    /// stays where it is; what is older than the mark made here is never shown.
    async fn forget(&self, site: &Site, call: &Call) -> Result<(), Error> {
        let now = Instant(edge::clock());
        let until = Instant(now.0 + MARGIN);
        cache::mark_hiding(&call.origin, until).await;
        match &self.snapshots {
            Some(snapshots) => {
                let site = archive::site(&site.config);
                snapshots.mark_hiding(&site, now, until).await
            }
            None => Ok(()),
        }
    }

    /// Hides users from what is kept here, or brings them back, as the store has them by now.
    ///
    /// # Errors
    ///
    /// [`Error::StoreUnavailable`]; what was asked of the store is done, and may be asked again.
    pub async fn follow(&self, site: &Site, call: &Call, users: &[String]) -> Result<(), Error> {
        self.forget(site, call).await?;
        let Some(archive) = &self.archive else {
            return Ok(());
        };
        let ids: Vec<&str> = users.iter().map(String::as_str).collect();
        let mut told = None;
        // Two who change the same user come here in any order: whoever is last sees that what
        // they wrote is what the store says.
        for _ in 0..MOST_CALLS {
            let flags = look_up(site, Keys::flags, &ids).await?;
            let is = Visibility::of(users, &flags)?;
            if told.as_ref() == Some(&is) {
                break;
            }
            let statements = is.statements(&archive::shards(&site.config));
            archive.run(&statements).await?;
            told = Some(is);
        }
        Ok(())
    }

    /// Takes a user who is erased from what is kept here.
    ///
    /// # Errors
    ///
    /// As [`Kept::follow`].
    pub async fn erase(&self, site: &Site, call: &Call, user: &str) -> Result<(), Error> {
        self.forget(site, call).await?;
        // Cron does it else: the store has it in the outbox.
        if let Some(journal) = &self.journal
            && let Err(error) = journal::drain(site, journal).await
        {
            log::warning(call, &error.cause().unwrap_or_default());
        }
        if let Some(archive) = &self.archive {
            let shard = archive::shard(&site.config, site.config.shard_of(user));
            let statements = archive::erase(&shard, user);
            archive.run(&statements).await?;
        }
        Ok(())
    }
}

/// What the store has of each user in a hash of their shard.
///
/// # Errors
///
/// As [`Site::ask`].
pub async fn look_up(
    site: &Site,
    hash: fn(&Keys) -> String,
    users: &[&str],
) -> Result<Vec<Reply>, Error> {
    let mut found = vec![Reply::Nil; users.len()];
    let shards = site.config.places_by_shard(users);
    let Some((first, _)) = shards.first() else {
        return Ok(found);
    };
    let mut commands = Vec::new();
    for (shard, places) in &shards {
        let mut fields = Command::new("HMGET").arg(&hash(&site.config.keys(*shard)));
        for place in places {
            fields = fields.arg(users.get(*place).copied().unwrap_or_default());
        }
        commands.push(fields);
    }
    let replies = site.ask_all(&site.config.keys(*first), commands).await?;
    for ((_, places), reply) in shards.iter().zip(&replies) {
        for (place, value) in places.iter().zip(reply.list()?) {
            if let Some(found) = found.get_mut(*place) {
                found.clone_from(value);
            }
        }
    }
    Ok(found)
}
