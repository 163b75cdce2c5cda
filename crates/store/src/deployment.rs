//! One deployment: its configuration and calendar, and how it calls the store.

mod generation;
pub mod pending;

use crate::fingerprint::{self, Stored};
use crate::keys::{FIRST_GENERATION, Keys};
use crate::redis::{Client, Command, Pipeline, Reply, StoreError, Transport};
use crate::stream::START;
use activity_rank_core::account::Accounts;
use activity_rank_core::calendar::{Calendar, Zone};
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;
use activity_rank_core::event::Definitions;
use activity_rank_core::rules::Timeline;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Maximum number of calls of a script that needs more input after its first call. Two have always
/// been enough so far.
pub const MAX_CALLS: usize = 4;

/// Users whose accounts an isolate remembers.
const MAX_KNOWN_ACCOUNTS: usize = 1000;

/// The configuration, calendar and store that the requests of one isolate share.
pub struct Deployment {
    /// The settings.
    pub config: Config,
    /// The days of the deployment's time zone.
    pub calendar: Calendar,
    /// The client of the store.
    pub store: Client,
    /// Is called after changes of boards; does nothing at first.
    pub on_change: fn(Changed<'_>),
    /// Waits so many milliseconds; does not wait at first.
    pub wait: fn(u32) -> Wait,
    /// Whether every shard is known to hold this deployment's fingerprint.
    fingerprints_match: AtomicBool,
    /// What is known of each shard. Deployments of one isolate share it.
    pub known: Rc<Known>,
}

/// The end of a wait.
pub type Wait = Pin<Box<dyn Future<Output = ()>>>;

/// What the last calls have found on each shard.
#[derive(Debug, Default)]
pub struct Known {
    shards: RefCell<BTreeMap<u32, KnownShard>>,
    /// How often another generation has been found.
    replacements: Cell<u32>,
    /// Members who have accounts: the last ones that calls have found.
    accounts: RefCell<Vec<(String, Accounts)>>,
    /// The last accounts that calls have found, and their members.
    members: RefCell<Vec<(String, String)>>,
}

#[derive(Clone, Debug)]
struct KnownShard {
    /// The generation of the data, and the fingerprint that names it.
    generation: u32,
    fingerprint: String,
    /// The definitions of events and of versions of the rules.
    definitions: Definitions,
    /// The versions of the rules among the definitions.
    rules: Rc<Timeline>,
    /// The last entry of the stream that the receivers have applied.
    received: String,
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
            config,
            calendar,
            store,
            on_change: |_| (),
            wait: |_| Box::pin(async {}),
            fingerprints_match,
            known: Rc::default(),
        }
    }

    /// Reads or changes what is known of a shard.
    fn with_known<T>(&self, shard: u32, access: impl FnOnce(&mut KnownShard) -> T) -> T {
        let mut known = self.known.shards.borrow_mut();
        access(known.entry(shard).or_insert_with(|| KnownShard {
            generation: FIRST_GENERATION,
            fingerprint: fingerprint::fingerprint(&self.config, FIRST_GENERATION),
            definitions: Definitions::default(),
            rules: Rc::default(),
            received: START.to_owned(),
        }))
    }

    /// Returns the schema fingerprint of the data that the calls on a shard expect.
    #[must_use]
    pub fn fingerprint(&self, shard: u32) -> String {
        self.with_known(shard, |known| known.fingerprint.clone())
    }

    /// Returns the known definitions of events of a shard.
    pub(crate) fn definitions(&self, shard: u32) -> Definitions {
        self.with_known(shard, |known| known.definitions.clone())
    }

    /// Returns whether these are the known definitions of events of a shard; remembers them if not.
    pub(crate) fn knows_definitions(&self, shard: u32, text: &str) -> bool {
        let is_known = self.with_known(shard, |known| known.definitions.text() == text);
        if !is_known {
            self.set_definitions(shard, text);
        }
        is_known
    }

    /// Remembers the definitions of events of a shard.
    pub(crate) fn set_definitions(&self, shard: u32, text: &str) {
        let definitions = Definitions::new(text);
        let rules = Rc::new(Timeline::parse(definitions.rules()));
        self.with_known(shard, |known| {
            (known.definitions, known.rules) = (definitions, rules);
        });
    }

    /// Returns the known versions of the rules of a shard.
    pub(crate) fn rules(&self, shard: u32) -> Rc<Timeline> {
        self.with_known(shard, |known| Rc::clone(&known.rules))
    }

    /// Returns the known accounts of a user. The counting script compares them with the stored ones.
    pub(crate) fn accounts(&self, user: &str) -> Accounts {
        let known = self.known.accounts.borrow();
        let found = known.iter().find(|(known, _)| known == user);
        found.map_or_else(Accounts::default, |(_, accounts)| accounts.clone())
    }

    /// Remembers the accounts of a user.
    pub(crate) fn set_accounts(&self, user: &str, accounts: Accounts) {
        let mut known = self.known.accounts.borrow_mut();
        known.retain(|(known, _)| known != user);
        if known.len() >= MAX_KNOWN_ACCOUNTS {
            known.clear();
        }
        if accounts != Accounts::default() {
            known.push((user.to_owned(), accounts));
        }
    }

    /// Returns the member for whom the last activity of a user counted, as far as it is known; else the user.
    #[must_use]
    pub fn counted_member(&self, user: &str) -> String {
        let members = self.known.members.borrow();
        let found = members.iter().find(|(account, _)| account == user);
        found.map_or(user, |(_, member)| member).to_owned()
    }

    /// Remembers for whom the activity of a user counts: for a member, or for the user.
    pub(crate) fn set_counted_member(&self, user: &str, member: Option<&str>) {
        let mut members = self.known.members.borrow_mut();
        members.retain(|(account, _)| account != user);
        if members.len() >= MAX_KNOWN_ACCOUNTS {
            members.clear();
        }
        members.extend(member.map(|member| (user.to_owned(), member.to_owned())));
    }

    /// Returns the last entry of a shard's stream that the receivers have applied, as far as it is known.
    pub(crate) fn received(&self, shard: u32) -> String {
        self.with_known(shard, |known| known.received.clone())
    }

    /// Remembers the last entry of a shard's stream that the receivers have applied.
    pub(crate) fn set_received(&self, shard: u32, last: &str) {
        self.with_known(shard, |known| last.clone_into(&mut known.received));
    }

    /// Returns the keys of a shard.
    #[must_use]
    pub fn keys(&self, shard: u32) -> Keys {
        let generation = self.with_known(shard, |known| known.generation);
        Keys::new(&self.config.prefix, shard, generation)
    }

    /// Returns the keys of the shard of a user.
    #[must_use]
    pub fn keys_of(&self, user: &str) -> Keys {
        self.keys(self.config.shard_of(user))
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
    /// After a rebuild, the calls that expected data before it are repeated.
    ///
    /// # Errors
    ///
    /// As [`Self::run_script`].
    pub async fn run_scripts(&self, calls: Vec<Command>) -> Result<Vec<Reply>, Error> {
        self.check_fingerprints().await?;
        let mut calls = Pipeline::new(calls);
        let mut replies = self.store.run(&calls).await?;
        let (mut is_current, mut is_settled) = (true, true);
        for (call, reply) in calls.commands().iter().zip(&replies) {
            let stored = reply.at(0)?;
            is_current = is_current && self.accepts(call, stored)?;
            is_settled = is_settled && !fingerprint::has_pending_changes(stored);
        }
        // Boxed: the futures of all routes would contain these.
        if !is_current {
            Box::pin(self.repeat_refused(&mut calls, &mut replies)).await?;
            let mut stored = replies.iter().filter_map(|reply| reply.at(0).ok());
            is_settled = !stored.any(fingerprint::has_pending_changes);
        }
        if is_settled {
            return Ok(replies);
        }
        Box::pin(pending::repeat_settled(self, calls.commands(), replies)).await
    }

    /// Runs commands that are no scripts, in one request together with a check of the fingerprints of their shards, and
    /// returns their replies.
    ///
    /// # Errors
    ///
    /// As [`Self::run_script`].
    pub async fn run_commands(&self, commands: Vec<Command>) -> Result<Vec<Reply>, Error> {
        self.check_fingerprints().await?;
        let mut shards: Vec<u32> = commands
            .iter()
            .map(|command| self.shard_of(command))
            .collect();
        shards.sort_unstable();
        shards.dedup();
        // Their key has no generation.
        let reads = shards
            .iter()
            .map(|shard| fingerprint::read(&self.keys(*shard)));
        let mut sent = Pipeline::new(reads.chain(commands).collect());
        loop {
            let mut replies = self.store.run(&sent).await?;
            let values = replies.split_off(shards.len().min(replies.len()));
            let mut is_current = true;
            for command in sent.commands_mut().iter_mut().skip(shards.len()) {
                let shard = self.shard_of(command);
                let index = shards.binary_search(&shard).unwrap_or_default();
                if !self.accepts(command, replies.get(index).unwrap_or(&Reply::Nil))? {
                    is_current = false;
                    *command = self.on_present_data(command);
                }
            }
            if is_current {
                return Ok(values);
            }
        }
    }

    /// Compares the stored fingerprint of a shard, or nil, with the settings. Returns the generation of the data, and
    /// remembers it; `None` without data.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] if they differ.
    pub fn check(&self, shard: u32, stored: &Reply) -> Result<Option<u32>, Error> {
        let generation = fingerprint::check(&self.config, stored)?;
        if let Some(new) = generation
            && self.with_known(shard, |known| known.generation != new)
        {
            let fingerprint = fingerprint::fingerprint(&self.config, new);
            self.with_known(shard, |known| {
                (known.generation, known.fingerprint) = (new, fingerprint);
            });
            self.known.replacements.set(self.replacements() + 1);
            self.report_change();
        }
        Ok(generation)
    }

    /// Checks the stored fingerprint of a shard whose outbox is drained: a rebuild of data of the former version needs all
    /// of it in the journal.
    ///
    /// # Errors
    ///
    /// As [`Self::check`].
    pub fn check_drained(&self, shard: u32, stored: &Reply) -> Result<(), Error> {
        match stored {
            Reply::Text(text)
                if Stored::parse(text).is_former(&fingerprint::stamp(&self.config)) =>
            {
                Ok(())
            }
            stored => self.check(shard, stored).map(|_| ()),
        }
    }

    /// Returns the shard of the first key of a command.
    pub(crate) fn shard_of(&self, command: &Command) -> u32 {
        let (_, number) = command.shard().rsplit_once(':').unwrap_or_default();
        number.parse().unwrap_or_default()
    }

    /// Runs one command as [`Self::run_commands`] does.
    ///
    /// # Errors
    ///
    /// As [`Self::run_script`].
    pub async fn run_command(&self, command: Command) -> Result<Reply, Error> {
        let mut replies = self.run_commands(vec![command]).await?;
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
        for (shard, indexes) in &shards {
            let shard_ids = indexes.iter().filter_map(|index| ids.get(*index));
            let shard_ids: Vec<&str> = shard_ids.copied().collect();
            all.extend(commands(&self.keys(*shard), &shard_ids));
            command_indexes.resize(all.len(), indexes);
        }
        if all.is_empty() {
            return Ok(values);
        }
        let replies = self.run_commands(all).await?;
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
        let claim = |shard| {
            let claim = fingerprint::command("HSETNX", &self.keys(shard));
            claim.arg(&self.fingerprint(shard))
        };
        let claims = (0..self.config.shards).map(claim).collect();
        self.store.run(&Pipeline::new(claims)).await?;
        // Another deployment may have written its own first.
        self.check_fingerprints().await.map(|_| ())
    }

    /// Makes sure that no shard was written with other settings: a user whose shard seems empty
    /// would start again from zero. Returns whether every shard holds a fingerprint.
    async fn check_fingerprints(&self) -> Result<bool, Error> {
        if self.fingerprints_match.load(Ordering::Relaxed) {
            return Ok(true);
        }
        let all = self.read_fingerprints().await?;
        self.fingerprints_match.store(all, Ordering::Relaxed);
        Ok(all)
    }

    /// Reads the fingerprints of all shards. Returns whether each holds one.
    async fn read_fingerprints(&self) -> Result<bool, Error> {
        let mut all = true;
        let reads = (0..self.config.shards).map(|shard| fingerprint::read(&self.keys(shard)));
        let replies = self.store.run(&Pipeline::new(reads.collect())).await?;
        for (shard, stored) in (0..).zip(replies) {
            all = self.check(shard, &stored)?.is_some() && all;
        }
        Ok(all)
    }
}
