//! Reads the history of a user.

use crate::deployment::Deployment;
use crate::keys::Keys;
use crate::profiles::decode_profile;
use crate::redis::{Command, Reply, StoreError};
use activity_rank_core::error::Error;
use activity_rank_core::history::{ActionTotal, DAYS, HistoryRequest};
use activity_rank_core::profile::Profile;
use std::ops::RangeInclusive;

/// A user's profile, and the totals of each day kept, today first.
pub type UserHistory = (Option<Profile>, Vec<Vec<ActionTotal>>);

/// Reads the history of a user: all days that are kept, because streaks need them.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read(deployment: &Deployment, request: &HistoryRequest) -> Result<UserHistory, Error> {
    let keys = deployment.keys_of(&request.user);
    let replies = deployment
        .run_commands(&keys, commands(&keys, request))
        .await?;
    let (profile, histories) = replies.split_first().unwrap_or((&Reply::Nil, &[]));
    let mut days = Vec::new();
    days.resize_with(request.dates().count(), Vec::new);
    for (span, history) in spans(request).zip(histories) {
        add_span(&mut days, request, span, history)?;
    }
    Ok((decode_profile(profile)?, days))
}

/// Returns the commands that read the profile and the history of a user.
#[must_use]
pub fn commands(keys: &Keys, request: &HistoryRequest) -> Vec<Command> {
    let user = &request.user;
    let mut commands = vec![Command::new("HGET").arg(&keys.users()).arg(user)];
    for span in spans(request) {
        commands.push(Command::new("HGETALL").arg(&keys.history(span, user)));
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
