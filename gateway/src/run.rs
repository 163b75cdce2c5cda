//! Commands → one batch → one answer per slot.

use redis::Value;

use crate::{
    auth::Access,
    backend::{Backend, Reply},
    command::Command,
    error::Fault,
    rules,
    script::{self, Aliases},
    sync::SyncToken,
};

/// What one command came to; errors Redis answers are faults.
pub(crate) type Slot = Reply;

/// Runs commands; knows their limits and scripts, not HTTP.
pub(crate) struct Runner {
    pub(crate) backend: Backend,
    pub(crate) aliases: Aliases,
    pub(crate) sync: SyncToken,
    /// Largest command, and largest reply, in bytes.
    pub(crate) max_bytes: usize,
}

impl Runner {
    pub(crate) async fn single(&self, command: Command, access: Access) -> Slot {
        let mut plan = Plan::new(access, 1);
        plan.add(Ok(command), self);
        self.execute(plan)
            .await?
            .pop()
            .unwrap_or(Err(Fault::Internal))
    }

    /// Each command for itself; a fault stays in its slot.
    pub(crate) async fn pipeline(
        &self,
        commands: Vec<Result<Command, Fault>>,
        access: Access,
    ) -> Result<Vec<Slot>, Fault> {
        let mut plan = Plan::new(access, commands.len());
        for command in commands {
            plan.add(command, self);
        }
        self.execute(plan).await
    }

    /// All commands between MULTI and EXEC; nothing runs if one cannot be queued.
    pub(crate) async fn transaction(
        &self,
        commands: Vec<Result<Command, Fault>>,
        access: Access,
    ) -> Result<Vec<Slot>, Fault> {
        let mut plan = Plan::new(access, commands.len() + 2);
        plan.send(Command::of([&b"MULTI"[..]]));
        for command in commands {
            plan.add(command, self);
        }
        plan.send(Command::of([&b"EXEC"[..]]));
        if let Some(fault) = plan.slots.iter_mut().find_map(Planned::take_fault) {
            return Err(fault);
        }
        let answers: Vec<Option<String>> =
            plan.slots.iter_mut().map(Planned::take_answer).collect();
        let ran = self.backend.transaction(plan.commands).await;
        self.advance(plan.writes);
        let mut replies = ran?;
        let Some(Value::Array(results)) = replies.pop_if(|exec| matches!(exec, Value::Array(_)))
        else {
            // The first refusal says why; EXEC itself only says that there was one.
            let refused = replies.iter().find_map(redis_error);
            return Err(refused.unwrap_or(Fault::Internal));
        };
        // The answer for MULTI stands before those of the commands.
        let answers = answers.into_iter().skip(1);
        Ok(results
            .into_iter()
            .zip(answers)
            .map(|(value, answer)| self.slot(value, answer))
            .collect())
    }

    async fn execute(&self, plan: Plan) -> Result<Vec<Slot>, Fault> {
        let mut replies = Vec::new().into_iter();
        if !plan.commands.is_empty() {
            let ran = self.backend.pipeline(plan.commands).await;
            self.advance(plan.writes);
            replies = ran?.into_iter();
        }
        let slots = plan.slots.into_iter().map(|planned| match planned {
            Planned::Fault(fault) => Err(fault),
            Planned::Sent { answer } => match replies.next() {
                Some(Ok(value)) => self.slot(value, answer),
                Some(Err(fault)) => Err(fault),
                None => Err(Fault::Internal),
            },
        });
        Ok(slots.collect())
    }

    /// Also after a lost connection or a timeout: the write may have happened.
    fn advance(&self, writes: bool) {
        if writes {
            self.sync.advance();
        }
    }

    fn slot(&self, value: Value, answer: Option<String>) -> Slot {
        if let Some(fault) = redis_error(&value) {
            return Err(fault);
        }
        let actual = size(&value);
        if actual > self.max_bytes {
            return Err(Fault::ReplyTooLarge {
                limit: self.max_bytes,
                actual,
            });
        }
        Ok(answer.map_or(value, |sha| Value::BulkString(sha.into_bytes())))
    }
}

/// What goes to Redis, and what each slot then waits for.
struct Plan {
    access: Access,
    commands: Vec<Command>,
    slots: Vec<Planned>,
    writes: bool,
}

enum Planned {
    Sent { answer: Option<String> },
    Fault(Fault),
}

impl Planned {
    fn take_fault(&mut self) -> Option<Fault> {
        match self {
            Self::Sent { .. } => None,
            Self::Fault(fault) => Some(std::mem::replace(fault, Fault::Internal)),
        }
    }

    fn take_answer(&mut self) -> Option<String> {
        match self {
            Self::Sent { answer } => answer.take(),
            Self::Fault(_) => None,
        }
    }
}

impl Plan {
    fn new(access: Access, commands: usize) -> Self {
        Self {
            access,
            commands: Vec::with_capacity(commands),
            slots: Vec::with_capacity(commands),
            writes: false,
        }
    }

    fn add(&mut self, command: Result<Command, Fault>, runner: &Runner) {
        let planned = command.and_then(|command| self.plan(command, runner));
        self.slots.push(planned.unwrap_or_else(Planned::Fault));
    }

    fn plan(&mut self, command: Command, runner: &Runner) -> Result<Planned, Fault> {
        let (limit, actual) = (runner.max_bytes, command.bytes());
        if actual > limit {
            return Err(Fault::CommandTooLarge { limit, actual });
        }
        {
            let name = command.name();
            rules::check(&name, &command)?;
            rules::allow(&name, self.access)?;
            self.writes |= !rules::only_reads(&name);
        }
        let rewritten = script::rewrite(command, &runner.aliases);
        self.commands.push(rewritten.command);
        Ok(Planned::Sent {
            answer: rewritten.answer,
        })
    }

    fn send(&mut self, command: Command) {
        self.commands.push(command);
        self.slots.push(Planned::Sent { answer: None });
    }
}

fn redis_error(value: &Value) -> Option<Fault> {
    match value {
        Value::ServerError(error) => Some(Fault::Redis(crate::reply::error_line(error))),
        _ => None,
    }
}

fn size(value: &Value) -> usize {
    match value {
        Value::BulkString(bytes) => bytes.len(),
        Value::SimpleString(text) => text.len(),
        Value::Array(values) => values.iter().map(size).sum(),
        _ => 0,
    }
}
