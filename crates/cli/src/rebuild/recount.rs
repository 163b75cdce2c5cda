//! `activity-rank recount`: a rebuild whose activities count by other rules, or in an event by another definition.
//!
//! The data is compared with the journal first, because a rebuild would lose what the journal lacks. Then the journal is
//! replayed again with the rules or the definition. The swap writes them to the journal: see [`super::rules`] and
//! [`super::event`].

use std::process::ExitCode;
use std::slice;

use activity_rank_core::score::Layout;
use tokio::time::Instant;

use super::account::{AccountRecount, MAX_BYTES};
use super::accounts;
use super::compare::Comparison;
use super::event::EventRecount;
use super::past::Past;
use super::preview::{Preview, PreviewedBoard, Standings};
use super::purpose::{Purpose, Recount};
use super::replay::{Replay, format_throughput};
use super::rules::{self, RecountRules};
use super::run::{RunOptions, print_data_loss, run_session};
use super::session::Session;
use super::settings::Settings;
use super::verify;
use crate::args::{RecountArgs, ServiceArgs};
use crate::count::count;
use crate::failure::{DIFFERENT, Failure, interruptible};
use crate::screen::Screen;

/// The end of the error of an interrupted run.
const RESUMED: &str = ": nothing was changed; run it again to resume";
const DROPPED: &str = ": nothing was changed; the next run deletes what this one has written";

/// Previews or applies a recount.
///
/// # Errors
///
/// [`Failure`] if service or store do not respond, the data belongs to another deployment, or the file has no valid
/// rules.
pub async fn run(service: &ServiceArgs, args: &RecountArgs) -> Result<ExitCode, Failure> {
    let event = match &args.event {
        Some(event) => Some(EventRecount::read(service, args, event).await?),
        None => None,
    };
    let read = |settings: &Settings| match &event {
        Some(event) => Ok(Recount::Event(event.clone())),
        None if args.accounts => Ok(Recount::Accounts(AccountRecount::default())),
        None => {
            let file = args.rules.as_deref().unwrap_or_default();
            let rules = rules::read(file, args.environment.as_deref(), settings)?;
            Ok(Recount::Rules(RecountRules::from(&rules)))
        }
    };
    if args.dry_run {
        return interruptible(DROPPED, preview(service, args, read)).await;
    }
    confirm(args)?;
    let start = Instant::now();
    let mut recount = None;
    let open = Session::open(service, &args.replay, |settings| {
        let read = read(settings)?;
        recount = Some(read.clone());
        Ok(Purpose::Recount(read))
    });
    let mut session = open.await?;
    if let (Purpose::Rebuild, Some(recount)) = (&session.purpose, recount) {
        session.check_unswapped().await?;
        if interruptible(RESUMED, changes_nothing(&session, args)).await? {
            return nothing_to_do(&mut session).await;
        }
        let (comparison, _) = interruptible(RESUMED, compare(&mut session, &[])).await?;
        if print_data_loss(&session, &comparison)? {
            return reject(&mut session).await;
        }
        let (recount, past) = interruptible(RESUMED, decided(&session, args, recount)).await?;
        session.restart(Purpose::Recount(recount)).await?;
        session.keep_past(past);
    }
    let options = RunOptions {
        discard: false,
        json: args.json,
    };
    run_session(&mut session, options, start).await
}

/// The most Redis commands of an entry in a replay: `make cost` prints the commands of a like, without the journal.
const ENTRY_COMMANDS: u64 = 25;

/// Returns whether a recount would change nothing: one of accounts, if since the last one no account was joined or detached and
/// no exclusion changed.
async fn changes_nothing(session: &Session, args: &RecountArgs) -> Result<bool, Failure> {
    Ok(args.accounts && !accounts::is_due(session.journals()).await?)
}

/// Returns a recount with its decisions about the journal, and what one of accounts changes. Prints the number of its
/// commands.
async fn decided(
    session: &Session,
    args: &RecountArgs,
    recount: Recount,
) -> Result<(Recount, Option<Past>), Failure> {
    if !args.accounts {
        return Ok((recount, None));
    }
    let rules = match &args.rules {
        Some(file) => rules::read(file, args.environment.as_deref(), &session.settings)?,
        None => rules::defaults(&session.settings)?,
    };
    let (mut recount, past, entries) = accounts::recount(session.journals(), &rules).await?;
    session.finish_progress();
    if recount.is_too_large(MAX_BYTES) {
        recount.forget_sources();
        Screen::print_error(
            "this recount changes too many entries to list them all: achievements and lists of points stay as the journal has them",
        );
    }
    if recount.is_too_large(MAX_BYTES) {
        let message =
            "this recount changes too many entries for the journal: join fewer accounts at once";
        return Err(Failure::Store(message.to_owned()));
    }
    let changed = recount.changed.len() as u64;
    Screen::print_error(&format!(
        "{} changed; the replay takes up to {}",
        count(changed, "decision"),
        count(entries * ENTRY_COMMANDS, "Redis command")
    ));
    Ok((Recount::Accounts(recount), Some(past)))
}

