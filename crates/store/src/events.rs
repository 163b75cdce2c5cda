//! `define.lua`: the events of a deployment.
//!
//! The first shard holds the events, and every shard the definitions that its counting script reads. The versions of the
//! rules are stored in the same way, see [`crate::rules`].

use crate::deployment::{Deployment, MAX_CALLS};
use crate::fingerprint;
use crate::keys::Keys;
use crate::redis::{Command, Pipeline, Reply, StoreError};
use crate::scripts::DEFINE;
use activity_rank_core::calendar::Instant;
use activity_rank_core::error::Error;
use activity_rank_core::event::{
    Definitions, Event, MAX_EVENTS, MAX_OPEN, MAX_RUNNING, RULES_MARKER,
};
use std::collections::BTreeSet;

/// Reads an event.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read(deployment: &Deployment, id: &str) -> Result<Option<Event>, Error> {
    let keys = deployment.keys(0);
    let command = Command::new("HGET").arg(&keys.events()).arg(id);
    let reply = deployment.run_command(command).await?;
    let text = reply.optional_text()?;
    Ok(text.and_then(|text| Event::from_stored(id, text)))
}

/// Reads all events.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read_all(deployment: &Deployment) -> Result<Vec<Event>, Error> {
    let keys = deployment.keys(0);
    let command = Command::new("HGETALL").arg(&keys.events());
    let reply = deployment.run_command(command).await?;
    let mut events = Vec::new();
    for field in reply.list()?.chunks(2) {
        if let [id, text] = field {
            events.extend(Event::from_stored(id.text()?, text.text()?));
        }
    }
    Ok(events)
}

/// Reads some events. An event that does not exist is left out.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read_some(deployment: &Deployment, ids: &[&str]) -> Result<Vec<Event>, Error> {
    let keys = deployment.keys(0);
    let command = Command::new("HMGET").arg(&keys.events());
    let command = command.args(ids.iter().copied());
    let reply = deployment.run_command(command).await?;
    let mut events = Vec::new();
    for (id, text) in ids.iter().zip(reply.list()?) {
        let text = text.optional_text()?;
        events.extend(text.and_then(|text| Event::from_stored(id, text)));
    }
    Ok(events)
}

/// Returns the events that run or settle at an instant, as the last call on the shard of a user found them.
#[must_use]
pub fn known_open(deployment: &Deployment, user: &str, now: Instant) -> Vec<String> {
    let definitions = deployment.definitions(deployment.config.shard_of(user));
    let events = definitions.events();
    let open = events.filter(|event| event.from <= now && now < event.final_at);
    open.map(|event| event.id.to_owned()).collect()
}

/// Reads the definitions.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read_definitions(deployment: &Deployment) -> Result<Definitions, Error> {
    let keys = deployment.keys(0);
    let command = read_definitions_command(&keys);
    let reply = deployment.run_command(command).await?;
    Ok(Definitions::new(reply.optional_text()?.unwrap_or_default()))
}

/// Reads the definitions of a shard, and the reply to another command on it.
pub(crate) async fn read_definitions_and(
    deployment: &Deployment,
    shard: u32,
    command: Command,
) -> Result<(Definitions, Reply), Error> {
    let commands = vec![
        fingerprint::read_with_definitions(&deployment.keys(shard)),
        command,
    ];
    let mut replies = deployment.store.run(&Pipeline::new(commands)).await?;
    let reply = replies.pop().unwrap_or(Reply::Nil);
    let users = replies.pop().unwrap_or(Reply::Nil);
    deployment.check(shard, users.at(0)?)?;
    let definitions = users.at(1)?.optional_text()?.unwrap_or_default();
    Ok((Definitions::new(definitions), reply))
}

pub(crate) fn read_definitions_command(keys: &Keys) -> Command {
    let command = Command::new("HGET").arg(&keys.users());
    command.arg(Keys::DEFINITIONS)
}

/// Defines an event: at first, or again with a changed definition.
///
/// # Errors
///
/// [`Error::EventConflict`] for a change that is not allowed any more, one event too many, or many changes at the same time;
/// else as [`Deployment::run_script`].
pub async fn define(deployment: &Deployment, event: &Event, now: Instant) -> Result<(), Error> {
    change(deployment, &event.id, Some(event), now).await
}

