//! Runs pipelines.

use super::circuit_breaker::{CircuitBreaker, CircuitState, Permit};
use super::pipeline::Texts;
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

    /// Returns the state of the circuit.
    #[must_use]
    pub fn circuit(&self) -> CircuitState {
        self.circuit_breaker.state((self.clock)())
    }

    /// Runs a pipeline and returns one reply for each command, in order.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store does not respond, or if any command fails. Fails at once while
    /// the circuit is open.
    pub async fn run(&self, pipeline: &Pipeline) -> Result<Vec<Reply>, StoreError> {
        // The store refuses a request without commands.
        if pipeline.commands().is_empty() {
            return Ok(Vec::new());
        }
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

    /// Sends a pipeline. Commands that fail with `NOSCRIPT` are sent once more, by `EVAL` with the text of each script once
    /// for a shard; then without flags if the store does not know them; and at last each with its text.
    async fn send_all(&self, pipeline: &Pipeline) -> Result<Results, StoreError> {
        let plain = self.rejects_flags.get();
        let body = pipeline.body_by_digest(plain);
        let mut slots = self.send(body, pipeline.len()).await?;
        for texts in [Texts::PerShard, Texts::PerShard, Texts::PerCall] {
            let fails = |slot: &Slot| is_unknown_script(slot) || rejects_flags(slot);
            let failed = failed(&slots, fails);
            if failed.is_empty() {
                break;
            }
            if slots.iter().any(rejects_flags) {
                self.rejects_flags.set(true);
            }
            let body = pipeline.body_by_text(&failed, self.rejects_flags.get(), texts);
            let replies = self.send(body, failed.len()).await?;
            for (index, reply) in failed.into_iter().zip(replies) {
                if let Some(slot) = slots.get_mut(index) {
                    *slot = reply;
                }
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

/// Returns the indexes of the results that fail in this way.
fn failed(slots: &[Slot], is_failure: impl Fn(&Slot) -> bool) -> Vec<usize> {
    let slots = slots.iter().enumerate();
    let failed = slots.filter(|(_, slot)| is_failure(slot));
    failed.map(|(index, _)| index).collect()
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
