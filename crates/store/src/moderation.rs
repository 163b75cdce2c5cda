//! `moderate.lua`, `award.lua` and `audited.lua`: hides and freezes users, awards achievements, and reads the audit log.

use crate::accounts::account_keys;
use crate::deployment::Deployment;
use crate::deployment::pending::{self, STEP};
use crate::fingerprint::Participant;
use crate::keys::Keys;
use crate::profiles::{decode_own, decode_profile};
use crate::redis::{Command, Reply, StoreError};
use crate::scripts::{AUDITED, AWARD, MODERATE};
use activity_rank_core::achievement::AwardRequest;
use activity_rank_core::actor::Actor;
use activity_rank_core::calendar::Instant;
use activity_rank_core::config::Achievement;
use activity_rank_core::content::{StoredTarget, id_of_member};
use activity_rank_core::error::Error;
use activity_rank_core::json;
use activity_rank_core::moderation::{AdjustmentEntry, AuditEntry, AuditRequest, AwardEntry};
use activity_rank_core::moderation::{EntryId, ErasureEntry, Flags, ModerationState};
use activity_rank_core::profile::Profile;

/// Sets the moderation state of a user. Returns the user's profile and flags afterwards.
///
/// # Errors
///
/// [`Error::AccountOf`] for an account of another member; else as [`pending::begin`].
pub async fn moderate(
    deployment: &Deployment,
    state: &ModerationState,
    actor: Option<&Actor>,
    now: Instant,
) -> Result<(Option<Profile>, Flags), Error> {
    if state.restricts() {
        deployment.claim().await?;
    }
    let call = moderate_call(deployment, state, actor, now);
    let replies = pending::begin(deployment, vec![call]).await?;
    let reply = replies.first().unwrap_or(&Reply::Nil);
    decode_own(reply.list()?.get(2..).unwrap_or_default())
}

fn moderate_call(
    deployment: &Deployment,
    state: &ModerationState,
    actor: Option<&Actor>,
    now: Instant,
) -> Command {
    let shard = deployment.config.shard_of(&state.user);
    let flag = |set: bool| if set { "1" } else { "0" };
    Command::script(&MODERATE, &deployment.keys(shard).moderation_keys())
        .arg(&deployment.fingerprint(shard))
        .number(now.0)
        .arg(&state.user)
        .arg(flag(state.hidden))
        .arg(flag(state.frozen))
        .arg(&state.reason)
        .arg(Actor::stored(actor))
        .arg(deployment.config.bound.journal_flag())
        .number(STEP)
        .arg(if state.has_public_reason { "1" } else { "" })
}

/// Writes to the audit log and the journal that steps of an achievement are awarded to a user, or withdrawn. Returns the user's
/// profile.
///
/// # Errors
///
/// [`Error::AccountOf`] for an account of another member; else as [`Deployment::run_script`].
pub async fn award(
    deployment: &Deployment,
    (request, achievement): (&AwardRequest, &Achievement),
    steps: &[u64],
    actor: Option<&Actor>,
    now: Instant,
) -> Result<Option<Profile>, Error> {
    deployment.claim().await?;
    let shard = deployment.config.shard_of(&request.user);
    let [steps, values] = achievement.render_steps(steps);
    let verb = if request.withdraws {
        "withdraw"
    } else {
        "award"
    };
    let call = Command::script(&AWARD, &account_keys(&deployment.keys(shard)))
        .arg(&deployment.fingerprint(shard))
        .number(now.0)
        .arg(deployment.config.bound.journal_flag())
        .arg(Actor::stored(actor))
        .args([verb, &request.user, &achievement.id])
        .arg(&steps)
        .arg(&values)
        .arg(&request.reason);
    let reply = deployment.run_script(call).await?;
    let (profile, _) = decode_own(reply.list()?.get(2..).unwrap_or_default())?;
    Ok(profile)
}

