//! A run of `rebuild`, `verify`, `recount` or `import --rebuild`: it owns all shards of a deployment.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use activity_rank_core::calendar::Instant;
use activity_rank_store::keys::{FIRST_GENERATION, KeyKind, Keys};
use activity_rank_store::redis::Command;

use super::account::AccountRecount;
use super::accounts::{self, Journals};
use super::file::JournalFile;
use super::journal::{Journal, Page};
use super::past::Past;
use super::purpose::{IMPORT, Purpose, Recount};
use super::retention::Retention;
use super::settings::Settings;
use super::source::Source;
use super::state::{OwnedShard, Phase, live_generation, read_state};
use super::store::{Cursor, Store};
use crate::args::{ReplayArgs, ServiceArgs, StoreArgs};
use crate::client::client;
use crate::count::{count, count_entries};
use crate::failure::Failure;
use crate::printable::printable;
use crate::progress::Progress;
use crate::request_error::RequestError;
use crate::screen::Screen;

/// Redis commands of an entry in a replay and its comparison, as measured with 68,000 entries.
const ENTRY_COMMANDS: u64 = 12;
/// Redis commands that need a confirmation: a fifth of what the free plan of Upstash has for a month.
const MANY_COMMANDS: u64 = 100_000;

/// A run that owns all shards.
pub struct Session {
    /// The journal.
    pub journal: Source,
    /// Lifetimes of stored data.
    pub retention: Retention,
    /// The settings of the deployment.
    pub settings: Settings,
    /// The shards in order.
    pub shards: Vec<OwnedShard>,
    /// What the run writes.
    pub purpose: Purpose,
    /// How the journal is counted again.
    pub recount: Option<Recount>,
    /// The changes of the last recount of accounts.
    past: RefCell<Option<Rc<Past>>>,
    store: Store,
}

impl Session {
    /// Takes ownership of all shards. Changes nothing if any shard belongs to another deployment, or if the store may lack
    /// the memory for a second copy of the data.
    ///
    /// `purpose` returns the purpose for the settings of the service. A recount that no earlier run has started begins
    /// as a rebuild: the data is compared first.
    ///
    /// # Errors
    ///
    /// [`Failure`] if service or store do not respond, or the data belongs to another deployment.
    pub async fn open(
        service: &ServiceArgs,
        args: &ReplayArgs,
        purpose: impl FnOnce(&Settings) -> Result<Purpose, Failure>,
    ) -> Result<Self, Failure> {
        let store = Store::new(&args.store, args.retries, Progress::new(None))?;
        let journal = Journal::new(client(service)?, args.retries);
        let first = first_page(&store, &journal).await?;
        let settings = first.settings;
        let mut purpose = purpose(&settings)?;
        let now = store.now().await?;
        let shards = settings.shards;
        let on_shard = |index| store.with_shard(index, shards);
        for index in 0..shards {
            live_generation(&on_shard(index), &settings).await?;
        }
        let mut started = Vec::new();
        for index in 0..shards {
            let (phase, stored, is_partial) = read_state(&on_shard(index)).await?;
            let is_replay = phase == Some(Phase::Replay);
            let is_preview = stored == Some(Purpose::Preview.stored());
            let is_unfinished = phase.is_some() && phase != Some(Phase::Swapped);
            if phase == Some(Phase::Drop)
                || is_replay && (is_partial || is_preview)
                || args.fresh && is_unfinished
            {
                let owned = OwnedShard::acquire(on_shard(index), &settings, &purpose, now);
                let mut owned = owned.await?;
                if owned.state.phase != Phase::Begun {
                    owned.drop_written().await?;
                }
                started.push(None);
            } else {
                started.push(phase.zip(stored));
            }
        }
        if started.iter().all(Option::is_none) && !args.skip_memory_check {
            check_memory(&store).await?;
        }
        if let Purpose::Recount(recount) = &purpose {
            let mut started = started.iter().flatten();
            let begun = started.find_map(|(_, stored)| recount.begun(stored));
            purpose = begun.map_or(Purpose::Rebuild, Purpose::Recount);
        }
        let mut owned = Vec::new();
        for index in 0..shards {
            owned.push(OwnedShard::acquire(on_shard(index), &settings, &purpose, now).await?);
        }
        Ok(Self {
            journal: Source::Service(journal),
            retention: first.retention,
            settings,
            shards: owned,
            recount: purpose.recount().cloned(),
            past: RefCell::default(),
            purpose,
            store,
        })
    }

