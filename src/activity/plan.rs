//! What one call of the counting script needs: every key it touches, each named once, and the
//! operations in the order sent. The script's header says what each part means.

use super::Activity;
use crate::calendar::{Calendar, Date, Instant, Period};
use crate::config::{Config, Once, Rule};
use crate::keys::Keys;
use crate::redis::{Command, Failure};
use crate::scripts;

/// The plan of one call.
pub struct Plan<'a> {
    config: &'a Config,
    calendar: &'a Calendar,
    now: Instant,
    rules: Vec<(String, Rule)>,
    places: Vec<Place>,
    members: Vec<String>,
    days: Vec<(usize, Date)>,
    ops: Vec<Op>,
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
    dated: bool,
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
        }
    }

    /// Adds an activity, to take effect after those before.
    pub fn add(&mut self, activity: &Activity, rule: Rule) {
        let at = activity.at.unwrap_or(self.now);
        let date = self.calendar.date_at(at);
        let today = self.calendar.date_at(self.now);
        let forgotten = rule.once == Once::Day && today.days_since(date) >= Keys::HISTORY_DAYS;
        let verb = match (activity.undo, forgotten) {
            (true, _) => "undo",
            (false, true) => "old",
            (false, false) => "do",
        };
        let kinds = self.config.periods.clone();
        let op = Op {
            rule: place_in(&mut self.rules, (activity.action.clone(), rule)),
            place: place_in(
                &mut self.places,
                Place {
                    date,
                    kinds,
                    groups: activity.groups.clone(),
                },
            ),
            day: self.day(&activity.user, date),
            verb,
            mark: format!("{}:{}", activity.action, activity.target),
            at,
            dated: activity.at.is_some(),
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

    /// The call of the script, with or without the standings of the first operation's user.
    #[must_use]
    pub fn command(&self, standings: bool) -> Command {
        let Self { config, .. } = self;
        let keep = &config.keep;
        let mut call = Call {
            keys: Vec::new(),
            arguments: Vec::new(),
            names: config.keys(),
        };
        call.key(call.names.stamp());
        call.key(call.names.index());
        call.say(config.stamp());
        call.say(self.now.0);
        call.say(Keys::DAY_SECONDS);
        call.say(keep.marks_seconds());
        call.say(Keys::UNDO_SECONDS);
        let seconds = |kind: Period| keep.board_seconds(kind).unwrap_or(0);
        let lifetimes = Period::ALL.map(|kind| format!("{}{}", kind.letter(), seconds(kind)));
        call.say(lifetimes.join(" "));
        call.say(u8::from(standings));
        call.list(&self.rules, Call::rule);
        call.list(&self.places, Call::place);
        call.list(&self.members, |call, user| call.member(user, self.now));
        call.list(&self.days, |call, (member, date)| {
            let user = self.members.get(*member).map_or("", String::as_str);
            call.day(*member, user, &date.to_string());
        });
        call.list(&self.ops, Call::op);
        let command = Command::script(&scripts::COUNT, &call.keys);
        call.arguments
            .iter()
            .fold(command, |command, argument| command.arg(argument))
    }

    fn day(&mut self, user: &str, date: Date) -> usize {
        let member = place_in(&mut self.members, user.to_owned());
        place_in(&mut self.days, (member, date))
    }
}

/// The keys and arguments of one call while they are put together.
struct Call {
    keys: Vec<String>,
    arguments: Vec<String>,
    names: Keys,
}

impl Call {
    fn say(&mut self, argument: impl ToString) {
        self.arguments.push(argument.to_string());
    }

    /// Names a key and returns its number, from 1.
    fn key(&mut self, key: String) -> usize {
        self.keys.push(key);
        self.keys.len()
    }

    fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.say(items.len());
        for item in items {
            write(self, item);
        }
    }

    fn rule(&mut self, (action, rule): &(String, Rule)) {
        self.say(action);
        self.say(match rule.once {
            Once::Day => 'd',
            Once::Standing => 's',
        });
        self.say(rule.points);
        self.say(rule.daily_cap.unwrap_or(0));
        self.say(rule.cooldown.unwrap_or(0) * 1000);
    }

    fn place(&mut self, place: &Place) {
        self.say(place.date);
        self.say(
            place
                .kinds
                .iter()
                .map(|kind| kind.letter())
                .collect::<String>(),
        );
        self.say(place.groups.join(","));
        self.say(self.keys.len() + 1);
        let groups = place.groups.iter().map(|group| Some(group.as_str()));
        for group in [None].into_iter().chain(groups) {
            for kind in &place.kinds {
                self.key(self.names.board(*kind, place.date, group));
            }
        }
    }

    fn member(&mut self, user: &str, now: Instant) {
        self.say(user);
        let marks = self.key(self.names.marks(user));
        self.say(marks);
        self.say(self.keys.len() + 1);
        let memories = self.names.undo_memories(user, now);
        self.say(memories.len());
        self.keys.extend(memories);
    }

    fn day(&mut self, member: usize, user: &str, date: &str) {
        self.say(member + 1);
        self.say(date);
        let history = self.key(self.names.history(date, user));
        let marks = self.key(self.names.day_marks(date, user));
        self.say(history);
        self.say(marks);
    }

    fn op(&mut self, op: &Op) {
        self.say(op.rule + 1);
        self.say(op.place + 1);
        self.say(op.day + 1);
        self.say(op.verb);
        self.say(&op.mark);
        self.say(op.at.0);
        self.say(u8::from(op.dated));
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
