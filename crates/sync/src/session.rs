//! A run: the facts of a source, and the service that they are compared with.

use std::collections::{BTreeMap, BTreeSet};

use activity_rank_core::calendar::Instant;
use activity_rank_core::config::Rules;
use http::StatusCode;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::board::{Board, Scope};
use crate::check::check;
use crate::client::Client;
use crate::compare::{Basis, Comparison, Difference, is_daily};
use crate::facts::{Facts, Key, Options, PUBLISH};
use crate::failure::Failure;
use crate::item::{ItemCheck, ItemKind, rules};
use crate::journal::Journal;
use crate::platform::Progress;
use crate::problem::Problem;
use crate::request_error::RequestError;
use crate::sources::{Adapter, Collector};

/// A run undoes this many activities without a further check.
const FEW: usize = 20;

/// The outcome of an item: `None` if it was not sent, and otherwise why it does not count, if it does not.
pub type Sent = Option<Result<Option<String>, Problem>>;

/// Sends arrays to the service.
pub trait Upload {
    /// Sends items in order. Returns their outcomes in the same order.
    ///
    /// # Errors
    ///
    /// [`Failure`] if the service gives no usable response.
    fn send(
        &self,
        kind: ItemKind,
        check: &ItemCheck,
        items: &[Value],
    ) -> impl Future<Output = Result<Vec<Sent>, Failure>>;
}

/// Numbers of sent items.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// All.
    pub items: u64,
    /// Items that the service has refused.
    pub refused: u64,
}

impl Totals {
    fn of(sent: &[Sent]) -> Self {
        let sent = sent.iter().flatten();
        Self {
            items: sent.clone().count() as u64,
            refused: sent.filter(|result| result.is_err()).count() as u64,
        }
    }
}

/// The part of `GET /healthz` that a run depends on.
#[derive(Default, Deserialize)]
struct Health {
    configured: Configured,
}

#[derive(Default, Deserialize)]
struct Configured {
    content_periods: Vec<String>,
}

/// A run.
pub struct Session<'a, U> {
    /// The service.
    pub client: Client,
    /// Its journal.
    pub journal: Journal,
    /// The content of the source.
    pub facts: Facts,
    /// The names, titles and links that the service would refuse, and that were left out.
    pub left_out: u64,
    /// The part of the boards that the source accounts for.
    pub scope: Scope,
    /// The check of activities.
    pub check: ItemCheck,
    /// The rules of the service, if it responds with them.
    pub rules: Option<Rules>,
    /// The sender.
    pub upload: &'a U,
    /// Where it shows how far it is.
    pub progress: &'a dyn Progress,
    /// When it began to read the source.
    pub started: Instant,
    /// The most repetitions of a request.
    pub retries: usize,
    has_content: bool,
}

impl<'a, U: Upload> Session<'a, U> {
    /// Reads a source. Rows that the service would refuse are left out, and are faults of the facts.
    ///
    /// # Errors
    ///
    /// [`Failure`] if the source cannot be read.
    pub async fn read<A: Adapter>(
        client: Client,
        adapter: A,
        options: Options,
        started: Instant,
        upload: &'a U,
        progress: &'a dyn Progress,
    ) -> Result<Self, Failure> {
        let (rules, has_content) = read_rules(&client, options.retries, progress).await?;
        let id_prefix = options.id_prefix.as_deref().unwrap_or(A::ID_PREFIX);
        let prefixes = adapter.target_prefixes().into_iter();
        let prefixes = prefixes.map(|prefix| format!("{id_prefix}{prefix}"));
        let prefixes: Vec<String> = prefixes.filter(|prefix| !prefix.is_empty()).collect();
        let mut facts = Facts::new(id_prefix, &options, A::TYPES, A::UNIT);
        let is_daily = |action: &str| is_daily(rules.as_ref(), action, started);
        let mut collector = Collector {
            facts: &mut facts,
            mapping: &options.mapping,
            is_daily: &is_daily,
        };
        adapter.read(&mut collector, progress).await?;
        let item_check = ItemCheck::activities(rules.clone());
        let left_out = check(&mut facts, &item_check);
        let scope = Scope {
            prefixes: match options.prefixes.as_slice() {
                [] => prefixes,
                prefixes => prefixes.to_vec(),
            },
            actions: facts.actions().map(str::to_owned).collect(),
            unread: facts.unread.clone(),
        };
        Ok(Self {
            journal: Journal::new(client.clone(), options.retries),
            client,
            facts,
            left_out,
            scope,
            check: item_check,
            rules,
            upload,
            progress,
            started,
            has_content,
            retries: options.retries,
        })
    }

