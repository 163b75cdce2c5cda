//! `activity-rank sync`: brings the history of a community from its software, and stays in step with it.
//!
//! ```text
//! source ──▶ adapter ──▶ facts ──▶ check ──┬──▶ send: what the journal lacks, or everything
//!                                          └──▶ compare with the journal ──▶ heal ──▶ compare
//! ```
//!
//! In reading order:
//!
//! - `sources`: the adapters, one file for each software. `facts`: what they fill. `instant`: instants as databases
//!   write them.
//! - `check`: finds rows that the service would refuse.
//! - `board`: the activities that count, by the journal. `compare`: finds differences. `report`: prints them.
//! - `send`: sends arrays. `heal`: mends differences by counting and undoing.

mod board;
mod check;
mod compare;
mod facts;
mod heal;
mod instant;
mod report;
mod send;
mod sources;

use std::collections::BTreeMap;
use std::process::ExitCode;

use activity_rank_core::calendar::Instant;
use activity_rank_core::config::Rules;
use jiff::Timestamp;
use reqwest::StatusCode;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::args::{
    FileOrUrl, FileOrUrlArgs, ServiceArgs, SourceArgs, StackExchangeArgs, SyncArgs, SyncOptions,
};
use crate::client::Client;
use crate::count::count;
use crate::failure::{DIFFERENT_SOURCE, Failure, LINES_REFUSED};
use crate::import::ACTIVITY;
use crate::profiles::PROFILES;
use crate::progress::Progress;
use crate::rebuild::journal::Journal;
use crate::request_error::RequestError;
use crate::retry::with_backoff;
use crate::screen::Screen;
use crate::targets::TARGETS;
use crate::upload::item::{ItemCheck, rules};
use crate::upload::summary::Summary;

use board::{Board, Scope};
use compare::{Basis, Comparison, Difference, is_daily};
use facts::{Facts, Key, Mapping, PUBLISH};
use heal::Plan;
use report::activities;
use send::Sender;
use sources::{Adapter, Collector};

/// A run undoes this many activities without a further check.
const FEW: usize = 20;

/// Options that adapters share.
struct Options {
    map: Vec<(String, Option<String>)>,
    id_prefix: String,
    mapping: Mapping,
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

/// The numbers of sent and of refused items of an array.
#[derive(Clone, Debug, Default)]
struct Sent {
    items: u64,
    refused: u64,
}

impl Sent {
    fn new(summary: &Summary) -> Self {
        Self {
            items: summary.lines(),
            refused: summary.refused(),
        }
    }
}

/// A run: the facts, and the service that they are compared with.
struct Session<'a> {
    options: &'a SyncOptions,
    client: Client,
    journal: Journal,
    facts: Facts,
    scope: Scope,
    check: ItemCheck,
    rules: Option<Rules>,
    has_content: bool,
    progress: Progress,
}

/// Runs `sync`.
///
/// # Errors
///
/// [`Failure`] if the source cannot be read or the service gives no usable response.
pub async fn run(service: &ServiceArgs, args: &SyncArgs) -> Result<ExitCode, Failure> {
    match &args.source {
        SourceArgs::Csv(args) => read(service, &args.sync, sources::csv::Csv(args)).await,
        SourceArgs::Discourse(FileOrUrlArgs { source, sync }) => match source {
            FileOrUrl::File(file) => read(service, sync, sources::discourse::Discourse(file)).await,
            FileOrUrl::Url(url) => {
                let retries = sync.retries;
                let forum = sources::discourse_api::DiscourseApi { url, retries };
                read(service, sync, forum).await
            }
        },
        SourceArgs::Ghost(args) => read(service, &args.sync, sources::ghost::Ghost(args)).await,
        SourceArgs::Github(args) => {
            read(service, &args.sync, sources::github::Repositories(args)).await
        }
        SourceArgs::Stackexchange(StackExchangeArgs { files, sync }) => {
            let dump = sources::stackexchange::StackExchange(files);
            read(service, sync, dump).await
        }
        SourceArgs::Wordpress(args) => {
            read(service, &args.sync, sources::wordpress::Wordpress(args)).await
        }
    }
}

