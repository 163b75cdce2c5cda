//! Counts queued activity: a batch of messages, in their order.

use crate::app::App;
use crate::journal::refusals;
use crate::log;
use crate::message;
use crate::platform::analytics;
use crate::platform::clock;
use crate::platform::text::to_nfc;
use activity_rank_core::activity::{ActivityReader, RuledActivity};
use activity_rank_core::calendar::Instant;
use activity_rank_core::error::Error;
use activity_rank_core::json::MAX_ITEMS;
use activity_rank_store::count::count_all;
use activity_rank_store::deployment::Deployment;
use activity_rank_store::progress::{self, QueueDelivery};
use serde_json::json;

/// One message, as the platform delivers it.
pub struct Message {
    /// The platform's id.
    pub id: String,
    /// When it was queued.
    pub queued: Instant,
    /// Number of deliveries, including this one.
    pub tries: u32,
    /// The text; `None` for a body that is no text.
    pub text: Option<String>,
}

/// The disposition of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// Acknowledge it. Some of its activities may have been refused: the reasons.
    Ack(Vec<String>),
    /// Retry it: the cause.
    Retry(String),
    /// Send it to the dead-letter queue, because it cannot be parsed: the reason.
    DeadLetter(String),
}

/// The longest delay before a retry, in seconds.
const MAX_DELAY: u32 = 900;

/// Counts a batch. Returns for each message the delay of its retry in seconds, or `None` to
/// acknowledge it.
pub async fn run(app: &App, messages: &[Message], now: Instant) -> Vec<Option<u32>> {
    let dispositions = match app.job_deployment() {
        Ok(deployment) => {
            let texts: Vec<Option<&str>> = messages
                .iter()
                .map(|message| message.text.as_deref())
                .collect();
            let dispositions = replay(deployment, &texts, now).await;
            record(deployment, messages, &dispositions, now).await;
            dispositions
        }
        Err(error) => {
            let cause = error.cause().unwrap_or_default();
            vec![Disposition::Retry(cause); messages.len()]
        }
    };
    let (mut delays, mut dead) = (Vec::new(), 0);
    for (message, disposition) in messages.iter().zip(dispositions) {
        let log = |cause: &str| log::message(&message.id, message.tries, cause);
        delays.push(match disposition {
            Disposition::Ack(refused) => {
                for reason in refused {
                    log(&format!("dropped: {reason}"));
                }
                None
            }
            Disposition::Retry(cause) => {
                log(&cause);
                Some(retry_delay(message.tries))
            }
            Disposition::DeadLetter(reason) => {
                let reason = format!("unreadable: {reason}");
                log(&reason);
                // If this fails, the platform moves the message after its last retry, without the
                // reason.
                let sent = send_to_dead_letters(app, message, &reason).await;
                dead += usize::from(sent);
                (!sent).then(|| retry_delay(message.tries))
            }
        });
    }
    let oldest = messages.iter().map(|message| message.queued).min();
    analytics::Batch {
        duration: clock::now().0 - now.0,
        messages: messages.len(),
        retried: delays.iter().flatten().count(),
        dead,
        age: now.0 - oldest.unwrap_or(now).0,
    }
    .write();
    delays
}

/// Records the age of the oldest message, for `/v1/status`; not if all are retried, because the store is down then.
async fn record(
    deployment: &Deployment,
    messages: &[Message],
    dispositions: &[Disposition],
    now: Instant,
) {
    let is_retried = |disposition: &Disposition| matches!(disposition, Disposition::Retry(_));
    let oldest = messages.iter().map(|message| message.queued).min();
    let Some(oldest) = oldest.filter(|_| !dispositions.iter().all(is_retried)) else {
        return;
    };
    let delivery = QueueDelivery {
        oldest,
        delivered: now,
    };
    // The messages are counted: a delivery that is not recorded changes nothing.
    if let Err(error) = progress::record_delivery(deployment, delivery).await {
        log::debug(&format!("queue: {}", cause(&error)));
    }
}

async fn send_to_dead_letters(app: &App, message: &Message, reason: &str) -> bool {
    let Some(dead_letters) = &app.bindings.dead_letters else {
        return false;
    };
    let letter = json!({"reason": reason, "message": message.text});
    let letter = serde_json::to_string(&letter).unwrap_or_default();
    dead_letters.send(&letter).await.is_ok()
}

