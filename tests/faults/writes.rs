//! The load: each request is sent until it is answered, at its time whatever became of others.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use test_support::{Answer, Method, Value};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::load::{Deed, Load, Order};
use crate::run::Run;

/// How long a request waits that is sent again.
const AGAIN: Duration = Duration::from_millis(200);

/// How many requests are under way at once, of those sent for the first time. A machine that is too
/// slow has no steady load, but files enough for connections.
const AT_ONCE: usize = 400;

/// What of an answer concerns one deed.
enum Fate {
    Counted,
    Queued,
}

/// Sends the load until the run is over, and all of it is answered.
pub async fn send(run: &Arc<Run>, mut load: Load) -> Load {
    let begin = Instant::now();
    let mut under_way = JoinSet::new();
    let places = Arc::new(Semaphore::new(AT_ONCE));
    while !run.is_over() {
        let order = load.next();
        tokio::time::sleep_until((begin + order.due).into()).await;
        let place = Arc::clone(&places).acquire_owned().await;
        let run = Arc::clone(run);
        under_way.spawn(async move {
            deliver(run, order).await;
            drop(place);
        });
        while let Some(done) = under_way.try_join_next() {
            done.expect("no request panics");
        }
    }
    while let Some(done) = under_way.join_next().await {
        done.expect("no request panics");
    }
    load
}

/// Sends deeds again that were in the queue of a workerd that died.
pub fn send_again(run: &Arc<Run>, deeds: Vec<Arc<Deed>>) {
    let run = Arc::clone(run);
    tokio::spawn(async move {
        for deed in deeds {
            run.turn().await;
            let again = deliver(Arc::clone(&run), Order::of(deed));
            // As such, because what it does may lead here again.
            let again: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(again);
            tokio::spawn(again);
        }
    });
}

async fn deliver(run: Arc<Run>, order: Order) {
    for before in order.deeds.iter().filter_map(|deed| deed.after) {
        while !run.ledger.is_counted(before) {
            tokio::time::sleep(AGAIN).await;
        }
    }
    let body = order.body();
    loop {
        let deaths = run.ledger.send(&order.deeds);
        let held =
            |answer: &Answer| !matches!(read(answer, &order), Ok(fates) if none_queued(&fates));
        let path = "/v1/activity";
        let answer = run.ask(Method::POST, path, body.clone(), held).await;
        match answer
            .as_ref()
            .map(|answer| (answer.status, read(answer, &order)))
        {
            Some((_, Ok(fates))) => {
                run.heard(none_queued(&fates));
                return settle(&run, &order, fates, deaths);
            }
            Some((503, Err(_))) | None => {
                run.heard(false);
                run.figures.sent_again();
            }
            Some((status, Err(body))) => {
                return run.figures.wrong(format!("{status} {body}"));
            }
        }
        tokio::time::sleep(AGAIN).await;
        run.turn().await;
    }
}

fn settle(run: &Arc<Run>, order: &Order, fates: Vec<(Fate, String)>, deaths: u64) {
    let mut queued = Vec::new();
    for (deed, (fate, name)) in order.deeds.iter().zip(fates) {
        run.figures.outcome(&name);
        match fate {
            Fate::Counted => run.ledger.counted(deed),
            Fate::Queued => queued.push(Arc::clone(deed)),
        }
    }
    if !queued.is_empty() {
        let lost = run.ledger.queued(&queued, deaths);
        send_again(run, lost);
    }
}

fn none_queued(fates: &[(Fate, String)]) -> bool {
    fates.iter().all(|(fate, _)| matches!(fate, Fate::Counted))
}

/// The fate of each deed and its outcome, or the body where it is none that may be.
fn read(answer: &Answer, order: &Order) -> Result<Vec<(Fate, String)>, String> {
    let items = match (answer.status, order.is_array) {
        (200, true) => answer.body["results"].as_array().map(Vec::as_slice),
        (200 | 202, false) => Some(std::slice::from_ref(&answer.body)),
        _ => None,
    };
    let items = items.filter(|items| items.len() == order.deeds.len());
    let fate = |(item, deed): (&Value, &Arc<Deed>)| {
        let name = item["outcome"].as_str()?;
        let fate = match (name, deed.activity.undo) {
            ("queued", _) if answer.status == 202 || order.is_array => Fate::Queued,
            ("counted" | "duplicate", false) | ("undone" | "nothing-to-undo", true) => {
                Fate::Counted
            }
            ("stale", _) if deed.activity.at.is_some() => Fate::Counted,
            _ => return None,
        };
        Some((fate, name.to_owned()))
    };
    let fates: Option<Vec<_>> =
        items.and_then(|items| items.iter().zip(&order.deeds).map(fate).collect());
    fates.ok_or_else(|| answer.text.clone())
}
