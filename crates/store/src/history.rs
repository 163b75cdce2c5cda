//! Reads the history of a user.

use crate::accounts;
use crate::deployment::Deployment;
use crate::keys::Keys;
use crate::pauses;
use crate::profiles::decode_own;
use crate::redis::{Command, Reply, StoreError};
use activity_rank_core::activity::DoneRequest;
use activity_rank_core::calendar::Date;
use activity_rank_core::config::Once;
use activity_rank_core::error::Error;
use activity_rank_core::history::{ActionTotal, DAYS, History, HistoryRequest};
use std::ops::RangeInclusive;

/// Reads the history of a user: all recent days, because streaks need them.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read(deployment: &Deployment, request: &HistoryRequest) -> Result<History, Error> {
    let keys = deployment.keys_of(&request.user);
    let replies = deployment.run_commands(commands(&keys, request)).await?;
    let (profile, histories) = replies.split_first().unwrap_or((&Reply::Nil, &[]));
    let pauses = pauses::decode(profile.at(2)?)?;
    let (profile, flags) = decode_own(profile.list()?.get(..2).unwrap_or_default())?;
    Ok(History {
        profile,
        flags,
        pauses,
        ..decode(request, histories)?
    })
}

/// Reads which activities of a request have counted: today if the action counts once a day, else whether they stand.
///
/// # Errors
///
/// [`Error::AccountOf`] for an account of another member; else as [`Deployment::run_script`].
pub async fn read_done(
    deployment: &Deployment,
    request: &DoneRequest,
    today: Date,
) -> Result<Vec<bool>, Error> {
    let (keys, user) = (deployment.keys_of(&request.user), &request.user);
    let key = match request.once {
        Once::Day => keys.history(Keys::span(today), user),
        Once::Standing => keys.active_records(user),
    };
    let mut command = Command::new("HMGET").arg(&key);
    for target in &request.targets {
        command = command.arg(&Keys::record_field(&format!("{}:{target}", request.action)));
    }
    let flags = Command::new("HGET").arg(&keys.users());
    let flags = flags.arg(&Keys::flags_field(user));
    let replies = deployment.run_commands(vec![command, flags]).await?;
    accounts::check_flags(replies.get(1).unwrap_or(&Reply::Nil))?;
    let mut done = Vec::new();
    for record in replies.first().unwrap_or(&Reply::Nil).list()? {
        let is_done = match (record.some(), request.once) {
            (Some(record), Once::Day) => Keys::has_day(record.text()?, today),
            (record, _) => record.is_some(),
        };
        done.push(is_done);
    }
    Ok(done)
}

/// Decodes the histories of the keys that [`keys`] returns, in their order; none if there are none. Profile, flags
/// and pauses are not in them.
///
/// # Errors
///
/// [`StoreError::Unavailable`] for any other reply.
pub(crate) fn decode(request: &HistoryRequest, histories: &[Reply]) -> Result<History, StoreError> {
    let mut recent = Vec::new();
    recent.resize_with(request.dates().count(), Vec::new);
    for (span, history) in spans(request).zip(histories) {
        add_span(&mut recent, request, span, history)?;
    }
    Ok(History {
        recent,
        ..History::default()
    })
}

/// Returns the keys of the spans that contain the days kept.
pub(crate) fn keys(keys: &Keys, request: &HistoryRequest) -> Vec<String> {
    spans(request)
        .map(|span| keys.history(span, &request.user))
        .collect()
}

/// Returns the commands that read the profile, the pauses and the history of a user.
#[must_use]
pub fn commands(keys: &Keys, request: &HistoryRequest) -> Vec<Command> {
    let user = &request.user;
    let profile = Command::new("HMGET").arg(&keys.users()).arg(user);
    let fields = [Keys::flags_field(user), Keys::pauses_field(user)];
    let mut commands = vec![profile.args(fields)];
    for key in self::keys(keys, request) {
        commands.push(Command::new("HGETALL").arg(&key));
    }
    commands
}

/// Returns the spans that contain the days kept.
fn spans(request: &HistoryRequest) -> RangeInclusive<i32> {
    let first = request.today.plus(1 - DAYS);
    Keys::span(first)..=Keys::span(request.today)
}

/// Adds the fields and values of one span to the days they belong to.
fn add_span(
    days: &mut [Vec<ActionTotal>],
    request: &HistoryRequest,
    span: i32,
    history: &Reply,
) -> Result<(), StoreError> {
    let unexpected = || StoreError::Unavailable("unexpected history".to_owned());
    for pair in history.list()?.chunks(2) {
        let [field, total] = pair else { continue };
        // Daily records and undo records are in the same hash.
        let Some((date, action)) = Keys::parse_history_field(span, field.text()?) else {
            continue;
        };
        let total = ActionTotal::parse(action, total.text()?).ok_or_else(unexpected)?;
        let back = usize::try_from(request.today.days_since(date)).ok();
        // The first span also holds older days.
        if let Some(day) = back.and_then(|back| days.get_mut(back)) {
            day.push(total);
        }
    }
    Ok(())
}
