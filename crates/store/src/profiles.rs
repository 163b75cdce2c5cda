//! Profiles and flags: `profiles.lua`, `first_profile.lua` and plain reads.

use crate::accounts;
use crate::deployment::Deployment;
use crate::deployment::pending::{self, STEP};
use crate::keys::Keys;
use crate::redis::{Command, Reply, StoreError};
use crate::scripts::{FIRST_PROFILE, PROFILES};
use activity_rank_core::actor::Actor;
use activity_rank_core::board::{ALL_TIME, Content};
use activity_rank_core::calendar::Instant;
use activity_rank_core::error::Error;
use activity_rank_core::moderation::Flags;
use activity_rank_core::profile::{NamedProfile, Profile};
use activity_rank_core::score::Score;

/// The most profiles of one call: a call with more would block Redis for longer than 5 ms if all of
/// them changed the opt-out.
const CALL_PROFILES: usize = 50;

/// Decodes a stored profile. A text that is not a profile is none: one damaged value must not make a
/// board unavailable.
///
/// # Errors
///
/// [`StoreError::Unavailable`] if the reply is neither nil nor text.
pub fn decode_profile(reply: &Reply) -> Result<Option<Profile>, StoreError> {
    Ok(reply.optional_text()?.and_then(Profile::from_json))
}

/// Decodes stored flags.
///
/// # Errors
///
/// [`StoreError::Unavailable`] if the reply is neither nil nor text.
pub fn decode_flags(reply: &Reply) -> Result<Flags, StoreError> {
    Ok(reply.optional_text()?.map(Flags::parse).unwrap_or_default())
}

/// Names a field of a user in the hash of users.
type FieldName = fn(&str) -> String;

/// The fields of a profile and of flags.
const PROFILE_AND_FLAGS: [FieldName; 2] = [str::to_owned, Keys::flags_field];

/// Reads the profile and the flags of a user.
///
/// # Errors
///
/// [`Error::AccountOf`] for an account of another member; else as [`Deployment::run_script`].
pub async fn read(deployment: &Deployment, user: &str) -> Result<(Option<Profile>, Flags), Error> {
    let values = read_fields(deployment, &PROFILE_AND_FLAGS, &[user]).await?;
    decode_own(values.first().map_or(&[], Vec::as_slice))
}

/// Reads the profiles of users, in their order. Hidden users have none.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read_profiles(
    deployment: &Deployment,
    users: &[&str],
) -> Result<Vec<Option<Profile>>, Error> {
    let visible = read_visible(deployment, users).await?;
    Ok(visible.into_iter().map(Option::flatten).collect())
}

/// Reads the profiles of users and their points of all time, in smallest steps, in the order of the users.
/// Hidden users have neither.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read_profiles_and_points(
    deployment: &Deployment,
    users: &[&str],
) -> Result<Vec<(Option<Profile>, Option<u64>)>, Error> {
    let read = |keys: &Keys, users: &[&str]| {
        let scores = Command::new("ZMSCORE").arg(&keys.board_named(ALL_TIME));
        let fields = read_command(keys, &PROFILE_AND_FLAGS, users);
        vec![fields, scores.args(users)]
    };
    let mut found = Vec::new();
    for values in deployment.read_values(users, &read).await? {
        let (profile, flags) = decode_pair(values.get(..2).unwrap_or_default())?;
        let score = match values.get(2).and_then(Reply::some) {
            // Scores of hidden users are negative.
            Some(score) => u64::try_from(score.integer()?).unwrap_or(0),
            None => 0,
        };
        let points = deployment.config.layout.points(Score(score));
        found.push(match flags.is_hidden() {
            true => (None, None),
            false => (profile, Some(points)),
        });
    }
    Ok(found)
}

/// Reads the profiles of users, in their order; `None` for hidden users, `Some(None)` for users without one.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read_visible(
    deployment: &Deployment,
    users: &[&str],
) -> Result<Vec<Option<Option<Profile>>>, Error> {
    let values = read_fields(deployment, &PROFILE_AND_FLAGS, users).await?;
    let visible = |pair: &Vec<Reply>| {
        let (profile, flags) = decode_pair(pair)?;
        Ok((!flags.is_hidden()).then_some(profile))
    };
    let profiles = values.iter().map(visible);
    Ok(profiles.collect::<Result<_, StoreError>>()?)
}

/// Adds the profiles of authors to contents whose authors are named, and removes authors whom boards hide.
///
/// The scripts of a shard do this for its own users; with several shards, they name all other authors.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn complete_authors(
    deployment: &Deployment,
    mut contents: Vec<&mut Content>,
) -> Result<(), Error> {
    contents.retain(|content| content.author.is_some());
    let authors = contents.iter().flat_map(|content| &content.author);
    let ids: Vec<&str> = authors.map(|(id, _)| id.as_str()).collect();
    let visible = read_visible(deployment, &ids).await?;
    for (content, visible) in contents.into_iter().zip(visible) {
        content.author = content
            .author
            .take()
            .and_then(|(id, _)| Some((id, visible?)));
    }
    Ok(())
}

/// Reads the flags of users, in their order.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read_flags(deployment: &Deployment, users: &[&str]) -> Result<Vec<Flags>, Error> {
    let values = read_fields(deployment, &[Keys::flags_field], users).await?;
    let flags = values.iter().flatten().map(decode_flags);
    Ok(flags.collect::<Result<_, _>>()?)
}

