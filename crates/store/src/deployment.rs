//! One deployment: its configuration and calendar, and how it calls the store.

pub mod pending;

use crate::fingerprint;
use crate::keys::Keys;
use crate::redis::{Client, Command, Pipeline, Reply, StoreError, Transport};
use crate::stream::START;
use activity_rank_core::calendar::{Calendar, Zone};
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;
use activity_rank_core::event::Definitions;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

/// Maximum number of calls of a script that needs more input after its first call. Two have always
/// been enough so far.
pub const MAX_CALLS: usize = 4;

/// The configuration, calendar and store that the requests of one isolate share.
pub struct Deployment {
    /// The settings.
    pub config: Config,
    /// The schema fingerprint of the settings.
    pub(crate) fingerprint: String,
    /// The days of the deployment's time zone.
    pub calendar: Calendar,
    /// The client of the store.
    pub store: Client,
    /// Is called after changes of boards; does nothing at first.
    pub on_change: fn(Changed<'_>),
    /// Whether every shard is known to hold this deployment's fingerprint.
    fingerprints_match: AtomicBool,
    /// The definitions of events of each shard, as the last call that counted found them.
    definitions: RefCell<Vec<Definitions>>,
    /// The last entry of each shard's stream that the receivers have applied, as far as it is known.
    received: RefCell<Vec<String>>,
}

/// Boards that a deployment has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed<'a> {
    /// These watched boards: names between spaces.
    Boards(&'a str),
    /// The stream of this shard has entries that others receive.
    Receivers(u32),
    /// Any board. The body of a request whose reply is the field with the watched ones; see
    /// [`crate::watch`].
    Any(&'a str),
}

impl Deployment {
    /// Returns a deployment with these settings, in the time zone they name. `clock` returns
    /// milliseconds since 1970.
    #[must_use]
    pub fn new(
        config: Config,
        zone: Box<dyn Zone>,
        transport: Box<dyn Transport>,
        clock: fn() -> i64,
    ) -> Self {
        let calendar = Calendar::new(&config.timezone, zone);
        let store = Client::new(transport, config.store_timeout, clock);
        // With one shard, every script checks and writes the fingerprint itself.
        let fingerprints_match = AtomicBool::new(config.shards == 1);
        Self {
            fingerprint: fingerprint::fingerprint(&config),
            config,
            calendar,
            store,
            on_change: |_| (),
            fingerprints_match,
            definitions: RefCell::default(),
            received: RefCell::default(),
        }
    }

    /// Returns the known definitions of events of a shard.
    pub(crate) fn definitions(&self, shard: u32) -> Definitions {
        let known = self.definitions.borrow();
        known.get(shard as usize).cloned().unwrap_or_default()
    }

    /// Returns whether these are the known definitions of events of a shard; remembers them if not.
    pub(crate) fn knows_definitions(&self, shard: u32, text: &str) -> bool {
        let is_known = self.definitions(shard).text() == text;
        if !is_known {
            self.set_definitions(shard, text);
        }
        is_known
    }

    /// Remembers the definitions of events of a shard.
    pub(crate) fn set_definitions(&self, shard: u32, text: &str) {
        let mut known = self.definitions.borrow_mut();
        let shards = self.config.shards as usize;
        known.resize(shards, Definitions::default());
        if let Some(definitions) = known.get_mut(shard as usize) {
            *definitions = Definitions::new(text);
        }
    }

    /// Returns the last entry of a shard's stream that the receivers have applied, as far as it is known.
    pub(crate) fn received(&self, shard: u32) -> String {
        let known = self.received.borrow();
        let last = known.get(shard as usize).filter(|last| !last.is_empty());
        last.map_or(START, String::as_str).to_owned()
    }

    /// Remembers the last entry of a shard's stream that the receivers have applied.
    pub(crate) fn set_received(&self, shard: u32, last: &str) {
        let mut known = self.received.borrow_mut();
        known.resize(self.config.shards as usize, String::new());
        if let Some(position) = known.get_mut(shard as usize) {
            last.clone_into(position);
        }
    }

    /// Returns the keys of a shard.
    #[must_use]
    pub fn keys(&self, shard: u32) -> Keys {
        Keys::for_shard(&self.config, shard)
    }

    /// Returns the keys of the shard of a user.
    #[must_use]
    pub fn keys_of(&self, user: &str) -> Keys {
        Keys::for_user(&self.config, user)
    }

    /// Reports that the stream of a shard may have entries that others receive.
    pub(crate) fn report_receivers(&self, shard: u32) {
        if self.config.has_content() {
            (self.on_change)(Changed::Receivers(shard));
        }
    }

    /// Reports that any board may have changed.
    pub(crate) fn report_change(&self) {
        // A board is registered on every shard.
        let field = Command::new("HGET").arg(&self.keys(0).users());
        let body = Pipeline::new(vec![field.arg(Keys::WATCHED)]).body();
        (self.on_change)(Changed::Any(&body));
    }

    /// Calls one script, and returns its reply. The reply begins with the stored fingerprint.
    ///
    /// # Errors
    ///
    /// [`Error::StoreUnavailable`] if the store does not respond, [`Error::Misconfigured`] if it
    /// refuses the call or holds the data of another deployment.
    pub async fn run_script(&self, call: Command) -> Result<Reply, Error> {
        let replies = self.run_scripts(vec![call]).await?;
        let missing = || StoreError::Unavailable("no reply".to_owned());
        Ok(replies.into_iter().next().ok_or_else(missing)?)
    }

    /// Calls scripts in one request, and returns their replies. Each reply begins with the stored
    /// fingerprint.
    ///
    /// While changes of visibility or erasures are pending, further requests complete them on the
    /// boards of the calls, and repeat the calls: no reply shows a user who is partly hidden or erased.
    ///
    /// # Errors
    ///
    /// As [`Self::run_script`].
    pub async fn run_scripts(&self, calls: Vec<Command>) -> Result<Vec<Reply>, Error> {
        self.check_fingerprints().await?;
        let calls = Pipeline::new(calls);
        let replies = self.store.run(&calls).await?;
        for reply in &replies {
            self.check(reply.at(0)?)?;
        }
        let is_pending = |reply: &Reply| reply.at(0).is_ok_and(fingerprint::has_pending_changes);
        if !replies.iter().any(is_pending) {
            return Ok(replies);
        }
        // Boxed: the futures of all routes would contain this one.
        Box::pin(pending::repeat_settled(self, calls.commands(), replies)).await
    }

    /// Runs commands that are no scripts, in one request together with a check of the shard's
    /// fingerprint, and returns their replies.
    ///
    /// # Errors
    ///
    /// As [`Self::run_script`].
    pub async fn run_commands(
        &self,
        keys: &Keys,
        commands: Vec<Command>,
    ) -> Result<Vec<Reply>, Error> {
        self.check_fingerprints().await?;
        let commands = [fingerprint::read(keys)]
            .into_iter()
            .chain(commands)
            .collect();
        let mut replies = self.store.run(&Pipeline::new(commands)).await?.into_iter();
        self.check(&replies.next().unwrap_or(Reply::Nil))?;
        Ok(replies.collect())
    }

    /// Compares the stored fingerprint of a shard, or nil, with that of the settings.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] if they differ, [`Error::StoreUnavailable`] during a rebuild.
    pub fn check(&self, stored: &Reply) -> Result<(), Error> {
        fingerprint::check(&self.config, &self.fingerprint, stored)
    }

    /// Checks the stored fingerprint of a shard for commands that also run while a rebuild locks it.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] if the shard holds the data of another deployment.
    pub fn check_even_locked(&self, stored: &Reply) -> Result<(), Error> {
        match stored {
            Reply::Text(text) if fingerprint::is_write_locked(&self.config, text) => Ok(()),
            stored => self.check(stored),
        }
    }

    /// Checks the stored fingerprint of a shard whose outbox is drained: a rebuild of data of the former version needs all
    /// of it in the journal.
    ///
    /// # Errors
    ///
    /// As [`Self::check_even_locked`].
    pub fn check_drained(&self, stored: &Reply) -> Result<(), Error> {
        match stored {
            Reply::Text(text) if fingerprint::is_former(&self.config, text) => Ok(()),
            stored => self.check_even_locked(stored),
        }
    }

    /// Runs one command as [`Self::run_commands`] does.
    ///
    /// # Errors
    ///
    /// As [`Self::run_script`].
    pub async fn run_command(&self, keys: &Keys, command: Command) -> Result<Reply, Error> {
        let commands = vec![command];
        let mut replies = self.run_commands(keys, commands).await?;
        Ok(replies.pop().unwrap_or(Reply::Nil))
    }

    /// Reads values of users or of targets from their shards, in one request, and returns those of each
    /// one in their order. `commands` returns the commands for some of them on the shard with the keys; each
    /// replies with as many values for every one, those of the first one first.
    ///
    /// # Errors
    ///
    /// As [`Self::run_script`].
    pub async fn read_values(
        &self,
        ids: &[&str],
        commands: &dyn Fn(&Keys, &[&str]) -> Vec<Command>,
    ) -> Result<Vec<Vec<Reply>>, Error> {
        let mut values = vec![Vec::new(); ids.len()];
        let (mut all, mut command_indexes) = (Vec::new(), Vec::new());
        let shards = self.config.indexes_by_shard(ids);
        let Some((first, _)) = shards.first() else {
            return Ok(values);
        };
        for (shard, indexes) in &shards {
            let shard_ids = indexes.iter().filter_map(|index| ids.get(*index));
            let shard_ids: Vec<&str> = shard_ids.copied().collect();
            all.extend(commands(&self.keys(*shard), &shard_ids));
            command_indexes.resize(all.len(), indexes);
        }
        let replies = self.run_commands(&self.keys(*first), all).await?;
        for (indexes, reply) in command_indexes.into_iter().zip(replies) {
            let mut shard_values = reply.into_list()?.into_iter();
            let count = shard_values.len() / indexes.len();
            for index in indexes {
                if let Some(values) = values.get_mut(*index) {
                    values.extend(shard_values.by_ref().take(count));
                }
            }
        }
        Ok(values)
    }

    /// Makes sure that every shard holds the fingerprint before one of them is written: with a
    /// smaller `SHARDS`, data on other shards would silently disappear.
    ///
    /// # Errors
    ///
    /// As [`Self::run_script`].
    pub async fn claim(&self) -> Result<(), Error> {
        if self.check_fingerprints().await? {
            return Ok(());
        }
        let claims = self.on_fingerprints("HSETNX", &[&self.fingerprint]);
        self.store.run(&claims).await?;
        // Another deployment may have written its own first.
        self.check_fingerprints().await.map(|_| ())
    }

    /// Makes sure that no shard was written with other settings: a user whose shard seems empty
    /// would start again from zero. Returns whether every shard holds the fingerprint.
    async fn check_fingerprints(&self) -> Result<bool, Error> {
        if self.fingerprints_match.load(Ordering::Relaxed) {
            return Ok(true);
        }
        let mut all = true;
        for stored in self.store.run(&self.on_fingerprints("HGET", &[])).await? {
            self.check(&stored)?;
            all = all && stored != Reply::Nil;
        }
        self.fingerprints_match.store(all, Ordering::Relaxed);
        Ok(all)
    }

    /// Returns a command on the fingerprint of each shard.
    fn on_fingerprints(&self, name: &'static str, arguments: &[&str]) -> Pipeline {
        let command = |shard| fingerprint::command(name, &self.keys(shard)).args(arguments);
        Pipeline::new((0..self.config.shards).map(command).collect())
    }
}
