//! `account.lua`: makes a user an account of a member, and takes that back; sets the exclusions of members.
//!
//! The flags of the account name the member, and the flags of the member list the account. Both may lie on different shards.
//! A request that ends in between is completed by the same request again: what it needs for that is written first, or cleared
//! last. A name in the list alone counts for nothing.

use crate::deployment::Deployment;
use crate::keys::Keys;
use crate::redis::{Command, Reply, StoreError};
use crate::scripts::ACCOUNT;
use activity_rank_core::account::Accounts;
use activity_rank_core::actor::Actor;
use activity_rank_core::calendar::Instant;
use activity_rank_core::error::Error;

/// The most exclusions of a member, as `account.lua` has it.
const MAX_EXCLUSIONS: usize = 100;

const TOO_MANY: &str = "A member has at most 100 exclusions.";
const MODERATED: &str =
    "One of these users is frozen or hidden by a moderator: their accounts cannot be changed.";
const NOT_A_MEMBER: &str = "One of them is an account of another member.";

/// A half of a change: the verb, the user whose flags change, and the other one.
type Half<'a> = (&'static str, &'a str, &'a str);

/// Returns the accounts of a user.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read(deployment: &Deployment, user: &str) -> Result<Accounts, Error> {
    let flags = Command::new("HGET").arg(&deployment.keys_of(user).users());
    let flags = flags.arg(&Keys::flags_field(user));
    let reply = deployment.run_command(flags).await?;
    Ok(Accounts::from_flags(
        reply.optional_text()?.unwrap_or_default(),
    ))
}

/// Returns how far a recount of accounts is that runs now, in percent of the journal on all shards; `None` if none runs.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read_recount(deployment: &Deployment) -> Result<Option<u64>, Error> {
    let shards = deployment.config.shards;
    let states = (0..shards).map(|shard| {
        let state = Command::new("HMGET").arg(&deployment.keys(shard).rebuild());
        state.arg("entry").arg("until")
    });
    let (mut done, mut all) = (0, 0);
    for state in deployment.run_commands(states.collect()).await? {
        let number = |index| {
            let text = state.at(index)?.optional_text()?.unwrap_or_default();
            Ok::<u64, Error>(text.parse().unwrap_or_default())
        };
        let (entry, until) = (number(0)?, number(1)?);
        done += entry.min(until);
        all = all.max(until);
    }
    Ok((done * 100).checked_div(all * u64::from(shards)))
}

/// Returns the members of users who are accounts, in the order of the users.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read_members(
    deployment: &Deployment,
    users: &[&str],
) -> Result<Vec<Option<String>>, Error> {
    let accounts = read_all(deployment, users).await?;
    let member = |accounts: &Accounts| accounts.member().map(|(_, member)| member.to_owned());
    Ok(accounts.iter().map(member).collect())
}

/// Returns the accounts of users, in their order.
async fn read_all(deployment: &Deployment, users: &[&str]) -> Result<Vec<Accounts>, Error> {
    let read = |keys: &Keys, users: &[&str]| {
        let fields = users.iter().map(|user| Keys::flags_field(user));
        vec![Command::new("HMGET").arg(&keys.users()).args(fields)]
    };
    let mut accounts = Vec::new();
    for flags in deployment.read_values(users, &read).await? {
        let flags = flags
            .first()
            .map(Reply::optional_text)
            .transpose()?
            .flatten();
        accounts.push(Accounts::from_flags(flags.unwrap_or_default()));
    }
    Ok(accounts)
}

/// Makes a user an account of a member. Returns the accounts of the user, as it is one now.
///
/// # Errors
///
/// [`Error::AccountConflict`], and [`Error::Forbidden`] for a member if a moderator has frozen or hidden one of both; else as
/// [`Deployment::run_script`].
pub async fn join(
    deployment: &Deployment,
    user: &str,
    member: &str,
    actor: Option<&Actor>,
    now: Instant,
) -> Result<Accounts, Error> {
    let halves = [("add", member, user), ("join", user, member)];
    let is_member = actor == Some(&Actor::User);
    let (accounts, _) = change(deployment, halves, (actor, is_member), now).await?;
    Ok(accounts)
}

