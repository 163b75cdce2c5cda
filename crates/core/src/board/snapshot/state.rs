//! The state of the job that writes snapshots.

use super::{GroupPeriod, parse_groups, render_groups};
use std::fmt::Write;

/// Precedes the events in the text of a state.
const EVENTS: &str = " events ";

/// The state of the job that writes snapshots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The groups with boards in the snapshots.
    pub groups: Vec<GroupPeriod>,
    /// The events with boards in the snapshots, see [`chosen_events`](super::chosen_events).
    pub events: String,
    /// When the groups were chosen, Unix ms.
    pub chosen: i64,
    /// When the list of groups and events was written, Unix ms; 0 before.
    pub listed: i64,
    /// The values, in the order of the [`Plan`](super::Plan).
    pub values: Vec<ValueState>,
}

/// The state of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ValueState {
    /// When the boards of the stored value were read, Unix ms.
    pub made: i64,
    /// When the boards were read last, Unix ms.
    pub read: i64,
    /// A hash of what shows a change, when they were read last.
    pub source: i64,
    /// A hash of the stored boards.
    pub content: i64,
}

impl State {
    /// Parses a state as [`Self::render`] returns it; any other text is that of a new one.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Self::parse_complete(text).unwrap_or_default()
    }

    fn parse_complete(text: &str) -> Option<Self> {
        let (numbers, groups) = text.split_once('\n')?;
        let (numbers, events) = numbers.split_once(EVENTS).unwrap_or((numbers, ""));
        let mut numbers = numbers.split(' ').map(str::parse::<i64>);
        let mut next = || numbers.next()?.ok();
        let mut state = Self {
            groups: parse_groups(groups),
            events: events.to_owned(),
            chosen: next()?,
            listed: next()?,
            values: Vec::new(),
        };
        while let Some(made) = next() {
            state.values.push(ValueState {
                made,
                read: next()?,
                source: next()?,
                content: next()?,
            });
        }
        Some(state)
    }

    /// Returns the state as text: a line of numbers and events, then the groups.
    #[must_use]
    pub fn render(&self) -> String {
        let mut text = format!("{} {}", self.chosen, self.listed);
        for value in &self.values {
            for number in [value.made, value.read, value.source, value.content] {
                // Writing to a string never fails.
                let _ = write!(text, " {number}");
            }
        }
        if !self.events.is_empty() {
            text = text + EVENTS + &self.events;
        }
        format!("{text}\n{}", render_groups(&self.groups))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::Period;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn state_round_trips(
            (chosen, listed) in any::<(i64, i64)>(), groups in prop::collection::vec(("[a-z]{1,3}", prop::sample::select(&Period::ALL)), 0..3),
            values in prop::collection::vec(any::<(i64, i64, i64, i64)>(), 0..3), events in "(7( [a-z]{1,3}){1,2})?",
        ) {
            let value = |(made, read, source, content)| ValueState { made, read, source, content };
            let state = State { groups, events, chosen, listed, values: values.into_iter().map(value).collect() };
            prop_assert_eq!(State::parse(&state.render()), state);
        }
    }

    #[test]
    fn state_of_another_text_is_new() {
        for text in [
            "",
            "1795132800000 7-1 d:2026-11-20",
            "1\n",
            "1 2 3 4\neu day\n",
        ] {
            assert_eq!(State::parse(text), State::default(), "{text}");
        }
    }
}
