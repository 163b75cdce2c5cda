//! `activity-rank sync`: brings the history of a community from its software, and stays in step with it.
//!
//! [`activity_rank_sync`] reads the APIs, compares and heals. Here are the sources that are files, `csv`, `discourse`,
//! `stackexchange` and `ghost`, with the reader of `dump`. `send` sends through the pipeline of `import`.

mod csv;
mod discourse;
mod dump;
mod ghost;
mod send;
mod stackexchange;

use std::process::ExitCode;

use activity_rank_core::calendar::Instant;
use activity_rank_sync::board::Board;
use activity_rank_sync::compare::Comparison;
use activity_rank_sync::facts::{Facts, Key, Mapping, Options};
use activity_rank_sync::heal::Plan;
use activity_rank_sync::item::is_forgotten;
use activity_rank_sync::report::{self, activities};
use activity_rank_sync::session::Session;
use activity_rank_sync::sources::Adapter;
use activity_rank_sync::sources::api::Connection;
use activity_rank_sync::sources::discourse_api::DiscourseApi;
use activity_rank_sync::sources::ghost::GhostApi;
use activity_rank_sync::sources::github::Repositories;
use activity_rank_sync::sources::wordpress::{Credentials, Wordpress};
use jiff::Timestamp;
use reqwest::{Method, Url};
use serde_json::{Value, json};

use crate::args::{
    FileOrUrl, FileOrUrlArgs, GithubArgs, ServiceArgs, SourceArgs, StackExchangeArgs, SyncArgs,
    SyncOptions, WordpressArgs,
};
use crate::board::RETRIES;
use crate::client::{client, platform};
use crate::count::count;
use crate::failure::{DIFFERENT_SOURCE, Failure, LINES_REFUSED, are};
use crate::key::secret_variable;
use crate::printable::printable;
use crate::progress::Progress;
use crate::request_error::RequestError;
use crate::screen::Screen;
use crate::upload::dry_run::forgotten_note;

use send::Uploader;

/// A run of the command.
struct Run<'a> {
    service: &'a ServiceArgs,
    options: &'a SyncOptions,
    session: Session<'a, Uploader<'a>>,
    uploader: &'a Uploader<'a>,
    progress: &'a Progress,
}

/// Runs `sync`.
///
/// # Errors
///
/// [`Failure`] if the source cannot be read or the service gives no usable response.
pub async fn run(service: &ServiceArgs, args: &SyncArgs) -> Result<ExitCode, Failure> {
    let options = args.source.options();
    let result = run_source(service, args).await;
    if let Some((name, failure)) = options.report.as_ref().zip(result.as_ref().err()) {
        let body = report::failed(&failure.to_string());
        // That of the run is printed.
        let _ = send_report(service, name, &body).await;
    }
    result
}

async fn run_source(service: &ServiceArgs, args: &SyncArgs) -> Result<ExitCode, Failure> {
    match &args.source {
        SourceArgs::Csv(args) => read(service, &args.sync, csv::Csv(args)).await,
        SourceArgs::Discourse(FileOrUrlArgs { source, sync }) => match source {
            FileOrUrl::File(file) => read(service, sync, discourse::Discourse(file)).await,
            FileOrUrl::Url(url) => {
                let forum = DiscourseApi {
                    connection: &connection(url, sync)?,
                    key: &secret_variable("DISCOURSE_API_KEY", "a key of the API, for all users")?,
                    username: &secret_variable(
                        "DISCOURSE_API_USERNAME",
                        "the name of an administrator",
                    )?,
                };
                read(service, sync, forum).await
            }
        },
        SourceArgs::Ghost(FileOrUrlArgs { source, sync }) => match source {
            FileOrUrl::File(file) => read(service, sync, ghost::Export(file)).await,
            FileOrUrl::Url(url) => {
                let key = "the Admin API key of an integration";
                let site = GhostApi {
                    connection: &connection(url, sync)?,
                    key: &secret_variable("GHOST_ADMIN_API_KEY", key)?,
                };
                read(service, sync, site).await
            }
        },
        SourceArgs::Github(args) => {
            let GithubArgs { token, sync, .. } = args;
            let authorization = token.as_ref().map(|token| token.authorization());
            let authorization = authorization.transpose()?.flatten();
            let missing = || Failure::Usage("set GITHUB_TOKEN to a token of GitHub".to_owned());
            let repositories = Repositories {
                connection: &connection(&args.api_url, sync)?,
                authorization: authorization.ok_or_else(missing)?,
                names: &args.repositories,
            };
            read(service, sync, repositories).await
        }
        SourceArgs::Stackexchange(StackExchangeArgs { files, sync }) => {
            read(service, sync, stackexchange::StackExchange(files)).await
        }
        SourceArgs::Wordpress(args) => {
            let WordpressArgs { address, sync, .. } = args;
            let credentials = wordpress_credentials(sync.compare || sync.heal)?;
            let site = Wordpress {
                connection: &connection(address, sync)?,
                credentials: credentials.as_ref(),
                types: &args.types,
                site: args.site,
            };
            read(service, sync, site).await
        }
    }
}