/// Takes back that a user is an account of a member. The account knows its member until the end.
///
/// # Errors
///
/// [`Error::Forbidden`] for a member if a moderator has frozen or hidden one of both; else as [`Deployment::run_script`].
pub async fn detach(
    deployment: &Deployment,
    user: &str,
    member: &str,
    actor: Option<&Actor>,
    now: Instant,
) -> Result<(), Error> {
    let is_member = actor == Some(&Actor::User);
    if is_member {
        // Moderation of an account is that of its member, so the account's own flags stay until the second half.
        deployment.claim().await?;
        let args = ["check", user, member, "", "", "", "1"];
        let (_, result) = run(deployment, &args, actor, now).await?;
        check_moderated(&result)?;
    }
    let halves = [("remove", member, user), ("detach", user, member)];
    let change = change(deployment, halves, (actor, is_member), now);
    change.await.map(|_| ())
}

/// Takes back that a user is an account of a member who is erased. Returns whether it was one. The member knows the account
/// until the end.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn release(
    deployment: &Deployment,
    user: &str,
    member: &str,
    actor: Option<&Actor>,
    now: Instant,
) -> Result<bool, Error> {
    let halves = [("detach", user, member), ("remove", member, user)];
    let (_, was_account) = change(deployment, halves, (actor, false), now).await?;
    Ok(was_account)
}

/// The decision of a case that activity between its members does not count.
#[derive(Clone, Debug)]
pub struct Exclusion<'a> {
    /// The case: digits, letters and `-`.
    pub case: &'a str,
    /// The members between whom activity does not count.
    pub members: &'a [&'a str],
    /// From when until when, `None` for ever; `None` if it counts again.
    pub span: Option<(Instant, Option<Instant>)>,
    /// The reason.
    pub reason: &'a str,
    /// Whether the members may read it.
    pub is_public: bool,
}

impl Exclusion<'_> {
    /// Returns the exclusions of one of the members, as the script reads them.
    fn words(&self, member: &str) -> String {
        let Some((from, until)) = self.span else {
            return String::new();
        };
        let until = until.map(|until| until.0.to_string());
        let span = format!("/{}/{}", from.0, until.unwrap_or_default());
        let receivers = self.members.iter().filter(|other| **other != member);
        let words: Vec<String> = receivers.map(|other| format!("{other}{span}")).collect();
        words.join(" ")
    }
}

/// Lets activity between members not count, or count again. Earlier activity follows with a recount. The same call again completes
/// one that failed.
///
/// # Errors
///
/// [`Error::AccountConflict`] for an account of a member, and for more than 100 exclusions of a member; else as
/// [`Deployment::run_script`].
pub async fn exclude(
    deployment: &Deployment,
    exclusion: &Exclusion<'_>,
    actor: Option<&Actor>,
    now: Instant,
) -> Result<(), Error> {
    deployment.claim().await?;
    let found = read_all(deployment, exclusion.members).await?;
    for accounts in found.iter().filter(|_| exclusion.span.is_some()) {
        let kept = accounts.exclusions().filter(|known| {
            let case = known.rsplit('/').next();
            case != Some(exclusion.case)
        });
        refuse(accounts.member().is_some(), NOT_A_MEMBER)?;
        let count = kept.count() + exclusion.members.len() - 1;
        refuse(count > MAX_EXCLUSIONS, TOO_MANY)?;
    }
    let is_public = if exclusion.is_public { "1" } else { "" };
    let (case, reason) = (exclusion.case, exclusion.reason);
    let calls = exclusion.members.iter().map(|member| {
        let words = exclusion.words(member);
        let args = ["exclude", member, &words, case, reason, is_public];
        call(deployment, &args, actor, now)
    });
    let replies = deployment.run_scripts(calls.collect()).await?;
    for (member, reply) in exclusion.members.iter().zip(&replies) {
        let (_, result) = learn(deployment, member, reply)?;
        // They may have changed since they were read.
        refuse(result == "account", NOT_A_MEMBER)?;
        refuse(result == "full", TOO_MANY)?;
    }
    Ok(())
}

fn refuse(is_refused: bool, detail: &'static str) -> Result<(), Error> {
    match is_refused {
        true => Err(Error::AccountConflict(detail)),
        false => Ok(()),
    }
}

fn check_moderated(result: &str) -> Result<(), Error> {
    match result {
        "moderated" => Err(Error::Forbidden(MODERATED.to_owned())),
        _ => Ok(()),
    }
}

/// Returns the keys of the script.
#[must_use]
pub fn account_keys(keys: &Keys) -> Vec<String> {
    vec![
        keys.users(),
        keys.outbox(),
        keys.audit_log(),
        keys.audit_subjects(),
    ]
}

