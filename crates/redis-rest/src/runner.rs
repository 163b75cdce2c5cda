//! Runs commands: checks them, sends them as one batch and returns one result per command.

use std::sync::Arc;

use redis::Value;

use crate::{
    backend::{Backend, Reply, ReplyBudget},
    command::Command,
    error::{GatewayError, error_line},
    policy::{self, Access, Policy},
    script::{self, Aliases},
    sync_token::SyncToken,
};

/// The result of one command. Error replies of Redis are errors.
pub(crate) type CommandResult = Result<Value, GatewayError>;

/// Runs commands, independently of HTTP.
pub(crate) struct Runner {
    pub(crate) backend: Backend,
    pub(crate) policy: Arc<Policy>,
    pub(crate) aliases: Aliases,
    pub(crate) sync_token: SyncToken,
    /// Maximum size of a command, in bytes.
    pub(crate) max_bytes: usize,
}

impl Runner {
    /// Runs one command. Its reply takes memory of `budget`.
    pub(crate) async fn single(
        &self,
        command: Command,
        access: Access,
        budget: &Arc<ReplyBudget>,
    ) -> CommandResult {
        let mut batch = Batch::new(access, 1);
        batch.add(Ok(command), self);
        self.run_pipeline(batch, budget)
            .await?
            .pop()
            .unwrap_or(Err(GatewayError::Internal))
    }

    /// Runs each command independently. The failure of one does not affect the others.
    pub(crate) async fn pipeline(
        &self,
        commands: Vec<Result<Command, GatewayError>>,
        access: Access,
        budget: &Arc<ReplyBudget>,
    ) -> Result<Vec<CommandResult>, GatewayError> {
        let mut batch = Batch::new(access, commands.len());
        for command in commands {
            batch.add(command, self);
        }
        self.run_pipeline(batch, budget).await
    }

    /// Runs all commands between MULTI and EXEC. Nothing runs if a command cannot be queued.
    pub(crate) async fn transaction(
        &self,
        commands: Vec<Result<Command, GatewayError>>,
        access: Access,
        budget: &Arc<ReplyBudget>,
    ) -> Result<Vec<CommandResult>, GatewayError> {
        let mut batch = Batch::new(access, commands.len() + 2);
        batch.add_trusted("MULTI");
        for command in commands {
            batch.add(command, self);
        }
        batch.add_trusted("EXEC");
        // Skips the entry of MULTI. The entry of EXEC has no counterpart in the results.
        let overrides = batch
            .entries
            .into_iter()
            .skip(1)
            .map(|entry| entry.map(|sent| sent.result_override))
            .collect::<Result<Vec<_>, _>>()?;
        let replies = self.backend.transaction(batch.commands, budget).await;
        self.advance_sync_token(batch.writes);
        let mut replies = replies?;
        let Some(Value::Array(results)) = replies.pop_if(|exec| matches!(exec, Value::Array(_)))
        else {
            // The first error names the cause. The error of EXEC only says that there was one.
            let error = replies.iter().find_map(error_reply);
            return Err(error.unwrap_or(GatewayError::Internal));
        };
        Ok(results
            .into_iter()
            .zip(overrides)
            .map(|(value, result_override)| result(value, result_override))
            .collect())
    }

    async fn run_pipeline(
        &self,
        batch: Batch,
        budget: &Arc<ReplyBudget>,
    ) -> Result<Vec<CommandResult>, GatewayError> {
        let mut replies = Vec::new().into_iter();
        if !batch.commands.is_empty() {
            let received = self.backend.pipeline(batch.commands, budget).await;
            self.advance_sync_token(batch.writes);
            replies = received?.into_iter();
        }
        let mut next_reply = || -> Reply { replies.next().unwrap_or(Err(GatewayError::Internal)) };
        let results = batch.entries.into_iter().map(|entry| {
            let sent = entry?;
            result(next_reply()?, sent.result_override)
        });
        Ok(results.collect())
    }

    /// Advances the sync token after a write, also after a lost connection or a timeout, because the
    /// write may have run.
    fn advance_sync_token(&self, writes: bool) {
        if writes {
            self.sync_token.advance();
        }
    }
}

fn result(value: Value, result_override: Option<String>) -> CommandResult {
    match error_reply(&value) {
        Some(error) => Err(error),
        None => Ok(result_override.map_or(value, |text| Value::BulkString(text.into_bytes()))),
    }
}

/// The commands to send to Redis, and one entry for each command of the request.
struct Batch {
    access: Access,
    commands: Vec<Command>,
    /// `Err` for a command that is not sent.
    entries: Vec<Result<Sent, GatewayError>>,
    writes: bool,
}

/// A command that is sent to Redis.
struct Sent {
    /// Replaces the reply of Redis, unless that is an error.
    result_override: Option<String>,
}

impl Batch {
    fn new(access: Access, capacity: usize) -> Self {
        Self {
            access,
            commands: Vec::with_capacity(capacity),
            entries: Vec::with_capacity(capacity),
            writes: false,
        }
    }

    /// Adds a command of the request.
    fn add(&mut self, command: Result<Command, GatewayError>, runner: &Runner) {
        let entry = command.and_then(|command| self.check_and_add(command, runner));
        self.entries.push(entry);
    }

    fn check_and_add(&mut self, command: Command, runner: &Runner) -> Result<Sent, GatewayError> {
        let (limit, actual) = (runner.max_bytes, command.bytes());
        if actual > limit {
            return Err(GatewayError::CommandTooLarge { limit, actual });
        }
        {
            let name = command.name();
            runner.policy.check(&name, &command, self.access)?;
            self.writes |= !policy::is_read_only(&name);
        }
        let rewritten = script::rewrite(command, &runner.aliases, || {
            runner.backend.rejects_shebang()
        });
        self.commands.push(rewritten.command);
        Ok(Sent {
            result_override: rewritten.result_override,
        })
    }

    /// Adds a command of the gateway itself, without checks.
    fn add_trusted(&mut self, name: &str) {
        self.commands.push(Command::of([name.as_bytes()]));
        self.entries.push(Ok(Sent {
            result_override: None,
        }));
    }
}

/// Returns the error of an error reply.
fn error_reply(value: &Value) -> Option<GatewayError> {
    match value {
        Value::ServerError(error) => Some(GatewayError::Redis(error_line(error))),
        _ => None,
    }
}
