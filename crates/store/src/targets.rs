//! `targets.lua` and `moderate_target.lua`: the register of targets.

use crate::accounts;
use crate::deployment::Deployment;
use crate::deployment::pending::{self, STEP};
use crate::keys::Keys;
use crate::profiles::{complete_authors, decode_flags};
use crate::receive::receive;
use crate::redis::{Command, Reply, StoreError};
use crate::scripts::{ERASED, MODERATE_TARGET, TARGETS, USER_TARGETS};
use activity_rank_core::account::Accounts;
use activity_rank_core::actor::Actor;
use activity_rank_core::board::{BoardKind, Content};
use activity_rank_core::calendar::{Date, Instant, Period};
use activity_rank_core::content::{
    ListPage, ListRequest, ListedTarget, NamedTarget, StoredTarget, id_of_member, member,
};
use activity_rank_core::error::Error;

/// Targets written by one call: a store runs nothing else meanwhile.
const CALL_TARGETS: usize = 100;

/// The rounds in which receivers get what they receive before a target is deleted.
const DELETION_ROUNDS: u32 = 5;

/// Returns the registration of a target and whether a moderator hides it, if it is registered.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read(
    deployment: &Deployment,
    id: &str,
) -> Result<Option<(StoredTarget, bool)>, Error> {
    let values = read_values(deployment, &[id], false).await?;
    Ok(values
        .first()
        .map(|values| decode_values(values))
        .transpose()?
        .flatten())
}

/// Reads the registration and the flags of each target, and the points of all time if they are wanted and
/// there is such a board.
async fn read_values(
    deployment: &Deployment,
    ids: &[&str],
    wants_points: bool,
) -> Result<Vec<Vec<Reply>>, Error> {
    let read = |keys: &Keys, ids: &[&str]| {
        let members: Vec<String> = ids.iter().map(|id| member(id)).collect();
        let flags = members.iter().map(|member| flags_field(member));
        let mut commands = vec![
            Command::new("HMGET").arg(&keys.register()).args(&members),
            Command::new("HMGET").arg(&keys.users()).args(flags),
        ];
        let board = board_of_all_time(deployment, keys).filter(|_| wants_points);
        commands.extend(board.map(|board| Command::new("ZMSCORE").arg(&board).args(&members)));
        commands
    };
    deployment.read_values(ids, &read).await
}

/// Decodes the registration and the flags of a target. A text that is not a registration is none.
fn decode_values(values: &[Reply]) -> Result<Option<(StoredTarget, bool)>, StoreError> {
    let [registration, flags, ..] = values else {
        return Ok(None);
    };
    let stored = registration.optional_text()?.and_then(StoredTarget::parse);
    let is_hidden = decode_flags(flags)?.hidden;
    Ok(stored.map(|stored| (stored, is_hidden)))
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
    let read = |keys: &Keys, ids: &[&str]| {
        let members = ids.iter().map(|id| member(id));
        vec![Command::new("HMGET").arg(&keys.register()).args(members)]
    };
    let values = deployment.read_values(ids, &read).await?;
    let registrations = values.iter().map(|values| match values.first() {
        Some(registration) => decode(registration),
        None => Ok(None),
    });
    Ok(registrations.collect::<Result<_, _>>()?)
}

/// Reads what is known of targets and of their authors, in their order. Of hidden targets nothing is.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read_contents(deployment: &Deployment, ids: &[&str]) -> Result<Vec<Content>, Error> {
    let mut contents = Vec::new();
    for values in read_values(deployment, ids, false).await? {
        contents.push(match decode_values(&values)? {
            Some((StoredTarget { target, author, .. }, false)) => Content {
                target,
                author: author.map(|id| (id, None)),
            },
            Some((_, true)) | None => Content::default(),
        });
    }
    complete_authors(deployment, contents.iter_mut().collect()).await?;
    Ok(contents)
}