/// Changes both halves. Returns the accounts of the user of the last one, and whether the first one has detached an
/// account. If the second half is refused, an account that the first one has added to a list leaves it again. Moderators bind a
/// member who makes the change.
async fn change(
    deployment: &Deployment,
    [first, second]: [Half<'_>; 2],
    (actor, is_member): (Option<&Actor>, bool),
    now: Instant,
) -> Result<(Accounts, bool), Error> {
    deployment.claim().await?;
    let mut halves = vec![second, first];
    let (mut number, mut conflict, mut was_added) = (String::new(), None, false);
    let (mut accounts, mut was_account) = (Accounts::default(), false);
    while let Some((verb, user, other)) = halves.pop() {
        let checks = is_member && conflict.is_none();
        let by_member = if checks { "1" } else { "" };
        let args = [verb, user, other, number.as_str(), "", "", by_member];
        let (changed, result) = run(deployment, &args, actor, now).await?;
        accounts = changed;
        let detail = match result.as_str() {
            "added" => {
                was_added = true;
                ""
            }
            "detached" => {
                was_account = true;
                ""
            }
            "full" => "A member has at most 20 accounts.",
            "account" => "One of them is an account of another member: take that back first.",
            "member" => "The account has accounts: take these back first.",
            "excluded" => "A case excludes the account: take that back first.",
            "moderated" => MODERATED,
            _ => "",
        };
        if !detail.is_empty() {
            conflict = Some(match check_moderated(&result) {
                Err(error) => error,
                Ok(()) => Error::AccountConflict(detail),
            });
            halves.clear();
            halves.extend(was_added.then_some(("remove", other, user)));
        }
        accounts
            .number_of(other)
            .unwrap_or_default()
            .clone_into(&mut number);
    }
    conflict.map_or(Ok((accounts, was_account)), Err)
}

/// Writes an action of a case to the audit log for each member, with a reason, in one request.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn audit(
    deployment: &Deployment,
    members: &[&str],
    (action, case, reason): (&str, &str, &str),
    actor: Option<&Actor>,
    now: Instant,
) -> Result<(), Error> {
    deployment.claim().await?;
    let call = |member: &&str| call(deployment, &[action, member, "", case, reason], actor, now);
    let calls = members.iter().map(call).collect();
    deployment.run_scripts(calls).await.map(|_| ())
}

/// Returns the call of the script with these arguments after the actor: verb and user, then the rest.
fn call(deployment: &Deployment, args: &[&str], actor: Option<&Actor>, now: Instant) -> Command {
    let user = args.get(1).copied().unwrap_or_default();
    let shard = deployment.config.shard_of(user);
    Command::script(&ACCOUNT, &account_keys(&deployment.keys(shard)))
        .arg(&deployment.fingerprint(shard))
        .number(now.0)
        .arg(deployment.config.bound.journal_flag())
        .arg(Actor::stored(actor))
        .args(args.iter().copied())
}

/// Runs the script with these arguments after the actor: verb and user, then the rest. Returns the accounts of the user, and the
/// result.
async fn run(
    deployment: &Deployment,
    args: &[&str],
    actor: Option<&Actor>,
    now: Instant,
) -> Result<(Accounts, String), Error> {
    let user = args.get(1).copied().unwrap_or_default();
    let call = call(deployment, args, actor, now);
    let reply = deployment.run_script(call).await?;
    Ok(learn(deployment, user, &reply)?)
}

/// Returns the accounts of a user, and the result, from the reply to the script.
fn learn(
    deployment: &Deployment,
    user: &str,
    reply: &Reply,
) -> Result<(Accounts, String), StoreError> {
    let accounts = Accounts::new(reply.at(2)?.text()?);
    if accounts.member().is_none() {
        deployment.set_accounts(user, accounts.clone());
    }
    Ok((accounts, reply.at(3)?.text()?.to_owned()))
}

/// Checks that a user is not an account of another member, by the text of their accounts.
///
/// # Errors
///
/// [`Error::AccountOf`].
pub(crate) fn check(accounts: &str) -> Result<(), Error> {
    match Accounts::new(accounts).member() {
        Some((_, member)) => Err(Error::AccountOf(member.to_owned())),
        None => Ok(()),
    }
}

/// Checks that a user is not an account of another member, by their stored flags.
///
/// # Errors
///
/// [`Error::AccountOf`], and that of a reply that is neither nil nor text.
pub(crate) fn check_flags(flags: &Reply) -> Result<(), Error> {
    check(Accounts::from_flags(flags.optional_text()?.unwrap_or_default()).text())
}
