//! The client: one pipeline, one request.

use super::breaker::{Breaker, Leave};
use super::reply::{Slot, Slots};
use super::wire::{Answer, Wire};
use super::{Failure, Pipeline, Reply, words};

/// A store that speaks the Upstash REST protocol.
pub struct Store {
    wire: Wire,
    deadline: u32,
    breaker: Breaker,
    clock: fn() -> i64,
}

impl Store {
    /// The store at a URL without a trailing `/`, the deadline of one request in milliseconds, and
    /// a clock that tells milliseconds.
    #[must_use]
    pub fn new(url: &str, token: &str, deadline: u32, clock: fn() -> i64) -> Self {
        Self {
            wire: Wire::new(format!("{url}/pipeline"), token, deadline),
            deadline,
            breaker: Breaker::default(),
            clock,
        }
    }

    /// Runs a pipeline; one reply for each command, in order.
    ///
    /// # Errors
    ///
    /// [`Failure`] where the store does not answer, or any command fails; at once where it is known
    /// to be down.
    pub async fn run(&self, pipeline: &Pipeline) -> Result<Vec<Reply>, Failure> {
        let Some(leave) = self.breaker.leave(self.clock) else {
            let cause = "not asked: the store has kept silent";
            return Err(Failure::Unavailable(cause.to_owned()));
        };
        self.try_each(pipeline, leave).await?.into_iter().collect()
    }

    /// Runs a pipeline whose commands may fail one by one, also where the store seems to be down.
    ///
    /// # Errors
    ///
    /// [`Failure`] where the store does not answer as a whole.
    pub async fn run_each(
        &self,
        pipeline: &Pipeline,
    ) -> Result<Vec<Result<Reply, Failure>>, Failure> {
        self.try_each(pipeline, Leave::Free).await
    }

    async fn try_each(
        &self,
        pipeline: &Pipeline,
        leave: Leave,
    ) -> Result<Vec<Result<Reply, Failure>>, Failure> {
        let asked = (self.clock)();
        let answer = self.send_all(pipeline).await;
        match answer {
            Ok(_) | Err(Failure::Unauthorized | Failure::Refused(_)) => self.breaker.answered(),
            Err(Failure::Unavailable(_)) => {
                let now = (self.clock)();
                if (now - asked) * 2 >= i64::from(self.deadline) {
                    self.breaker.silent(leave, now);
                }
            }
        }
        answer
    }

    /// Sends a pipeline. Where the store does not know a script yet, only those commands are sent
    /// again, by text.
    async fn send_all(&self, pipeline: &Pipeline) -> Result<Vec<Result<Reply, Failure>>, Failure> {
        let mut slots = self.send(pipeline.body(), pipeline.len()).await?;
        let unknown: Vec<usize> = (0..)
            .zip(&slots)
            .filter(no_script)
            .map(|(i, _)| i)
            .collect();
        if !unknown.is_empty() {
            let again = self
                .send(pipeline.body_by_text(&unknown), unknown.len())
                .await?;
            for (place, answer) in unknown.into_iter().zip(again) {
                if let Some(slot) = slots.get_mut(place) {
                    *slot = answer;
                }
            }
        }
        let value = |slot: Slot| {
            slot.error
                .map_or(Ok(slot.result), |error| Err(Failure::of(error)))
        };
        Ok(slots.into_iter().map(value).collect())
    }

    async fn send(&self, body: String, commands: usize) -> Result<Vec<Slot>, Failure> {
        let answer = self.wire.post(body).await.map_err(Failure::Unavailable)?;
        let Answer { status, text } = answer;
        if status == 401 {
            return Err(Failure::Unauthorized);
        }
        if !(200..300).contains(&status) {
            let slot: Option<Slot> = serde_json::from_slice(text.as_bytes()).ok();
            let told = slot.and_then(|slot| slot.error).unwrap_or_default();
            let told = words(&told);
            return Err(Failure::Unavailable(format!("status {status} {told}")));
        }
        let Slots(slots) = serde_json::from_slice(text.as_bytes())
            .map_err(|_| Failure::Unavailable("not an answer of this protocol".to_owned()))?;
        if slots.len() == commands {
            Ok(slots)
        } else {
            let count = slots.len();
            Err(Failure::Unavailable(format!(
                "{count} answers to {commands} commands"
            )))
        }
    }
}

fn no_script((_, slot): &(usize, &Slot)) -> bool {
    slot.error
        .as_ref()
        .is_some_and(|error| error.starts_with("NOSCRIPT"))
}
