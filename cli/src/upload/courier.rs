//! Brings one batch to the service, whatever it takes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::Url;
use serde::Deserialize;

use crate::call_error::CallError;
use crate::client::Client;
use crate::problem::Problem;
use crate::retry::patiently;
use crate::upload::Destination;
use crate::upload::batch::Batch;
use crate::upload::verdict::{Item, Outcome, Verdict};

/// Sends batches to one route.
#[derive(Clone, Debug)]
pub struct Courier {
    /// The service.
    pub client: Client,
    /// The route's address.
    pub url: Url,
    /// The route.
    pub destination: Destination,
    /// Attempts after the first, for each request.
    pub retries: usize,
    /// Whether any request was answered item by item. Until then a whole batch refused line by
    /// line means that this is not the route, rather than that every line is bad.
    pub understood: Arc<AtomicBool>,
}

/// What became of a batch, or of a line that was refused before it got into one.
#[derive(Debug, Default)]
pub struct Settled {
    /// One for each line, in order.
    pub verdicts: Vec<Verdict>,
    /// Requests that brought an answer.
    pub requests: u64,
    /// Attempts that had to be repeated.
    pub retries: u64,
}

#[derive(Deserialize)]
struct Results {
    results: Vec<Item>,
}

impl Courier {
    /// Sends the batch; where it is refused whole, in ever smaller halves, so that the lines
    /// that are to blame are found and all others counted. `told` hears of every wait.
    ///
    /// # Errors
    ///
    /// What makes it pointless to go on: no answer after all attempts, no right to send, no
    /// such route, or not one acceptable line in a whole batch.
    pub async fn deliver(
        &self,
        batch: Batch,
        told: impl Fn(&CallError, Duration) + Sync,
    ) -> Result<Settled, CallError> {
        let mut settled = Settled::default();
        let mut accepted_none = batch.lines().len() > 1;
        let mut blame = None;
        let mut pending = vec![batch];
        while let Some(batch) = pending.pop() {
            let answer = self.attempt(&batch, &mut settled.retries, &told).await;
            settled.requests += 1;
            let failure = match answer {
                Ok(results) => {
                    accepted_none = false;
                    self.understood.store(true, Ordering::Relaxed);
                    let verdicts = batch.lines().iter().zip(results);
                    settled
                        .verdicts
                        .extend(verdicts.map(|(line, result)| Verdict::on(line, result)));
                    continue;
                }
                Err(failure) => failure,
            };
            match (blamed(&failure), batch.lines()) {
                (None, _) => return Err(failure),
                (Some(problem), [line]) => {
                    settled
                        .verdicts
                        .push(Verdict::on(line, Err(problem.clone())));
                    blame = Some(failure);
                }
                (Some(_), _) => {
                    let (first, second) = batch.halves();
                    pending.extend([second, first]);
                }
            }
        }
        match blame {
            Some(failure) if accepted_none && !self.understood.load(Ordering::Relaxed) => {
                Err(failure)
            }
            _ => Ok(settled),
        }
    }

    async fn attempt(
        &self,
        batch: &Batch,
        retries: &mut u64,
        told: &(impl Fn(&CallError, Duration) + Sync),
    ) -> Result<Vec<Result<Outcome, Problem>>, CallError> {
        let body = batch.body();
        // An answer of which some items may fare better later; it stands if they never do.
        let partial = Mutex::new(None);
        let keep = |results| *partial.lock().unwrap_or_else(PoisonError::into_inner) = results;
        let call = || async {
            keep(None);
            let answer = self
                .client
                .send(self.destination.method.clone(), &self.url, body.clone())
                .await?;
            let results = self.results(&answer, batch.lines().len())?;
            match results.iter().find_map(|result| {
                result
                    .as_ref()
                    .err()
                    .filter(|problem| problem.is_transient())
            }) {
                None => Ok(results),
                Some(problem) => {
                    let problem = Box::new(problem.clone());
                    keep(Some(results));
                    Err(CallError::Refused {
                        problem,
                        retry_after: None,
                        keyless: false,
                    })
                }
            }
        };
        let notify = |failure: &CallError, wait| {
            *retries += 1;
            told(failure, wait);
        };
        let answer = patiently(self.retries, notify, call).await;
        let partial = partial.into_inner().unwrap_or_else(PoisonError::into_inner);
        answer.or_else(|failure| partial.ok_or(failure))
    }

    fn results(
        &self,
        answer: &[u8],
        lines: usize,
    ) -> Result<Vec<Result<Outcome, Problem>>, CallError> {
        let foreign = |what: String| CallError::Foreign {
            url: self.url.to_string(),
            what,
        };
        let Results { results } =
            serde_json::from_slice(answer).map_err(|error| foreign(error.to_string()))?;
        if results.len() != lines {
            return Err(foreign(format!(
                "{} results for {lines} lines",
                results.len()
            )));
        }
        let results = results
            .into_iter()
            .map(|item| item.result(self.destination.done));
        results
            .collect::<Option<_>>()
            .ok_or_else(|| foreign("a result without an outcome".to_owned()))
    }
}

/// The problem, if it is what was sent that was refused, and not who sent it, where, or when.
fn blamed(failure: &CallError) -> Option<&Problem> {
    match failure {
        CallError::Refused { problem, .. } if matches!(problem.status, 400 | 413 | 422) => {
            Some(problem)
        }
        CallError::Refused { .. } | CallError::Unanswered { .. } | CallError::Foreign { .. } => {
            None
        }
    }
}
