//! What a call of the counting script is to do: each rule, place, member and day named once, and
//! the operations in their order.

use crate::activity::Mark;
use crate::calendar::{Date, Instant, Period};
use crate::config::Once;
use crate::redis::Failure;

/// Operations, and what they share.
#[derive(Default)]
pub struct Operations {
    pub(super) rules: Vec<Worth>,
    pub(super) places: Vec<Place>,
    pub(super) members: Vec<String>,
    pub(super) days: Vec<(usize, Date)>,
    pub(super) ops: Vec<Op>,
    /// Why, for the audit list; of an adjustment alone.
    pub reason: Option<String>,
}

/// What an action is worth, in smallest steps and milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "fields are those of a rule")]
pub struct Worth {
    pub action: String,
    pub once: Once,
    pub points: i64,
    pub daily_cap: u64,
    pub cooldown: u64,
}

/// Boards that points go to: those of a day's periods, for everybody and for groups.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "told above")]
pub struct Place {
    pub date: Date,
    pub kinds: Vec<Period>,
    pub groups: Vec<String>,
}

/// One operation, before its parts are numbered.
#[allow(missing_docs, reason = "the script's header tells of its operations")]
pub struct Deed<'a> {
    pub user: &'a str,
    pub worth: Worth,
    pub place: Place,
    pub verb: &'static str,
    pub mark: String,
    pub at: Instant,
    pub dated: Dated,
}

pub(super) struct Op {
    pub(super) rule: usize,
    pub(super) place: usize,
    pub(super) day: usize,
    pub(super) verb: &'static str,
    pub(super) mark: String,
    pub(super) at: Instant,
    pub(super) dated: Dated,
}

/// Who says at which instant it happened: the script takes these numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dated {
    /// Nobody: it happens now.
    Not = 0,
    /// The caller.
    ByCaller = 1,
    /// We, when we accepted it and held it back.
    ByUs = 2,
}

impl Operations {
    /// Adds an operation, to take effect after those before.
    pub fn push(&mut self, deed: Deed<'_>) {
        let member = place_in(&mut self.members, deed.user.to_owned());
        let op = Op {
            rule: place_in(&mut self.rules, deed.worth),
            day: place_in(&mut self.days, (member, deed.place.date)),
            place: place_in(&mut self.places, deed.place),
            verb: deed.verb,
            mark: deed.mark,
            at: deed.at,
            dated: deed.dated,
        };
        self.ops.push(op);
    }

    /// Adds the place that a mark names, for the undo at a number from 1 that asked for it.
    ///
    /// # Errors
    ///
    /// [`Failure::Unavailable`] where the mark cannot be read.
    pub fn add_place_of_mark(&mut self, op: u64, mark: &str) -> Result<(), Failure> {
        let place = Mark::parse(mark).map(|mark| mark.place);
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

    /// Where the first operation gives its points.
    #[must_use]
    pub fn first_place(&self) -> Option<&Place> {
        self.places.get(self.ops.first()?.place)
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