fn connection(url: &Url, options: &SyncOptions) -> Result<Connection, Failure> {
    Ok(Connection {
        platform: platform(url)?,
        url: url.clone(),
        retries: options.retries,
    })
}

/// Returns the application password. Only a run that compares nothing may be without one.
fn wordpress_credentials(is_required: bool) -> Result<Option<Credentials>, Failure> {
    let user = secret_variable("WORDPRESS_USER", "the name of an administrator");
    let secret = "an application password of the administrator";
    let password = secret_variable("WORDPRESS_APPLICATION_PASSWORD", secret);
    match (user, password) {
        (Err(_), Err(_)) if !is_required => Ok(None),
        (user, password) => Ok(Some(Credentials {
            user: user?,
            password: password?,
        })),
    }
}

/// Reads a source, and sends, compares or heals.
async fn read<A: Adapter>(
    service: &ServiceArgs,
    options: &SyncOptions,
    adapter: A,
) -> Result<ExitCode, Failure> {
    let client = client(service)?;
    let shared = Options {
        map: options.map.clone(),
        id_prefix: options.id_prefix.clone(),
        prefixes: options.prefixes.clone(),
        mapping: read_mapping(options)?,
        // A dry run may be without a service.
        retries: if options.dry_run { 0 } else { options.retries },
    };
    let progress = Progress::new(None);
    let uploader = Uploader::new(&client, options);
    let started = Instant(Timestamp::now().as_millisecond());
    let session = Session::read(
        client.clone(),
        adapter,
        shared,
        started,
        &uploader,
        &progress,
    );
    let session = session.await?;
    progress.finish();
    print_faults(&session.facts, session.left_out, options);
    let faults = session.facts.faults.len() as u64;
    match (faults, options.skip_invalid || options.dry_run) {
        (0, _) | (_, true) => {}
        (_, false) if options.compare || options.heal => return Err(Failure::NotCompared(faults)),
        (_, false) => return Err(Failure::InvalidRows(faults)),
    }
    let run = Run {
        service,
        options,
        session,
        uploader: &uploader,
        progress: &progress,
    };
    let result = match options.compare || options.heal {
        true => run.compare_and_heal().await,
        false => run.sync().await,
    };
    progress.finish();
    result
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
    Mapping::parse(&text).map_err(invalid)
}