/// Ends a recount of accounts and exclusions that are recounted already.
async fn nothing_to_do(session: &mut Session) -> Result<ExitCode, Failure> {
    session.drop_written().await?;
    session.finish_progress();
    Screen::print(
        "nothing to recount: since the last recount no account has been joined or has left, and no exclusion has changed",
    )?;
    Ok(ExitCode::SUCCESS)
}

/// Ends a run that would lose data.
async fn reject(session: &mut Session) -> Result<ExitCode, Failure> {
    session.drop_written().await?;
    Screen::print_error(
        "nothing was changed: the store has values that the journal lacks; run rebuild first",
    );
    Ok(ExitCode::from(DIFFERENT))
}

/// Reads the prefix of the deployment as a confirmation, unless `--yes` is set.
fn confirm(args: &RecountArgs) -> Result<(), Failure> {
    if args.yes {
        return Ok(());
    }
    let prefix = &args.replay.store.prefix;
    let warning = match &args.event {
        Some(event) => {
            format!("This replaces the board of the event {event} of {prefix} for good.")
        }
        None if args.accounts => {
            format!(
                "This adds the past of accounts of {prefix} to their members, restores that of detached ones, and takes what cases exclude, or gives it back."
            )
        }
        None => format!("This replaces the points of {prefix} for good."),
    };
    let answer = Screen::ask(&format!("{warning} Type the prefix to continue:"));
    match answer.as_ref() == Some(prefix) {
        true => Ok(()),
        false => {
            let message = "nothing was changed: use --yes to apply without asking";
            Err(Failure::Usage(message.to_owned()))
        }
    }
}

/// The boards of a preview as the journal has them, and the number of the last entry on each shard.
type Recorded = (Standings, Vec<u64>);

/// Replays the journal as it is and compares the live data with it.
async fn compare(
    session: &mut Session,
    boards: &[PreviewedBoard],
) -> Result<(Comparison, Recorded), Failure> {
    let mut comparison = Comparison::default();
    let compared = verify::compare(session, &mut comparison, &mut 0).await;
    let last = session.end(compared).await?;
    let mut standings = Standings::default();
    for owned in &session.shards {
        standings.add(&owned.shard, boards).await?;
    }
    Ok((comparison, (standings, last)))
}

/// Prints who would move. Both replays end with the same entry of the journal.
async fn preview(
    service: &ServiceArgs,
    args: &RecountArgs,
    read: impl Fn(&Settings) -> Result<Recount, Failure>,
) -> Result<ExitCode, Failure> {
    let changed = match &args.event {
        Some(event) => format!("event:{event}"),
        None => "all".to_owned(),
    };
    let names = match args.boards.as_slice() {
        [] => slice::from_ref(&changed),
        names => names,
    };
    let boards = names.iter().map(|name| PreviewedBoard::parse(name));
    let boards: Vec<PreviewedBoard> = boards.collect::<Result<_, _>>()?;
    let start = Instant::now();
    let mut recount = None;
    let open = Session::open(service, &args.replay, |settings| {
        recount = Some(read(settings)?);
        Ok(Purpose::Preview)
    });
    let mut session = open.await?;
    session.check_unswapped().await?;
    if changes_nothing(&session, args).await? {
        return nothing_to_do(&mut session).await;
    }
    let (comparison, (before, last)) = compare(&mut session, &boards).await?;
    if print_data_loss(&session, &comparison)? {
        return reject(&mut session).await;
    }
    let (recount, past) = match recount {
        Some(recount) => {
            let (recount, past) = decided(&session, args, recount).await?;
            (Some(recount), past)
        }
        None => (None, None),
    };
    session.restart(Purpose::Preview).await?;
    session.set_recount(recount);
    session.keep_past(past);
    let (mut after, mut entries) = (Standings::default(), 0);
    for (owned, last) in session.shards.iter().zip(last) {
        let mut replay = Replay::resume(&session, owned).await?;
        replay.last = last;
        replay.catch_up(&owned.shard).await?;
        after.add(&owned.shard, &boards).await?;
        entries += replay.entries();
    }
    session.drop_written().await?;
    session.finish_progress();
    let layout = session.shards.first().map(|owned| owned.shard.layout);
    let mut preview = Preview::new(
        &boards,
        before,
        after,
        layout.unwrap_or(Layout::DEFAULT),
        args.limit,
        session.recount.as_ref().map_or("", Recount::limits),
    );
    preview.entries = entries;
    Screen::print(&match args.json {
        true => serde_json::to_string(&preview).unwrap_or_default(),
        false => format!(
            "{}\nrecounted {}; nothing was changed",
            preview.text(),
            format_throughput(entries, start)
        ),
    })?;
    Ok(ExitCode::SUCCESS)
}