/// Deletes an event and its board.
///
/// # Errors
///
/// [`Error::EventConflict`] for many changes at the same time; else as [`Deployment::run_script`].
pub async fn delete(deployment: &Deployment, id: &str, now: Instant) -> Result<(), Error> {
    change(deployment, id, None, now).await
}

/// The definitions of the first shard, and those after a change.
struct Change {
    /// The number of the stored ones.
    number: String,
    /// All definitions afterwards.
    changed: Definitions,
}

/// Checks that a recount may define an event, and returns the line of its definition for the counting script.
///
/// # Errors
///
/// [`Error::EventConflict`] for one event too many; else as [`Deployment::run_script`].
pub async fn check_recount(
    deployment: &Deployment,
    event: &Event,
    now: Instant,
) -> Result<String, Error> {
    let change = read_change(deployment, &event.id, Some(event), true, now).await?;
    let line = change.changed.line_of(&event.id).unwrap_or_default();
    Ok(line.to_owned())
}

/// Reads the definitions, and returns them with a change that is allowed.
async fn read_change(
    deployment: &Deployment,
    id: &str,
    event: Option<&Event>,
    is_recount: bool,
    now: Instant,
) -> Result<Change, Error> {
    let keys = deployment.keys(0);
    let commands = vec![
        read_definitions_command(&keys),
        Command::new("HGET").arg(&keys.events()).arg(id),
        Command::new("HKEYS").arg(&keys.events()),
    ];
    let replies = deployment.run_commands(commands).await?;
    let [known, stored, names] = replies.as_slice() else {
        return Err(StoreError::Unavailable("unexpected replies".to_owned()).into());
    };
    let known = Definitions::new(known.optional_text()?.unwrap_or_default());
    let stored = stored.optional_text()?;
    let before = stored.and_then(|text| Event::from_stored(id, text));
    let line = event.map(|event| event.line(&deployment.config));
    let changed = known.changed(id, line.as_deref(), now);
    if let Some(event) = event {
        let refusal = event.refusal(before.as_ref(), now);
        if let Some(refusal) = refusal.filter(|_| !is_recount) {
            return Err(Error::EventConflict(refusal.to_owned()));
        }
        let is_event = |name: &&Reply| {
            let name = name.text();
            name.is_ok_and(|name| !name.starts_with(RULES_MARKER))
        };
        let count = names.list()?.iter().filter(is_event).count();
        check_limits(before.is_none(), count, &changed, now)?;
    }
    Ok(Change {
        number: known.number().to_owned(),
        changed,
    })
}

/// Changes an event on the first shard, then brings the others up to date. If that fails, the same change again does it.
async fn change(
    deployment: &Deployment,
    id: &str,
    event: Option<&Event>,
    now: Instant,
) -> Result<(), Error> {
    for _ in 0..MAX_CALLS {
        let Change { number, changed } = read_change(deployment, id, event, false, now).await?;
        let define = Define {
            deployment,
            name: id,
            json: event.map(Event::stored).unwrap_or_default(),
            changed: &changed,
            audit: NOT_AUDITED,
            now,
        };
        if define.run(&number).await? {
            return Ok(());
        }
    }
    Err(Error::EventConflict(CHANGED_MEANWHILE.to_owned()))
}

/// The detail about definitions that have changed between every two calls.
pub(crate) const CHANGED_MEANWHILE: &str =
    "Other requests changed the definitions at the same time: send the request again.";

fn check_limits(
    is_new: bool,
    count: usize,
    changed: &Definitions,
    now: Instant,
) -> Result<(), Error> {
    let conflict = |detail: &str| Err(Error::EventConflict(detail.to_owned()));
    if is_new && count >= MAX_EVENTS {
        return conflict(&format!("There are {MAX_EVENTS} events: delete one first."));
    }
    if changed.open(now) > MAX_OPEN {
        return conflict(&format!("At most {MAX_OPEN} events are not final."));
    }
    match changed.most_running() > MAX_RUNNING {
        true => conflict(&format!("At most {MAX_RUNNING} events run at a time.")),
        false => Ok(()),
    }
}

/// The entry of the audit log about a change without one.
pub(crate) const NOT_AUDITED: [&str; 4] = [""; 4];

