//! Streaks: days, and weeks, with points in a row, and the missed days that freezes cover.
//!
//! `STREAK_FREEZES` is the number of missed days that a calendar month may have within a streak. A gap, that is the missed
//! days between two days with points, is frozen if each of its days has a freeze of its month left; the gaps before it
//! come first. Other gaps use no freeze and end the streak. The missed days before today are such a gap too, so they are
//! frozen until a freeze is missing. Today is not missed yet.

use crate::calendar::Date;
use serde::Serialize;
use std::iter;
use std::ops::Range;

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

/// How a day, or a week, counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreakDay {
    /// It has points: it makes the streak longer.
    Active,
    /// It has no points, and a freeze covers it: the streak stays.
    Frozen,
    /// It has no points: the streak ends, unless it is today.
    Missed,
}

impl Streak {
    /// Returns the streaks of days with these points, today first, with `freezes` in each month.
    #[must_use]
    pub fn new(steps: &[i64], today: Date, freezes: u32) -> Self {
        let days = streak_days(steps, today, freezes);
        let Run { current, longest } = Run::new(&days);
        let begun = usize::try_from(today.weekday() + 1).unwrap_or(1);
        let (this_week, earlier) = days.split_at(begun.min(days.len()));
        let weeks = iter::once(this_week).chain(earlier.chunks(7)).map(|week| {
            if week.contains(&StreakDay::Active) {
                StreakDay::Active
            } else if week.contains(&StreakDay::Missed) {
                StreakDay::Missed
            } else {
                StreakDay::Frozen
            }
        });
        Self {
            current,
            longest,
            weeks: Run::new(&weeks.collect::<Vec<_>>()),
        }
    }
}

impl Run {
    /// Returns the runs of days or weeks, the current one first.
    fn new(days: &[StreakDay]) -> Self {
        let active = |days: &[StreakDay]| {
            let active = days.iter().filter(|day| **day == StreakDay::Active);
            active.count()
        };
        let is_missed = |day: &StreakDay| *day == StreakDay::Missed;
        let mut runs = days.split(is_missed).map(active);
        let ending_now = runs.next().unwrap_or(0);
        let ending_before = runs.next().unwrap_or(0);
        let has_begun = days.first().is_some_and(|day| !is_missed(day));
        Self {
            current: if has_begun { ending_now } else { ending_before },
            longest: runs.fold(ending_now.max(ending_before), usize::max),
        }
    }
}

/// Returns how days with these points count, today first, with `freezes` in each month.
#[must_use]
pub fn streak_days(steps: &[i64], today: Date, freezes: u32) -> Vec<StreakDay> {
    let state = |steps: &i64| match *steps > 0 {
        true => StreakDay::Active,
        false => StreakDay::Missed,
    };
    let mut days: Vec<StreakDay> = steps.iter().map(state).collect();
    // A month and its freezes that gaps so far use, without and with the gap that begins after `active`.
    let (mut used, mut with_gap) = (((0, 0), 0), ((0, 0), 0));
    // The last day with points; `None` if the gap after it has too few freezes, and before all days with points.
    let mut active = None;
    for (back, steps) in steps.iter().enumerate().skip(1).rev() {
        if *steps > 0 {
            if let Some(active) = active.replace(back) {
                freeze(&mut days, back + 1..active);
                used = with_gap;
            }
            with_gap = used;
        } else if active.is_some() {
            let date = today.plus(-i32::try_from(back).unwrap_or(0));
            let (year, month, _) = date.civil();
            if with_gap.0 != (year, month) {
                with_gap = ((year, month), 0);
            }
            with_gap.1 += 1;
            active = active.filter(|_| with_gap.1 <= freezes);
        }
    }
    if let Some(active) = active {
        freeze(&mut days, 1..active);
    }
    days
}

/// Freezes the days of a gap.
fn freeze(days: &mut [StreakDay], gap: Range<usize>) {
    if let Some(gap) = days.get_mut(gap) {
        gap.fill(StreakDay::Frozen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::Period;
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

    /// The month begins in the middle of each text.
    #[test]
    fn gap_needs_a_freeze_for_each_day() {
        let today = date("2026-11-05");
        for (freezes, days, frozen, current, longest) in [
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
            assert_eq!(text(&streak_days(&steps, today, freezes)), frozen, "{days}");
            let streak = Streak::new(&steps, today, freezes);
            assert_eq!(
                (streak.current, streak.longest),
                (current, longest),
                "{days}"
            );
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
            let weeks = Run { current, longest };
            assert_eq!(Streak::new(&steps, today, 0).weeks, weeks, "{days}");
        }
        // A week of frozen days.
        let steps = steps("xxxxxxx-------x----");
        let weeks = |freezes| Streak::new(&steps, today, freezes).weeks;
        assert_eq!(
            weeks(0),
            Run {
                current: 1,
                longest: 1
            }
        );
        assert_eq!(
            weeks(7),
            Run {
                current: 2,
                longest: 2
            }
        );
    }

    /// Returns the frozen days by the rule: the gaps in order, each with the freezes that earlier ones left.
    fn frozen(steps: &[i64], today: Date, freezes: u32) -> Vec<Date> {
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
            for day in &gap {
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
        ) {
            let steps: Vec<i64> = days.iter().map(|day| i64::from(*day)).collect();
            let today = Date::numbered(today).unwrap();
            let expected = frozen(&steps, today, freezes);
            let found = streak_days(&steps, today, freezes);
            let dates = (0..).zip(&found).filter(|(_, day)| **day == StreakDay::Frozen);
            let mut dates: Vec<Date> = dates.map(|(back, _)| today.plus(-back)).collect();
            dates.reverse();
            prop_assert_eq!(&dates, &expected);
            let streak = Streak::new(&steps, today, freezes);
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
        }
    }
}