/// Reads a source, and sends, compares or heals.
async fn read<A: Adapter>(
    service: &ServiceArgs,
    options: &SyncOptions,
    adapter: A,
) -> Result<ExitCode, Failure> {
    let client = Client::new(service)?;
    let (rules, has_content) = read_rules(&client, options).await;
    let id_prefix = options.id_prefix.clone();
    let shared = Options {
        map: options.map.clone(),
        id_prefix: id_prefix.unwrap_or_else(|| A::ID_PREFIX.to_owned()),
        mapping: read_mapping(options)?,
    };
    let now = Instant(Timestamp::now().as_millisecond());
    let progress = Progress::new(None);
    let mut facts = Facts::new(&shared, A::TYPES, A::UNIT);
    let is_daily = |action: &str| is_daily(rules.as_ref(), action, now);
    let mut collector = Collector {
        facts: &mut facts,
        mapping: &shared.mapping,
        is_daily: &is_daily,
    };
    let target_prefixes = adapter.target_prefixes().into_iter();
    let target_prefixes = target_prefixes.map(|prefix| format!("{}{prefix}", shared.id_prefix));
    let target_prefixes = target_prefixes.filter(|prefix| !prefix.is_empty());
    let target_prefixes: Vec<String> = target_prefixes.collect();
    adapter.read(&mut collector, &progress).await?;
    let check = ItemCheck::activities(rules.clone());
    let left_out = check::check(&mut facts, &check);
    progress.finish();
    check::print_faults(&facts, left_out, options.limit);
    if !facts.faults.is_empty() && !options.skip_invalid && !options.dry_run {
        return Err(Failure::InvalidRows(facts.faults.len() as u64));
    }
    let scope = Scope {
        prefixes: match options.prefixes.as_slice() {
            [] => target_prefixes,
            prefixes => prefixes.to_vec(),
        },
        actions: facts.actions().map(str::to_owned).collect(),
    };
    let session = Session {
        options,
        journal: Journal::new(service, options.retries)?,
        client,
        facts,
        scope,
        check,
        rules,
        has_content,
        progress,
    };
    let result = match options.compare || options.heal {
        true => session.compare_and_heal().await,
        false => session.sync().await,
    };
    session.progress.finish();
    result
}

/// Returns the rules of the service, if it responds with them, and whether it has boards of content.
async fn read_rules(client: &Client, options: &SyncOptions) -> (Option<Rules>, bool) {
    let url = client.url(&["healthz"]);
    let get = || client.get(&url);
    // A dry run may be without a service.
    let retries = if options.dry_run { 0 } else { options.retries };
    let health = with_backoff(retries, |_, _| (), get).await;
    let health = health.unwrap_or_default();
    let Health { configured } = serde_json::from_slice(&health).unwrap_or_default();
    (rules(&health), !configured.content_periods.is_empty())
}

/// Reads the file of `--users`.
fn read_mapping(options: &SyncOptions) -> Result<Mapping, Failure> {
    let Some(name) = &options.users else {
        return Ok(Mapping::default());
    };
    let text = std::fs::read_to_string(name).map_err(|cause| Failure::File {
        name: name.clone(),
        cause,
    })?;
    let invalid = |error: serde_json::Error| Failure::Usage(format!("--users: {name}: {error}"));
    let value: Value = serde_json::from_str(&text).map_err(invalid)?;
    let is_mapping = value.get("users").is_some_and(Value::is_object);
    let value = match is_mapping {
        true => value,
        false => json!({ "users": value }),
    };
    serde_json::from_value(value).map_err(invalid)
}

