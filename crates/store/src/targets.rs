//! `targets.lua`: the register of targets.

use crate::deployment::Deployment;
use crate::fingerprint::fingerprint;
use crate::keys::Keys;
use crate::redis::{Command, Reply, StoreError};
use crate::scripts::TARGETS;
use activity_rank_core::calendar::Instant;
use activity_rank_core::content::{NamedTarget, StoredTarget, member};
use activity_rank_core::error::Error;

/// Targets written by one call: a store runs nothing else meanwhile.
const CALL_TARGETS: usize = 100;

/// Returns the registration of a target, if it is registered.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read(deployment: &Deployment, id: &str) -> Result<Option<StoredTarget>, Error> {
    let keys = register_keys(deployment);
    let read = Command::new("HGET").arg(&keys.register()).arg(&member(id));
    let reply = deployment.run_command(&keys, read).await?;
    Ok(reply.optional_text()?.and_then(StoredTarget::parse))
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
    let calls = targets.chunks(CALL_TARGETS);
    let calls = calls.map(|targets| write_call(deployment, targets, now));
    let calls: Vec<Command> = calls.collect();
    deployment.claim().await?;
    let mut stored = Vec::new();
    for reply in deployment.run_scripts(calls).await? {
        for registration in reply.at(1)?.list()? {
            stored.push(decode(registration)?);
        }
    }
    deployment.report_change();
    match stored.len() == targets.len() {
        true => Ok(stored),
        false => Err(Error::StoreUnavailable(
            "unexpected number of targets".to_owned(),
        )),
    }
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

fn write_call(deployment: &Deployment, targets: &[NamedTarget], now: Instant) -> Command {
    let (config, keys) = (&deployment.config, register_keys(deployment));
    let mut all = vec![keys.users(), keys.register(), keys.outbox()];
    let mut arguments = Vec::new();
    for named in targets {
        let list = named.author.as_ref().map(|author| {
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
    Command::script(&TARGETS, &all)
        .arg(&fingerprint(config))
        .number(now.0)
        .arg(config.bound.journal_flag())
        .args(arguments)
}
