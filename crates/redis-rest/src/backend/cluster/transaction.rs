//! Transactions: MULTI … EXEC on the one node that serves all keys.

use std::sync::Arc;

use redis::{Cmd, Pipeline, Value};

use super::{
    Cluster, Retries,
    dispatch::{self, Outcome},
    plan::Target,
    rejection::Rejection,
    route::{Route, cross_slot},
};
use crate::{
    backend::{Reply, reply_budget::ReplyBudget, wait::transaction_replies},
    command::Command,
    error::GatewayError,
};

impl Cluster {
    /// Sends all commands, MULTI first and EXEC last, in one write and returns the reply to each. A
    /// transaction that its node rejected has not run and is sent again.
    pub(in crate::backend) async fn transaction(
        &self,
        commands: Vec<Command>,
        budget: &Arc<ReplyBudget>,
    ) -> Result<Vec<Value>, GatewayError> {
        let mut target = match slot(&commands)? {
            Some(slot) => Target::Slot(slot),
            None => Target::Any,
        };
        let scripts = self.cached_scripts(&commands);
        let commands: Vec<Cmd> = commands.into_iter().map(Command::into_cmd).collect();
        let mut retries = Retries::new();
        loop {
            let topology = self.discovery.current();
            let node = dispatch::node(&target, &topology, self.next_turn())
                .inspect_err(|_error| self.discovery.request_refresh())?;
            let node = Arc::clone(node);
            let mut pipeline = Pipeline::with_capacity(commands.len());
            // A missing script would fail the transaction, so all of them are loaded before it.
            for script in &scripts {
                for load in dispatch::preamble(&Target::Any, Some(script)) {
                    pipeline.add_command(load);
                }
            }
            for asking in dispatch::preamble(&target, None) {
                pipeline.add_command(asking);
            }
            let preamble_length = pipeline.len();
            for command in &commands {
                pipeline.add_command(command.clone());
            }
            let replies = node.send(pipeline, budget).await.replies.map_err(|error| {
                self.discovery.request_refresh();
                dispatch::with_node_address(error, &node)
            })?;
            let replies: Vec<Reply> = replies.into_iter().skip(preamble_length).collect();
            let mut outcome = Outcome::default();
            match rejection(&replies) {
                None => return transaction_replies(replies),
                Some(Rejection::ClusterDown) => {
                    self.discovery.request_refresh();
                    return transaction_replies(replies);
                }
                Some(other) => target = outcome.redirect(&other, &target, &node, &topology),
            }
            if !self.prepare_retry(outcome, &topology, &mut retries).await {
                return transaction_replies(replies);
            }
        }
    }

    /// Returns the cached text of each script that the commands run by EVALSHA.
    fn cached_scripts(&self, commands: &[Command]) -> Vec<Arc<[u8]>> {
        let mut shas: Vec<&[u8]> = commands
            .iter()
            .filter(|command| command.is("EVALSHA") || command.is("EVALSHA_RO"))
            .filter_map(|command| command.argument(1))
            .collect();
        shas.sort_unstable();
        shas.dedup();
        shas.into_iter()
            .filter_map(|sha| self.scripts.get(sha))
            .collect()
    }
}

/// Returns the slot of all keys, or `None` for commands without keys.
fn slot(commands: &[Command]) -> Result<Option<u16>, GatewayError> {
    let mut slot = None;
    for command in commands {
        let name = command.name();
        match Route::of(&name, command)? {
            Route::Slot(own) if slot.is_none_or(|slot| slot == own) => slot = Some(own),
            Route::Slot(_) | Route::Split(..) => return Err(cross_slot()),
            Route::Any | Route::PreferSlot(_) => {}
            Route::AllPrimaries(_) | Route::Scan => {
                return Err(GatewayError::Refused(format!(
                    "ERR Command \"{name}\" runs on every node of a cluster and is not allowed in a transaction"
                )));
            }
        }
    }
    Ok(slot)
}

/// Returns the reason why no command ran, or `None` if EXEC succeeded or its result is unknown.
fn rejection(replies: &[Reply]) -> Option<Rejection> {
    if matches!(
        replies.last(),
        Some(Ok(Value::Array(_) | Value::Nil)) | Some(Err(_))
    ) {
        return None;
    }
    replies
        .iter()
        .filter_map(|reply| Rejection::of(reply.as_ref().ok()?))
        .find(|rejection| *rejection != Rejection::NoScript)
}

#[cfg(test)]
mod tests {
    use super::slot;
    use crate::{command::Command, error::GatewayError};

    fn slot_of(lines: &[&str]) -> Result<Option<u16>, String> {
        let commands: Vec<Command> = std::iter::once(&"MULTI")
            .chain(lines)
            .chain(&["EXEC"])
            .map(|line| Command::of(line.split(' ').map(str::as_bytes)))
            .collect();
        slot(&commands).map_err(|error: GatewayError| error.message().into_owned())
    }

    #[test]
    fn transaction_requires_keys_of_one_slot() {
        assert_eq!(
            slot_of(&["GET foo", "PING", "INCR {foo}", "PUBLISH bar x"]),
            Ok(Some(12182))
        );
        assert_eq!(slot_of(&["PING"]), Ok(None));
        let cross = "CROSSSLOT Keys in request don't hash to the same slot".to_owned();
        assert_eq!(slot_of(&["GET foo", "GET bar"]), Err(cross.clone()));
        assert_eq!(slot_of(&["DEL foo bar"]), Err(cross));
        let all = "ERR Command \"FLUSHDB\" runs on every node of a cluster and is not allowed in a transaction";
        assert_eq!(slot_of(&["FLUSHDB"]), Err(all.to_owned()));
    }
}
