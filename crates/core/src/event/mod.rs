//! Events: boards from one instant to another, with rules of their own where wanted.
//!
//! An activity counts in an event by the event's definition at its instant. After its end an event settles: queued and
//! late activity still counts. Then it is final.

mod definition;
mod prizes;

pub use definition::{Definition, MAX_DAYS, MAX_RUNNING};
pub use prizes::Prize;

use crate::calendar::Instant;
use crate::object::Object;
use crate::score::{Layout, Points};
use serde::Serialize;

/// What an event does at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It has not begun.
    Coming,
    /// Activity counts.
    Running,
    /// It has ended, and activity of before its end still counts.
    Settling,
    /// Nothing counts any more.
    Final,
}

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its id.
    pub id: String,
    /// Its definition.
    pub definition: Definition,
}

/// An event in a response.
#[derive(Debug, Serialize)]
pub struct EventView<'a> {
    id: &'a str,
    state: State,
    title: &'a str,
    from: String,
    to: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    actions: Option<Object<&'a str, Points>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    groups: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    prizes: &'a [Prize],
}

impl Event {
    /// Returns the state at an instant; `settling` is the time after the end in which late activity counts, in ms.
    #[must_use]
    pub fn state(&self, now: Instant, settling: i64) -> State {
        let Definition { from, to, .. } = &self.definition;
        if now < *from {
            State::Coming
        } else if now < *to {
            State::Running
        } else if now.0 < to.0 + settling {
            State::Settling
        } else {
            State::Final
        }
    }

    /// Returns the points, in smallest steps, that an activity of this instant gives in the event; `None` if it does not
    /// count there. `points` are those of its rule.
    #[must_use]
    pub fn points(&self, at: Instant, action: &str, groups: &[String], points: u64) -> Option<u64> {
        let Definition {
            from,
            to,
            actions,
            groups: counted,
            ..
        } = &self.definition;
        let is_of_groups = counted.is_empty() || groups.iter().any(|group| counted.contains(group));
        if at < *from || at >= *to || !is_of_groups {
            return None;
        }
        match actions {
            None => Some(points),
            Some(actions) => {
                let mut actions = actions.iter();
                actions
                    .find(|(name, _)| name == action)
                    .map(|(_, points)| *points)
            }
        }
    }

    /// Returns the event as responses show it.
    #[must_use]
    pub fn view(&self, now: Instant, settling: i64, layout: Layout) -> EventView<'_> {
        let definition = &self.definition;
        let actions = definition.actions.as_ref().map(|actions| {
            let actions = actions.iter();
            let views =
                actions.map(|(name, steps)| (name.as_str(), Points::new(*steps, layout.decimals)));
            Object(views.collect())
        });
        EventView {
            id: &self.id,
            state: self.state(now, settling),
            title: &definition.title,
            from: definition.from.to_string(),
            to: definition.to.to_string(),
            url: definition.url.as_deref(),
            actions,
            groups: &definition.groups,
            prizes: &definition.prizes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;

    fn event(actions: Option<&[(&str, u64)]>, groups: &[&str]) -> Event {
        Event {
            id: "hackathon".to_owned(),
            definition: Definition {
                title: "Hackathon".to_owned(),
                from: Instant(10 * HOUR),
                to: Instant(20 * HOUR),
                url: None,
                actions: actions.map(|actions| {
                    let owned = actions
                        .iter()
                        .map(|(name, steps)| ((*name).to_owned(), *steps));
                    owned.collect()
                }),
                groups: groups.iter().map(|group| (*group).to_owned()).collect(),
                prizes: Vec::new(),
            },
        }
    }

    #[test]
    fn states_begin_to_the_millisecond() {
        let event = event(None, &[]);
        for (now, state) in [
            (10 * HOUR - 1, State::Coming),
            (10 * HOUR, State::Running),
            (20 * HOUR - 1, State::Running),
            (20 * HOUR, State::Settling),
            (23 * HOUR - 1, State::Settling),
            (23 * HOUR, State::Final),
        ] {
            assert_eq!(event.state(Instant(now), 3 * HOUR), state, "{now}");
        }
    }

    #[test]
    fn activity_counts_by_instant_action_and_group() {
        let groups = |names: &[&str]| -> Vec<String> {
            names.iter().map(|name| (*name).to_owned()).collect()
        };
        let all = event(None, &[]);
        let some = event(Some(&[("comment", 5)]), &["eu", "us"]);
        for (event, at, action, of, points) in [
            (&all, 10 * HOUR, "like", groups(&[]), Some(2)),
            (&all, 20 * HOUR - 1, "like", groups(&["eu"]), Some(2)),
            (&all, 10 * HOUR - 1, "like", groups(&[]), None),
            (&all, 20 * HOUR, "like", groups(&[]), None),
            (&some, 10 * HOUR, "comment", groups(&["us"]), Some(5)),
            (&some, 10 * HOUR, "comment", groups(&["asia"]), None),
            (&some, 10 * HOUR, "comment", groups(&[]), None),
            (&some, 10 * HOUR, "like", groups(&["eu"]), None),
        ] {
            let found = event.points(Instant(at), action, &of, 2);
            assert_eq!(found, points, "{at} {action} {of:?}");
        }
    }
}