impl Run<'_> {
    /// Sends what the journal lacks, or everything without a journal.
    async fn sync(&self) -> Result<ExitCode, Failure> {
        let session = &self.session;
        let board = match session.read_all().await {
            Ok(board) => Some(board),
            Err(activity_rank_sync::Failure::Service(RequestError::Refused {
                problem, ..
            })) if self.options.dry_run || [403, 404].contains(&problem.status) => None,
            Err(activity_rank_sync::Failure::Service(RequestError::NoResponse { .. }))
                if self.options.dry_run =>
            {
                None
            }
            Err(failure) => return Err(failure.into()),
        };
        let compared = board.as_ref().filter(|_| session.rules.is_some());
        let compared = compared.map(|board| session.compare(board)).transpose()?;
        let activities = match &compared {
            Some(comparison) => session.missing(comparison),
            None => session.all(|_| true),
        };
        let refused = compared.as_ref().and_then(report::refused_text);
        if let Some(refused) = refused.filter(|_| !self.options.json) {
            self.progress.print(&refused);
        }
        if self.options.dry_run {
            return self.print_plan(&activities, board.as_ref());
        }
        let profiles = session.send_profiles(board.as_ref()).await?;
        let sent = session.send_all(&activities, board.as_ref()).await;
        let targets = sent.as_ref().map(|(_, targets)| *targets);
        let targets = targets.unwrap_or_default();
        let summary = self.uploader.summary();
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
        Ok(match refused + session.facts.faults.len() as u64 {
            0 => ExitCode::SUCCESS,
            _ => ExitCode::from(LINES_REFUSED),
        })
    }

    /// Prints what a run would send.
    fn print_plan(
        &self,
        activities: &[(Key, Option<Instant>)],
        board: Option<&Board>,
    ) -> Result<ExitCode, Failure> {
        let (facts, unchecked) = (&self.session.facts, self.session.check.unchecked());
        let faults = facts.faults.len();
        let (profiles, targets) = (facts.profiles.len(), facts.targets.len());
        Screen::print(&match self.options.json {
            true => json!({
                "activities": activities.len(), "profiles": profiles, "targets": targets,
                "faults": faults, "repeated": facts.repeated, "journal": board.is_some(),
                "unchecked": unchecked,
            })
            .to_string(),
            false => {
                let found = report::activities(facts.activities.len() as u64);
                let sent = report::activities(activities.len() as u64);
                let profiles = count(profiles as u64, "profile");
                let targets = count(targets as u64, "target");
                let basis = match board {
                    Some(_) => "that the journal lacks",
                    None => "and the service leaves out what has counted: no journal was read",
                };
                let mut notes = String::new();
                if faults > 0 {
                    notes = format!("\n{} invalid", are(faults as u64, "row"));
                    if !self.options.skip_invalid {
                        notes.push_str(": nothing would be sent without --skip-invalid");
                    }
                }
                let forgotten = activities
                    .iter()
                    .filter(|(key, at)| key.daily.is_some() && at.is_some_and(is_forgotten));
                notes.push_str(&forgotten_note(forgotten.count() as u64));
                format!(
                    "the source has {found}, {profiles} and {targets}\nwould send {sent} {basis}{notes}\nnot checked: {}",
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
        let session = &self.session;
        let mut board = session.read_board().await?;
        let (mut comparison, mut mended) = (session.compare(&board)?, 0);
        if self.options.heal {
            if self.options.dry_run {
                let plan = Plan::new(&comparison, session, &board);
                return self.print_heal(&plan, &comparison);
            }
            if !self.options.force {
                session.check_loss(&comparison, &board)?;
            }
            let healed = session.heal(&comparison, &mut board).await;
            self.progress.finish();
            let summary = self.uploader.summary();
            if summary.lines() > 0 && !self.options.json {
                Screen::print(&summary.to_string())?;
            }
            let healed = healed?;
            (comparison, mended) = (healed.comparison, healed.mended);
        }
        self.progress.finish();
        if let Some(name) = &self.options.report {
            send_report(self.service, name, &report::done(&comparison, mended)).await?;
        }
        self.print_comparison(&comparison)
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
        Ok(match self.session.facts.faults.is_empty() {
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

/// Reports the result of a run to the deployment.
async fn send_report(service: &ServiceArgs, name: &str, body: &Value) -> Result<(), Failure> {
    let client = client(service)?;
    let url = client.url(&["v1", "syncs", name]);
    let put = || client.send(Method::PUT, &url, body.to_string());
    client.with_backoff(RETRIES, |_, _| (), put).await?;
    Ok(())
}

fn exit_code(comparison: &Comparison) -> ExitCode {
    match comparison.differences.len() {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(DIFFERENT_SOURCE),
    }
}

/// Prints at most `limit` faults, and what else was left out.
fn print_faults(facts: &Facts, left_out: u64, options: &SyncOptions) {
    let SyncOptions { limit, map, .. } = options;
    let limit = *limit;
    for fault in facts.faults.iter().take(limit) {
        let (unit, detail) = (facts.unit, printable(&fault.detail));
        Screen::print_error(&format!("{unit} {}: {detail}", fault.place));
    }
    if facts.faults.len() > limit && limit > 0 {
        let more = (facts.faults.len() - limit) as u64;
        Screen::print_error(&format!("and {} more", count(more, "fault")));
    }
    if left_out > 0 {
        let items = count(left_out, "item");
        Screen::print_error(&format!(
            "{items} without a name, title or link that the service refuses"
        ));
    }
    for (kind, rows) in &facts.left_out {
        let (rows, kind) = (count(*rows, "row"), printable(kind));
        let hint = match map.iter().any(|(mapped, _)| *mapped == kind) {
            true => String::new(),
            false => format!(": --map {kind}=ACTION counts them"),
        };
        Screen::print_error(&format!("{rows} of the type {kind} left out{hint}"));
    }
}