    /// Takes ownership of all shards of an empty deployment, for the journal of a file.
    ///
    /// # Errors
    ///
    /// [`Failure`] if the deployment has data, service or store do not respond, or the file is no journal.
    pub async fn open_file(
        service: &ServiceArgs,
        args: &StoreArgs,
        retries: usize,
        name: &str,
    ) -> Result<Self, Failure> {
        let store = Store::new(args, retries, Progress::new(None))?;
        let journal = Journal::new(client(service)?, retries);
        let first = first_page(&store, &journal).await?;
        let settings = first.settings;
        let file = JournalFile::open(name, settings.clone(), first.prefix, first.retention)?;
        let purpose = Purpose::Import(file.id()?);
        let (now, shards) = (store.now().await?, settings.shards);
        let mut owned = Vec::new();
        for index in 0..shards {
            let store = store.with_shard(index, shards);
            let (phase, _, is_partial) = read_state(&store).await?;
            if phase.is_none() && (!first.entries.is_empty() || has_data(&store).await?) {
                let message = "has data: choose another PREFIX for the service";
                return Err(Failure::Usage(format!(
                    "the prefix {} {message}",
                    store.prefix
                )));
            }
            let mut shard = OwnedShard::acquire(store, &settings, &purpose, now).await?;
            if shard.state.phase == Phase::Drop || is_partial && shard.state.phase == Phase::Replay
            {
                shard.drop_written().await?;
                let store = shard.shard.store.clone();
                shard = OwnedShard::acquire(store, &settings, &purpose, now).await?;
            }
            owned.push(shard);
        }
        Ok(Self {
            journal: Source::File(Rc::new(file)),
            retention: first.retention,
            settings,
            shards: owned,
            recount: None,
            past: RefCell::default(),
            purpose,
            store,
        })
    }

    /// Prints the cost of a replay that begins. A high one needs a confirmation, unless `yes` is set.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] if the answer is no, or the service does not respond.
    pub async fn confirm(&mut self, yes: bool) -> Result<(), Failure> {
        let Source::Service(journal) = &self.journal else {
            return Ok(());
        };
        let mut states = self.shards.iter().map(|owned| &owned.state);
        if states.any(|state| state.phase != Phase::Replay || state.entry > 0) {
            return Ok(());
        }
        let notify = |error: &RequestError, wait: Duration| {
            self.store.progress.retrying(&error.to_string(), wait);
        };
        let entries = journal.last_number(Instant(i64::MAX), notify).await?;
        let commands = entries * ENTRY_COMMANDS;
        let cost = format!(
            "The journal has up to {}. The replay takes about {} of the store.",
            count_entries(entries),
            count(commands, "Redis command")
        );
        let yes = yes || commands < MANY_COMMANDS;
        let confirmed = self.store.progress.suspend(|| Screen::confirm(&cost, yes));
        if confirmed.is_err() {
            self.drop_new().await?;
        }
        confirmed
    }

    /// Checks that no shard has an unfinished run with another purpose, but for one whose new generation counts. If one has,
    /// what this run has begun on other shards is dropped: else the unfinished run could not go on.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] if one has, or as [`OwnedShard::drop_written`].
    pub async fn check_purpose(&mut self) -> Result<(), Failure> {
        let purpose = self.purpose.stored();
        let mut states = self.shards.iter().map(|owned| &owned.state);
        let other = states.find(|state| state.purpose != purpose && state.phase == Phase::Replay);
        let run = match other.map(|state| state.purpose.as_str()) {
            None => return Ok(()),
            Some("") => "a rebuild is unfinished: run rebuild first",
            Some(other) if other.starts_with(IMPORT) => {
                "an import is unfinished: run it again with the same file"
            }
            Some(_) => "a recount is unfinished: run it again with the same rules or definition",
        };
        let failure = Failure::Usage(format!("{run}, or use --fresh to start over"));
        self.drop_new().await?;
        Err(failure)
    }

    async fn drop_new(&mut self) -> Result<(), Failure> {
        for owned in self.shards.iter_mut().filter(|owned| owned.is_new) {
            owned.drop_written().await?;
        }
        Ok(())
    }

    /// Checks that no earlier run has swapped a shard.
    ///
    /// # Errors
    ///
    /// As [`Self::check_purpose`].
    pub async fn check_unswapped(&mut self) -> Result<(), Failure> {
        self.check_purpose().await?;
        let mut shards = self.shards.iter();
        if shards.all(|owned| owned.state.phase == Phase::Replay) {
            return Ok(());
        }
        self.drop_new().await?;
        let unfinished = "a rebuild is unfinished: run rebuild first";
        Err(Failure::Usage(unfinished.to_owned()))
    }

    /// Deletes what the run has written on all shards.
    ///
    /// # Errors
    ///
    /// As [`OwnedShard::drop_written`].
    pub async fn drop_written(&mut self) -> Result<(), Failure> {
        for owned in &mut self.shards {
            owned.drop_written().await?;
        }
        Ok(())
    }

    /// Deletes what a run has written that refuses the data, unless a shard is swapped.
    ///
    /// # Errors
    ///
    /// As [`OwnedShard::drop_written`].
    pub async fn refuse(&mut self) -> Result<(), Failure> {
        for OwnedShard { shard, .. } in &self.shards {
            if read_state(&shard.store).await?.0 != Some(Phase::Replay) {
                return Ok(());
            }
        }
        self.drop_written().await
    }