impl Session<'_> {
    fn sender(&self) -> Sender<'_> {
        Sender {
            client: &self.client,
            options: self.options,
        }
    }

    async fn read_board(&self) -> Result<Board, Failure> {
        Board::read(&self.journal, &self.scope, &self.progress).await
    }

    async fn update(&self, board: &mut Board) -> Result<(), Failure> {
        board
            .update(&self.journal, &self.scope, &self.progress)
            .await
    }

    fn compare(&self, board: &Board, rules: &Rules) -> Comparison {
        self.basis(board, rules).compare()
    }

    fn basis<'a>(&'a self, board: &'a Board, rules: &'a Rules) -> Basis<'a> {
        Basis {
            facts: &self.facts,
            board,
            rules,
            scope: &self.scope,
            has_content: self.has_content,
            now: Instant(Timestamp::now().as_millisecond()),
        }
    }

    /// Sends what the journal lacks, or everything without a journal.
    async fn sync(&self) -> Result<ExitCode, Failure> {
        let mut facts = self.facts.activities.keys();
        let is_outside = facts.any(|key| !self.scope.has_target(&key.target));
        let everything = Scope {
            prefixes: vec![String::new()],
            actions: self.scope.actions.clone(),
        };
        let scope = if is_outside { &everything } else { &self.scope };
        let board = match Board::read(&self.journal, scope, &self.progress).await {
            Ok(board) => Some(board),
            Err(Failure::Service(RequestError::Refused { problem, .. }))
                if self.options.dry_run || [403, 404].contains(&problem.status) =>
            {
                None
            }
            Err(Failure::Service(RequestError::NoResponse { .. })) if self.options.dry_run => None,
            Err(failure) => return Err(failure),
        };
        let activities = match board.as_ref().zip(self.rules.as_ref()) {
            Some((board, rules)) => self.missing(&self.compare(board, rules)),
            None => self.all(|_| true),
        };
        if self.options.dry_run {
            return self.print_plan(&activities, board.as_ref());
        }
        let mut summary = Summary::new(None);
        let profiles = self.send_profiles(board.as_ref()).await?;
        let sent = self.send_all(&activities, board.as_ref(), &mut summary);
        let sent = sent.await;
        let targets = sent.as_ref().map(|(_, targets)| targets.clone());
        let targets = targets.unwrap_or_default();
        Screen::print(&match self.options.json {
            true => {
                let activity: Value = serde_json::from_str(&summary.json()).unwrap_or_default();
                let (profiles, targets) = (profiles.items, targets.items);
                json!({"profiles": profiles, "targets": targets, "activity": activity}).to_string()
            }
            false => format!(
                "{}, {}\n{summary}",
                count(profiles.items, "profile"),
                count(targets.items, "target")
            ),
        })?;
        sent?;
        let refused = summary.refused() + profiles.refused + targets.refused;
        Ok(match refused + self.facts.faults.len() as u64 {
            0 => ExitCode::SUCCESS,
            _ => ExitCode::from(LINES_REFUSED),
        })
    }

    /// Returns what is missing, with the instants of the source, and what counts once a day.
    fn missing(&self, comparison: &Comparison) -> Vec<(Key, Option<Instant>)> {
        let missing = comparison.differences.iter();
        let missing = missing.filter_map(|difference| match difference {
            Difference::Missing { key, .. } => Some(key),
            _ => None,
        });
        let missing: std::collections::BTreeSet<&Key> = missing.collect();
        self.all(|key| key.daily.is_some() || missing.contains(key))
    }

    /// Returns public activities in the order of their instants.
    fn all(&self, is_sent: impl Fn(&Key) -> bool) -> Vec<(Key, Option<Instant>)> {
        let facts = self.facts.activities.iter();
        let mut sent: Vec<_> = facts
            .filter(|(key, fact)| !fact.is_private && is_sent(key))
            .map(|(key, fact)| (key.clone(), fact.at))
            .collect();
        sent.sort_by(|(first, at), (second, other)| (at, first).cmp(&(other, second)));
        sent
    }

    /// Sends profiles that differ from the stored ones.
    async fn send_profiles(&self, board: Option<&Board>) -> Result<Sent, Failure> {
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
        let mut summary = Summary::new(None);
        let check = ItemCheck::Profile;
        self.sender()
            .send(PROFILES, check, &items, &mut summary)
            .await?;
        Ok(Sent::new(&summary))
    }

    /// Reads the profile that a service without a journal has of a user.
    async fn read_profile(&self, user: &str) -> Result<Map<String, Value>, Failure> {
        let url = self.client.url(&["v1", "users", user]);
        let get = || self.client.get_with_key(&url);
        match with_backoff(self.options.retries, |_, _| (), get).await {
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
    async fn send_all(
        &self,
        activities: &[(Key, Option<Instant>)],
        board: Option<&Board>,
        summary: &mut Summary,
    ) -> Result<(BTreeMap<Key, String>, Sent), Failure> {
        let (publications, others): (Vec<_>, Vec<_>) = activities
            .iter()
            .partition(|(key, _)| key.action == PUBLISH);
        let mut refused = self.send_activities(&publications, summary).await?;
        let targets = self.send_targets(board).await?;
        refused.extend(self.send_activities(&others, summary).await?);
        Ok((refused, targets))
    }

    async fn send_activities(
        &self,
        activities: &[&(Key, Option<Instant>)],
        summary: &mut Summary,
    ) -> Result<BTreeMap<Key, String>, Failure> {
        let facts = activities.iter().filter_map(|(key, at)| {
            let fact = self.facts.activities.get(key)?;
            Some((key, key.json(fact, *at)))
        });
        let (keys, items): (Vec<_>, Vec<_>) = facts.unzip();
        let sender = self.sender();
        let sent = sender.send(ACTIVITY, self.check.clone(), &items, summary);
        let results = sent.await?;
        let refused = keys.into_iter().zip(results).filter_map(|(key, result)| {
            let reason = match result? {
                Ok(outcome) => outcome.reason?,
                Err(problem) => problem.slug(),
            };
            Some((key.clone(), reason))
        });
        Ok(refused.collect())
    }

    /// Registers targets that differ from the registered ones.
    async fn send_targets(&self, board: Option<&Board>) -> Result<Sent, Failure> {
        if !self.has_content {
            return Ok(Sent::default());
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
        let mut summary = Summary::new(None);
        let check = ItemCheck::Target;
        self.sender()
            .send(TARGETS, check, &items, &mut summary)
            .await?;
        Ok(Sent::new(&summary))
    }

    /// Prints what a run would send.
    fn print_plan(
        &self,
        activities: &[(Key, Option<Instant>)],
        board: Option<&Board>,
    ) -> Result<ExitCode, Failure> {
        let faults = self.facts.faults.len();
        let (profiles, targets) = (self.facts.profiles.len(), self.facts.targets.len());
        let unchecked = self.check.unchecked();
        Screen::print(&match self.options.json {
            true => json!({
                "activities": activities.len(), "profiles": profiles, "targets": targets,
                "faults": faults, "repeated": self.facts.repeated, "journal": board.is_some(),
                "unchecked": unchecked,
            })
            .to_string(),
            false => {
                let found = report::activities(self.facts.activities.len() as u64);
                let sent = report::activities(activities.len() as u64);
                let profiles = count(profiles as u64, "profile");
                let targets = count(targets as u64, "target");
                let basis = match board {
                    Some(_) => "that the journal lacks",
                    None => "and the service leaves out what has counted: no journal was read",
                };
                let faults = match faults {
                    0 => String::new(),
                    faults => format!("\n{}", Failure::InvalidRows(faults as u64)),
                };
                format!(
                    "the source has {found}, {profiles} and {targets}\nwould send {sent} {basis}{faults}\nnot checked: {}",
                    unchecked.join(", ")
                )
            }
        })?;
        Ok(match faults {
            0 => ExitCode::SUCCESS,
            _ => ExitCode::from(LINES_REFUSED),
        })
    }

    /// Compares, and with `--heal` mends and compares again.
    async fn compare_and_heal(&self) -> Result<ExitCode, Failure> {
        let rules = self.rules.as_ref().ok_or_else(|| {
            let url = self.client.url(&["healthz"]);
            Failure::Usage(format!("{url} gave no rules, which a comparison needs"))
        })?;
        if self.scope.prefixes.is_empty() {
            let message = "a comparison needs --id-prefix, or --prefix for targets with other ids; --prefix '' is all targets";
            return Err(Failure::Usage(message.to_owned()));
        }
        let mut board = self.read_board().await.map_err(without_journal)?;
        if let Some(key) = self.basis(&board, rules).out_of_scope() {
            return Err(Failure::Usage(format!(
                "the target {} of the source begins with none of the prefixes {}: --prefix names them",
                key.target,
                self.scope.prefixes.join(", ")
            )));
        }
        let mut comparison = self.compare(&board, rules);
        if self.options.heal {
            let plan = Plan::new(&comparison, self, &board);
            if self.options.dry_run {
                return self.print_heal(&plan, &comparison);
            }
            self.check_loss(&comparison, &board)?;
            let mut summary = Summary::new(None);
            let refused = plan.run(self, &mut board, &mut summary).await;
            self.progress.finish();
            if summary.lines() > 0 && !self.options.json {
                Screen::print(&summary.to_string())?;
            }
            let refused = refused?;
            self.update(&mut board).await?;
            comparison = self.compare(&board, rules);
            comparison.refuse_all(&refused);
        }
        self.progress.finish();
        self.print_comparison(&comparison)
    }

    /// Refuses to undo more than half of the activity that counts: then the source is more likely to be incomplete.
    fn check_loss(&self, comparison: &Comparison, board: &Board) -> Result<(), Failure> {
        let differences = comparison.differences.iter();
        let is_excess = |difference: &&Difference| matches!(difference, Difference::Excess { .. });
        let (excess, standing) = (differences.filter(is_excess).count(), board.standing());
        if self.options.force || excess <= FEW || 2 * excess <= standing {
            return Ok(());
        }
        Err(Failure::Usage(format!(
            "nothing was changed: the source lacks {excess} of the {} that count; if that is right, add --force",
            activities(standing as u64)
        )))
    }

    fn print_heal(&self, plan: &Plan, comparison: &Comparison) -> Result<ExitCode, Failure> {
        self.print_comparison(comparison)?;
        let undos = activities(plan.undos.len() as u64);
        let counts = activities(plan.counts.len() as u64);
        let targets = count(plan.deletions.len() as u64, "target");
        if !self.options.json {
            Screen::print(&format!(
                "would undo {undos}, register {targets} again and count {counts}"
            ))?;
        }
        Ok(match self.facts.faults.is_empty() {
            true => exit_code(comparison),
            false => ExitCode::from(LINES_REFUSED),
        })
    }

    fn print_comparison(&self, comparison: &Comparison) -> Result<ExitCode, Failure> {
        Screen::print(&match self.options.json {
            true => report::json(comparison).to_string(),
            false => report::text(comparison, self.options.limit),
        })?;
        Ok(exit_code(comparison))
    }
}

fn exit_code(comparison: &Comparison) -> ExitCode {
    match comparison.differences.len() {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(DIFFERENT_SOURCE),
    }
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
