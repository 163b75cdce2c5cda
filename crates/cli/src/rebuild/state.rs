//! A shard, its shadow, and the stored state of its rebuild.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use activity_rank_core::score::Layout;
use activity_rank_store::keys::Keys;
use activity_rank_store::redis::Command;
use activity_rank_store::scripts::Script;

use super::rules::RecountRules;
use crate::archive::fingerprint::{REBUILDING, former, reject_pending_changes};
use crate::archive::store::{Cursor, Store, script};
use crate::failure::Failure;
use crate::printable::printable;

static BEGIN: LazyLock<Script> = LazyLock::new(|| script(include_str!("begin.lua")));
static TRANSITION: LazyLock<Script> = LazyLock::new(|| script(include_str!("transition.lua")));

/// A shard of the deployment and its shadow.
pub struct Shard {
    /// The store, on this shard.
    pub store: Store,
    /// The live keys.
    pub keys: Keys,
    /// The shadow keys.
    pub shadow: Keys,
    /// How its boards store points.
    pub layout: Layout,
    /// Time of Redis' clock at the start of this run, in Unix ms.
    pub started_at: i64,
}

impl Shard {
    /// Returns the shard that `store` is on.
    #[must_use]
    pub fn new(store: Store, layout: Layout, started_at: i64) -> Self {
        let keys = Keys::new(&store.prefix, store.shard);
        Self {
            shadow: keys.shadow(),
            store,
            keys,
            layout,
            started_at,
        }
    }

    /// Returns the live key and the shadow key of a name without tag.
    #[must_use]
    pub fn key_pair(&self, name: &str) -> [String; 2] {
        let tag = &self.store.tag;
        [format!("{tag}{name}"), format!("{tag}~{name}")]
    }

    /// Shows a progress message.
    pub fn show_progress(&self, message: impl FnOnce() -> String) {
        self.store.show_progress(0, &message());
    }
}

/// The phase of a shard's rebuild.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The journal is being replayed; the service writes to the live data.
    Replay,
    /// Writes are locked; the rest of the journal is being replayed.
    Locked,
    /// Keys without a shadow are being deleted.
    Delete,
    /// Shadows are being renamed to live keys.
    Rename,
    /// The shard is complete; other shards may not be.
    Done,
    /// The shadow is being dropped.
    Drop,
}

impl Phase {
    const ALL: [Self; 6] = [
        Self::Replay,
        Self::Locked,
        Self::Delete,
        Self::Rename,
        Self::Done,
        Self::Drop,
    ];

