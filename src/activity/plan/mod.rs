//! What one call of the counting script needs: every key it touches, each named once, and the
//! operations in the order sent. The script's header says what each part means.

mod call;

use super::Activity;
use crate::calendar::{Calendar, Date, Instant, Period};
use crate::config::{Config, Once, Rule};
use crate::keys::Keys;
use crate::moderation::{ADJUST, Adjustment};
use crate::redis::Failure;

/// The plan of one call.
pub struct Plan<'a> {
    config: &'a Config,
    calendar: &'a Calendar,
    now: Instant,
    rules: Vec<Worth>,
    places: Vec<Place>,
    members: Vec<String>,
    days: Vec<(usize, Date)>,
    ops: Vec<Op>,
    /// Why, for the audit list; of an adjustment alone.
    reason: Option<String>,
}

/// What an action is worth, in smallest steps and milliseconds.
#[derive(PartialEq, Eq)]
struct Worth {
    action: String,
    once: Once,
    points: i64,
    daily_cap: u64,
    cooldown: u64,
}

/// Boards that points go to: those of a day's periods, for everybody and for groups.
#[derive(PartialEq, Eq)]
struct Place {
    date: Date,
    kinds: Vec<Period>,
    groups: Vec<String>,
}

struct Op {
    rule: usize,
    place: usize,
    day: usize,
    verb: &'static str,
    mark: String,
    at: Instant,
    dated: Dated,
}

/// Who says at which instant it happened: the script takes these numbers.
#[derive(Clone, Copy)]
enum Dated {
    /// Nobody: it happens now.
    Not = 0,
    /// The caller.
    ByCaller = 1,
    /// We, when we accepted it and held it back.
    ByUs = 2,
}

impl<'a> Plan<'a> {
    /// A plan without operations, at the one instant that the request happens.
    #[must_use]
    pub fn new(config: &'a Config, calendar: &'a Calendar, now: Instant) -> Self {
        let (rules, places, members) = (Vec::new(), Vec::new(), Vec::new());
        let (days, ops) = (Vec::new(), Vec::new());
        Self {
            config,
            calendar,
            now,
            rules,
            places,
            members,
            days,
            ops,
            reason: None,
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
        let mut plan = Self::new(config, calendar, now);
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
        plan.reason = Some(adjustment.reason);
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
        let op = Op {
            mark: format!("{}:{target}", worth.action),
            rule: place_in(&mut self.rules, worth),
            place: place_in(&mut self.places, place),
            day: self.day(user, date),
            verb,
            at,
            dated,
        };
        self.ops.push(op);
    }

    /// Adds the place that a mark names, for the undo at a number from 1 that asked for it.
    ///
    /// # Errors
    ///
    /// [`Failure::Unavailable`] where the mark cannot be read.
    pub fn add_place_of_mark(&mut self, op: u64, mark: &str) -> Result<(), Failure> {
        let place = parse_mark(mark);
        let day = usize::try_from(op)
            .ok()
            .and_then(|op| self.ops.get(op.checked_sub(1)?));
        let member = day
            .and_then(|op| self.days.get(op.day))
            .map(|(member, _)| *member);
        let (Some(place), Some(member)) = (place, member) else {
            return Err(Failure::Unavailable(format!(
                "unexpected mark of undo {op}"
            )));
        };
        place_in(&mut self.days, (member, place.date));
        place_in(&mut self.places, place);
        Ok(())
    }

    /// How many operations there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// The kinds of the first operation's standings, and the day they are of.
    #[must_use]
    pub fn standings_of(&self) -> Option<(Date, &[Period])> {
        let place = self.places.get(self.ops.first()?.place)?;
        Some((place.date, &place.kinds))
    }

    fn day(&mut self, user: &str, date: Date) -> usize {
        let member = place_in(&mut self.members, user.to_owned());
        place_in(&mut self.days, (member, date))
    }
}

/// The place of an item in a list, added at its end if it is not there.
fn place_in<T: PartialEq>(list: &mut Vec<T>, item: T) -> usize {
    if let Some(place) = list.iter().position(|known| *known == item) {
        return place;
    }
    list.push(item);
    list.len() - 1
}

/// Reads where the points of a mark lie: `changed,points,date,kinds[,group...]`.
fn parse_mark(mark: &str) -> Option<Place> {
    let mut parts = mark.split(',').skip(2);
    let date = Date::parse(parts.next()?)?;
    let kinds = parts
        .next()?
        .chars()
        .map(Period::from_letter)
        .collect::<Option<_>>()?;
    Some(Place {
        date,
        kinds,
        groups: parts.map(str::to_owned).collect(),
    })
}
