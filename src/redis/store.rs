//! The client: one pipeline, one request. The only file that names `reqwest`.

use super::breaker::{Breaker, Leave};
use super::reply::Slot;
use super::{Failure, Pipeline, Reply, words};
use reqwest::{Client, StatusCode};
use std::time::Duration;

/// A store that speaks the Upstash REST protocol.
pub struct Store {
    client: Client,
    url: String,
    token: String,
    deadline: Duration,
    breaker: Breaker,
    clock: fn() -> i64,
}

impl Store {
    /// The store at a URL without a trailing `/`, the deadline of one request in milliseconds, and
    /// a clock that tells milliseconds.
    #[must_use]
    pub fn new(url: &str, token: &str, deadline: u32, clock: fn() -> i64) -> Self {
        Self {
            client: Client::new(),
            url: format!("{url}/pipeline"),
            token: token.to_owned(),
            deadline: Duration::from_millis(u64::from(deadline)),
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
                let waited = u128::try_from(now - asked).unwrap_or_default();
                if waited * 2 >= self.deadline.as_millis() {
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
        let request = self.client.post(&self.url).bearer_auth(&self.token);
        let request = request
            .header("content-type", "application/json")
            .body(body);
        let response = request
            .timeout(self.deadline)
            .send()
            .await
            .map_err(no_answer)?;
        let status = response.status();
        let text = response.text().await.map_err(no_answer)?;
        if status == StatusCode::UNAUTHORIZED {
            return Err(Failure::Unauthorized);
        }
        if !status.is_success() {
            let slot: Option<Slot> = serde_json::from_str(&text).ok();
            let told = slot.and_then(|slot| slot.error).unwrap_or_default();
            let told = words(&told);
            return Err(Failure::Unavailable(format!("status {status} {told}")));
        }
        let slots: Vec<Slot> = serde_json::from_str(&text)
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

/// The URL is left out of what is logged: it can carry credentials.
fn no_answer(error: reqwest::Error) -> Failure {
    Failure::Unavailable(format!("{:?}", error.without_url()))
}
