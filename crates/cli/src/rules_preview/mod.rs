//! `activity-rank rules preview`: what points, caps, cooldowns and received points of other rules would change.
//!
//! The activity of a span is read from the journal and decided twice by the counting script, by the rules in force and by
//! the changed ones. Both replays begin without points, records and caps, so rules alone make the difference: what the
//! journal says of an activity is not used for the first one. Registrations of targets, profiles and accounts of before the
//! span hold.
//!
//! - [`rule_sets`]: both sets of rules. [`entries`]: the journal in the order of time.
//! - [`activity_rank_store::rules_preview`]: their decision by the service's scripts, as the Worker's preview does.
//! - [`report`]: the result as text.

pub mod entries;
pub mod report;
pub mod rule_sets;

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{BufWriter, Write};
use std::process::ExitCode;

use activity_rank_core::board::BoardKind;
use activity_rank_core::calendar::{Calendar, Date, Instant};
use activity_rank_core::config::ADJUST;
use activity_rank_core::score::Points;
use activity_rank_store::count::{TimestampSource, Verb};
use activity_rank_store::keys::Keys;
use activity_rank_store::redis::{Command, Reply, StoreError};
use activity_rank_store::rules_preview::report::{Decision, Figures, Report};
use activity_rank_store::rules_preview::scratch::{self, Call, Replied, Scratch, Step};
use activity_rank_store::rules_preview::walk::{Item, Walk};
use activity_rank_store::rules_preview::window::{Entry as JournalEntry, State, StateChange};
use activity_rank_store::rules_preview::{
    ACTIVITY_COMMANDS, JournalActivity, RuleSets, scratch_shard,
};
use jiff::{SpanRelativeTo, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::time::Instant as Clock;

use crate::args::{PreviewArgs, ServiceArgs};
use crate::board::parse_body;
use crate::client::client;
use crate::count::count;
use crate::failure::{Failure, interruptible};
use crate::printable::printable_json;
use crate::progress::Progress;
use crate::rebuild::journal::{self, Change, Entry, Journal};
use crate::rebuild::preview::{Ranked, Standing, board_preview, rank};
use crate::rebuild::replay::format_throughput;
use crate::rebuild::rules::calendar;
use crate::rebuild::session::first_page;
use crate::rebuild::settings::Settings;
use crate::rebuild::store::{Cursor, Store};
use crate::screen::Screen;
use activity_rank_sync::report::activities;
use entries::Entries;

/// Keys in one request that deletes them.
const DELETED_KEYS: usize = 500;
/// Members in one page of a board.
const PAGE: u32 = 1000;
/// The most bytes of Redis of an activity in both replays: it may create three keys in each.
const ACTIVITY_BYTES: u64 = 1000;

/// The end of the error of an interrupted run.
const NOTHING: &str = ": nothing was changed";

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
    let journal = Journal::new(client(service)?, args.retries);
    let first = first_page(&store, &journal).await?;
    let sets = rule_sets(service, args.retries, &first.settings, changes).await?;
    let now = Timestamp::now().as_millisecond();
    let calendar = calendar(&first.settings.timezone).map_err(Failure::Usage)?;
    let span = read_span(args, Instant(now), &calendar)?;
    let activities = entries::count_activities(&journal, span, &store.progress).await?;
    store.progress.suspend(|| confirm(args, activities))?;
    let start = Clock::now();
    let random = RandomState::new().hash_one(now) % u64::from(u32::MAX);
    let shard = scratch_shard(u32::try_from(random).unwrap_or_default());
    let started_at = store.now().await?;
    let keys = scratch::keys(&store.prefix, shard);
    let new = |keys: &Keys| Scratch::new(keys.clone(), sets.config.has_content(), started_at, 1);
    let mut dry_run = DryRun {
        store: &store,
        shard,
        scratch: keys.each_ref().map(new),
        keys,
        walk: Walk::new(&sets, &calendar, span, State::default(), Figures::default()),
        outcomes: args.outcomes.as_deref().map(create).transpose()?,
        entries: 0,
        start,
    };
    let entries = Entries::new(&journal, &store.progress, &first.settings);
    let result = interruptible(NOTHING, dry_run.replay(entries)).await;
    let result = match result {
        Ok(()) => interruptible(NOTHING, dry_run.report(args.limit)).await,
        Err(failure) => Err(failure),
    };
    dry_run.drop_keys().await?;
    store.progress.finish();
    let report = result?;
    Screen::print(&match args.json {
        true => printable_json(&serde_json::to_string(&report).unwrap_or_default()),
        false => format!(
            "{}\n\nread {}; nothing was changed",
            report::report_text(&report),
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
    let client = client(service)?;
    let url = client.url(&["healthz"]);
    let get = || client.get_with_key(&url);
    let health: Health = parse_body(&url, &client.with_backoff(retries, |_, _| (), get).await?)?;
    let url = client.url(&["v1", "rules"]);
    let get = || client.get_with_key(&url);
    let rules: InForce = parse_body(&url, &client.with_backoff(retries, |_, _| (), get).await?)?;
    let has_content = !health.configured.content_periods.is_empty();
    rule_sets::rule_sets(settings, has_content, &rules.rules, changes)
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
fn confirm(args: &PreviewArgs, number: u64) -> Result<(), Failure> {
    let megabytes = (number * ACTIVITY_BYTES).div_ceil(1024 * 1024);
    let cost = format!(
        "The span has {}. The preview takes up to {} of the store and {megabytes} MB of its memory until the end, beside \
         the data; the data does not change.",
        activities(number),
        count(number * ACTIVITY_COMMANDS, "Redis command"),
    );
    Screen::confirm(&cost, args.yes)
}

/// Returns the activity of an entry, as the store's code reads it.
fn journal_activity(activity: &journal::Activity) -> JournalActivity<'_> {
    JournalActivity {
        user: &activity.user,
        action: match activity.verb {
            Verb::Adjust => ADJUST,
            _ => &activity.rule.action,
        },
        record: &activity.record,
        undo: activity.verb == Verb::Undo,
        at: activity.at,
        dated: activity.dated != TimestampSource::Now,
        queued: activity.dated == TimestampSource::Queue,
        received: activity.received.as_deref().unwrap_or_default(),
        on: &activity.on,
        refusal: activity.refusal.as_deref().unwrap_or_default(),
        account: &activity.account,
    }
}

/// Returns an entry as the store's code reads it.
fn journal_entry(entry: &Entry) -> JournalEntry<'_> {
    match &entry.change {
        Change::Activity(activity) | Change::Refused(activity) => {
            JournalEntry::Activity(journal_activity(activity))
        }
        _ => state_change(entry).map_or(JournalEntry::Other, JournalEntry::Change),
    }
}

/// Returns what an entry changes that activity depends on.
fn state_change(entry: &Entry) -> Option<StateChange> {
    Some(match &entry.change {
        Change::Target(registration) => StateChange::Target {
            member: registration.target.clone(),
            author: registration.user.clone(),
            text: registration.text.clone(),
        },
        Change::ModerateTarget { target, verb, .. } if verb == "e" => StateChange::Target {
            member: target.clone(),
            author: String::new(),
            text: String::new(),
        },
        Change::Profile {
            user, json, hidden, ..
        } => StateChange::Profile {
            user: user.clone(),
            json: json.clone(),
            hidden: hidden.clone(),
        },
        Change::Moderate { user, hidden, .. } => StateChange::Hidden {
            user: user.clone(),
            hidden: hidden.clone(),
        },
        Change::Account {
            user, of, account, ..
        } => StateChange::Account {
            user: user.clone(),
            of: of.clone(),
            number: account.clone(),
            former: String::new(),
        },
        Change::Exclude {
            user,
            case,
            excluded,
            ..
        } => StateChange::Excluded {
            user: user.clone(),
            case: case.clone(),
            excluded: excluded.clone(),
        },
        Change::Erase { hash, .. } => StateChange::Erased {
            hash: hash.clone(),
            at: entry.applied_at,
        },
        _ => return None,
    })
}

/// Sends calls on the scratch shard.
async fn send(store: &Store, shard: u32, calls: &[Call]) -> Result<Vec<Reply>, Failure> {
    let request = scratch::request((&store.prefix, shard), Step::default(), calls);
    let reply: Reply = store.run(request).await?;
    match Replied::decode(&reply, calls.len())? {
        Replied::Results(results) => Ok(results),
        Replied::Past | Replied::Lost => {
            let cause = "unexpected reply of a script".to_owned();
            Err(StoreError::Unavailable(cause).into())
        }
    }
}

/// The replay of a span by both sets of rules.
struct DryRun<'a> {
    store: &'a Store,
    /// The scratch shard.
    shard: u32,
    keys: [Keys; 2],
    scratch: [Scratch; 2],
    walk: Walk<'a>,
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
            while let Some(entry) = entries.peek() {
                let (number, at) = (entry.number, entry.applied_at);
                if !self.walk.add(journal_entry(entry), number, at) {
                    break;
                }
                entries.pop();
                self.entries += 1;
            }
            let (mut window, items) = self.walk.take();
            let [before, after] = &mut self.scratch;
            let [groups_before, groups_after] = [0, 1].map(|index| window.take_groups(index));
            let (store, shard) = (self.store, self.shard);
            let send = async |calls: &[Call]| send(store, shard, calls).await;
            let decide = async {
                match window.is_empty() {
                    true => Ok((Vec::new(), Vec::new())),
                    false => {
                        tokio::try_join!(
                            before.run(&window, groups_before, send),
                            after.run(&window, groups_after, send)
                        )
                    }
                }
            };
            // The next pages are read while this window is decided.
            let (decisions, ()) = tokio::try_join!(decide, entries.read_ahead())?;
            self.add_decisions(&items, decisions).await?;
            self.show_progress();
            if entries.is_read() && entries.peek().is_none() {
                return Ok(());
            }
        }
    }

    /// Adds the decisions of a window to the figures and to the file of outcomes.
    async fn add_decisions(
        &mut self,
        items: &[Item],
        (before, after): (Vec<Decision>, Vec<Decision>),
    ) -> Result<(), Failure> {
        let mut decisions = [before, after];
        let tallies = self.walk.decide(&self.keys, items, &mut decisions);
        let decimals = self.walk.sets.config.layout.decimals;
        let [before, after] = &decisions;
        for (item, (before, after)) in items.iter().zip(before.iter().zip(after)) {
            let activity = &item.activity;
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
        let calls = tallies.calls("", &State::default());
        if !calls.is_empty() {
            send(self.store, self.shard, &calls).await?;
        }
        Ok(())
    }

    /// Returns the report of the replayed span.
    async fn report(&mut self, limit: usize) -> Result<Report, Failure> {
        if let Some((name, mut file)) = self.outcomes.take() {
            let flushed = file.flush();
            flushed.map_err(|cause| Failure::File { name, cause })?;
        }
        let (sets, mut boards) = (self.walk.sets, Vec::new());
        for (name, kind) in [
            ("members", BoardKind::Members),
            ("authors", BoardKind::Authors),
        ] {
            if kind == BoardKind::Members || sets.config.has_content() {
                let [before, after] = self.ranked(kind).await?;
                let last = before.len().max(after.len()) as u64 + 1;
                let order = |old: &Standing, new: &Standing| {
                    let [before, after] = [old.0, new.0].map(|rank| rank.unwrap_or(last));
                    Reverse((before.abs_diff(after), (old.1 - new.1).unsigned_abs()))
                };
                let decimals = sets.config.layout.decimals;
                boards.push(board_preview(
                    (name, kind),
                    [&before, &after],
                    decimals,
                    limit,
                    order,
                ));
            }
        }
        let calls = scratch::limit_calls(&self.keys, sets, &self.walk.figures, limit);
        let results = match calls.is_empty() {
            true => Vec::new(),
            false => send(self.store, self.shard, &calls).await?,
        };
        let limits = self.walk.figures.limits(sets, results)?;
        Ok(Report::new(
            sets,
            &self.walk.figures,
            self.walk.span,
            boards,
            limits,
        ))
    }

    /// Returns the visible members of a board, by both sets of rules.
    async fn ranked(&self, kind: BoardKind) -> Result<[Ranked; 2], Failure> {
        let [before, after] = &self.keys;
        let scores = tokio::try_join!(self.board(before, kind), self.board(after, kind))?;
        Ok([scores.0, scores.1].map(|scores| {
            let visible = scores.into_iter();
            let visible = visible.filter(|(member, _)| !self.walk.state.is_hidden(member));
            let members = visible.map(|(member, score)| (member, score, 0));
            rank(kind, members.collect(), self.walk.sets.config.layout)
        }))
    }

    /// Returns the members of a board of all points, with their scores.
    async fn board(&self, keys: &Keys, kind: BoardKind) -> Result<Vec<(String, u64)>, Failure> {
        let key = scratch::board(keys, kind);
        let (mut scores, mut cursor) = (HashMap::new(), Cursor::start());
        while let Some(page) = self
            .store
            .scan_members("ZSCAN", &key, PAGE, &mut cursor)
            .await?
        {
            let scores_of_page = page.into_iter().filter_map(|(member, score)| {
                let score = score.parse::<f64>().ok().filter(|score| *score > 0.0)?;
                (member != "#").then_some((member, score as u64))
            });
            scores.extend(scores_of_page);
        }
        Ok(scores.into_iter().collect())
    }

    /// Deletes all scratch keys.
    async fn drop_keys(&self) -> Result<(), Failure> {
        let (store, mut cursor) = (self.store.with_shard(self.shard, 1), Cursor::start());
        while let Some(names) = store.scan(&mut cursor).await? {
            for names in names.chunks(DELETED_KEYS) {
                let keys = names.iter().map(|name| format!("{}{name}", store.tag));
                let _: u64 = store.run(Command::new("UNLINK").args(keys)).await?;
            }
        }
        Ok(())
    }

    fn show_progress(&self) {
        let (entries, start) = (self.entries, self.start);
        let message = format!("read {}", format_throughput(entries, start));
        self.store.show_progress(0, &message);
    }
}
