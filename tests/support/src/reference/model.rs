//! What counting promises, in plain memory: no Redis, no packing, no expiry.
//!
//! One thing is left open where the promise is: cooldown is measured from the latest instant
//! that counted, so that a delayed activity of long ago is not held back by more than that.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;

use super::activity::{Activity, Mark};
use super::board::{Board, BoardName};
use super::calendar::{Calendar, id};
use super::moment::Moment;
use super::rule::Rule;

/// The most points a board's packing holds, in smallest steps.
pub(super) const MOST_POINTS: u64 = (1 << 23) - 1;

/// How many days back per-day marks are known, today included.
const DAYS_KNOWN: i32 = 31;

/// What is remembered of an activity that counts.
#[derive(Clone, Debug)]
pub struct Standing {
    /// When it changed.
    pub changed: Moment,
    /// When it was done for the last time, counted or not.
    pub last: Moment,
    /// Points for every board and the day; of an adjustment for each board, in order, and the day.
    pub amounts: Vec<i64>,
    /// The day it counts on.
    pub date: Date,
    /// The groups it counts in.
    pub groups: Vec<String>,
}

/// What becomes of an activity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It counts; with the signed change of points, as the next but one.
    Counted(i64),
    /// It had been done.
    Duplicate,
    /// It is taken back.
    Undone(i64),
    /// It had not been done.
    NothingToUndo,
    /// It is more than its rule allows: why.
    Capped(&'static str),
    /// Something later was known.
    Stale,
    /// It is no good: the slug.
    Refused(&'static str),
}

impl Outcome {
    /// Its name, or the reason or slug that tells it apart.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Counted(_) => "counted",
            Self::Duplicate => "duplicate",
            Self::Undone(_) => "undone",
            Self::NothingToUndo => "nothing-to-undo",
            Self::Capped(reason) | Self::Refused(reason) => reason,
            Self::Stale => "stale",
        }
    }
}

/// Count and points of each action.
pub type Day = BTreeMap<String, (u64, i64)>;

/// A site.
pub struct Model {
    /// Its time zone.
    pub calendar: Calendar,
    /// The kinds of boards it has.
    pub kinds: Vec<&'static str>,
    /// What actions are worth.
    pub rules: BTreeMap<String, Rule>,
    /// All boards that anything counted on.
    pub boards: BTreeMap<BoardName, Board>,
    /// What counts once while it stands.
    pub standing: BTreeMap<Mark, Standing>,
    /// When what does not stand was taken back.
    pub undone: BTreeMap<Mark, Moment>,
    /// What counts once a day.
    pub per_day: BTreeSet<(Date, Mark)>,
    /// The latest instant that counted, by user and action, where the rule has a cooldown.
    pub cooling: BTreeMap<(String, String), Moment>,
    /// What users did, day by day.
    pub histories: BTreeMap<(Date, String), Day>,
    /// Who is on no board.
    pub hidden: BTreeSet<String>,
    /// Whose activity does not count.
    pub frozen: BTreeSet<String>,
}

impl Model {
    /// One where nothing has happened.
    #[must_use]
    pub fn new(
        calendar: Calendar,
        kinds: Vec<&'static str>,
        rules: BTreeMap<String, Rule>,
    ) -> Self {
        let (boards, standing, undone) = Default::default();
        let (per_day, cooling, histories) = Default::default();
        let (hidden, frozen) = Default::default();
        Self {
            calendar,
            kinds,
            rules,
            boards,
            standing,
            undone,
            per_day,
            cooling,
            histories,
            hidden,
            frozen,
        }
    }

    /// What becomes of one activity.
    pub fn apply(&mut self, activity: &Activity, now: Moment) -> Outcome {
        let Some(rule) = self.rules.get(&activity.action).cloned() else {
            return Outcome::Refused("unknown-action");
        };
        match (activity.undo, rule.undo) {
            (true, false) => Outcome::Refused("not-undoable"),
            _ if self.frozen.contains(&activity.user) => Outcome::Refused("forbidden"),
            (true, true) => self.undo(activity, now),
            (false, _) => self.count(activity, &rule, now),
        }
    }

    fn count(&mut self, activity: &Activity, rule: &Rule, now: Moment) -> Outcome {
        let (mark, user) = (activity.mark(), &activity.user);
        let at = activity.at.map_or(now, Moment::exact);
        let date = self.calendar.date(at.first);
        let changed = self.last_change(&mark);
        if rule.per_day {
            if self.per_day.contains(&(date, mark.clone())) {
                return Outcome::Duplicate;
            }
            if date
                .until(self.calendar.date(now.first))
                .expect("days of one calendar")
                .get_days()
                >= DAYS_KNOWN
            {
                return Outcome::Stale;
            }
        } else {
            if activity.at.is_some() && changed.is_some_and(|changed| at.is_before(changed)) {
                return Outcome::Stale;
            }
            if let Some(standing) = self.standing.get_mut(&mark) {
                standing.last = standing.last.later(at);
                return Outcome::Duplicate;
            }
        }
        let kind = (user.clone(), activity.action.clone());
        let last = self.cooling.get(&kind).copied();
        let wait = rule.cooldown.unwrap_or(0);
        if last.is_some_and(|last| (at.first - last.first).abs() < wait) {
            return Outcome::Capped("cooldown");
        }
        let day = self.histories.get(&(date, user.clone()));
        let earned = day
            .and_then(|day| day.get(&activity.action))
            .map_or(0, |held| held.1 as u64);
        if rule.daily_cap.is_some_and(|cap| earned + rule.points > cap) {
            return Outcome::Capped("daily-cap");
        }
        let boards = self.boards_of(date, &activity.groups);
        let score = |name| {
            self.boards
                .get(name)
                .map_or(0, |board: &Board| board.points(user))
        };
        if boards
            .iter()
            .any(|name| score(name) + rule.points > MOST_POINTS)
        {
            return Outcome::Refused("score-overflow");
        }

        if rule.per_day {
            self.per_day.insert((date, mark));
        } else {
            let changed = changed.map_or(at, |changed| changed.later(at));
            let (amounts, groups) = (vec![rule.points as i64], activity.groups.clone());
            self.undone.remove(&mark);
            self.standing.insert(
                mark,
                Standing {
                    changed,
                    last: changed,
                    amounts,
                    date,
                    groups,
                },
            );
        }
        if rule.cooldown.is_some() {
            self.cooling
                .insert(kind, last.map_or(at, |last| last.later(at)));
        }
        for name in boards {
            let new = || Board::new(date);
            let board = self.boards.entry(name).or_insert_with(new);
            board.set(user, board.points(user) + rule.points);
        }
        let day = self.histories.entry((date, user.clone())).or_default();
        let held = day.entry(activity.action.clone()).or_default();
        *held = (held.0 + 1, held.1 + rule.points as i64);
        Outcome::Counted(rule.points as i64)
    }

