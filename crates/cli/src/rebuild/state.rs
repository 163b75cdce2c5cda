//! A shard, the generation that a rebuild writes, and the stored state of the rebuild.

use std::hash::{BuildHasher, RandomState};
use std::str::FromStr;
use std::sync::LazyLock;

use activity_rank_core::score::Layout;
use activity_rank_store::fingerprint::{Stored, pending_changes, with_generation};
use activity_rank_store::keys::{FIRST_GENERATION, Keys};
use activity_rank_store::redis::Command;
use activity_rank_store::scripts::Script;

use serde_json::Value;

use super::purpose::Purpose;
use super::settings::Settings;
use super::store::{Cursor, Store, script};
use crate::count::count;
use crate::failure::Failure;
use crate::printable::printable;

static DROP: LazyLock<Script> = LazyLock::new(|| script(include_str!("drop.lua")));
static BEGIN: LazyLock<Script> = LazyLock::new(|| script(include_str!("begin.lua")));

/// How long the state of a complete shard stays while other shards are not complete.
const DONE_SECONDS: i64 = 86_400;
/// Keys in one request that deletes them.
const DELETED_KEYS: usize = 500;

/// A shard of the deployment.
pub struct Shard {
    /// The store, on this shard.
    pub store: Store,
    /// The keys of the generation that counts.
    pub keys: Keys,
    /// The keys that the rebuild writes.
    pub written: Keys,
    /// The generation that counts; 0 for data of the version before.
    pub from: u32,
    /// The generation that the rebuild writes.
    pub generation: u32,
    /// The fingerprint of what the rebuild writes.
    pub fingerprint: String,
    /// How its boards store points.
    pub layout: Layout,
    /// Time of Redis' clock at the start of this run, in Unix ms.
    pub started_at: i64,
}

impl Shard {
    /// Returns the key of a name without tag and generation, and the same key as the rebuild writes it.
    #[must_use]
    pub fn key_pair(&self, name: &str) -> [String; 2] {
        let (tag, from, generation) = (&self.store.tag, self.from, self.generation);
        let live = match Keys::has_generation(name) {
            true => format!("{tag}{from}{name}"),
            false => format!("{tag}{name}"),
        };
        [live, format!("{tag}{generation}{name}")]
    }

    /// Returns the name without generation of a key of the data, or of one that the rebuild writes.
    #[must_use]
    pub fn base_name<'a>(&self, name: &'a str) -> Option<&'a str> {
        let (generation, base) = Keys::split_generation(name);
        match generation {
            Some(generation) if [self.from, self.generation].contains(&generation) => Some(base),
            None if !Keys::has_generation(base) => Some(base),
            Some(_) | None => None,
        }
    }

    /// Shows a progress message.
    pub fn show_progress(&self, message: impl FnOnce() -> String) {
        self.store.show_progress(0, &message());
    }
}

/// The phase of a shard's rebuild.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The journal is being replayed; the service writes to the data that counts.
    Replay,
    /// The new generation counts, but the store has refused the rest of the swap. It is stored as a replay.
    Begun,
    /// The new generation counts; the former one is being deleted.
    Swapped,
    /// The shard is complete; other shards may not be.
    Done,
    /// What the rebuild has written is being deleted.
    Drop,
}

impl Phase {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Replay, "replay"),
        (Self::Swapped, "swapped"),
        (Self::Done, "done"),
        (Self::Drop, "drop"),
    ];

    fn name(self) -> &'static str {
        let mut all = Self::ALL.iter();
        all.find(|(phase, _)| *phase == self)
            .map_or("", |(_, name)| name)
    }

    fn parse(name: &str) -> Result<Self, Failure> {
        let mut all = Self::ALL.iter();
        let known = all.find(|(_, known)| *known == name);
        known.map(|(phase, _)| *phase).ok_or_else(|| {
            Failure::Store(format!(
                "unknown rebuild phase '{}': another version started this rebuild",
                printable(name)
            ))
        })
    }
}

/// The state of a shard's rebuild that this run owns.
#[derive(Clone, Debug)]
pub struct State {
    /// Id of this run.
    pub owner: String,
    /// Current phase.
    pub phase: Phase,
    /// Number of the last journal entry that is applied.
    pub entry: u64,
    /// The purpose of the rebuild, as [`Purpose::stored`] returns it.
    pub purpose: String,
}