    /// Reads the journal, for activity in the scope of the source.
    ///
    /// # Errors
    ///
    /// [`Failure`] if there is no journal, or the source has a target out of the scope.
    pub async fn read_board(&self) -> Result<Board, Failure> {
        if self.scope.prefixes.is_empty() {
            let message = "a comparison needs --id-prefix, or --prefix for targets with other ids; --prefix '' is all targets";
            return Err(Failure::Usage(message.to_owned()));
        }
        if self.scope.actions.is_empty() {
            let message = "the source has no activity to compare: --map like=like names an action that it may have";
            return Err(Failure::Usage(message.to_owned()));
        }
        let board = Board::read(&self.journal, &self.scope, self.progress).await;
        let board = board.map_err(without_journal)?;
        match self
            .basis(&board, self.rules()?, self.started)
            .out_of_scope()
        {
            None => Ok(board),
            Some(key) => Err(Failure::Usage(format!(
                "the target {} of the source begins with none of the prefixes {}: --prefix names them",
                key.target,
                self.scope.prefixes.join(", ")
            ))),
        }
    }

    /// Reads the journal, whatever targets the source has.
    ///
    /// # Errors
    ///
    /// [`Failure`] if there is no journal.
    pub async fn read_all(&self) -> Result<Board, Failure> {
        let mut facts = self.facts.activities.keys();
        let is_outside = facts.any(|key| !self.scope.has_target(&key.target));
        let everything = Scope {
            prefixes: vec![String::new()],
            ..self.scope.clone()
        };
        let scope = if is_outside { &everything } else { &self.scope };
        Board::read(&self.journal, scope, self.progress).await
    }

    /// Reads what has been added to the journal.
    ///
    /// # Errors
    ///
    /// [`Failure`] if the service does not respond.
    pub async fn update(&self, board: &mut Board) -> Result<(), Failure> {
        board
            .update(&self.journal, &self.scope, self.progress)
            .await
    }

    /// Compares the facts with a board.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] if the service has not responded with its rules.
    pub fn compare(&self, board: &Board) -> Result<Comparison, Failure> {
        Ok(self.basis(board, self.rules()?, self.started).compare())
    }

    pub(crate) fn rules(&self) -> Result<&Rules, Failure> {
        let url = self.client.url(&["healthz"]);
        let missing = || Failure::Usage(format!("{url} gave no rules, which a comparison needs"));
        self.rules.as_ref().ok_or_else(missing)
    }

