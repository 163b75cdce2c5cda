//! MULTI … EXEC on the one node that has all its keys.

use std::sync::Arc;

use redis::{Cmd, Pipeline, Value};

use super::{
    Cluster, Trials,
    plan::To,
    refusal::Refusal,
    round::{self, Outcome},
    route::{Route, cross_slot},
};
use crate::{
    backend::{Reply, replicas::settled},
    command::Command,
    error::Fault,
};

impl Cluster {
    /// All commands, MULTI first and EXEC last, in one write; the reply to each. One that was
    /// refused by its node has not run at all and goes to another.
    pub(in crate::backend) async fn transaction(
        &self,
        commands: Vec<Command>,
    ) -> Result<Vec<Value>, Fault> {
        let mut to = match slot(&commands)? {
            Some(slot) => To::Slot(slot),
            None => To::Any,
        };
        let scripts = self.needed(&commands);
        let commands: Vec<Cmd> = commands.into_iter().map(Command::into_cmd).collect();
        let mut trials = Trials::begin();
        loop {
            let topology = self.map.current();
            let node = Arc::clone(
                round::node(&to, &topology, self.turn()).inspect_err(|_down| self.map.doubt())?,
            );
            let mut pipeline = Pipeline::with_capacity(commands.len());
            for script in &scripts {
                // No script can be loaded between MULTI and EXEC once it is found missing.
                for load in round::before(&To::Any, Some(script)) {
                    pipeline.add_command(load);
                }
            }
            for asking in round::before(&to, None) {
                pipeline.add_command(asking);
            }
            let before = pipeline.len();
            for command in &commands {
                pipeline.add_command(command.clone());
            }
            let replies = node.send(pipeline).await.replies.map_err(|fault| {
                self.map.doubt();
                round::named(fault, &node)
            })?;
            let replies: Vec<Reply> = replies.into_iter().skip(before).collect();
            let Some(refusal) = refused(&replies) else {
                return settled(replies);
            };
            let mut outcome = Outcome::default();
            match refusal {
                Refusal::Down => {
                    self.map.doubt();
                    return settled(replies);
                }
                other => to = outcome.redirected(&other, &to, &node, &topology),
            }
            if !self.learn(outcome, &topology, &mut trials).await {
                return settled(replies);
            }
        }
    }

    /// The scripts it runs by name, as far as they are known here.
    fn needed(&self, commands: &[Command]) -> Vec<Arc<[u8]>> {
        let mut names: Vec<&[u8]> = commands
            .iter()
            .filter(|command| command.is("EVALSHA") || command.is("EVALSHA_RO"))
            .filter_map(|command| command.argument(1))
            .collect();
        names.sort_unstable();
        names.dedup();
        names
            .into_iter()
            .filter_map(|name| self.scripts.text(name))
            .collect()
    }
}

/// The one slot of all keys; none where there are no keys.
fn slot(commands: &[Command]) -> Result<Option<u16>, Fault> {
    let mut slot = None;
    for command in commands {
        let name = command.name();
        match Route::of(&name, command)? {
            Route::Slot(own) if slot.is_none_or(|slot| slot == own) => slot = Some(own),
            Route::Slot(_) | Route::Pieces(..) => return Err(cross_slot()),
            Route::Any | Route::Near(_) => {}
            Route::All(_) | Route::Scan => {
                return Err(Fault::Refused(format!(
                    "ERR Command \"{name}\" concerns every node of a cluster and cannot be part of a transaction"
                )));
            }
        }
    }
    Ok(slot)
}

/// Why nothing ran; nothing where EXEC has results.
fn refused(replies: &[Reply]) -> Option<Refusal> {
    if matches!(
        replies.last(),
        Some(Ok(Value::Array(_) | Value::Nil)) | Some(Err(_))
    ) {
        return None;
    }
    replies
        .iter()
        .filter_map(|reply| Refusal::of(reply.as_ref().ok()?))
        .find(|refusal| *refusal != Refusal::NoScript)
}

#[cfg(test)]
mod tests {
    use super::slot;
    use crate::{command::Command, error::Fault};

    fn slot_of(lines: &[&str]) -> Result<Option<u16>, String> {
        let commands: Vec<Command> = std::iter::once(&"MULTI")
            .chain(lines)
            .chain(&["EXEC"])
            .map(|line| Command::of(line.split(' ').map(str::as_bytes)))
            .collect();
        slot(&commands).map_err(|fault: Fault| fault.text().into_owned())
    }

    #[test]
    fn all_keys_of_a_transaction_lie_in_one_slot() {
        assert_eq!(
            slot_of(&["GET foo", "PING", "INCR {foo}", "PUBLISH bar x"]),
            Ok(Some(12182))
        );
        assert_eq!(slot_of(&["PING"]), Ok(None));
        let cross = "CROSSSLOT Keys in request don't hash to the same slot".to_owned();
        assert_eq!(slot_of(&["GET foo", "GET bar"]), Err(cross.clone()));
        assert_eq!(slot_of(&["DEL foo bar"]), Err(cross));
        let all = "ERR Command \"FLUSHDB\" concerns every node of a cluster and cannot be part of a transaction";
        assert_eq!(slot_of(&["FLUSHDB"]), Err(all.to_owned()));
    }
}
