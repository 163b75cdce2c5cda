//! `activity-rank rules preview`: what points, caps, cooldowns and received points of other rules would change.
//!
//! The activity of a span is read from the journal and decided twice by the counting script, by the rules in force and by
//! the changed ones. Both replays begin without points, records and caps, so rules alone make the difference: what the
//! journal says of an activity is not used for the first one. Registrations of targets, profiles and accounts of before the
//! span hold.
//!
//! - [`rule_sets`]: both sets of rules. [`entries`]: the journal in the order of time.
//! - [`window`]: a part of it, as operations. [`scratch`]: their decision by the service's scripts.
//! - [`report`]: the result.

pub mod entries;
pub mod report;
pub mod rule_sets;
pub mod scratch;
pub mod window;

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{BufWriter, Write};
use std::process::ExitCode;

use activity_rank_core::board::BoardKind;
use activity_rank_core::calendar::{Calendar, Date, Instant};
use activity_rank_core::config::ADJUST;
use activity_rank_core::score::Points;
use jiff::{SpanRelativeTo, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::time::Instant as Clock;

use crate::args::{PreviewArgs, ServiceArgs};
use crate::board::parse_body;
use crate::client::Client;
use crate::count::count;
use crate::failure::Failure;
use crate::printable::printable_json;
use crate::progress::Progress;
use crate::rebuild::journal::{self, Change, Entry, Journal};
use crate::rebuild::preview::{Ranked, rank};
use crate::rebuild::recount::interruptible;
use crate::rebuild::replay::format_throughput;
use crate::rebuild::session::first_page;
use crate::rebuild::settings::Settings;
use crate::rebuild::store::Store;
use crate::retry::with_backoff;
use crate::screen::Screen;
use entries::Entries;
use report::{Figures, Report};
use rule_sets::RuleSets;
use scratch::{Decision, Scratch};
use window::{Item, State, Window, sent};

/// The first number of a scratch shard: deployments have fewer shards.
const FIRST_SHARD: u32 = 1_000_000;
/// The most Redis commands of an activity in both replays: a like takes about ten in each, and what others receive as many.
/// Activities of a member that share a call take fewer: the benchmark takes 4.
const ACTIVITY_COMMANDS: u64 = 40;
/// The most bytes of Redis of an activity in both replays: it may create three keys in each.
const ACTIVITY_BYTES: u64 = 1000;

/// The part of `GET /healthz` that the rules depend on.
#[derive(Deserialize)]
struct Health {
    configured: Configured,
}

#[derive(Deserialize)]
struct Configured {
    content_periods: Vec<String>,
}

/// The part of `GET /v1/rules` that is in force.
#[derive(Deserialize)]
struct InForce {
    rules: Map<String, Value>,
}

/// A line of the file of outcomes.
#[derive(Serialize)]
struct OutcomeLine<'a> {
    entry: u64,
    user: &'a str,
    action: &'a str,
    target: &'a str,
    undo: bool,
    at: String,
    before: Outcome<'a>,
    after: Outcome<'a>,
}

#[derive(Serialize)]
struct Outcome<'a> {
    outcome: &'a str,
    points: Points,
    received: Points,
}

