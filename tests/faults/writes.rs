//! Sends the load: each request at its scheduled time, and again until it has a response.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use test_support::{Answer, Method, Value};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::load::{Load, Operation, Request};
use crate::run::Run;
use crate::service::Received;

/// The delay before a retry.
const RETRY_DELAY: Duration = Duration::from_millis(200);

/// The maximum number of concurrent first attempts. It limits open connections on a slow machine, at
/// the cost of a steady load.
const CONCURRENCY: usize = 400;

/// The result of one operation.
enum OperationResult {
    Counted,
    Queued,
}

/// Sends the load until the run is over and all requests have responses.
pub async fn send(run: &Arc<Run>, mut load: Load) -> Load {
    let begin = Instant::now();
    let mut in_progress = JoinSet::new();
    let permits = Arc::new(Semaphore::new(CONCURRENCY));
    while !run.is_over() {
        let request = load.next();
        tokio::time::sleep_until((begin + request.due).into()).await;
        let permit = Arc::clone(&permits).acquire_owned().await;
        let run = Arc::clone(run);
        in_progress.spawn(async move {
            send_until_response(run, request).await;
            drop(permit);
        });
        while let Some(done) = in_progress.try_join_next() {
            done.expect("no request panics");
        }
    }
    while let Some(done) = in_progress.join_next().await {
        done.expect("no request panics");
    }
    load
}

/// Sends operations again whose messages died with workerd.
pub fn send_again(run: &Arc<Run>, operations: Vec<Arc<Operation>>) {
    let run = Arc::clone(run);
    tokio::spawn(async move {
        for operation in operations {
            run.retry_slot().await;
            let retry = send_until_response(Arc::clone(&run), Request::single(operation));
            // Boxed, because the future is recursive.
            let retry: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(retry);
            tokio::spawn(retry);
        }
    });
}

async fn send_until_response(run: Arc<Run>, request: Request) {
    for before in request
        .operations
        .iter()
        .filter_map(|operation| operation.after)
    {
        while !run.tracker.is_counted(before) {
            tokio::time::sleep(RETRY_DELAY).await;
        }
    }
    let body = request.body();
    // Whether the previous attempt was aborted, and its activities were not known to have counted.
    let mut was_aborted = false;
    loop {
        let deaths = run.tracker.register(&request.operations);
        let shows_fault = |response: &Answer| {
            !parse(response, &request).is_ok_and(|results| none_queued(&results))
        };
        let path = "/v1/activity";
        let received = run
            .send(Method::POST, path, body.clone(), shows_fault)
            .await;
        match received {
            Received::Response(response) => match (response.status, parse(&response, &request)) {
                (_, Ok(results)) => {
                    run.record_store_response(none_queued(&results));
                    if was_aborted && none_queued(&results) {
                        run.metrics.record_aborted(all_counted_before(&results));
                    }
                    return record_results(&run, &request, results, deaths);
                }
                (503, Err(_)) => run.record_store_response(false),
                (status, Err(body)) => {
                    return run.metrics.record_unexpected(format!("{status} {body}"));
                }
            },
            Received::Nothing => run.record_store_response(false),
            Received::Aborted => {
                let mut operations = request.operations.iter();
                was_aborted = operations.any(|operation| !run.tracker.is_counted(operation.number));
            }
        }
        run.metrics.record_retry();
        tokio::time::sleep(RETRY_DELAY).await;
        run.retry_slot().await;
    }
}

fn record_results(
    run: &Arc<Run>,
    request: &Request,
    results: Vec<(OperationResult, String)>,
    deaths: u64,
) {
    let mut queued = Vec::new();
    for (operation, (result, name)) in request.operations.iter().zip(results) {
        run.metrics.record_outcome(&name);
        match result {
            OperationResult::Counted => run.tracker.counted(operation),
            OperationResult::Queued => queued.push(Arc::clone(operation)),
        }
    }
    if !queued.is_empty() {
        let lost = run.tracker.queued(&queued, deaths);
        send_again(run, lost);
    }
}

fn none_queued(results: &[(OperationResult, String)]) -> bool {
    results
        .iter()
        .all(|(result, _)| matches!(result, OperationResult::Counted))
}

/// Returns whether no activity has changed anything, because all of them had counted before.
fn all_counted_before(results: &[(OperationResult, String)]) -> bool {
    let mut outcomes = results.iter().map(|(_, name)| name.as_str());
    outcomes.all(|name| matches!(name, "duplicate" | "nothing-to-undo" | "stale"))
}

/// Returns the result and the outcome of each operation, or the body as the error if the response is
/// unexpected.
fn parse(response: &Answer, request: &Request) -> Result<Vec<(OperationResult, String)>, String> {
    let items = match (response.status, request.is_array) {
        (200, true) => response.body["results"].as_array().map(Vec::as_slice),
        (200 | 202, false) => Some(std::slice::from_ref(&response.body)),
        _ => None,
    };
    let items = items.filter(|items| items.len() == request.operations.len());
    let result = |(item, operation): (&Value, &Arc<Operation>)| {
        let name = item["outcome"].as_str()?;
        let result = match (name, operation.activity.undo) {
            ("queued", _) if response.status == 202 || request.is_array => OperationResult::Queued,
            ("counted" | "duplicate", false) | ("undone" | "nothing-to-undo", true) => {
                OperationResult::Counted
            }
            ("stale", _) if operation.activity.at.is_some() => OperationResult::Counted,
            _ => return None,
        };
        Some((result, name.to_owned()))
    };
    let results: Option<Vec<_>> =
        items.and_then(|items| items.iter().zip(&request.operations).map(result).collect());
    results.ok_or_else(|| response.text.clone())
}
