//! `pause.lua`: the pauses of a user.

use crate::accounts;
use crate::deployment::Deployment;
use crate::keys::Keys;
use crate::redis::{Command, Reply, StoreError};
use crate::scripts::PAUSE;
use activity_rank_core::actor::Actor;
use activity_rank_core::calendar::{Date, Instant};
use activity_rank_core::error::Error;
use activity_rank_core::pause::Pauses;

/// Decodes stored pauses.
///
/// # Errors
///
/// [`StoreError::Unavailable`] if the reply is neither nil nor text.
pub(crate) fn decode(reply: &Reply) -> Result<Pauses, StoreError> {
    Ok(reply
        .optional_text()?
        .map(Pauses::parse)
        .unwrap_or_default())
}

/// Reads the pauses of a user.
///
/// # Errors
///
/// [`Error::AccountOf`] for an account of another member; else as [`Deployment::run_script`].
pub async fn read(deployment: &Deployment, user: &str) -> Result<Pauses, Error> {
    let fields = [Keys::flags_field(user), Keys::pauses_field(user)];
    let command = Command::new("HMGET").arg(&deployment.keys_of(user).users());
    let reply = deployment.run_command(command.args(fields)).await?;
    accounts::check_flags(reply.at(0)?)?;
    Ok(decode(reply.at(1)?)?)
}

/// Changes the pauses of a user, and returns them. Most users have none, so the first call is for those; it returns the
/// pauses of others for the next one. [`Actor::User`] changes their own.
///
/// # Errors
///
/// The errors of `change`, [`Error::Forbidden`] for a frozen user who changes their own pauses, and [`Error::AccountOf`] for an
/// account of another member; else as [`Deployment::run_script`].
pub async fn change(
    deployment: &Deployment,
    user: &str,
    (today, now): (Date, Instant),
    actor: Option<&Actor>,
    change: &dyn Fn(&mut Pauses) -> Result<(), Error>,
) -> Result<Pauses, Error> {
    deployment.claim().await?;
    let shard = deployment.config.shard_of(user);
    let keys = deployment.keys(shard);
    let by_member = if actor == Some(&Actor::User) {
        "1"
    } else {
        "0"
    };
    let mut known = String::new();
    loop {
        let mut pauses = Pauses::parse(&known);
        change(&mut pauses)?;
        let call = Command::script(&PAUSE, &[keys.users(), keys.outbox()])
            .arg(&deployment.fingerprint(shard))
            .number(now.0)
            .arg(deployment.config.bound.journal_flag())
            .args([by_member, user, &known])
            .arg(&pauses.stored())
            .arg(&today.to_string());
        let reply = deployment.run_script(call).await?;
        let refusal = reply.at(1)?.text()?;
        if refusal == "frozen" {
            let detail = "This user is frozen: their pauses cannot be changed.";
            return Err(Error::Forbidden(detail.to_owned()));
        }
        accounts::check(refusal)?;
        let stored = reply.at(2)?.text()?;
        if stored == known {
            return Ok(pauses);
        }
        stored.clone_into(&mut known);
    }
}
