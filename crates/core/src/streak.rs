//! Streaks: days, and weeks, with points in a row, and the missed days that freezes and pauses cover.
//!
//! `STREAK_FREEZES` is the number of missed days that a calendar month may have within a streak. A gap, that is the missed
//! days between two days with points, is frozen if each of its days is in a pause or has a freeze of its month left; the
//! gaps before it come first. Other gaps use no freeze and end the streak. The missed days before today are such a gap too,
//! so they are frozen until a freeze is missing. Today is not missed yet.
//!
//! Weeks are ISO weeks with points on at least one day. A run of weeks goes on from one to the next, and over weeks whose
//! days are all frozen.

use crate::calendar::Date;
use crate::pause::Pauses;
use serde::Serialize;

/// The streaks of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Streak {
    /// The days of the run that ends today, or yesterday while today has no points.
    pub current: usize,
    /// The days of the longest run.
    pub longest: usize,
    /// The same for ISO weeks with points on at least one day.
    pub weeks: Run,
}

/// Runs of days or weeks with points. Frozen ones between them are not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Run {
    /// The run that ends now, or with the one before while this one has no points.
    pub current: usize,
    /// The longest run.
    pub longest: usize,
}

/// How a day counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreakDay {
    /// It has points: it makes the streak longer.
    Active,
    /// It has no points, and a freeze or a pause covers it: the streak stays.
    Frozen,
    /// It has no points: the streak ends, unless it is today.
    Missed,
}

/// The unit of a streak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreakUnit {
    /// Days.
    Day,
    /// ISO weeks.
    Week,
}

/// The freezes and pauses that cover missed days.
#[derive(Clone, Copy, Debug)]
pub struct Cover<'a> {
    /// The freezes of each month.
    pub freezes: u32,
    /// The pauses of the user.
    pub pauses: &'a Pauses,
}

impl StreakUnit {
    /// Returns the number of the day or week that contains a day.
    fn number(self, day: Date) -> i32 {
        match self {
            Self::Day => day.number(),
            // 1970-01-01 was a Thursday.
            Self::Week => (day.number() + 3).div_euclid(7),
        }
    }
}

impl Streak {
    /// Returns the streaks of days with these points, today first.
    #[must_use]
    pub fn new(steps: &[i64], today: Date, cover: Cover<'_>) -> Self {
        let days = active_days(steps, today);
        let Run { current, longest } = Run::new(&days, today, StreakUnit::Day, cover);
        Self {
            current,
            longest,
            weeks: Run::new(&days, today, StreakUnit::Week, cover),
        }
    }
}

impl Run {
    /// Returns the runs of days with points, which ascend until today.
    #[must_use]
    pub fn new(days: &[Date], today: Date, unit: StreakUnit, cover: Cover<'_>) -> Self {
        let (mut walk, mut longest) = (Walk::new(unit, cover), 0);
        for day in days {
            walk.step(*day);
            longest = longest.max(walk.length);
        }
        let current = if walk.goes_on(today) { walk.length } else { 0 };
        Self { current, longest }
    }
}

/// Returns the length of the run around a day, one of days with points, which ascend. It does not depend on today.
#[must_use]
pub fn length_around(day: Date, days: &[Date], unit: StreakUnit, cover: Cover<'_>) -> usize {
    let (mut walk, mut length, mut has_passed) = (Walk::new(unit, cover), 0, false);
    for next in days {
        if !walk.step(*next) && has_passed {
            break;
        }
        has_passed |= *next == day;
        length = walk.length;
    }
    length
}

/// Follows days with points in their order.
struct Walk<'a> {
    unit: StreakUnit,
    cover: Cover<'a>,
    /// A month, and the freezes of it that gaps so far use.
    used: ((i32, u32), u32),
    /// The last day.
    last: Option<Date>,
    /// The length of the run until then.
    length: usize,
}

impl<'a> Walk<'a> {
    fn new(unit: StreakUnit, cover: Cover<'a>) -> Self {
        Self {
            unit,
            cover,
            used: ((0, 0), 0),
            last: None,
            length: 0,
        }
    }

