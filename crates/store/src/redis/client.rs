//! Runs pipelines.

use super::circuit_breaker::{CircuitBreaker, Permit};
use super::pipeline::ScriptForm;
use super::reply::{Slot, Slots};
use super::transport::Transport;
use super::{Pipeline, Reply, StoreError};
use std::cell::Cell;

/// The results of a pipeline's commands, in order.
type Results = Vec<Result<Reply, StoreError>>;

/// A client of one store.
pub struct Client {
    transport: Box<dyn Transport>,
    /// The deadline of one request in milliseconds.
    timeout: u32,
    circuit_breaker: CircuitBreaker,
    clock: fn() -> i64,
    /// Whether the store has refused the flags of scripts.
    rejects_flags: Cell<bool>,
}

impl Client {
    /// Returns a client. `timeout` is the transport's deadline in milliseconds; `clock` returns
    /// milliseconds since 1970.
    #[must_use]
    pub fn new(transport: Box<dyn Transport>, timeout: u32, clock: fn() -> i64) -> Self {
        Self {
            transport,
            timeout,
            circuit_breaker: CircuitBreaker::default(),
            clock,
            rejects_flags: Cell::new(false),
        }
    }

    /// Runs a pipeline and returns one reply for each command, in order.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store does not respond, or if any command fails. Fails at once while
    /// the circuit is open.
    pub async fn run(&self, pipeline: &Pipeline) -> Result<Vec<Reply>, StoreError> {
        let Some(permit) = self.circuit_breaker.try_acquire(self.clock) else {
            let cause = "the circuit breaker is open";
            return Err(StoreError::Unavailable(cause.to_owned()));
        };
        self.run_with(pipeline, permit).await?.into_iter().collect()
    }

    /// Runs a pipeline and returns the result of each command. Ignores an open circuit.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store does not respond.
    pub async fn run_each(&self, pipeline: &Pipeline) -> Result<Results, StoreError> {
        self.run_with(pipeline, Permit::Closed).await
    }

    async fn run_with(&self, pipeline: &Pipeline, permit: Permit) -> Result<Results, StoreError> {
        let sent = (self.clock)();
        let results = self.send_all(pipeline).await;
        match results {
            Ok(_) | Err(StoreError::Unauthorized | StoreError::Refused(_)) => {
                self.circuit_breaker.record_response();
            }
            Err(StoreError::Unavailable(_)) => {
                let now = (self.clock)();
                if (now - sent) * 2 >= i64::from(self.timeout) {
                    self.circuit_breaker.record_timeout(permit, now);
                }
            }
        }
        results
    }

    /// Sends a pipeline. Commands that fail with `NOSCRIPT` are sent once more, by `EVAL`, and again
    /// without flags if the store does not know them.
    async fn send_all(&self, pipeline: &Pipeline) -> Result<Results, StoreError> {
        let mut slots: Vec<Slot> = Vec::new();
        slots.resize_with(pipeline.indexes().len(), Slot::default);
        let mut pending = pipeline.indexes();
        for by_text in [false, true, true] {
            let plain = self.rejects_flags.get();
            let body = pipeline.body_of(&pending, ScriptForm { by_text, plain });
            let replies = self.send(body, pending.len()).await?;
            let mut failed = Vec::new();
            for (index, reply) in pending.into_iter().zip(replies) {
                if by_text && !plain && rejects_flags(&reply) {
                    self.rejects_flags.set(true);
                    failed.push(index);
                } else if !by_text && is_unknown_script(&reply) {
                    failed.push(index);
                }
                if let Some(slot) = slots.get_mut(index) {
                    *slot = reply;
                }
            }
            pending = failed;
            if pending.is_empty() {
                break;
            }
        }
        let result = |slot: Slot| match slot.error {
            Some(error) => Err(StoreError::from_reply(error)),
            None => Ok(slot.result),
        };
        Ok(slots.into_iter().map(result).collect())
    }

    async fn send(&self, body: String, commands: usize) -> Result<Vec<Slot>, StoreError> {
        let response = self.transport.post(body).await;
        let response = response.map_err(StoreError::Unavailable)?;
        match response.status {
            200..300 => {}
            401 => return Err(StoreError::Unauthorized),
            _ => return Err(StoreError::Unavailable(response.cause())),
        }
        let Slots(slots) = serde_json::from_slice(response.body.as_bytes()).map_err(|_| {
            StoreError::Unavailable("not a response of the Upstash REST protocol".to_owned())
        })?;
        if slots.len() == commands {
            return Ok(slots);
        }
        let cause = format!("{} answers to {commands} commands", slots.len());
        Err(StoreError::Unavailable(cause))
    }
}

fn is_unknown_script(slot: &Slot) -> bool {
    let error = slot.error.as_ref();
    error.is_some_and(|error| error.starts_with("NOSCRIPT"))
}

/// Returns whether the store refused a script because of its first line: Redis 7 does not know the
/// flag of Upstash, and an older Redis takes the line for Lua.
fn rejects_flags(slot: &Slot) -> bool {
    let error = slot.error.as_ref();
    error.is_some_and(|error| {
        error.contains("Unexpected flag in script shebang") || error.contains("near '#'")
    })
}