/// A shard and the state of its rebuild.
pub struct OwnedShard {
    /// The shard.
    pub shard: Shard,
    /// The state at the start of this run.
    pub state: State,
    /// Whether this run has started it.
    pub is_new: bool,
}

impl OwnedShard {
    /// Takes ownership of an unfinished rebuild of a shard, or starts one. `started_at` is the time of Redis' clock.
    ///
    /// # Errors
    ///
    /// [`Failure`] if the store does not respond, or has data of other settings.
    pub async fn acquire(
        store: Store,
        settings: &Settings,
        purpose: &Purpose,
        started_at: i64,
    ) -> Result<Self, Failure> {
        let live = live_generation(&store, settings).await?;
        let owner = format!("{:016x}", RandomState::new().hash_one(started_at));
        let keys = Keys::new(&store.prefix, store.shard, live);
        let command = Command::script(&BEGIN, &[keys.rebuild(), keys.users()])
            .args([&owner, &purpose.stored()])
            .number(live)
            .arg(&with_generation(
                &settings.stamp,
                live.max(FIRST_GENERATION),
            ));
        let reply: Vec<Value> = store.run(command).await?;
        let mut texts = reply
            .iter()
            .map(|text| text.as_str().unwrap_or_default().to_owned());
        let mut next = || texts.next().unwrap_or_default();
        let [phase, entry, purpose, from, generation] = std::array::from_fn(|_| next());
        let is_new = reply.last() == Some(&Value::from(1));
        let generation = number(&generation)?;
        let from = number(&from)?;
        let owned = Self {
            shard: Shard {
                keys: Keys::new(&store.prefix, store.shard, from),
                written: Keys::building(&store.prefix, store.shard, generation),
                from,
                generation,
                fingerprint: with_generation(&settings.stamp, generation),
                layout: settings.layout,
                started_at,
                store,
            },
            state: State {
                owner,
                phase: match Phase::parse(&phase)? {
                    Phase::Replay if live == generation => Phase::Begun,
                    phase => phase,
                },
                entry: number(&entry)?,
                purpose,
            },
            is_new,
        };
        if is_new {
            // A run whose state is lost may have left keys.
            owned.delete_written(true).await?;
        }
        Ok(owned)
    }

    /// Deletes what the rebuild has written, and its state. Nothing of it counts yet.
    ///
    /// # Errors
    ///
    /// [`Failure::Store`] if the store does not respond.
    pub async fn drop_written(&mut self) -> Result<(), Failure> {
        let keys = [self.shard.keys.rebuild(), self.shard.keys.users()];
        let command = Command::script(&DROP, &keys).arg(&self.state.owner);
        let dropped: i64 = self.shard.store.run(command).await?;
        if dropped != 1 {
            return Err(lost_ownership());
        }
        self.delete_written(true).await?;
        self.delete_state().await
    }

    /// Deletes the generation that has been replaced, after the swap.
    ///
    /// # Errors
    ///
    /// [`Failure::Store`] if the store does not respond.
    pub async fn delete_former(&mut self) -> Result<(), Failure> {
        self.delete_written(false).await?;
        let state = self.shard.keys.rebuild();
        let done = Command::new("HSET").args([&state, "phase", Phase::Done.name()]);
        let _: u64 = self.shard.store.run(done).await?;
        let expire = Command::new("EXPIRE").arg(&state).number(DONE_SECONDS);
        let _: u64 = self.shard.store.run(expire).await?;
        self.state.phase = Phase::Done;
        Ok(())
    }

    /// Deletes the state of the rebuild.
    ///
    /// # Errors
    ///
    /// [`Failure::Store`] if the store does not respond.
    pub async fn delete_state(&self) -> Result<(), Failure> {
        let unlink = Command::new("UNLINK").arg(&self.shard.keys.rebuild());
        let _: u64 = self.shard.store.run(unlink).await?;
        Ok(())
    }