    /// Returns the stored name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Replay => "replay",
            Self::Locked => "held",
            Self::Delete => "delete",
            Self::Rename => "rename",
            Self::Done => "done",
            Self::Drop => "drop",
        }
    }

    fn parse(name: &str) -> Result<Self, Failure> {
        let mut all = Self::ALL.into_iter();
        all.find(|phase| phase.name() == name).ok_or_else(|| {
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
    /// Number of the last journal entry applied to the shadow.
    pub entry: u64,
    /// Schema fingerprint that the rebuild was started for.
    pub fingerprint: String,
    /// The purpose of the rebuild, as [`Purpose::stored`] returns it.
    pub purpose: String,
}

/// The purpose of the shadow of a run. It is stored: no run continues the shadow of another purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A rebuild, or a comparison with the live data.
    Rebuild,
    /// The preview of a recount.
    Preview,
    /// A recount by these rules.
    Recount(RecountRules),
}

impl Purpose {
    /// Returns the stored text.
    #[must_use]
    pub fn stored(&self) -> String {
        match self {
            Self::Rebuild => String::new(),
            Self::Preview => "preview".to_owned(),
            Self::Recount(rules) => serde_json::to_string(rules).unwrap_or_default(),
        }
    }

    /// Returns the rules of a recount.
    #[must_use]
    pub fn rules(&self) -> Option<&RecountRules> {
        match self {
            Self::Recount(rules) => Some(rules),
            Self::Rebuild | Self::Preview => None,
        }
    }
}

impl State {
    /// Returns the stored phase, or `None` if there is no rebuild.
    ///
    /// # Errors
    ///
    /// [`Failure::Store`] if the store does not respond.
    pub async fn stored_phase(shard: &Shard) -> Result<Option<Phase>, Failure> {
        let phase: Option<String> = stored_field(shard, "phase").await?;
        phase.map(|phase| Phase::parse(&phase)).transpose()
    }

    /// Returns whether the shadow may have a part of a step: the store has refused the rest.
    ///
    /// # Errors
    ///
    /// [`Failure::Store`] if the store does not respond.
    pub async fn is_partial(shard: &Shard) -> Result<bool, Failure> {
        let partial: Option<String> = stored_field(shard, "partial").await?;
        Ok(partial.is_some())
    }

    /// Returns the stored purpose, or `None` if there is no rebuild.
    ///
    /// # Errors
    ///
    /// [`Failure::Store`] if the store does not respond.
    pub async fn stored_purpose(shard: &Shard) -> Result<Option<String>, Failure> {
        stored_field(shard, "rules").await
    }

    /// Takes ownership of an unfinished rebuild, or starts one.
    ///
    /// # Errors
    ///
    /// [`Failure::Store`] if the store does not respond.
    pub async fn acquire(
        shard: &Shard,
        fingerprint: &str,
        purpose: &Purpose,
    ) -> Result<Self, Failure> {
        let owner = format!("{:016x}", RandomState::new().hash_one(shard.started_at));
        let keys = [shard.keys.rebuild()];
        let command = Command::script(&BEGIN, &keys).args([&owner, fingerprint, &purpose.stored()]);
        let (phase, entry, fingerprint, purpose): (String, String, String, String) =
            shard.store.run(command).await?;
        let invalid = || Failure::Store(format!("invalid rebuild state: entry '{entry}'"));
        Ok(Self {
            owner,
            phase: Phase::parse(&phase)?,
            entry: entry.parse().map_err(|_| invalid())?,
            fingerprint,
            purpose,
        })
    }

    /// Returns the state of a shard whose stored one a completed run has deleted.
    #[must_use]
    pub fn done(fingerprint: &str, purpose: &Purpose) -> Self {
        Self {
            owner: String::new(),
            phase: Phase::Done,
            entry: 0,
            fingerprint: fingerprint.to_owned(),
            purpose: purpose.stored(),
        }
    }

    /// Moves to another phase. `keeps_audit_log` is stored on the way to [`Phase::Delete`].
    ///
    /// # Errors
    ///
    /// [`Failure`] if another run owns the rebuild, or the live fingerprint is another.
    pub async fn transition(
        &mut self,
        shard: &Shard,
        to: Phase,
        keeps_audit_log: bool,
    ) -> Result<(), Failure> {
        let keys = &shard.keys;
        let keys = [
            keys.rebuild(),
            keys.users(),
            keys.index(),
            shard.shadow.users(),
            keys.outbox(),
            keys.archived(),
        ];
        let now = shard.store.now().await?;
        let command = Command::script(&TRANSITION, &keys)
            .args([&self.owner, self.phase.name(), to.name()])
            .number(u8::from(keeps_audit_log))
            .arg(&now.to_string())
            .arg(&former(&self.fingerprint));
        let (phase, stored): (Option<String>, Option<String>) = shard.store.run(command).await?;
        match phase {
            Some(phase) if phase == to.name() => {
                self.phase = to;
                Ok(())
            }
            Some(_) => {
                let stored = stored.unwrap_or_default();
                reject_pending_changes(&stored)?;
                Err(other_deployment(&stored))
            }
            None => Err(lost_ownership()),
        }
    }

    /// Unlocks writes unless the swap has started. Returns whether it has.
    ///
    /// # Errors
    ///
    /// [`Failure::Store`] if the store does not respond.
    pub async fn unlock(mut self, shard: &Shard) -> Result<bool, Failure> {
        // The interrupted run may have locked writes after this state was read.
        self.phase = Phase::Locked;
        let _ = self.transition(shard, Phase::Replay, false).await;
        let phase = Self::stored_phase(shard).await?;
        Ok(matches!(phase, Some(Phase::Delete | Phase::Rename)))
    }

    /// Returns whether the swap keeps the live audit log.
    ///
    /// # Errors
    ///
    /// [`Failure::Store`] if the store does not respond.
    pub async fn keeps_audit_log(&self, shard: &Shard) -> Result<bool, Failure> {
        let stored: Option<String> = stored_field(shard, "audit").await?;
        Ok(stored.as_deref() == Some("1"))
    }

    /// Deletes the shadow and the state of the rebuild.
    ///
    /// # Errors
    ///
    /// [`Failure`] if the store does not respond, or another run owns the rebuild.
    pub async fn drop_shadow(&mut self, shard: &Shard) -> Result<(), Failure> {
        if self.phase != Phase::Drop {
            self.transition(shard, Phase::Drop, false).await?;
        }
        let mut cursor = Cursor::start();
        while let Some(names) = shard.store.scan(&mut cursor).await? {
            let shadows = names.iter().filter(|name| name.starts_with('~'));
            let shadows: Vec<String> = shadows
                .map(|name| format!("{}{name}", shard.store.tag))
                .collect();
            if !shadows.is_empty() {
                let command = Command::new("UNLINK").args(shadows);
                let _: u64 = shard.store.run(command).await?;
            }
        }
        delete_state(shard).await
    }
}

async fn stored_field(shard: &Shard, field: &str) -> Result<Option<String>, Failure> {
    let key = shard.keys.rebuild();
    let command = Command::new("HGET").args([&key, field]);
    shard.store.run(command).await
}

/// Deletes the state of the rebuild.
///
/// # Errors
///
/// [`Failure::Store`] if the store does not respond.
pub async fn delete_state(shard: &Shard) -> Result<(), Failure> {
    let key = shard.keys.rebuild();
    let _: u64 = shard.store.run(Command::new("UNLINK").arg(&key)).await?;
    Ok(())
}

/// Checks that the live fingerprint, if any, is that of the journal.
///
/// # Errors
///
/// [`Failure::Usage`] for data of another deployment or version.
pub async fn check_live_fingerprint(shard: &Shard, expected: &str) -> Result<(), Failure> {
    let stored = shard.store.fingerprint().await?;
    let settings = stored.as_deref().unwrap_or_default().lines().next();
    if settings == Some(former(expected).as_str()) {
        // The journal has also the changes that are pending, which nothing completes any more.
        return Ok(());
    }
    reject_pending_changes(stored.as_deref().unwrap_or_default())?;
    match stored {
        Some(stored) if stored != expected && stored != format!("{REBUILDING}{expected}") => {
            Err(other_deployment(&stored))
        }
        Some(_) | None => Ok(()),
    }
}

/// Checks that an unfinished rebuild, if any, was started with the same settings.
///
/// # Errors
///
/// [`Failure::Usage`] if the settings differ.
pub async fn check_started_fingerprint(shard: &Shard, expected: &str) -> Result<(), Failure> {
    match stored_field(shard, "stamp").await? {
        Some(started) if started != expected => Err(settings_changed(&started, expected)),
        Some(_) | None => Ok(()),
    }
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

fn other_deployment(stored: &str) -> Failure {
    Failure::Usage(format!(
        "the data under this prefix does not belong to the service's journal ({})",
        printable(stored)
    ))
}

/// Returns the failure for a state that is gone or owned by another run.
#[must_use]
pub fn lost_ownership() -> Failure {
    let message = "another run has taken over this rebuild, or the store was emptied: run it again";
    Failure::Store(message.to_owned())
}