/// Reads a page of the audit log from every shard: up to `limit` entries of each, in any order.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read_audit_log(
    deployment: &Deployment,
    request: &AuditRequest,
) -> Result<Vec<AuditEntry>, Error> {
    let shards = 0..deployment.config.shards;
    let calls = shards.map(|shard| audit_call(&deployment.keys(shard), request, shard));
    let replies = deployment.run_scripts(calls.collect()).await?;
    let mut entries = Vec::new();
    for (shard, reply) in (0..).zip(&replies) {
        let (reasons, users, profiles) = (reply.at(2)?, reply.at(3)?, reply.at(4)?);
        for (index, entry) in reply.at(1)?.list()?.iter().enumerate() {
            let mut entry = decode_entry(shard, entry)?;
            if let Some(reason) = reasons.at(index)?.optional_text()? {
                entry.reason = Some(reason.to_owned());
            }
            let subject = users.at(index)?.optional_text()?;
            let profile = profiles.at(index)?;
            match subject.map(Participant::parse) {
                Some(Participant::User(user)) => {
                    entry.user = Some((user.to_owned(), decode_profile(profile)?));
                }
                Some(Participant::Target(member)) => {
                    let stored = profile.optional_text()?.and_then(StoredTarget::parse);
                    let target = stored.map(|stored| stored.target).unwrap_or_default();
                    entry.target = Some((id_of_member(member).to_owned(), target));
                }
                None => {}
            }
            entries.push(entry);
        }
    }
    Ok(entries)
}

/// Returns the call that reads a page of a shard's audit log.
#[must_use]
pub fn audit_call(keys: &Keys, request: &AuditRequest, shard: u32) -> Command {
    let all = [
        keys.users(),
        keys.audit_log(),
        keys.audit_subjects(),
        keys.opt_outs(),
        keys.register(),
    ];
    let from = request.before.map(|id| id.before(shard));
    Command::script(&AUDITED, &all)
        .arg(from.as_deref().unwrap_or("+"))
        .number(request.limit)
}

/// Decodes a stream entry: its id, then names and values in turn.
fn decode_entry(shard: u32, reply: &Reply) -> Result<AuditEntry, StoreError> {
    let fields = reply.at(1)?.list()?;
    let field = |name: &str| {
        let mut pairs = fields.chunks(2);
        let value = pairs.find_map(|pair| match pair {
            [known, value] if known.text() == Ok(name) => Some(value),
            _ => None,
        });
        value.map_or(Ok(""), Reply::text)
    };
    let number =
        |name: &str| -> Result<i64, StoreError> { field(name)?.parse().map_err(|_| unexpected()) };
    let count = |name: &str| number(name).map(i64::unsigned_abs);
    let optional = |name: &str| -> Result<Option<String>, StoreError> {
        let text = field(name)?;
        Ok((!text.is_empty()).then(|| text.to_owned()))
    };
    let action = field("action")?.to_owned();
    let adjustment = match field("adjustment")? {
        "" => None,
        id => Some(AdjustmentEntry {
            id: id.to_owned(),
            date: optional("date")?,
            event: optional("event")?,
            steps: number("points")?,
        }),
    };
    let achievement = optional("achievement")?.map(|id| {
        let steps = json::read(field("steps").unwrap_or_default().as_bytes());
        AwardEntry {
            id,
            steps: steps.unwrap_or_default(),
        }
    });
    let removed = match action.as_str() {
        "erase" => Some(ErasureEntry {
            boards: count("boards")?,
            keys: count("keys")?,
            profiles: count("profiles")?,
        }),
        _ => None,
    };
    Ok(AuditEntry {
        id: EntryId::of(shard, reply.at(0)?.text()?).ok_or_else(unexpected)?,
        at: Instant(number("at")?),
        action,
        actor: Actor::parse(field("actor")?),
        user: None,
        target: None,
        // That of a version of the rules: erasures delete the others.
        reason: optional("reason")?,
        adjustment,
        achievement,
        removed,
        version: field("version")?.parse().ok(),
    })
}

fn unexpected() -> StoreError {
    StoreError::Unavailable("unexpected entry of the audit log".to_owned())
}