    /// Deletes the generation that the rebuild writes; or, after the swap, the former one and what was the rebuild's own.
    async fn delete_written(&self, with_data: bool) -> Result<(), Failure> {
        let Shard {
            store,
            from,
            generation: written,
            ..
        } = &self.shard;
        let is_deleted = |name: &String| {
            let (generation, base) = Keys::split_generation(name);
            let is_data = Keys::has_generation(base);
            match generation {
                Some(generation) if generation == *written => with_data || !is_data,
                Some(generation) => !with_data && generation == *from,
                None => !with_data && *from == 0 && is_data,
            }
        };
        let (mut cursor, mut deleted) = (Cursor::start(), 0);
        while let Some(names) = store.scan(&mut cursor).await? {
            let names: Vec<String> = names.into_iter().filter(is_deleted).collect();
            for names in names.chunks(DELETED_KEYS) {
                let keys = names.iter().map(|name| format!("{}{name}", store.tag));
                let _: u64 = store.run(Command::new("UNLINK").args(keys)).await?;
                deleted += names.len() as u64;
                let keys = || format!("deleted {}", count(deleted, "former key"));
                self.shard.show_progress(keys);
            }
        }
        Ok(())
    }
}

fn number<T: FromStr>(text: &str) -> Result<T, Failure> {
    let invalid = |_| Failure::Store(format!("invalid rebuild state: '{}'", printable(text)));
    text.parse().map_err(invalid)
}

/// Reads the state of a rebuild; `None` for each field if there is none: phase, purpose, and whether the data may have a
/// part of a step of which the store has refused the rest.
///
/// # Errors
///
/// [`Failure::Store`] if the store does not respond.
pub async fn read_state(store: &Store) -> Result<(Option<Phase>, Option<String>, bool), Failure> {
    let key = Keys::new(&store.prefix, store.shard, FIRST_GENERATION).rebuild();
    let command = Command::new("HMGET").args([&key, "phase", "rules", "partial"]);
    let (phase, purpose, partial): (Option<String>, Option<String>, Option<String>) =
        store.run(command).await?;
    let phase = phase.map(|phase| Phase::parse(&phase)).transpose()?;
    Ok((phase, purpose, partial.is_some()))
}

/// Returns the generation of a shard's data, the first one if it has none; 0 for data of the version before.
///
/// # Errors
///
/// [`Failure::Usage`] for data of another deployment or version, or while changes of visibility are pending.
pub async fn live_generation(store: &Store, settings: &Settings) -> Result<u32, Failure> {
    let Some(text) = store.fingerprint().await? else {
        return Ok(FIRST_GENERATION);
    };
    let stored = Stored::parse(&text);
    if stored.is_former(&settings.stamp) {
        // The journal has also the changes that are pending, which nothing completes any more.
        return Ok(0);
    }
    match stored.generation {
        Some(generation) if stored.has_settings(&settings.stamp) => {
            reject_pending_changes(&text)?;
            Ok(generation)
        }
        Some(_) | None => Err(other_deployment(&text)),
    }
}

/// Checks that no change of visibility and no erasure is pending: boards then have hidden and visible
/// scores of the same user.
///
/// # Errors
///
/// [`Failure::Usage`] if one is.
pub fn reject_pending_changes(stored: &str) -> Result<(), Failure> {
    let changes = pending_changes(stored).count();
    if changes == 0 {
        return Ok(());
    }
    let changes = count(changes.try_into().unwrap_or(u64::MAX), "change");
    Err(Failure::Usage(format!(
        "{changes} of visibility or erasures are pending: cron completes them; try again in a minute"
    )))
}

/// Returns the failure for settings of the service that changed during a rebuild.
#[must_use]
pub fn settings_changed(before: &str, now: &str) -> Failure {
    let [before, now] = [before, now].map(printable);
    Failure::Usage(format!(
        "the settings of the service have changed since this rebuild was started ({before}; now {now}): \
         use --fresh to start over"
    ))
}

/// Returns the failure for data of other settings.
#[must_use]
pub fn other_deployment(stored: &str) -> Failure {
    Failure::Usage(format!(
        "the data under this prefix does not belong to the service's journal ({})",
        printable(stored)
    ))
}

/// Checks the reply of a script that does nothing for another owner.
///
/// # Errors
///
/// [`Failure`] if another run owns the rebuild.
pub fn check_owner(is_owner: i64) -> Result<(), Failure> {
    match is_owner {
        1 => Ok(()),
        _ => Err(lost_ownership()),
    }
}

/// Returns the failure for a state that is gone or owned by another run.
#[must_use]
pub fn lost_ownership() -> Failure {
    let message = "another run has taken over this rebuild, or the store was emptied: run it again";
    Failure::Store(message.to_owned())
}