/// Returns the key of the board of content of all time, if there is one.
fn board_of_all_time(deployment: &Deployment, keys: &Keys) -> Option<String> {
    // The board of all time is the same on each day.
    let date = Date::from_local_millis(0);
    let exists = deployment.config.content_periods.contains(&Period::All);
    exists.then(|| keys.received_board(BoardKind::Content, Period::All, date))
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
    actor: Option<&Actor>,
    now: Instant,
) -> Result<Option<StoredTarget>, Error> {
    let (keys, member) = (deployment.keys_of(id), member(id));
    let mut all = keys.moderation_keys();
    if moderation == Moderation::Delete {
        // The author keeps what they received for activities before.
        let shards = (0..deployment.config.shards).collect();
        receive(deployment, shards, DELETION_ROUNDS, now).await?;
    }
    all.push(keys.register());
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
        .arg(&deployment.fingerprint(deployment.config.shard_of(id)))
        .number(now.0)
        .arg(&member)
        .arg(verb)
        .arg(reason)
        .arg(Actor::stored(actor))
        .arg(deployment.config.bound.journal_flag())
        .number(STEP);
    let replies = pending::begin(deployment, vec![call]).await?;
    deployment.report_receivers(deployment.config.shard_of(id));
    let reply = replies.first().unwrap_or(&Reply::Nil);
    Ok(decode(reply.at(2)?)?)
}

/// A row of the list of an author: the instant and the member, the author, and the values if they are on that shard.
type ListRow = (i64, String, String, Vec<Reply>);

/// Reads a page of the targets of an author and of the author's accounts. An author who is hidden has none, unless
/// `shows_hidden`.
///
/// A second request reads the lists of accounts, and with several shards a further one the targets.
///
/// # Errors
///
/// [`Error::AccountOf`] for an account of another member; else as [`Deployment::run_script`].
pub async fn list(
    deployment: &Deployment,
    request: &ListRequest,
    shows_hidden: bool,
) -> Result<ListPage, Error> {
    let own = list_call(deployment, request, &request.user);
    let reply = deployment.run_script(own).await?;
    accounts::check_flags(reply.at(1)?)?;
    let mut rows = Vec::new();
    if !add_rows(&mut rows, &request.user, &reply, shows_hidden)? {
        return Ok(ListPage::default());
    }
    let known = Accounts::from_flags(reply.at(1)?.optional_text()?.unwrap_or_default());
    let users: Vec<&str> = known.list().map(|(_, account)| account).collect();
    if !users.is_empty() {
        let calls = users
            .iter()
            .map(|user| list_call(deployment, request, user));
        let replies = deployment.run_scripts(calls.collect()).await?;
        for (user, reply) in users.into_iter().zip(&replies) {
            // A join that has ended in between leaves a user in the list who is no account, or one of another member.
            match accounts::check_flags(reply.at(1)?) {
                Err(Error::AccountOf(member)) => {
                    if member == request.user {
                        add_rows(&mut rows, user, reply, shows_hidden)?;
                    }
                }
                result => result?,
            }
        }
    }
    let limit = request.limit as usize;
    let last = rows.get(limit.saturating_sub(1));
    let next = last.filter(|_| rows.len() > limit);
    let next = next.map(|(at, member, ..)| format!("{at}-{member}"));
    rows.truncate(limit);
    if deployment.config.shards > 1 {
        let ids = rows.iter().map(|(_, member, ..)| id_of_member(member));
        let values = read_values(deployment, &ids.collect::<Vec<_>>(), true).await?;
        for ((.., slot), values) in rows.iter_mut().zip(values) {
            *slot = values;
        }
    }
    let mut targets = Vec::new();
    for (_, member, author, values) in rows {
        targets.extend(listed(&author, id_of_member(&member), &values)?);
    }
    Ok(ListPage { targets, next })
}