    /// Returns the result of a comparison. Deletes what the run has written if the store has data that no run can compare.
    ///
    /// # Errors
    ///
    /// The failure of the comparison, or as [`OwnedShard::drop_written`].
    pub async fn end<T>(&mut self, compared: Result<T, Failure>) -> Result<T, Failure> {
        if let Err(Failure::Data(_)) = compared {
            self.refuse().await?;
        }
        compared
    }

    /// Returns what the recount of accounts changes that this run makes, or the last one of the journal as far as it is
    /// known: `found` or an earlier one.
    ///
    /// # Errors
    ///
    /// [`Failure`] if the journal cannot be read.
    pub async fn past(&self, found: Option<AccountRecount>) -> Result<Option<Rc<Past>>, Failure> {
        let recount = match &self.recount {
            Some(Recount::Accounts(recount)) => Some(recount.clone()),
            Some(_) | None => found,
        };
        let known = self.past.borrow().clone();
        let until = known.as_ref().map(|past| past.until());
        let Some(recount) =
            recount.filter(|recount| until.is_none_or(|until| until < recount.until))
        else {
            return Ok(known);
        };
        let past = Rc::new(accounts::past(self.journals(), &recount).await?);
        *self.past.borrow_mut() = Some(past.clone());
        Ok(Some(past))
    }

    /// Returns the journal of all shards.
    #[must_use]
    pub fn journals(&self) -> Journals<'_> {
        Journals {
            journal: &self.journal,
            settings: &self.settings,
            shards: &self.shards,
        }
    }

    /// Keeps the changes of the recount of accounts that this run has decided.
    pub fn keep_past(&self, past: Option<Past>) {
        *self.past.borrow_mut() = past.map(Rc::new);
    }

    /// Has the run count the journal again.
    pub fn set_recount(&mut self, recount: Option<Recount>) {
        self.recount = recount;
        self.past.take();
    }

    /// Deletes what the run has written on all shards and begins anew.
    ///
    /// # Errors
    ///
    /// As [`OwnedShard::acquire`].
    pub async fn restart(&mut self, purpose: Purpose) -> Result<(), Failure> {
        self.drop_written().await?;
        for owned in &mut self.shards {
            let (store, started_at) = (owned.shard.store.clone(), owned.shard.started_at);
            *owned = OwnedShard::acquire(store, &self.settings, &purpose, started_at).await?;
        }
        self.set_recount(purpose.recount().cloned());
        self.purpose = purpose;
        Ok(())
    }

    /// Removes the progress bar.
    pub fn finish_progress(&self) {
        self.store.progress.finish();
    }
}

/// Checks that the store has memory for a second copy of its data: all of it may be that of the deployment. A full store
/// refuses the writes of the service too.
async fn check_memory(store: &Store) -> Result<(), Failure> {
    // Some stores have no INFO.
    let info: Option<String> = store.run(Command::new("INFO").arg("memory")).await.ok();
    let info = info.unwrap_or_default();
    let bytes = |name: &str| {
        let mut lines = info.lines().filter_map(|line| line.split_once(':'));
        let (_, value) = lines.find(|(field, _)| *field == name)?;
        value.trim().parse::<u64>().ok()
    };
    let figures = ["maxmemory", "used_memory", "used_memory_dataset"].map(bytes);
    let [Some(maximum @ 1..), Some(used), Some(data)] = figures else {
        return Ok(());
    };
    let free = maximum.saturating_sub(used);
    if data <= free {
        return Ok(());
    }
    let megabytes = |bytes: u64| bytes.div_ceil(1024 * 1024);
    Err(Failure::Usage(format!(
        "a second copy of the data takes up to {} MB, and the store has {} MB left: raise maxmemory, or use \
         --skip-memory-check if most of the data is not that of this prefix",
        megabytes(data),
        megabytes(free)
    )))
}

/// Returns whether a shard has anything but its fingerprint and work of jobs.
async fn has_data(store: &Store) -> Result<bool, Failure> {
    let mut cursor = Cursor::start();
    while let Some(names) = store.scan(&mut cursor).await? {
        let is_data = |name: &String| name != "p" && Keys::kind(name) != Some(KeyKind::Work);
        if names.iter().any(is_data) {
            return Ok(true);
        }
    }
    let users = Keys::new(&store.prefix, store.shard, FIRST_GENERATION).users();
    let fields: u64 = store.run(Command::new("HLEN").arg(&users)).await?;
    Ok(fields > 1)
}

/// Reads the first page of the journal and checks that it belongs to this prefix.
///
/// # Errors
///
/// [`Failure`] if the service does not respond, or has another prefix.
pub async fn first_page(store: &Store, journal: &Journal) -> Result<Page, Failure> {
    let notify = |error: &RequestError, wait| store.progress.retrying(&error.to_string(), wait);
    let page = journal.page(None, 0, notify).await?;
    if page.prefix == store.prefix {
        return Ok(page);
    }
    Err(Failure::Usage(format!(
        "the service uses the prefix {}, not {}: set PREFIX to that of the service",
        printable(&page.prefix),
        store.prefix
    )))
}
