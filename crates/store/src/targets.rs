//! `targets.lua` and `moderate_target.lua`: the register of targets.

use crate::deployment::Deployment;
use crate::deployment::pending::{self, STEP};
use crate::fingerprint::fingerprint;
use crate::keys::Keys;
use crate::profiles::{decode_flags, read_visible};
use crate::redis::{Command, Pipeline, Reply, StoreError};
use crate::scripts::{MODERATE_TARGET, TARGETS, USER_TARGETS};
use activity_rank_core::board::{BoardKind, Content};
use activity_rank_core::calendar::{Date, Instant, Period};
use activity_rank_core::content::{
    ListPage, ListRequest, NamedTarget, StoredTarget, id_of_member, member,
};
use activity_rank_core::error::Error;

/// Targets written by one call: a store runs nothing else meanwhile.
const CALL_TARGETS: usize = 100;

/// Returns the registration of a target and whether a moderator hides it, if it is registered.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read(
    deployment: &Deployment,
    id: &str,
) -> Result<Option<(StoredTarget, bool)>, Error> {
    let (keys, member) = (register_keys(deployment), member(id));
    let registration = Command::new("HGET").arg(&keys.register()).arg(&member);
    let flags = flags_field(&member);
    let flags = Command::new("HGET").arg(&keys.users()).arg(&flags);
    let replies = deployment.run_commands(&keys, vec![registration, flags]);
    let replies = Reply::List(replies.await?);
    let stored = decode(replies.at(0)?)?;
    let flags = decode_flags(replies.at(1)?)?;
    Ok(stored.map(|stored| (stored, flags.hidden)))
}

/// Reads the registrations of targets, in their order.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read_registrations(
    deployment: &Deployment,
    ids: &[&str],
) -> Result<Vec<Option<StoredTarget>>, Error> {
    let shards = deployment.config.indexes_by_shard(ids);
    let mut commands = Vec::new();
    for (shard, indexes) in &shards {
        let keys = deployment.keys(*shard);
        let ids = indexes.iter().filter_map(|index| ids.get(*index));
        let members = ids.map(|id| member(id));
        commands.push(Command::new("HMGET").arg(&keys.register()).args(members));
    }
    let mut registrations = vec![None; ids.len()];
    if commands.is_empty() {
        return Ok(registrations);
    }
    let replies = deployment.store.run(&Pipeline::new(commands)).await?;
    for ((_, indexes), reply) in shards.iter().zip(&replies) {
        for (index, registration) in indexes.iter().zip(reply.list()?) {
            if let Some(slot) = registrations.get_mut(*index) {
                *slot = decode(registration)?;
            }
        }
    }
    Ok(registrations)
}

/// Reads what is known of targets and of their authors, in their order. Of hidden targets nothing is.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read_contents(deployment: &Deployment, ids: &[&str]) -> Result<Vec<Content>, Error> {
    let keys = register_keys(deployment);
    let members: Vec<String> = ids.iter().map(|id| member(id)).collect();
    if members.is_empty() {
        return Ok(Vec::new());
    }
    let flags = members.iter().map(|member| flags_field(member));
    let commands = vec![
        Command::new("HMGET").arg(&keys.register()).args(&members),
        Command::new("HMGET").arg(&keys.users()).args(flags),
    ];
    let replies = Reply::List(deployment.run_commands(&keys, commands).await?);
    let mut stored = Vec::new();
    for (registration, flags) in replies.at(0)?.list()?.iter().zip(replies.at(1)?.list()?) {
        let is_hidden = decode_flags(flags)?.hidden;
        stored.push(decode(registration)?.filter(|_| !is_hidden));
    }
    let authors = stored.iter().flatten();
    let authors: Vec<&str> = authors.filter_map(|one| one.author.as_deref()).collect();
    let mut profiles = read_visible(deployment, &authors).await?.into_iter();
    let contents = stored.into_iter().map(|stored| {
        let Some(StoredTarget { target, author, .. }) = stored else {
            return Content::default();
        };
        let author = author.and_then(|id| Some((id, profiles.next().flatten()?)));
        Content { target, author }
    });
    Ok(contents.collect())
}

/// Returns the field of a target's flags in the hash of users.
fn flags_field(member: &str) -> String {
    Keys::flags_field(&format!("\t{member}"))
}