    /// Goes to the next day with points. Returns whether the run goes on.
    fn step(&mut self, day: Date) -> bool {
        let goes_on = self.goes_on(day);
        if !goes_on {
            self.length = 0;
        }
        let is_same = |last| self.unit.number(last) == self.unit.number(day);
        if !goes_on || !self.last.is_some_and(is_same) {
            self.length += 1;
        }
        self.last = Some(day);
        goes_on
    }

    /// Returns whether the run goes on until a day, and uses the freezes of the gap before it then.
    fn goes_on(&mut self, day: Date) -> bool {
        let Some(last) = self.last else {
            return true;
        };
        self.covers(last, day) || self.unit.number(day) - self.unit.number(last) <= 1
    }

    /// Returns whether freezes and pauses cover the days between two days, and uses the freezes then.
    fn covers(&mut self, last: Date, next: Date) -> bool {
        let (mut used, mut day) = (self.used, last.next());
        while day < next {
            if !self.cover.pauses.contains(day) {
                let (year, month, _) = day.civil();
                if used.0 != (year, month) {
                    used = ((year, month), 0);
                }
                used.1 += 1;
                if used.1 > self.cover.freezes {
                    return false;
                }
            }
            day = day.next();
        }
        self.used = used;
        true
    }
}

/// Returns how days with these points count, today first.
#[must_use]
pub fn streak_days(steps: &[i64], today: Date, cover: Cover<'_>) -> Vec<StreakDay> {
    let state = |steps: &i64| match *steps > 0 {
        true => StreakDay::Active,
        false => StreakDay::Missed,
    };
    let mut days: Vec<StreakDay> = steps.iter().map(state).collect();
    let back = |day| usize::try_from(today.days_since(day)).unwrap_or(0);
    let mut walk = Walk::new(StreakUnit::Day, cover);
    for day in active_days(steps, today).into_iter().chain([today]) {
        let last = walk.last;
        if walk.step(day)
            && let Some(last) = last
            && let Some(gap) = days.get_mut(back(day) + 1..back(last))
        {
            gap.fill(StreakDay::Frozen);
        }
    }
    days
}

