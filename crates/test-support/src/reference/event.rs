//! Events of the model.

use std::collections::BTreeMap;

use super::activity::InstantRange;

/// An event, with instants in Unix milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The first instant.
    pub from: i64,
    /// The first instant after it.
    pub to: i64,
    /// The instant from which nothing counts any more.
    pub final_at: i64,
    /// The points of the actions that count, in smallest steps; `None` if all count by their rules.
    pub actions: Option<BTreeMap<String, u64>>,
    /// The groups whose activity counts; empty for all activity.
    pub groups: Vec<String>,
}

/// A change of points by an activity, or by an adjustment of an event, for recounts of events.
#[derive(Clone, Debug)]
pub struct PointChange {
    /// The user.
    pub user: String,
    /// The instant of the record.
    pub at: InstantRange,
    /// The action.
    pub action: String,
    /// The target; of an adjustment, its id.
    pub target: String,
    /// The groups.
    pub groups: Vec<String>,
    /// The points that it gave, in smallest steps.
    pub points: i64,
    /// The event that was adjusted.
    pub event: Option<String>,
    /// Whether it was undone.
    pub undo: bool,
}

impl Event {
    /// Returns the points of an activity in the event; `None` if it does not count there.
    ///
    /// # Panics
    ///
    /// Panics when the range contains the start or the end, so that it is unknown.
    pub fn points(
        &self,
        at: InstantRange,
        action: &str,
        groups: &[String],
        points: u64,
    ) -> Option<u64> {
        let is_before = |instant: i64| at.is_before(InstantRange::exact(instant));
        let is_in_group =
            self.groups.is_empty() || groups.iter().any(|group| self.groups.contains(group));
        if action == "adjust" || !is_in_group || is_before(self.from) || !is_before(self.to) {
            return None;
        }
        match &self.actions {
            None => Some(points),
            Some(actions) => actions.get(action).copied(),
        }
    }

    /// Returns whether the event is final at an instant.
    ///
    /// # Panics
    ///
    /// As [`Self::points`].
    pub fn is_final(&self, now: InstantRange) -> bool {
        !now.is_before(InstantRange::exact(self.final_at))
    }

    /// Returns whether this definition may take the place of another one, or be the first.
    ///
    /// # Panics
    ///
    /// As [`Self::points`].
    pub fn may_replace(&self, before: Option<&Self>, now: InstantRange) -> bool {
        let lies_ahead = |instant: i64| now.is_before(InstantRange::exact(instant));
        match before {
            Some(before) if !lies_ahead(before.from) => {
                let only_end = Self {
                    to: before.to,
                    final_at: before.final_at,
                    ..self.clone()
                };
                let moved = self.to != before.to;
                !before.is_final(now)
                    && only_end == *before
                    && (!moved || lies_ahead(before.to) && lies_ahead(self.to))
            }
            Some(_) | None => lies_ahead(self.from),
        }
    }
}