/// Returns the delay before the next delivery in seconds: it doubles up to 32, then the store is down for longer. 100 tries
/// take about a day, and an hour without the store 9. The platform counts each as an operation.
fn retry_delay(tries: u32) -> u32 {
    match tries {
        0..=6 => 1 << tries.saturating_sub(1),
        _ => MAX_DELAY,
    }
}

/// A parsed message: its number of items.
type Parsed = Result<usize, Error>;

/// The items of one request are halved after each failure, down to fewer than this many.
const MIN_ITEMS: usize = 50;

/// Counts messages in their order; `None` is a message that is no text.
///
/// Their items go to the store together, as many at once as an array may have; after a failure half
/// as many. A retried message is counted from its beginning: the activities that had been counted are
/// duplicates or stale.
async fn replay(deployment: &Deployment, texts: &[Option<&str>], now: Instant) -> Vec<Disposition> {
    let reader = ActivityReader {
        rules: &deployment.config.rules,
        now,
        to_nfc,
    };
    let mut items: Vec<Result<RuledActivity, Error>> = Vec::new();
    let mut messages: Vec<Parsed> = Vec::new();
    for text in texts {
        let parsed = message::parse(text.unwrap_or_default(), reader);
        messages.push(parsed.map(|parsed| {
            let length = parsed.len();
            items.extend(parsed);
            length
        }));
    }
    let (mut rest, mut length) = (items.as_slice(), MAX_ITEMS.min(items.len()));
    let (mut errors, mut failure) = (Vec::new(), None);
    while !rest.is_empty() && failure.is_none() {
        let (given, later) = rest.split_at(length.min(rest.len()));
        match count_all(deployment, given, None, now).await {
            Ok(counted) => {
                refusals::add_all(deployment, given, &counted, now);
                errors.extend(counted.into_iter().map(Result::err));
                rest = later;
            }
            Err(_) if length >= MIN_ITEMS => length /= 2,
            Err(error) => failure = Some(error),
        }
    }
    // The items after a failure would fail in the same way.
    errors.extend(vec![failure; rest.len()]);
    let mut errors = errors.into_iter();
    let messages = messages.iter();
    messages
        .map(|message| disposition(message, &mut errors))
        .collect()
}

/// Returns what to do with a message; takes the results of its items.
fn disposition(message: &Parsed, errors: &mut impl Iterator<Item = Option<Error>>) -> Disposition {
    let mut refused = Vec::new();
    let mut temporary = None;
    for error in errors.take(*message.as_ref().unwrap_or(&0)).flatten() {
        if error.status() >= 500 {
            temporary = Some(cause(&error));
        } else {
            refused.push(cause(&error));
        }
    }
    let disposition = temporary.map_or(Disposition::Ack(refused), Disposition::Retry);
    or_dead_letter(message, disposition)
}

fn or_dead_letter(message: &Parsed, disposition: Disposition) -> Disposition {
    match message {
        Ok(_) => disposition,
        Err(error) => Disposition::DeadLetter(cause(error)),
    }
}

fn cause(error: &Error) -> String {
    error.cause().unwrap_or_else(|| error.problem().detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_delay_grows_up_to_15_minutes() {
        let delays = [0, 1, 2, 3, 4, 5, 6, 7, 100, u32::MAX].map(retry_delay);
        assert_eq!(delays, [1, 1, 2, 4, 8, 16, 32, 900, 900, 900]);
    }

    #[test]
    fn hour_without_store_takes_9_retries() {
        let (mut seconds, mut retries) = (0, 0);
        while seconds + retry_delay(retries + 1) <= 3600 {
            retries += 1;
            seconds += retry_delay(retries);
        }
        assert_eq!(retries, 9);
    }

    #[test]
    fn disposition_follows_own_items() {
        let frozen = || Some(Error::Forbidden("frozen".to_owned()));
        let full = || Some(Error::Misconfigured("PREFIX", "full".to_owned()));
        let mut results = [None, frozen(), None, frozen(), full(), None].into_iter();
        let mut next = |message: Parsed| disposition(&message, &mut results);
        assert_eq!(next(Ok(2)), Disposition::Ack(vec!["frozen".to_owned()]));
        let invalid = Err(Error::invalid("what is it"));
        assert_eq!(
            next(invalid),
            Disposition::DeadLetter("what is it".to_owned())
        );
        assert_eq!(next(Ok(1)), Disposition::Ack(Vec::new()));
        assert_eq!(next(Ok(2)), Disposition::Retry("PREFIX: full".to_owned()));
        assert_eq!(next(Ok(1)), Disposition::Ack(Vec::new()));
    }
}