    pub(super) fn undo(&mut self, activity: &Activity, now: Moment) -> Outcome {
        let (mark, user) = (activity.mark(), &activity.user);
        let at = activity.at.map_or(now, Moment::exact);
        let changed = self.last_change(&mark);
        if activity.at.is_some() && changed.is_some_and(|changed| at.is_before(changed)) {
            return Outcome::Stale;
        }
        if let Some(standing) = self.standing.get(&mark)
            && self.would_overflow(standing, user)
        {
            return Outcome::Refused("score-overflow");
        }
        self.undone.insert(
            mark.clone(),
            changed.map_or(at, |changed| changed.later(at)),
        );
        let Some(standing) = self.standing.remove(&mark) else {
            return Outcome::NothingToUndo;
        };
        let boards = self.boards_of(standing.date, &standing.groups);
        let amounts = each(&standing.amounts, boards.len());
        for (name, amount) in boards.into_iter().zip(&amounts) {
            let Some(board) = self.boards.get_mut(&name) else {
                continue;
            };
            let points = board.points(user);
            if (points > 0 && *amount > 0) || *amount < 0 {
                board.set(user, (points as i64 - amount).max(0) as u64);
            }
        }
        let of_day = *standing.amounts.last().expect("one for the day");
        let place = (standing.date, user.clone());
        let day = self.histories.get_mut(&place).expect("the day");
        let held = day.get_mut(&activity.action).expect("the action");
        *held = (held.0 - 1, held.1 - of_day);
        let sum: i64 = day.values().map(|held| held.1).sum();
        if sum < 0 {
            day.entry("adjust".to_owned()).or_default().1 -= sum;
        }
        day.retain(|_, held| *held != (0, 0));
        self.histories.retain(|_, day| !day.is_empty());
        Outcome::Undone(-furthest(&amounts))
    }

    fn would_overflow(&self, standing: &Standing, user: &str) -> bool {
        let boards = self.boards_of(standing.date, &standing.groups);
        let amounts = each(&standing.amounts, boards.len());
        boards.iter().zip(amounts).any(|(name, amount)| {
            let held = self.boards.get(name).map_or(0, |board| board.points(user));
            held as i64 - amount > MOST_POINTS as i64
        })
    }

    /// When a standing mark last changed, if it ever did.
    #[must_use]
    pub fn last_change(&self, mark: &Mark) -> Option<Moment> {
        let standing = self.standing.get(mark).map(|standing| standing.changed);
        standing.or(self.undone.get(mark).copied())
    }

    /// The boards that an activity of a day with these groups counts on.
    #[must_use]
    pub fn boards_of(&self, date: Date, groups: &[String]) -> Vec<BoardName> {
        let groups = [None].into_iter().chain(groups.iter().cloned().map(Some));
        let kinds = |group: Option<String>| {
            let name = move |kind: &&'static str| (*kind, id(kind, date), group.clone());
            self.kinds.iter().map(name).collect::<Vec<_>>()
        };
        groups.flat_map(kinds).collect()
    }

    /// Who is seen on a board with which points, the best first; and who is hidden.
    #[must_use]
    pub fn ranking(&self, name: &BoardName) -> [Vec<(String, u64)>; 2] {
        let board = self.boards.get(name);
        [false, true].map(|hidden| {
            let of = |user: &str| self.hidden.contains(user) == hidden;
            board.map(|board| board.ranking(of)).unwrap_or_default()
        })
    }

    /// Points and rank on one board.
    #[must_use]
    pub fn stands(&self, name: &BoardName, user: &str) -> (u64, Option<usize>) {
        let [seen, hidden] = self.ranking(name);
        let points = |(ranked, points): &(String, u64)| (ranked == user).then_some(*points);
        let rank = seen.iter().position(|(ranked, _)| ranked == user);
        let points = seen.iter().chain(&hidden).find_map(points);
        (points.unwrap_or(0), rank.map(|place| place + 1))
    }
}

/// The amount for each of so many boards.
fn each(amounts: &[i64], boards: usize) -> Vec<i64> {
    let amount = |board| amounts[if amounts.len() > 1 { board } else { 0 }];
    (0..boards).map(amount).collect()
}

/// The one that is furthest from zero, of equals the first.
pub(super) fn furthest(amounts: &[i64]) -> i64 {
    let further = |far: i64, amount: &i64| {
        if amount.abs() > far.abs() {
            *amount
        } else {
            far
        }
    };
    amounts.iter().fold(0, further)
}