/// The action of a moderator on a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moderation<'a> {
    /// Takes it off all boards, for this reason.
    Hide(&'a str),
    /// Shows it again, for this reason.
    Show(&'a str),
    /// Takes it off all boards and out of the register.
    Delete,
}

/// Moderates a target. Returns its registration before; nothing changed if there is none.
///
/// # Errors
///
/// As [`pending::begin`].
pub async fn moderate(
    deployment: &Deployment,
    id: &str,
    moderation: Moderation<'_>,
    now: Instant,
) -> Result<Option<StoredTarget>, Error> {
    let (keys, member) = (deployment.keys_of(id), member(id));
    let mut all = keys.moderation_keys();
    all.extend([keys.register(), keys.deliveries()]);
    let (verb, reason) = match moderation {
        Moderation::Hide(reason) => ("h", reason),
        Moderation::Show(reason) => ("u", reason),
        Moderation::Delete => ("e", ""),
    };
    if moderation == Moderation::Delete && deployment.config.shards == 1 {
        // The list of an author who is added meanwhile keeps an entry without a registration.
        let stored = read(deployment, id).await?;
        let author = stored.and_then(|(stored, _)| stored.author);
        all.extend(author.map(|author| keys.targets_of(&author)));
    }
    let call = Command::script(&MODERATE_TARGET, &all)
        .arg(&fingerprint(&deployment.config))
        .number(now.0)
        .arg(&member)
        .arg(verb)
        .arg(reason)
        .arg(deployment.config.bound.journal_flag())
        .number(STEP);
    let replies = pending::begin(deployment, vec![call]).await?;
    deployment.report_deliveries(deployment.config.shard_of(id));
    let reply = replies.first().unwrap_or(&Reply::Nil);
    Ok(decode(reply.at(2)?)?)
}

/// Reads a page of an author's targets. An author who is hidden has none, unless `shows_hidden`.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn list(
    deployment: &Deployment,
    request: &ListRequest,
    shows_hidden: bool,
) -> Result<ListPage, Error> {
    let (config, keys) = (&deployment.config, register_keys(deployment));
    let mut all = vec![
        keys.users(),
        keys.register(),
        keys.targets_of(&request.user),
    ];
    if config.content_periods.contains(&Period::All) {
        // The board of all time is the same on each day.
        let date = Date::of_local_millis(0);
        all.push(keys.received_board(BoardKind::Content, Period::All, date));
    }
    let call = Command::script(&USER_TARGETS, &all)
        .arg(&request.user)
        .number(request.limit)
        .arg(&request.after);
    let reply = deployment.run_script(call).await?;
    if decode_flags(reply.at(1)?)?.is_hidden() && !shows_hidden {
        return Ok(ListPage::default());
    }
    let (registrations, points) = (reply.at(3)?, reply.at(4)?);
    let mut targets = Vec::new();
    for (index, member) in reply.at(2)?.list()?.iter().enumerate() {
        let points = match points {
            Reply::List(points) => points.get(index).map(Reply::optional_unsigned),
            _ => None,
        };
        if let Some(stored) = decode(registrations.at(index)?)? {
            let id = id_of_member(member.text()?).to_owned();
            let points = points.transpose()?.map(Option::unwrap_or_default);
            targets.push((id, stored, points));
        }
    }
    let next = reply.at(5)?.optional_text()?.map(str::to_owned);
    Ok(ListPage { targets, next })
}

/// Registers targets, and returns each as it is now; `None` for one that has another author.
///
/// # Errors
///
/// As [`Deployment::run_script`]; then it is unknown which targets were written.
pub async fn write(
    deployment: &Deployment,
    targets: &[NamedTarget],
    now: Instant,
) -> Result<Vec<Option<StoredTarget>>, Error> {
    let ids: Vec<&str> = targets.iter().map(|named| named.id.as_str()).collect();
    let (mut calls, mut order) = (Vec::new(), Vec::new());
    let shards = deployment.config.indexes_by_shard(&ids);
    for (shard, indexes) in &shards {
        for indexes in indexes.chunks(CALL_TARGETS) {
            let some = indexes.iter().filter_map(|index| targets.get(*index));
            calls.push(write_call(deployment, *shard, some, now));
            order.extend_from_slice(indexes);
        }
    }
    deployment.claim().await?;
    let mut stored = Vec::new();
    for reply in deployment.run_scripts(calls).await? {
        for registration in reply.at(1)?.list()? {
            stored.push(decode(registration)?);
        }
    }
    deployment.report_change();
    shards
        .iter()
        .for_each(|(shard, _)| deployment.report_deliveries(*shard));
    if stored.len() != targets.len() {
        let cause = "unexpected number of targets".to_owned();
        return Err(Error::StoreUnavailable(cause));
    }
    let mut stored: Vec<_> = order.into_iter().zip(stored).collect();
    stored.sort_unstable_by_key(|(index, _)| *index);
    Ok(stored.into_iter().map(|(_, stored)| stored).collect())
}

fn decode(registration: &Reply) -> Result<Option<StoredTarget>, StoreError> {
    let text = registration.optional_text()?;
    let parse = |text| {
        let unexpected = || StoreError::Unavailable("unexpected registration".to_owned());
        StoredTarget::parse(text).ok_or_else(unexpected)
    };
    text.map(parse).transpose()
}

/// The register lies on the only shard of a deployment with boards of content.
fn register_keys(deployment: &Deployment) -> Keys {
    deployment.keys(0)
}

fn write_call<'a>(
    deployment: &Deployment,
    shard: u32,
    targets: impl Iterator<Item = &'a NamedTarget>,
    now: Instant,
) -> Command {
    let (config, keys) = (&deployment.config, deployment.keys(shard));
    let mut all = vec![
        keys.users(),
        keys.register(),
        keys.outbox(),
        keys.deliveries(),
    ];
    let mut arguments = Vec::new();
    for named in targets {
        let author = named.author.as_ref().filter(|_| config.shards == 1);
        let list = author.map(|author| {
            let key = keys.targets_of(author);
            let known = all.iter().position(|known| *known == key);
            known.unwrap_or_else(|| {
                all.push(key);
                all.len() - 1
            }) + 1
        });
        arguments.push(member(&named.id));
        arguments.push(named.author.clone().unwrap_or_default());
        arguments.push(serde_json::to_string(&named.target).unwrap_or_default());
        arguments.push(list.unwrap_or(0).to_string());
    }
    let several = (config.shards > 1).then(|| shard.to_string());
    Command::script(&TARGETS, &all)
        .arg(&fingerprint(config))
        .number(now.0)
        .arg(config.bound.journal_flag())
        .arg(&several.unwrap_or_default())
        .args(arguments)
}
