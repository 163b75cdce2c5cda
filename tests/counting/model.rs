//! What counting promises, in plain memory: no Redis, no packing, no expiry.
//!
//! One thing is left open where the promise is: cooldown is measured from the latest instant
//! that counted, so that a delayed activity of long ago is not held back by more than that.

use crate::activity::{Activity, Mark};
use crate::calendar::{Calendar, id};
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};

/// The most points a board's packing holds, in smallest steps.
pub const MOST_POINTS: u64 = (1 << 23) - 1;

/// How many days back per-day marks are known, today included.
const DAYS_KNOWN: i32 = 31;

/// What one action is worth; points in smallest steps, cooldown in milliseconds.
#[derive(Clone, Default)]
pub struct Rule {
    pub points: u64,
    pub per_day: bool,
    pub undo: bool,
    pub daily_cap: Option<u64>,
    pub cooldown: Option<i64>,
}

/// An instant that is known to lie between two others: of an activity without `at` the test
/// knows only when it asked and when it was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    pub first: i64,
    pub last: i64,
}

impl Moment {
    pub fn exact(at: i64) -> Self {
        Self {
            first: at,
            last: at,
        }
    }

    fn later(self, other: Self) -> Self {
        Self {
            first: self.first.max(other.first),
            last: self.last.max(other.last),
        }
    }

    fn is_before(self, other: Self) -> bool {
        let sure = (self.last < other.first, self.first < other.last);
        assert_eq!(
            sure.0, sure.1,
            "the test's own fault: {self:?} or {other:?} first?"
        );
        sure.0
    }

    pub fn contains(self, at: i64) -> bool {
        (self.first..=self.last).contains(&at)
    }
}

/// What is remembered of an activity that counts.
#[derive(Clone, Debug)]
pub struct Standing {
    pub changed: Moment,
    /// When it was done for the last time, counted or not.
    pub last: Moment,
    /// Points for every board and the day; of an adjustment for each board, in order, and the day.
    pub amounts: Vec<i64>,
    pub date: Date,
    pub groups: Vec<String>,
}