/// Prints the preview of changes by action.
///
/// # Errors
///
/// [`Failure`] if the service or the store does not respond, or the service would refuse the changes.
pub async fn run(
    service: &ServiceArgs,
    args: &PreviewArgs,
    changes: &Value,
) -> Result<ExitCode, Failure> {
    let store = Store::new(&args.store, args.retries, Progress::new(None))?;
    let journal = Journal::new(service, args.retries)?;
    let first = first_page(&store, &journal).await?;
    let sets = rule_sets(service, args.retries, &first.settings, changes).await?;
    let now = Timestamp::now().as_millisecond();
    let span = read_span(args, Instant(now), &sets.calendar)?;
    let entries = entries::count_from(&journal, span[0], &store.progress).await?;
    confirm(args, entries)?;
    let start = Clock::now();
    let random = RandomState::new().hash_one(now) % u64::from(u32::MAX / 4);
    let shard = FIRST_SHARD + 2 * u32::try_from(random).unwrap_or_default();
    let started_at = store.now().await?;
    let mut dry_run = DryRun {
        store: &store,
        sets: &sets,
        span,
        scratch: [shard, shard + 1]
            .map(|shard| Scratch::new(&store, shard, sets.config.has_content(), started_at)),
        state: State::default(),
        figures: Figures::default(),
        outcomes: args.outcomes.as_deref().map(create).transpose()?,
        entries: 0,
        start,
    };
    let entries = Entries::new(&journal, &store.progress, &first.settings);
    let result = interruptible(dry_run.replay(entries)).await;
    let result = match result {
        Ok(()) => interruptible(dry_run.report(args.limit)).await,
        Err(failure) => Err(failure),
    };
    for scratch in &dry_run.scratch {
        scratch.drop_keys().await?;
    }
    store.progress.finish();
    let report = result?;
    Screen::print(&match args.json {
        true => printable_json(&serde_json::to_string(&report).unwrap_or_default()),
        false => format!(
            "{}\n\nread {}; nothing was changed",
            report.text(),
            format_throughput(dry_run.entries, start)
        ),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Reads the rules in force, and returns them with the changed ones.
async fn rule_sets(
    service: &ServiceArgs,
    retries: usize,
    settings: &Settings,
    changes: &Value,
) -> Result<RuleSets, Failure> {
    let client = Client::new(service)?;
    let url = client.url(&["healthz"]);
    let get = || client.get_with_key(&url);
    let health: Health = parse_body(&url, &with_backoff(retries, |_, _| (), get).await?)?;
    let url = client.url(&["v1", "rules"]);
    let get = || client.get_with_key(&url);
    let rules: InForce = parse_body(&url, &with_backoff(retries, |_, _| (), get).await?)?;
    let has_content = !health.configured.content_periods.is_empty();
    RuleSets::new(settings, has_content, &rules.rules, changes)
}

/// Returns the first instant of the span, and the first one after it.
fn read_span(
    args: &PreviewArgs,
    now: Instant,
    calendar: &Calendar,
) -> Result<[Instant; 2], Failure> {
    let instant = |option: &str, text: &str| {
        let date = Date::parse(text).map(|date| calendar.start_of(date));
        let message =
            "expected a day such as 2026-11-20, or an instant such as 2026-11-20T08:00:00Z";
        let instant = date.or_else(|| Instant::parse(text));
        instant.ok_or_else(|| Failure::Usage(format!("{option}: {message}")))
    };
    let until = match &args.until {
        Some(until) => instant("--until", until)?,
        None => now,
    };
    let from = match &args.from {
        Some(from) => instant("--from", from)?,
        None => {
            let days = SpanRelativeTo::days_are_24_hours();
            let span = args.span.to_duration(days);
            let span = span.map_err(|error| Failure::Usage(format!("--span: {error}")))?;
            Instant(until.0 - i64::try_from(span.as_millis()).unwrap_or(i64::MAX / 2))
        }
    };
    match from < until {
        true => Ok([from, until]),
        false => Err(Failure::Usage(
            "--from must be before --until, which is now unless it is given".to_owned(),
        )),
    }
}

/// Creates the file of outcomes.
fn create(name: &str) -> Result<(String, BufWriter<File>), Failure> {
    let file = File::create(name).map_err(|cause| Failure::File {
        name: name.to_owned(),
        cause,
    })?;
    Ok((name.to_owned(), BufWriter::new(file)))
}

/// Reads a confirmation before the store is used, unless `--yes` is set.
fn confirm(args: &PreviewArgs, entries: u64) -> Result<(), Failure> {
    let megabytes = (entries * ACTIVITY_BYTES).div_ceil(1024 * 1024);
    let cost = format!(
        "The span has up to {} of the journal. The preview takes up to {} of the store and {megabytes} MB of its memory \
         until the end, beside the data; the data does not change.",
        match entries {
            1 => "1 entry".to_owned(),
            entries => count(entries, "entrie"),
        },
        count(entries * ACTIVITY_COMMANDS, "Redis command"),
    );
    if args.yes {
        Screen::print_error(&cost);
        return Ok(());
    }
    match Screen::ask(&format!("{cost} Continue? [y/N]")) {
        Some(answer) if ["y", "yes"].contains(&answer.to_lowercase().as_str()) => Ok(()),
        Some(_) => Err(Failure::Usage("nothing was read".to_owned())),
        None => Err(Failure::Usage(format!(
            "{cost} Use --yes to continue without asking."
        ))),
    }
}

/// The replay of a span by both sets of rules.
struct DryRun<'a> {
    store: &'a Store,
    sets: &'a RuleSets,
    /// The first instant, and the first one after the span.
    span: [Instant; 2],
    scratch: [Scratch; 2],
    state: State,
    figures: Figures,
    /// Name and writer of the file of outcomes.
    outcomes: Option<(String, BufWriter<File>)>,
    /// Number of entries that were read.
    entries: u64,
    start: Clock,
}

impl DryRun<'_> {
    /// Replays all entries.
    async fn replay(&mut self, mut entries: Entries<'_>) -> Result<(), Failure> {
        entries.read_ahead().await?;
        loop {
            let (mut window, mut items) = (Window::default(), Vec::new());
            while let Some(entry) = entries.peek() {
                if window.ends_before(entry, &self.state) {
                    break;
                }
                let Some(entry) = entries.pop() else {
                    break;
                };
                self.entries += 1;
                match &entry.change {
                    Change::Activity(activity) | Change::Refused(activity) => {
                        items.extend(self.add_activity(&entry, activity, &mut window));
                    }
                    _ => window.add_change(&entry, &mut self.state),
                }
            }
            let [before, after] = &mut self.scratch;
            let decide = async {
                match window.is_empty() {
                    true => Ok((Vec::new(), Vec::new())),
                    false => tokio::try_join!(before.run(&window, 0), after.run(&window, 1)),
                }
            };
            // The next pages are read while this window is decided.
            let (decisions, ()) = tokio::try_join!(decide, entries.read_ahead())?;
            self.add_decisions(&items, decisions)?;
            self.show_progress();
            if entries.is_read() && entries.peek().is_none() {
                return Ok(());
            }
        }
    }

    /// Adds an activity to a window, and returns it; `None` if it is not in the span, or an adjustment.
    fn add_activity(
        &mut self,
        entry: &Entry,
        activity: &journal::Activity,
        window: &mut Window,
    ) -> Option<Item> {
        let [from, until] = self.span;
        if !(from..until).contains(&activity.at) || activity.rule.action == ADJUST {
            return None;
        }
        let is_refused = activity.refusal.is_some();
        self.figures.has_refused |= is_refused && !self.state.has_accounts(&activity.user);
        let is_frozen = activity.refusal.as_deref() == Some("frozen");
        let Some(sent) = sent(activity, self.sets) else {
            self.figures.unknown += 1;
            return None;
        };
        match is_frozen {
            true => window.skip(),
            false => {
                let (account, at) = (&activity.account, entry.applied_at);
                window.add(&sent, account, at, self.sets, &self.state);
            }
        }
        Some(Item {
            entry: entry.number,
            activity: sent,
            is_frozen,
        })
    }

    /// Adds the decisions of a window to the figures and to the file of outcomes.
    fn add_decisions(
        &mut self,
        items: &[Item],
        (before, after): (Vec<Decision>, Vec<Decision>),
    ) -> Result<(), Failure> {
        let frozen = Decision {
            outcome: "frozen".to_owned(),
            ..Decision::default()
        };
        let decimals = self.sets.config.layout.decimals;
        for (item, decisions) in items.iter().zip(before.iter().zip(&after)) {
            let [before, after] = match item.is_frozen {
                true => [&frozen, &frozen],
                false => [decisions.0, decisions.1],
            };
            let activity = &item.activity;
            let date = self.sets.calendar.date_at(activity.at);
            self.figures.add(activity, date, [before, after]);
            let Some((name, file)) = &mut self.outcomes else {
                continue;
            };
            let points = |steps| Points { steps, decimals };
            let [before, after] = [before, after].map(|decision| Outcome {
                outcome: &decision.outcome,
                points: points(decision.points),
                received: points(decision.received),
            });
            let line = OutcomeLine {
                entry: item.entry,
                user: &activity.user,
                action: &activity.action,
                target: &activity.target,
                undo: activity.undo,
                at: activity.at.to_string(),
                before,
                after,
            };
            let line = serde_json::to_string(&line).unwrap_or_default();
            writeln!(file, "{line}").map_err(|cause| Failure::File {
                name: name.clone(),
                cause,
            })?;
        }
        Ok(())
    }

    /// Returns the report of the replayed span.
    async fn report(&mut self, limit: usize) -> Result<Report, Failure> {
        if let Some((name, mut file)) = self.outcomes.take() {
            let flushed = file.flush();
            flushed.map_err(|cause| Failure::File { name, cause })?;
        }
        let (members, authors) = (BoardKind::Members, BoardKind::Authors);
        let members = ("members", members, self.ranked(members).await?);
        let authors = ("authors", authors, self.ranked(authors).await?);
        let (sets, figures) = (self.sets, &self.figures);
        let boards = [members, authors];
        Ok(Report::new(sets, figures, self.span, boards, limit))
    }

    /// Returns the visible members of a board, by both sets of rules.
    async fn ranked(&self, kind: BoardKind) -> Result<[Ranked; 2], Failure> {
        let [before, after] = &self.scratch;
        let scores = tokio::try_join!(before.board(kind), after.board(kind))?;
        Ok([scores.0, scores.1].map(|scores| {
            let visible = scores.into_iter();
            let visible = visible.filter(|(member, _)| !self.state.is_hidden(member));
            let members = visible.map(|(member, score)| (member, score, 0));
            rank(kind, members.collect(), self.sets.config.layout)
        }))
    }

    fn show_progress(&self) {
        let (entries, start) = (self.entries, self.start);
        let message = format!("read {}", format_throughput(entries, start));
        self.store.show_progress(0, &message);
    }
}