/// A change of an event or of a version of the rules.
pub(crate) struct Define<'a> {
    /// The deployment.
    pub deployment: &'a Deployment,
    /// The event, or the name of the version.
    pub name: &'a str,
    /// The stored definition; empty to delete the event.
    pub json: String,
    /// All definitions afterwards.
    pub changed: &'a Definitions,
    /// The entry of the audit log about a version: action, number of the version, reason and actor;
    /// or [`NOT_AUDITED`].
    pub audit: [&'a str; 4],
    /// The instant.
    pub now: Instant,
}

impl Define<'_> {
    /// Changes the first shard, whose definitions have this number, then brings the others up to date. Returns whether the
    /// definitions still had the number: if not, nothing was changed.
    ///
    /// # Errors
    ///
    /// As [`Deployment::run_script`]. If some shards have not been changed, the same change again does it.
    pub async fn run(&self, number: &str) -> Result<bool, Error> {
        self.deployment.claim().await?;
        let reply = self.deployment.run_script(self.call(0, number)).await?;
        if *reply.at(1)? == Reply::Nil {
            return Ok(false);
        }
        self.update_others().await?;
        Ok(true)
    }

    /// Brings the definitions of all shards but the first one up to date.
    ///
    /// # Errors
    ///
    /// As [`Deployment::run_script`].
    pub async fn update_others(&self) -> Result<(), Error> {
        let calls = (1..self.deployment.config.shards).map(|shard| self.call(shard, "*"));
        let calls: Vec<Command> = calls.collect();
        if !calls.is_empty() {
            self.deployment.run_scripts(calls).await?;
        }
        Ok(())
    }

    /// Returns the call for a shard whose definitions have this number.
    fn call(&self, shard: u32, number: &str) -> Command {
        let keys = self.deployment.keys(shard);
        let mut all = vec![
            keys.users(),
            keys.outbox(),
            keys.index(),
            keys.event_board(self.name),
        ];
        if shard == 0 {
            all.extend([keys.events(), keys.audit_log()]);
        }
        let arguments = [
            self.deployment.fingerprint(shard),
            self.now.0.to_string(),
            self.deployment.config.bound.journal_flag().to_owned(),
            number.to_owned(),
            self.changed.text().to_owned(),
            self.name.to_owned(),
            self.json.clone(),
            expiry(self.changed, self.name),
        ];
        let call = Command::script(&DEFINE, &all).args(arguments);
        call.args(self.audit)
    }
}

/// Brings shards up to date whose definitions are older than the first shard's, because a request has failed halfway.
/// `all` are the definitions of all shards. Sends nothing if there is none.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn complete(
    deployment: &Deployment,
    all: Vec<&Definitions>,
    now: Instant,
) -> Result<(), Error> {
    let number = |known: &Definitions| known.number().parse().unwrap_or(0_i64);
    let Some(first) = all.first() else {
        return Ok(());
    };
    let shards = (0..).zip(&all);
    let stale = shards.filter(|(_, known)| number(known) < number(first));
    let stale: Vec<_> = stale
        .map(|(shard, known)| (shard, known.differences(first)))
        .collect();
    let names: BTreeSet<&str> = stale.iter().flat_map(|(_, names)| names).copied().collect();
    if names.is_empty() {
        return Ok(());
    }
    let read = Command::new("HMGET").arg(&deployment.keys(0).events());
    let read = read.args(names.iter().copied());
    let stored = deployment.run_command(read).await?;
    let mut calls = Vec::new();
    for (name, json) in names.iter().zip(stored.list()?) {
        if *json != Reply::Nil && !first.has(name) {
            // An event that ended long ago has no line any more, and keeps its board.
            continue;
        }
        let define = Define {
            deployment,
            name,
            json: json.optional_text()?.unwrap_or_default().to_owned(),
            changed: first,
            audit: NOT_AUDITED,
            now,
        };
        let of = stale.iter().filter(|(_, names)| names.contains(name));
        calls.extend(of.map(|(shard, _)| define.call(*shard, "*")));
    }
    deployment.run_scripts(calls).await?;
    Ok(())
}

/// Returns the expiry of an event's board, Unix s; 0 for a deleted event.
fn expiry(definitions: &Definitions, id: &str) -> String {
    let event = definitions.event(id);
    event.map_or(0, |event| event.expiry).to_string()
}
