//! The result of counting an activity, as the API reports it.

use crate::config::{Config, Level};
use crate::object::Object;
use crate::score::Points;
use serde::Serialize;

/// The result of counting or undoing one activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It counted.
    Counted {
        /// Its points in smallest steps.
        steps: i64,
        /// The user's points on the board of all time afterwards, in smallest steps, if there is that board.
        all_time: Option<u64>,
    },
    /// It had counted before.
    Duplicate,
    /// It was undone, with these points in smallest steps: zero or less.
    Undone(i64),
    /// There was nothing to undo.
    NothingToUndo,
    /// Its points do not fit under the rule's daily cap.
    DailyCap,
    /// The points of others do not fit under the rule's cap of a pair.
    PairCap,
    /// The rule's cooldown has not passed.
    Cooldown,
    /// Its target is the user's own id.
    OwnTarget,
    /// A later change of the same record, or the age of the activity, rules it out.
    Stale,
}

impl Outcome {
    /// Returns the value of `outcome` in responses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Counted { .. } => "counted",
            Self::Duplicate => "duplicate",
            Self::Undone(_) => "undone",
            Self::NothingToUndo => "nothing-to-undo",
            Self::DailyCap | Self::PairCap | Self::Cooldown | Self::OwnTarget => "capped",
            Self::Stale => "stale",
        }
    }

    /// Returns the value of `reason` in responses; `None` unless the activity was capped.
    #[must_use]
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Self::DailyCap => Some("daily-cap"),
            Self::PairCap => Some("pair-cap"),
            Self::Cooldown => Some("cooldown"),
            Self::OwnTarget => Some("own-target"),
            Self::Counted { .. }
            | Self::Duplicate
            | Self::Undone(_)
            | Self::NothingToUndo
            | Self::Stale => None,
        }
    }

    /// Returns the signed change of points, in smallest steps.
    #[must_use]
    pub fn steps(self) -> i64 {
        match self {
            Self::Counted { steps, .. } | Self::Undone(steps) => steps,
            Self::Duplicate
            | Self::NothingToUndo
            | Self::DailyCap
            | Self::PairCap
            | Self::Cooldown
            | Self::OwnTarget
            | Self::Stale => 0,
        }
    }
}

/// The response to one activity.
#[derive(Clone, Debug, Serialize)]
pub struct Counted {
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    points: Points,
    #[serde(skip_serializing_if = "Option::is_none")]
    level_up: Option<Level>,
    /// By period; absent from items of an array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standings: Option<Object<&'static str, StandingView>>,
    /// By event, for those in which the activity counts by its instant; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<Object<String, EventStandingView>>,
}

/// The user's standing on the board of an event.
#[derive(Clone, Debug, Serialize)]
pub struct EventStandingView {
    /// The score; zero for a user who is not on the board.
    pub score: Points,
    /// The rank from 1; `None` for a user who is not on the board.
    pub rank: Option<u64>,
}

/// The user's standing on the board of one period.
#[derive(Clone, Debug, Serialize)]
pub struct StandingView {
    /// The period instance, such as `2026-11-20`.
    pub id: String,
    /// The score; zero for a user who is not on the board.
    pub score: Points,
    /// The rank from 1; `None` for a user who is not on the board.
    pub rank: Option<u64>,
}

impl Counted {
    /// Returns the response to an activity with this outcome, without standings.
    #[must_use]
    pub fn new(outcome: Outcome, config: &Config) -> Self {
        let reached = |after: u64| {
            let before = after.saturating_sub_signed(outcome.steps());
            config.levels.reached(before, after).cloned()
        };
        Self {
            outcome: outcome.name(),
            reason: outcome.reason(),
            points: Points {
                steps: outcome.steps(),
                decimals: config.layout.decimals,
            },
            level_up: match outcome {
                Outcome::Counted { all_time, .. } => all_time.and_then(reached),
                _ => None,
            },
            standings: None,
            events: None,
        }
    }

    /// Returns the value of `outcome`.
    #[must_use]
    pub fn outcome(&self) -> &'static str {
        self.outcome
    }

    /// Returns why the activity did not count, as `reason` or `outcome` has it; `None` if it counted, now or before.
    #[must_use]
    pub fn refusal(&self) -> Option<&'static str> {
        let stale = Outcome::Stale.name();
        self.reason.or((self.outcome == stale).then_some(stale))
    }

    /// Returns the response to an activity that the queue holds until the store is available.
    #[must_use]
    pub fn queued(decimals: u32) -> Self {
        Self {
            outcome: "queued",
            reason: None,
            points: Points { steps: 0, decimals },
            level_up: None,
            standings: None,
            events: None,
        }
    }
}