/// Returns the call that reads one target more than a page of an author's targets.
fn list_call(deployment: &Deployment, request: &ListRequest, author: &str) -> Command {
    let keys = deployment.keys_of(author);
    let mut all = vec![keys.users(), keys.targets_of(author)];
    if deployment.config.shards == 1 {
        all.push(keys.register());
        all.extend(board_of_all_time(deployment, &keys));
    }
    let call = Command::script(&USER_TARGETS, &all).arg(author);
    call.number(request.limit + 1).arg(&request.after)
}

/// Adds the rows of an author, newest first. Returns whether the list is shown: that of a hidden author is not, unless `shows_hidden`.
fn add_rows(
    rows: &mut Vec<ListRow>,
    author: &str,
    reply: &Reply,
    shows_hidden: bool,
) -> Result<bool, StoreError> {
    let is_shown = shows_hidden || !decode_flags(reply.at(1)?)?.is_hidden();
    let columns = reply.list()?.get(3..).unwrap_or_default();
    for (index, row) in reply.at(2)?.list()?.chunks(2).enumerate() {
        if let ([member, at], true) = (row, is_shown) {
            let values = columns.iter();
            let values = values.flat_map(|column| column.at(index).cloned());
            let member = member.text()?.to_owned();
            let at = at.integer()?;
            let before = |(other_at, other, ..): &ListRow| (*other_at, other) > (at, &member);
            let place = rows.partition_point(before);
            rows.insert(place, (at, member, author.to_owned(), values.collect()));
        }
    }
    Ok(is_shown)
}

/// Returns a target of a list, unless it is hidden or not one of this author any more.
fn listed(author: &str, id: &str, values: &[Reply]) -> Result<Option<ListedTarget>, StoreError> {
    let visible = decode_values(values)?.filter(|(_, is_hidden)| !is_hidden);
    let has_author = |(stored, _): &(StoredTarget, bool)| stored.author.as_deref() == Some(author);
    let Some((stored, _)) = visible.filter(has_author) else {
        return Ok(None);
    };
    // Scores of hidden targets are negative, also for a moment after a target is shown again.
    let points = values
        .get(2)
        .map(|score| score.some().map_or(Ok(0), Reply::integer));
    let points = points.transpose()?.map(i64::unsigned_abs);
    Ok(Some((id.to_owned(), stored, points)))
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
    let named = targets.iter().map(|named| Registration {
        id: &named.id,
        author: named.author.as_deref(),
        shown: serde_json::to_string(&named.target).unwrap_or_default(),
        at: now,
        is_author_erased: false,
    });
    let stored = register(deployment, &named.collect::<Vec<_>>(), now).await?;
    deployment.report_change();
    Ok(stored)
}

/// What a call of `targets.lua` says of a target.
pub(crate) struct Registration<'a> {
    /// The id.
    pub id: &'a str,
    /// The author who is set where none is.
    pub author: Option<&'a str>,
    /// What boards show, as JSON; empty to keep it.
    pub shown: String,
    /// The instant of a new registration.
    pub at: Instant,
    /// Whether the author, on another shard, was erased after that instant.
    pub is_author_erased: bool,
}