/// Decodes a stored profile and stored flags.
///
/// # Errors
///
/// [`StoreError::Unavailable`] if a reply is neither nil nor text.
pub fn decode_pair(values: &[Reply]) -> Result<(Option<Profile>, Flags), StoreError> {
    match values {
        [profile, flags] => Ok((decode_profile(profile)?, decode_flags(flags)?)),
        _ => Err(StoreError::Unavailable("unexpected fields".to_owned())),
    }
}

/// Decodes the stored profile and the stored flags of the user whom a request is about.
///
/// # Errors
///
/// [`Error::AccountOf`] for an account of another member; else as [`decode_pair`].
pub(crate) fn decode_own(values: &[Reply]) -> Result<(Option<Profile>, Flags), Error> {
    if let Some(flags) = values.get(1) {
        accounts::check_flags(flags)?;
    }
    Ok(decode_pair(values)?)
}

/// Reads fields of each user in one request, and returns their values in the order of the users.
async fn read_fields(
    deployment: &Deployment,
    names: &[FieldName],
    users: &[&str],
) -> Result<Vec<Vec<Reply>>, Error> {
    let read = |keys: &Keys, users: &[&str]| vec![read_command(keys, names, users)];
    deployment.read_values(users, &read).await
}

fn read_command(keys: &Keys, names: &[FieldName], users: &[&str]) -> Command {
    let fields = users
        .iter()
        .flat_map(|user| names.iter().map(|name| name(user)));
    Command::new("HMGET").arg(&keys.users()).args(fields)
}

/// Writes profiles, and hides or shows the users whose `hidden` is set. Returns for each user
/// whether they are opted out of boards now. [`Actor::User`] writes their own profile.
///
/// # Errors
///
/// [`Error::Forbidden`] for a frozen user who writes their own profile, [`Error::AccountOf`] for a single user who is an
/// account of another member; else as [`Deployment::run_script`].
pub async fn write(
    deployment: &Deployment,
    profiles: &[NamedProfile],
    actor: Option<&Actor>,
    now: Instant,
) -> Result<Vec<bool>, Error> {
    let config = &deployment.config;
    let ids: Vec<&str> = profiles.iter().map(|named| named.id.as_str()).collect();
    let shards = config.indexes_by_shard(&ids);
    // Of several profiles of one user, the last opt-out is that of all of them.
    let opt_out = |user: &str| {
        let mut own = profiles.iter().rev().filter(|named| named.id == user);
        own.find_map(|named| named.hidden)
    };
    let (mut calls, mut call_indexes) = (Vec::new(), Vec::new());
    for (shard, indexes) in &shards {
        for indexes in indexes.chunks(CALL_PROFILES) {
            let named = indexes.iter().filter_map(|index| profiles.get(*index));
            let named = named.map(|named| (named, opt_out(&named.id)));
            calls.push(write_call(deployment, *shard, named, actor, now));
            call_indexes.push(indexes);
        }
    }
    deployment.claim().await?;
    let replies = pending::begin(deployment, calls).await?;
    let mut hidden = vec![None; profiles.len()];
    for (indexes, reply) in call_indexes.into_iter().zip(&replies) {
        let Reply::List(flags) = reply.at(2)? else {
            accounts::check(reply.at(2)?.text()?)?;
            let detail = "This user is frozen: their profile cannot be changed.";
            return Err(Error::Forbidden(detail.to_owned()));
        };
        for (index, flag) in indexes.iter().zip(flags) {
            if let Some(hidden) = hidden.get_mut(*index) {
                *hidden = Some(*flag == Reply::Integer(1));
            }
        }
    }
    let hidden: Option<Vec<bool>> = hidden.into_iter().collect();
    hidden.ok_or_else(unexpected_count)
}

fn write_call<'a>(
    deployment: &Deployment,
    shard: u32,
    profiles: impl Iterator<Item = (&'a NamedProfile, Option<bool>)>,
    actor: Option<&Actor>,
    now: Instant,
) -> Command {
    let mut call = Command::script(&PROFILES, &deployment.keys(shard).moderation_keys())
        .arg(&deployment.fingerprint(shard))
        .number(now.0)
        .arg(deployment.config.bound.journal_flag())
        .arg(if actor == Some(&Actor::User) {
            "1"
        } else {
            "0"
        })
        .number(STEP)
        .arg(Actor::stored(actor));
    for (named, hidden) in profiles {
        let hidden = match hidden {
            Some(true) => "1",
            Some(false) => "0",
            None => "",
        };
        call = call
            .arg(&named.id)
            .arg(&to_json(&named.profile))
            .arg(hidden);
    }
    call
}

/// Returns the call that gives a user this profile unless they have one already.
#[must_use]
pub fn first_profile_call(
    deployment: &Deployment,
    user: &str,
    profile: &Profile,
    now: Instant,
) -> Command {
    let shard = deployment.config.shard_of(user);
    let keys = deployment.keys(shard);
    Command::script(&FIRST_PROFILE, &[keys.users(), keys.outbox()])
        .arg(&deployment.fingerprint(shard))
        .number(now.0)
        .arg(deployment.config.bound.journal_flag())
        .arg(user)
        .arg(&to_json(profile))
}

/// Returns a profile as the store has it.
pub(crate) fn to_json(profile: &Profile) -> String {
    serde_json::to_string(profile).unwrap_or_default()
}

fn unexpected_count() -> Error {
    Error::StoreUnavailable("unexpected number of profiles".to_owned())
}
