//! Sends batches: retries transient failures and isolates the lines that make a batch fail.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use activity_rank_sync::retry::with_backoff;
use reqwest::Url;
use serde::Deserialize;

use crate::client::Client;
use crate::problem::Problem;
use crate::request_error::RequestError;
use crate::upload::Destination;
use crate::upload::line::{LineResult, Outcome};
use crate::upload::partitions::Batch;

/// Sends batches to one route.
#[derive(Clone, Debug)]
pub struct BatchSender {
    /// HTTP client.
    pub client: Client,
    /// URL of the route.
    pub url: Url,
    /// The route.
    pub destination: Destination,
    /// Maximum number of retries per request.
    pub retries: usize,
    /// Whether any request has been accepted. Until then, a batch whose every line is refused
    /// means a wrong route rather than a file of bad lines.
    pub any_accepted: Arc<AtomicBool>,
}

/// The results of a batch, or of a line that was refused before it was sent.
#[derive(Debug, Default)]
pub struct BatchReport {
    /// One result per line, in order.
    pub lines: Vec<LineResult>,
    /// Number of requests that got a response.
    pub requests: u64,
    /// Number of retries.
    pub retries: u64,
}

/// Response of the service to an array.
#[derive(Deserialize)]
struct Response {
    results: Vec<Item>,
}

/// One result of the response: a problem, an outcome, or the stored object.
#[derive(Deserialize)]
struct Item {
    error: Option<Problem>,
    outcome: Option<String>,
    points: Option<f64>,
    reason: Option<String>,
}

impl Item {
    /// Returns `None` if the item has neither an error nor an outcome, and there is no default.
    fn into_result(self, default_outcome: Option<&str>) -> Option<Result<Outcome, Problem>> {
        if let Some(problem) = self.error {
            return Some(Err(problem));
        }
        let name = self
            .outcome
            .or_else(|| default_outcome.map(str::to_owned))?;
        Some(Ok(Outcome {
            name,
            points: self.points.unwrap_or_default(),
            reason: self.reason,
        }))
    }
}

impl BatchSender {
    /// Sends the batch. A batch refused as a whole is split in halves until the lines at fault
    /// are isolated and all others are counted. Calls `on_retry` before each retry.
    ///
    /// # Errors
    ///
    /// Returns an error if sending further batches is pointless: no response after all attempts,
    /// missing authorization, a wrong route, or a batch whose every line is refused.
    pub async fn send(
        &self,
        batch: Batch,
        on_retry: impl Fn(&RequestError, Duration) + Sync,
    ) -> Result<BatchReport, RequestError> {
        let mut report = BatchReport::default();
        let mut all_refused = batch.lines().len() > 1;
        let mut last_refusal = None;
        let mut pending = vec![batch];
        while let Some(batch) = pending.pop() {
            let response = self.request(&batch, &mut report.retries, &on_retry).await;
            report.requests += 1;
            let error = match response {
                Ok(results) => {
                    all_refused = false;
                    self.any_accepted.store(true, Ordering::Relaxed);
                    let lines = batch.lines().iter().zip(results);
                    report
                        .lines
                        .extend(lines.map(|(line, result)| LineResult::new(line, result)));
                    continue;
                }
                Err(error) => error,
            };
            match (content_problem(&error), batch.lines()) {
                (None, _) => return Err(error),
                (Some(problem), [line]) => {
                    report
                        .lines
                        .push(LineResult::new(line, Err(problem.clone())));
                    last_refusal = Some(error);
                }
                (Some(_), _) => {
                    let (first, second) = batch.halves();
                    pending.extend([second, first]);
                }
            }
        }
        match last_refusal {
            Some(error) if all_refused && !self.any_accepted.load(Ordering::Relaxed) => Err(error),
            _ => Ok(report),
        }
    }

    async fn request(
        &self,
        batch: &Batch,
        retries: &mut u64,
        on_retry: &(impl Fn(&RequestError, Duration) + Sync),
    ) -> Result<Vec<Result<Outcome, Problem>>, RequestError> {
        let body = batch.body();
        // The last response in which some items failed transiently. It is the result if no retry
        // succeeds.
        let partial = Mutex::new(None);
        let set_partial =
            |results| *partial.lock().unwrap_or_else(PoisonError::into_inner) = results;
        let call = || async {
            set_partial(None);
            let response = self
                .client
                .send(self.destination.method.clone(), &self.url, body.clone())
                .await?;
            let results = self.parse(&response, batch.lines().len())?;
            let transient = results
                .iter()
                .filter_map(|result| result.as_ref().err())
                .find(|problem| problem.is_transient());
            match transient {
                None => Ok(results),
                Some(problem) => {
                    let problem = Box::new(problem.clone());
                    set_partial(Some(results));
                    Err(RequestError::Refused {
                        problem,
                        retry_after: None,
                        keyless: false,
                    })
                }
            }
        };
        let notify = |error: &RequestError, delay| {
            *retries += 1;
            on_retry(error, delay);
        };
        let sleep = tokio::time::sleep;
        let results = with_backoff(sleep, self.retries, notify, call).await;
        let partial = partial.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.or_else(|error| partial.ok_or(error))
    }

    fn parse(
        &self,
        response: &[u8],
        lines: usize,
    ) -> Result<Vec<Result<Outcome, Problem>>, RequestError> {
        let unexpected = |what: String| RequestError::UnexpectedResponse {
            url: self.url.to_string(),
            what,
        };
        let Response { results } =
            serde_json::from_slice(response).map_err(|error| unexpected(error.to_string()))?;
        if results.len() != lines {
            return Err(unexpected(format!(
                "{} results for {lines} lines",
                results.len()
            )));
        }
        results
            .into_iter()
            .map(|item| item.into_result(self.destination.default_outcome))
            .collect::<Option<_>>()
            .ok_or_else(|| unexpected("a result without an outcome".to_owned()))
    }
}

/// Returns the problem if it is about the content sent, rather than the caller, route or time.
fn content_problem(error: &RequestError) -> Option<&Problem> {
    match error {
        RequestError::Refused { problem, .. } if matches!(problem.status, 400 | 413 | 422) => {
            Some(problem)
        }
        RequestError::Refused { .. }
        | RequestError::NoResponse { .. }
        | RequestError::UnexpectedResponse { .. }
        | RequestError::Paused => None,
    }
}