    /// Returns what a comparison is made of. `read_at` is when the source began to be read.
    pub(crate) fn basis<'b>(
        &'b self,
        board: &'b Board,
        rules: &'b Rules,
        read_at: Instant,
    ) -> Basis<'b> {
        Basis {
            facts: &self.facts,
            board,
            rules,
            scope: &self.scope,
            has_content: self.has_content,
            now: Instant(Timestamp::now().as_millisecond()),
            read_at,
        }
    }

    /// Returns what is missing, with the instants of the source, and what counts once a day.
    #[must_use]
    pub fn missing(&self, comparison: &Comparison) -> Vec<(Key, Option<Instant>)> {
        let missing = comparison.differences.iter();
        let missing = missing.filter_map(|difference| match difference {
            Difference::Missing { key, .. } => Some(key),
            _ => None,
        });
        let missing: BTreeSet<&Key> = missing.collect();
        self.all(|key| key.daily.is_some() || missing.contains(key))
    }

    /// Returns public activities in the order of their instants.
    pub fn all(&self, is_sent: impl Fn(&Key) -> bool) -> Vec<(Key, Option<Instant>)> {
        let facts = self.facts.activities.iter();
        let mut sent: Vec<_> = facts
            .filter(|(key, fact)| !fact.is_private && is_sent(key))
            .map(|(key, fact)| (key.clone(), fact.at))
            .collect();
        sent.sort_by(|(first, at), (second, other)| (at, first).cmp(&(other, second)));
        sent
    }

    /// Sends profiles that differ from the stored ones.
    ///
    /// # Errors
    ///
    /// [`Failure`] if the service gives no usable response.
    pub async fn send_profiles(&self, board: Option<&Board>) -> Result<Totals, Failure> {
        let mut items = Vec::new();
        for (user, profile) in &self.facts.profiles {
            let stored = match board {
                Some(board) if board.is_erased(user, None) => continue,
                Some(board) => board.profiles.get(user).cloned().unwrap_or_default(),
                None => self.read_profile(user).await?,
            };
            let given = profile.json(user);
            let mut merged = stored.clone();
            merged.remove("hidden");
            merged.remove("level");
            merged.extend(given.clone());
            let is_same = given
                .iter()
                .all(|(name, value)| name == "id" || stored.get(name) == Some(value));
            if !is_same {
                items.push(Value::Object(merged));
            }
        }
        let (kind, check) = (ItemKind::Profile, ItemCheck::Profile);
        let sent = self.upload.send(kind, &check, &items).await?;
        Ok(Totals::of(&sent))
    }

    /// Reads the profile that a service without a journal has of a user.
    async fn read_profile(&self, user: &str) -> Result<Map<String, Value>, Failure> {
        let url = self.client.url(&["v1", "users", user]);
        let get = || self.client.get_with_key(&url);
        let notify = |error: &RequestError, wait| self.progress.retrying(&error.to_string(), wait);
        let read = self.client.with_backoff(self.retries, notify, get);
        match read.await {
            Ok(body) => Ok(serde_json::from_slice(&body).unwrap_or_default()),
            Err(RequestError::Refused { problem, .. })
                if problem.status == StatusCode::NOT_FOUND =>
            {
                Ok(Map::new())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Sends publications, which register their target with its instant, then targets, then all other activities. Returns what
    /// rules have refused, by reason, and the numbers of targets.
    ///
    /// # Errors
    ///
    /// [`Failure`] if the service gives no usable response.
    pub async fn send_all(
        &self,
        activities: &[(Key, Option<Instant>)],
        board: Option<&Board>,
    ) -> Result<(BTreeMap<Key, String>, Totals), Failure> {
        let (publications, others): (Vec<_>, Vec<_>) = activities
            .iter()
            .partition(|(key, _)| key.action == PUBLISH);
        let mut refused = self.send_activities(&publications).await?;
        let targets = self.send_targets(board).await?;
        refused.extend(self.send_activities(&others).await?);
        Ok((refused, targets))
    }

    async fn send_activities(
        &self,
        activities: &[&(Key, Option<Instant>)],
    ) -> Result<BTreeMap<Key, String>, Failure> {
        let facts = activities.iter().filter_map(|(key, at)| {
            let fact = self.facts.activities.get(key)?;
            Some((key, key.json(fact, *at)))
        });
        let (keys, items): (Vec<_>, Vec<_>) = facts.unzip();
        let sent = self.upload.send(ItemKind::Activity, &self.check, &items);
        let results = sent.await?;
        let refused = keys.into_iter().zip(results).filter_map(|(key, result)| {
            let reason = match result? {
                Ok(reason) => reason?,
                Err(problem) => problem.slug(),
            };
            Some((key.clone(), reason))
        });
        Ok(refused.collect())
    }

    /// Registers targets that differ from the registered ones.
    async fn send_targets(&self, board: Option<&Board>) -> Result<Totals, Failure> {
        if !self.has_content {
            return Ok(Totals::default());
        }
        let mut items = Vec::new();
        for (id, target) in &self.facts.targets {
            let mut fields = target.json(id);
            let registered = board.and_then(|board| board.registrations.get(id));
            // An author who was erased, or who is the person who is registered, is left out.
            if let Some((board, author)) = board.zip(target.author.as_deref()) {
                let known = registered.map_or("", |registered| registered.author.as_str());
                let is_known = board.person(known) == board.person(author);
                if is_known || board.is_erased(author, None) {
                    fields.remove("author");
                }
            }
            let is_same = registered.is_some_and(|registered| {
                let given = fields.iter().filter(|(name, _)| *name != "id");
                given.eq(registered.fields.iter())
            });
            if !is_same {
                items.push(Value::Object(fields));
            }
        }
        let (kind, check) = (ItemKind::Target, ItemCheck::Target);
        let sent = self.upload.send(kind, &check, &items).await?;
        Ok(Totals::of(&sent))
    }

    /// Refuses to undo more than half of the activity that counts: then the source is more likely to be incomplete.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] with the numbers.
    pub fn check_loss(&self, comparison: &Comparison, board: &Board) -> Result<(), Failure> {
        let differences = comparison.differences.iter();
        let is_excess = |difference: &&Difference| matches!(difference, Difference::Excess { .. });
        let (excess, standing) = (differences.filter(is_excess).count(), board.standing());
        if excess <= FEW || 2 * excess <= standing {
            return Ok(());
        }
        Err(Failure::Usage(format!(
            "nothing was changed: the source lacks {excess} of the {} that count; if that is right, add --force",
            crate::report::activities(standing as u64)
        )))
    }
}

/// Returns the rules of the service, if it responds with them, and whether it has boards of content.
///
/// # Errors
///
/// [`Failure`] if there is no response after retries. Without any, the source alone is checked.
async fn read_rules(
    client: &Client,
    retries: usize,
    progress: &dyn Progress,
) -> Result<(Option<Rules>, bool), Failure> {
    let url = client.url(&["healthz"]);
    let get = || client.get(&url);
    let notify = |error: &RequestError, wait| progress.retrying(&error.to_string(), wait);
    let health = match client.with_backoff(retries, notify, get).await {
        Err(error @ RequestError::NoResponse { .. }) if retries > 0 => return Err(error.into()),
        health => health.unwrap_or_default(),
    };
    let Health { configured } = serde_json::from_slice(&health).unwrap_or_default();
    Ok((rules(&health), !configured.content_periods.is_empty()))
}

/// Says what a comparison needs if there is no journal.
fn without_journal(failure: Failure) -> Failure {
    match failure {
        Failure::Service(RequestError::Refused { problem, .. }) if problem.status == 404 => {
            let message = "a comparison needs the journal, and this deployment has none: bind JOURNAL, see docs/operations.md";
            Failure::Usage(message.to_owned())
        }
        failure => failure,
    }
}