/// A board: of a kind of period, the instance's id, everybody's or a group's.
pub type BoardName = (&'static str, String, Option<String>);

/// Points, and the number of the arrival at them.
#[derive(Clone, Debug)]
pub struct Board {
    /// Some day of it.
    pub date: Date,
    scores: BTreeMap<String, (u64, u64)>,
    arrivals: u64,
}

impl Board {
    /// Users and points, the best first: of those that are hidden, or of the others.
    pub fn ranking(&self, hidden: impl Fn(&str) -> bool) -> Vec<(String, u64)> {
        let mut all: Vec<_> = self
            .scores
            .iter()
            .filter(|(user, _)| hidden(user))
            .collect();
        all.sort_by_key(|(_, (points, arrival))| (u64::MAX - points, *arrival));
        all.into_iter()
            .map(|(user, (points, _))| (user.clone(), *points))
            .collect()
    }

    fn points(&self, user: &str) -> u64 {
        self.scores.get(user).map_or(0, |(points, _)| *points)
    }

    fn set(&mut self, user: &str, points: u64) {
        self.scores.remove(user);
        if points > 0 {
            self.arrivals += 1;
            self.scores.insert(user.to_owned(), (points, self.arrivals));
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// With the signed change of points, as the next but one.
    Counted(i64),
    Duplicate,
    Undone(i64),
    NothingToUndo,
    Capped(&'static str),
    Stale,
    Refused(&'static str),
}

impl Outcome {
    /// Its name, or the reason or slug that tells it apart.
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

pub struct Model {
    pub calendar: Calendar,
    pub kinds: Vec<&'static str>,
    pub rules: BTreeMap<String, Rule>,
    pub boards: BTreeMap<BoardName, Board>,
    pub standing: BTreeMap<Mark, Standing>,
    pub undone: BTreeMap<Mark, Moment>,
    pub per_day: BTreeSet<(Date, Mark)>,
    /// The latest instant that counted, by user and action, where the rule has a cooldown.
    pub cooling: BTreeMap<(String, String), Moment>,
    pub histories: BTreeMap<(Date, String), Day>,
    pub hidden: BTreeSet<String>,
    pub frozen: BTreeSet<String>,
}

impl Model {
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

    /// Hides and freezes a user, or not.
    pub fn moderate(&mut self, user: &str, hidden: bool, frozen: bool) {
        for (set, is) in [(&mut self.hidden, hidden), (&mut self.frozen, frozen)] {
            set.remove(user);
            if is {
                set.insert(user.to_owned());
            }
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

    /// What becomes of an adjustment by so many smallest steps.
    pub fn adjust(&mut self, adjustment: &Activity, steps: i64, now: Moment) -> Outcome {
        if adjustment.undo {
            return self.undo(adjustment, now);
        }
        let (mark, user) = (adjustment.mark(), &adjustment.user);
        let at = adjustment.at.map_or(now, Moment::exact);
        let date = self.calendar.date(at.first);
        let changed = self.last_change(&mark);
        if adjustment.at.is_some() && changed.is_some_and(|changed| at.is_before(changed)) {
            return Outcome::Stale;
        }
        if self.standing.contains_key(&mark) {
            return Outcome::Duplicate;
        }
        let boards = self.boards_of(date, &adjustment.groups);
        let held = |name| {
            let board: Option<&Board> = self.boards.get(name);
            board.map_or(0, |board| board.points(user)) as i64
        };
        if boards
            .iter()
            .any(|name| held(name) + steps > MOST_POINTS as i64)
        {
            return Outcome::Refused("score-overflow");
        }
        let mut amounts: Vec<i64> = boards.iter().map(|name| steps.max(-held(name))).collect();
        let furthest = furthest(&amounts);
        for (name, amount) in boards
            .into_iter()
            .zip(&amounts)
            .filter(|(_, amount)| **amount != 0)
        {
            let new = Board {
                date,
                scores: BTreeMap::new(),
                arrivals: 0,
            };
            let board = self.boards.entry(name).or_insert(new);
            board.set(user, board.points(user).strict_add_signed(*amount));
        }
        let day = self.histories.entry((date, user.clone())).or_default();
        let of_day: i64 = steps.max(-day.values().map(|held| held.1).sum::<i64>());
        amounts.push(of_day);
        let held = day.entry("adjust".to_owned()).or_default();
        *held = (held.0 + 1, held.1 + of_day);
        self.undone.remove(&mark);
        let changed = changed.map_or(at, |changed| changed.later(at));
        let standing = Standing {
            changed,
            last: changed,
            amounts,
            date,
            groups: adjustment.groups.clone(),
        };
        self.standing.insert(mark, standing);
        Outcome::Counted(furthest)
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
                .unwrap()
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
            let new = Board {
                date,
                scores: BTreeMap::new(),
                arrivals: 0,
            };
            let board = self.boards.entry(name).or_insert(new);
            board.set(user, board.points(user) + rule.points);
        }
        let day = self.histories.entry((date, user.clone())).or_default();
        let held = day.entry(activity.action.clone()).or_default();
        *held = (held.0 + 1, held.1 + rule.points as i64);
        Outcome::Counted(rule.points as i64)
    }

    fn undo(&mut self, activity: &Activity, now: Moment) -> Outcome {
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
        let of_day = *standing.amounts.last().unwrap();
        let place = (standing.date, user.clone());
        let day = self.histories.get_mut(&place).unwrap();
        let held = day.get_mut(&activity.action).unwrap();
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

    /// Forgets a user; the others keep points and order.
    pub fn erase(&mut self, user: &str) {
        for board in self.boards.values_mut() {
            board.scores.remove(user);
        }
        self.standing.retain(|mark, _| mark.0 != user);
        self.undone.retain(|mark, _| mark.0 != user);
        self.per_day.retain(|(_, mark)| mark.0 != user);
        self.cooling.retain(|(of, _), _| of != user);
        self.histories.retain(|(_, of), _| of != user);
        self.moderate(user, false, false);
    }

    /// When a standing mark last changed, if it ever did.
    pub fn last_change(&self, mark: &Mark) -> Option<Moment> {
        let standing = self.standing.get(mark).map(|standing| standing.changed);
        standing.or(self.undone.get(mark).copied())
    }

    /// The boards that an activity of a day with these groups counts on.
    pub fn boards_of(&self, date: Date, groups: &[String]) -> Vec<BoardName> {
        let groups = [None].into_iter().chain(groups.iter().cloned().map(Some));
        let kinds = |group: Option<String>| {
            let name = move |kind: &&'static str| (*kind, id(kind, date), group.clone());
            self.kinds.iter().map(name).collect::<Vec<_>>()
        };
        groups.flat_map(kinds).collect()
    }

    /// Who is seen on a board with which points, the best first; and who is hidden.
    pub fn ranking(&self, name: &BoardName) -> [Vec<(String, u64)>; 2] {
        let board = self.boards.get(name);
        [false, true].map(|hidden| {
            let of = |user: &str| self.hidden.contains(user) == hidden;
            board.map(|board| board.ranking(of)).unwrap_or_default()
        })
    }

    /// Points and rank on one board.
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
fn furthest(amounts: &[i64]) -> i64 {
    let further = |far: i64, amount: &i64| {
        if amount.abs() > far.abs() {
            *amount
        } else {
            far
        }
    };
    amounts.iter().fold(0, further)
}
