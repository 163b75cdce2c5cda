//! What one call of the counting script needs: every key it touches, each named once, and the
//! operations in the order sent. The script's header says what each part means.

mod call;
mod operations;

pub use call::{Head, Lifetimes};
pub use operations::{Dated, Deed, Operations, Place, Worth};

use super::Activity;
use crate::calendar::{Calendar, Date, Instant, Period};
use crate::config::{Config, Once, Rule};
use crate::keys::Keys;
use crate::moderation::{ADJUST, Adjustment};
use crate::redis::{Command, Failure};
use crate::scripts;

/// The plan of one call.
pub struct Plan<'a> {
    config: &'a Config,
    calendar: &'a Calendar,
    now: Instant,
    shard: u32,
    operations: Operations,
}

impl<'a> Plan<'a> {
    /// A plan without operations of users of a shard, at the one instant that the request happens.
    #[must_use]
    pub fn new(config: &'a Config, calendar: &'a Calendar, now: Instant, shard: u32) -> Self {
        let operations = Operations::default();
        Self {
            config,
            calendar,
            now,
            shard,
            operations,
        }
    }

    /// The plan of one adjustment.
    #[must_use]
    pub fn of_adjustment(
        config: &'a Config,
        calendar: &'a Calendar,
        now: Instant,
        adjustment: Adjustment,
    ) -> Self {
        let shard = config.shard_of(&adjustment.user);
        let mut plan = Self::new(config, calendar, now, shard);
        let worth = Worth {
            action: ADJUST.to_owned(),
            once: Once::Standing,
            points: adjustment.points,
            daily_cap: 0,
            cooldown: 0,
        };
        let verb = if adjustment.undo { "undo" } else { "adjust" };
        let Adjustment {
            user, id, groups, ..
        } = adjustment;
        let when = match adjustment.at {
            Some(at) => (at, Dated::ByCaller),
            None => (now, Dated::Not),
        };
        plan.push(worth, &user, &id, when, groups, verb);
        plan.operations.reason = Some(adjustment.reason);
        plan
    }

    /// Adds an activity, to take effect after those before.
    pub fn add(&mut self, activity: &Activity, rule: Rule) {
        let date = self.calendar.date_at(activity.at);
        let today = self.calendar.date_at(self.now);
        let forgotten = rule.once == Once::Day && today.days_since(date) >= Keys::HISTORY_DAYS;
        let verb = match (activity.undo, forgotten) {
            (true, _) => "undo",
            (false, true) => "old",
            (false, false) => "do",
        };
        let worth = Worth {
            action: activity.action.clone(),
            once: rule.once,
            points: rule.points.cast_signed(),
            daily_cap: rule.daily_cap.unwrap_or(0),
            cooldown: rule.cooldown.unwrap_or(0) * 1000,
        };
        let Activity { user, target, .. } = activity;
        let dated = match (activity.held, activity.dated) {
            (true, _) => Dated::ByUs,
            (false, true) => Dated::ByCaller,
            (false, false) => Dated::Not,
        };
        let when = (activity.at, dated);
        self.push(worth, user, target, when, activity.groups.clone(), verb);
    }

    fn push(
        &mut self,
        worth: Worth,
        user: &str,
        target: &str,
        (at, dated): (Instant, Dated),
        groups: Vec<String>,
        verb: &'static str,
    ) {
        let date = self.calendar.date_at(at);
        let kinds = self.config.periods.clone();
        let place = Place {
            date,
            kinds,
            groups,
        };
        let mark = format!("{}:{target}", worth.action);
        self.operations.push(Deed {
            user,
            worth,
            place,
            verb,
            mark,
            at,
            dated,
        });
    }

    /// The call of the script, with or without the standings of the first operation's user.
    #[must_use]
    pub fn command(&self, standings: bool) -> Command {
        let (keys, arguments) = self.operations.call(&Head {
            keys: self.config.keys(self.shard),
            stamp: self.config.stamp(),
            now: self.now,
            then: self.now,
            lifetimes: Lifetimes::of(&self.config.keep),
            standings,
            journals: self.config.bound.journals(),
        });
        let command = Command::script(&scripts::COUNT, &keys);
        arguments
            .iter()
            .fold(command, |command, argument| command.arg(argument))
    }

    /// Adds the place that a mark names, for the undo at a number from 1 that asked for it.
    ///
    /// # Errors
    ///
    /// [`Failure::Unavailable`] where the mark cannot be read.
    pub fn add_place_of_mark(&mut self, op: u64, mark: &str) -> Result<(), Failure> {
        self.operations.add_place_of_mark(op, mark)
    }

    /// Whose users' operations they are.
    #[must_use]
    pub fn shard(&self) -> u32 {
        self.shard
    }

    /// How many operations there are.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a plan is made to have some")]
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// The kinds of the first operation's standings, and the day they are of.
    #[must_use]
    pub fn standings_of(&self) -> Option<(Date, &[Period])> {
        let place = self.operations.first_place()?;
        Some((place.date, &place.kinds))
    }
}
