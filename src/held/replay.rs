//! Counts what was held back: a batch of messages, in their order.

use super::read;
use crate::activity::{Ruled, count_all};
use crate::calendar::Instant;
use crate::error::Error;
use crate::json::MOST_ITEMS;
use crate::site::Site;

/// What becomes of one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is done with; some of it may have been refused for good: why.
    Done(Vec<String>),
    /// It must be tried again: why.
    Again(String),
    /// It can never be counted: why.
    Unreadable(String),
}

/// The longest that a message waits for its next try, in seconds.
const LONGEST_WAIT: u32 = 900;

/// How long a message waits after so many tries, in seconds: 100 tries take about a day.
#[must_use]
pub fn backoff(tries: u32) -> u32 {
    let doubled = 1u32.checked_shl(tries.saturating_sub(1));
    doubled.map_or(LONGEST_WAIT, |seconds| seconds.clamp(1, LONGEST_WAIT))
}

/// A message as read: how many items it has.
type Message = Result<usize, Error>;

/// Counts messages in their order, and tells the fate of each; `None` is one that is no text.
///
/// They go to the store together, as many at a time as there can be in an array. A message that is
/// tried again is counted from its beginning: what had been counted is a duplicate or stale.
pub async fn replay(site: &Site, texts: &[Option<String>], now: Instant) -> Vec<Fate> {
    let mut items: Vec<Result<Ruled, Error>> = Vec::new();
    let mut messages: Vec<Message> = Vec::new();
    for text in texts {
        let text = text.as_deref().unwrap_or_default();
        let message = read(text, &site.config.rules, now);
        messages.push(message.map(|read| {
            let length = read.len();
            items.extend(read);
            length
        }));
    }
    let mut fates = Vec::new();
    let (mut rest, mut items) = (messages.as_slice(), items.as_slice());
    while !rest.is_empty() {
        let (group, later) = rest.split_at(fitting(rest));
        let (given, left) = items.split_at(group.iter().flatten().sum());
        match count_all(site, given, None, now).await {
            Ok(counted) => {
                let mut results = counted.into_iter().map(Result::err);
                fates.extend(group.iter().map(|message| fate(message, &mut results)));
                (rest, items) = (later, left);
            }
            // What follows would find the store no better.
            Err(error) => {
                let again = |message| unless_unreadable(message, Fate::Again(why(&error)));
                fates.extend(rest.iter().map(again));
                rest = &[];
            }
        }
    }
    fates
}

/// How many of these go in one request; one at least.
fn fitting(messages: &[Message]) -> usize {
    let mut items = 0;
    let fits = |message: &&Message| {
        items += message.as_ref().unwrap_or(&0);
        items <= MOST_ITEMS
    };
    messages.iter().take_while(fits).count().max(1)
}

/// The fate of a message, of whose items the next of these were refused.
fn fate(message: &Message, refused: &mut impl Iterator<Item = Option<Error>>) -> Fate {
    let mut reasons = Vec::new();
    let mut passing = None;
    for error in refused.take(*message.as_ref().unwrap_or(&0)).flatten() {
        // What is not the sender's fault passes.
        if error.status() >= 500 {
            passing = Some(why(&error));
        } else {
            reasons.push(why(&error));
        }
    }
    let fate = passing.map_or(Fate::Done(reasons), Fate::Again);
    unless_unreadable(message, fate)
}

fn unless_unreadable(message: &Message, fate: Fate) -> Fate {
    match message {
        Ok(_) => fate,
        Err(error) => Fate::Unreadable(why(error)),
    }
}

fn why(error: &Error) -> String {
    error.cause().unwrap_or_else(|| error.problem().detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_quarter_of_an_hour() {
        let waits = [0, 1, 2, 3, 10, 11, 12, 33, 100, u32::MAX].map(backoff);
        assert_eq!(waits, [1, 1, 2, 4, 512, 900, 900, 900, 900, 900]);
    }

    #[test]
    fn messages_go_together_as_far_as_an_array_may_be_long() {
        let unreadable = || Err(Error::invalid(""));
        assert_eq!(fitting(&[Ok(500), Ok(1)]), 1);
        assert_eq!(fitting(&[Ok(499), Ok(1), Ok(1)]), 2);
        assert_eq!(fitting(&[Ok(499), unreadable(), Ok(1)]), 3);
        assert_eq!(fitting(&[Ok(0), unreadable()]), 2);
    }

    #[test]
    fn each_message_has_the_fate_of_its_own_items() {
        let frozen = || Some(Error::Forbidden("frozen".to_owned()));
        let full = || Some(Error::Misconfigured("PREFIX", "full".to_owned()));
        let mut results = [None, frozen(), None, frozen(), full(), None].into_iter();
        let mut next = |message: Message| fate(&message, &mut results);
        assert_eq!(next(Ok(2)), Fate::Done(vec!["frozen".to_owned()]));
        let unreadable = Err(Error::invalid("what is it"));
        assert_eq!(next(unreadable), Fate::Unreadable("what is it".to_owned()));
        assert_eq!(next(Ok(1)), Fate::Done(Vec::new()));
        assert_eq!(next(Ok(2)), Fate::Again("PREFIX: full".to_owned()));
        assert_eq!(next(Ok(1)), Fate::Done(Vec::new()));
    }
}