/// Returns the days with points in their order, of points by day, today first.
fn active_days(steps: &[i64], today: Date) -> Vec<Date> {
    let mut days = Vec::new();
    for (back, steps) in (0..).zip(steps) {
        if *steps > 0 {
            days.push(today.plus(-back));
        }
    }
    days.reverse();
    days
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::Period;
    use crate::pause::NO_PAUSES;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Returns the points of a text, today last: `x` is a day with points.
    fn steps(text: &str) -> Vec<i64> {
        text.chars()
            .rev()
            .map(|day| i64::from(day == 'x'))
            .collect()
    }

    /// Returns the days as a text, today last: `f` is frozen.
    fn text(days: &[StreakDay]) -> String {
        let letter = |day: &StreakDay| match day {
            StreakDay::Active => 'x',
            StreakDay::Frozen => 'f',
            StreakDay::Missed => '-',
        };
        days.iter().rev().map(letter).collect()
    }

    fn date(text: &str) -> Date {
        Date::parse(text).unwrap()
    }

    /// Covers no day by a pause.
    fn freezes(freezes: u32) -> Cover<'static> {
        let pauses = &NO_PAUSES;
        Cover { freezes, pauses }
    }

    /// The month begins in the middle of each text.
    #[test]
    fn gap_needs_a_freeze_for_each_day() {
        let today = date("2026-11-05");
        for (number, days, frozen, current, longest) in [
            (0, "--xx-xx-xx", "--xx-xx-xx", 2, 2),
            (1, "--xx-xx-xx", "--xxfxxfxx", 6, 6),
            (1, "-----x-x-x", "-----xfx-x", 1, 2),
            (2, "x--x--x---", "xffx--xff-", 1, 2),
            (3, "x--x-x--xx", "xffxfxffxx", 5, 5),
            // The days of a gap are in two months.
            (1, "xxxx--xx-x", "xxxxffxx-x", 1, 6),
            (1, "xxx---xxx-", "xxx---xxx-", 3, 3),
            // A gap with too few freezes uses none.
            (1, "x--x-x-----", "x--xfx-----", 0, 2),
            (2, "---x---x-x", "---xfffx-x", 1, 2),
            // Today is not missed yet.
            (1, "-------x--", "-------xf-", 1, 1),
            (1, "------x---", "------x---", 0, 1),
            (1, "----------", "----------", 0, 0),
            (31, "x---------", "xffffffff-", 1, 1),
        ] {
            let steps = steps(days);
            let cover = freezes(number);
            assert_eq!(text(&streak_days(&steps, today, cover)), frozen, "{days}");
            let streak = Streak::new(&steps, today, cover);
            let found = (streak.current, streak.longest);
            assert_eq!(found, (current, longest), "{days}");
        }
    }

    /// 2026-11-20 is a Friday.
    #[test]
    fn weeks_begin_on_monday() {
        let today = date("2026-11-20");
        for (days, current, longest) in [
            ("x----- x------ -----x- ----x", 4, 4),
            ("x----- x------ -----x- -----", 3, 3),
            ("x----- x------ ------- -----", 0, 2),
            ("x----- ------- ------x x----", 2, 2),
            ("------ ------- ------- -----", 0, 0),
        ] {
            let steps = steps(&days.replace(' ', ""));
            let found = Streak::new(&steps, today, freezes(0)).weeks;
            assert_eq!(found, Run { current, longest }, "{days}");
        }
        // A week of frozen days.
        let steps = steps("xxxxxxx-------x----");
        let weeks = |number| Streak::new(&steps, today, freezes(number)).weeks;
        let both = |number| (weeks(number).current, weeks(number).longest);
        assert_eq!([both(0), both(7)], [(1, 1), (2, 2)]);
    }

    /// The pause is from 2026-11-01 to 2026-11-03.
    #[test]
    fn pause_uses_no_freeze() {
        let pauses = &Pauses::parse("2026-11-01/2026-11-03");
        for (today, freezes, days, frozen, current, longest) in [
            ("2026-11-05", 0, "---x---x-", "---xfffx-", 2, 2),
            // A day of October is missed too.
            ("2026-11-05", 0, "--x----x-", "--x----x-", 1, 1),
            ("2026-11-05", 1, "--x----x-", "--xffffx-", 2, 2),
            ("2026-11-05", 0, "---x----x", "---x----x", 1, 1),
            ("2026-11-05", 1, "---x----x", "---xffffx", 2, 2),
            // Activity in a pause counts.
            ("2026-11-03", 0, "-xxx-x-", "-xxxfx-", 4, 4),
            ("2026-11-03", 0, "-xxx---", "-xxxff-", 3, 3),
            ("2026-11-05", 0, "-xxx-----", "-xxx-----", 0, 3),
        ] {
            let steps = steps(days);
            let (today, cover) = (date(today), Cover { freezes, pauses });
            assert_eq!(text(&streak_days(&steps, today, cover)), frozen, "{days}");
            let streak = Streak::new(&steps, today, cover);
            let found = (streak.current, streak.longest);
            assert_eq!(found, (current, longest), "{days}");
        }
    }

    /// Returns the frozen days by the rule: the gaps in order, each with the freezes that earlier ones left.
    fn frozen(steps: &[i64], today: Date, Cover { freezes, pauses }: Cover<'_>) -> Vec<Date> {
        let last = today.plus(1 - steps.len() as i32);
        let is_active = |date: Date| steps[today.days_since(date) as usize] > 0;
        let all: Vec<Date> = (0..steps.len() as i32).map(|day| last.plus(day)).collect();
        let active: Vec<Date> = all.iter().copied().filter(|day| is_active(*day)).collect();
        let ends = active.iter().copied().skip(1).chain([today]);
        let (mut used, mut frozen) = (BTreeMap::<String, u32>::new(), Vec::new());
        for (start, end) in active.iter().copied().zip(ends) {
            let gap: Vec<Date> = all
                .iter()
                .copied()
                .filter(|day| *day > start && *day < end)
                .collect();
            let mut with_gap = used.clone();
            for day in gap.iter().filter(|day| !pauses.contains(**day)) {
                *with_gap.entry(Period::Month.id(*day)).or_default() += 1;
            }
            if with_gap.values().all(|used| *used <= freezes) {
                used = with_gap;
                frozen.extend(gap);
            }
        }
        frozen
    }

    /// Returns the current and the longest streak, day by day from the first.
    fn simulated(steps: &[i64], today: Date, frozen: &[Date]) -> (usize, usize) {
        let (mut current, mut longest) = (0, 0);
        for back in (0..steps.len()).rev() {
            let day = today.plus(-(back as i32));
            if steps[back] > 0 {
                current += 1;
            } else if back > 0 && !frozen.contains(&day) {
                current = 0;
            }
            longest = longest.max(current);
        }
        (current, longest)
    }

    proptest! {
        #[test]
        fn streak_is_that_of_the_rule(
            days in prop::collection::vec(prop::bool::weighted(0.7), 1..400),
            today in 20_000..21_000,
            freezes in 0u32..=9,
            paused in prop::collection::vec((0..400, 0..20), 0..4),
        ) {
            let steps: Vec<i64> = days.iter().map(|day| i64::from(*day)).collect();
            let today = Date::numbered(today).unwrap();
            let pauses = paused.into_iter().map(|(back, days): (i32, i32)| {
                let from = today.plus(-back);
                format!("{from}/{}", from.plus(days))
            });
            let pauses = &Pauses::parse(&pauses.collect::<Vec<_>>().join(","));
            let cover = Cover { freezes, pauses };
            let expected = frozen(&steps, today, cover);
            let found = streak_days(&steps, today, cover);
            let dates = (0..).zip(&found).filter(|(_, day)| **day == StreakDay::Frozen);
            let mut dates: Vec<Date> = dates.map(|(back, _)| today.plus(-back)).collect();
            dates.reverse();
            prop_assert_eq!(&dates, &expected);
            let streak = Streak::new(&steps, today, cover);
            prop_assert_eq!((streak.current, streak.longest), simulated(&steps, today, &expected));
            // A calendar of weeks is a calendar of days of the weeks' numbers.
            let week = |back: usize| (today.plus(-(back as i32)).number() + 3).div_euclid(7);
            let missed: Vec<i32> = (0..days.len()).filter(|back| found[*back] != StreakDay::Frozen).map(week).collect();
            let active: Vec<i32> = (0..days.len()).filter(|back| days[*back]).map(week).collect();
            let (mut current, mut longest) = (0, 0);
            for number in week(days.len() - 1)..=week(0) {
                if active.contains(&number) {
                    current += 1;
                } else if missed.contains(&number) && number < week(0) {
                    current = 0;
                }
                longest = longest.max(current);
            }
            prop_assert_eq!(streak.weeks, Run { current, longest });
            // Around a day, a run goes on in both directions until the first day or week that is missed.
            let around = |unit, day| length_around(day, &active_days(&steps, today), unit, cover);
            for back in (0..days.len()).filter(|back| days[*back]) {
                let is_missed = |other: &usize| found[*other] == StreakDay::Missed;
                let last = (0..back).rev().find(is_missed).map_or(0, |other| other + 1);
                let first = (back..days.len()).find(is_missed).unwrap_or(days.len());
                let length = (last..first).filter(|other| days[*other]).count();
                prop_assert_eq!(around(StreakUnit::Day, today.plus(-(back as i32))), length);
                let is_missed = |number: &i32| !active.contains(number) && missed.contains(number);
                let first = (week(days.len() - 1)..=week(back)).rev().find(is_missed).unwrap_or(i32::MIN);
                let last = (week(back)..=week(0)).find(is_missed).unwrap_or(i32::MAX);
                let mut weeks: Vec<i32> = active.iter().copied().filter(|week| (first..last).contains(week)).collect();
                weeks.dedup();
                prop_assert_eq!(around(StreakUnit::Week, today.plus(-(back as i32))), weeks.len());
            }
        }
    }
}