/// Finds out which authors on other shards were erased after the instants of the registrations.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub(crate) async fn find_erased_authors(
    deployment: &Deployment,
    targets: &mut [Registration<'_>],
    now: Instant,
) -> Result<(), Error> {
    let mut earlier: Vec<(&mut Registration<'_>, &str)> = targets
        .iter_mut()
        .filter(|target| target.at < now)
        .filter_map(|target| target.author.map(|author| (target, author)))
        .collect();
    let authors: Vec<&str> = earlier.iter().map(|(_, author)| *author).collect();
    let read = |keys: &Keys, users: &[&str]| {
        vec![Command::script(&ERASED, &[keys.tombstones()]).args(users)]
    };
    let erased = deployment.read_values(&authors, &read).await?;
    for ((target, _), values) in earlier.iter_mut().zip(&erased) {
        if let Some(erased) = values.first().and_then(Reply::some) {
            target.is_author_erased = target.at.0 <= erased.integer()?;
        }
    }
    Ok(())
}

/// Registers targets, or reads those of which nothing is new. Returns each as it is now.
///
/// # Errors
///
/// As [`write`].
pub(crate) async fn register(
    deployment: &Deployment,
    targets: &[Registration<'_>],
    now: Instant,
) -> Result<Vec<Option<StoredTarget>>, Error> {
    let (calls, order) = register_calls(deployment, targets, now);
    deployment.claim().await?;
    let mut stored = Vec::new();
    for reply in deployment.run_scripts(calls).await? {
        for registration in reply.at(1)?.list()? {
            stored.push(decode(registration)?);
        }
    }
    if deployment.config.shards > 1 {
        for named in targets.iter().filter(|named| named.author.is_some()) {
            deployment.report_receivers(deployment.config.shard_of(named.id));
        }
    }
    if stored.len() != targets.len() {
        let cause = "unexpected number of targets".to_owned();
        return Err(Error::StoreUnavailable(cause));
    }
    let mut stored: Vec<_> = order.into_iter().zip(stored).collect();
    stored.sort_unstable_by_key(|(index, _)| *index);
    Ok(stored.into_iter().map(|(_, stored)| stored).collect())
}

/// Returns the calls that register targets, and the indexes of the targets in the order of the replies.
pub(crate) fn register_calls(
    deployment: &Deployment,
    targets: &[Registration<'_>],
    now: Instant,
) -> (Vec<Command>, Vec<usize>) {
    let ids: Vec<&str> = targets.iter().map(|named| named.id).collect();
    let (mut calls, mut order) = (Vec::new(), Vec::new());
    for (shard, indexes) in &deployment.config.indexes_by_shard(&ids) {
        for indexes in indexes.chunks(CALL_TARGETS) {
            let part = indexes.iter().filter_map(|index| targets.get(*index));
            calls.push(register_call(deployment, *shard, part, now));
            order.extend_from_slice(indexes);
        }
    }
    (calls, order)
}

fn decode(registration: &Reply) -> Result<Option<StoredTarget>, StoreError> {
    let text = registration.optional_text()?;
    let parse = |text| {
        let unexpected = || StoreError::Unavailable("unexpected registration".to_owned());
        StoredTarget::parse(text).ok_or_else(unexpected)
    };
    text.map(parse).transpose()
}

fn register_call<'a>(
    deployment: &Deployment,
    shard: u32,
    targets: impl Iterator<Item = &'a Registration<'a>>,
    now: Instant,
) -> Command {
    let (config, keys) = (&deployment.config, deployment.keys(shard));
    let mut all = vec![
        keys.users(),
        keys.register(),
        keys.outbox(),
        keys.tombstones(),
    ];
    let mut arguments = Vec::new();
    for named in targets {
        let author = named.author.filter(|_| config.shards == 1);
        let list = author.map(|author| {
            let key = keys.targets_of(author);
            let known = all.iter().position(|known| *known == key);
            known.unwrap_or_else(|| {
                all.push(key);
                all.len() - 1
            }) + 1
        });
        arguments.push(member(named.id));
        arguments.push(named.author.unwrap_or_default().to_owned());
        arguments.push(named.shown.clone());
        arguments.push(named.at.0.to_string());
        arguments.push(match list {
            Some(number) => number.to_string(),
            None if named.is_author_erased => "-1".to_owned(),
            None => "0".to_owned(),
        });
    }
    let several = (config.shards > 1).then(|| shard.to_string());
    Command::script(&TARGETS, &all)
        .arg(&deployment.fingerprint(shard))
        .number(now.0)
        .arg(config.bound.journal_flag())
        .arg(&several.unwrap_or_default())
        .args(arguments)
}
