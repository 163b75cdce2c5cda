//! The languages of pictures.

use super::Place;
use crate::calendar::Period;
use crate::score::Points;
use crate::streak::Streak;

/// A language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lang {
    /// English.
    #[default]
    English,
    /// Simplified Chinese.
    Chinese,
}

/// Numbers from here on are shortened.
const COMPACT: u64 = 100_000;

impl Lang {
    /// Parses a parameter.
    ///
    /// # Errors
    ///
    /// Returns what is valid.
    pub(super) fn parse(tag: Option<&str>) -> Result<Self, String> {
        match tag {
            None | Some("en") => Ok(Self::English),
            Some("zh-Hans") => Ok(Self::Chinese),
            Some(_) => Err("must be en or zh-Hans".to_owned()),
        }
    }

    pub(super) fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh-Hans",
        }
    }

    /// Returns what a badge is about.
    pub(super) fn activity(self) -> &'static str {
        match self {
            Self::English => "activity",
            Self::Chinese => "活跃",
        }
    }

    /// Returns the heading of a period, and its name after a place.
    pub(super) fn period(self, period: Period) -> [&'static str; 2] {
        match (self, period) {
            (Self::English, Period::Day) => ["Day", "today"],
            (Self::English, Period::Week) => ["Week", "this week"],
            (Self::English, Period::Month) => ["Month", "this month"],
            (Self::English, Period::Year) => ["Year", "this year"],
            (Self::English, Period::All) => ["All time", "of all time"],
            (Self::Chinese, Period::Day) => ["日榜", "今日"],
            (Self::Chinese, Period::Week) => ["周榜", "本周"],
            (Self::Chinese, Period::Month) => ["月榜", "本月"],
            (Self::Chinese, Period::Year) => ["年榜", "今年"],
            (Self::Chinese, Period::All) => ["总榜", "总榜"],
        }
    }

    /// Returns a rank as a heading.
    pub(super) fn rank(self, rank: Option<u64>) -> String {
        match rank {
            Some(rank) => format!("#{}", self.number(rank)),
            None => "–".to_owned(),
        }
    }

    /// Returns the share of the board that ranks no lower, up to a half: more is no praise.
    pub(super) fn top(self, place: &Place) -> String {
        let Some(rank) = place.rank else {
            return match self {
                Self::English => "Not ranked",
                Self::Chinese => "未上榜",
            }
            .to_owned();
        };
        let share = (rank * 100).div_ceil(place.total.max(1));
        if share > 50 {
            return String::new();
        }
        match self {
            Self::English => format!("Top {share}%"),
            Self::Chinese => format!("前 {share}%"),
        }
    }

    /// Returns the number of members with a place, and the period.
    pub(super) fn of(self, total: u64, period: Period) -> String {
        let ([_, name], total) = (self.period(period), self.number(total));
        match self {
            Self::English => format!("of {total} {name}"),
            Self::Chinese => format!("{name} · 共 {total} 人"),
        }
    }

    pub(super) fn points(self, points: Points) -> String {
        let number = self.amount(points);
        match self {
            Self::English if number == "1" => "1 point".to_owned(),
            Self::English => format!("{number} points"),
            Self::Chinese => format!("{number} 分"),
        }
    }

    /// Returns a place and its points in a sentence.
    pub(super) fn place(self, period: Period, place: &Place) -> String {
        let [_, name] = self.period(period);
        let Some(rank) = place.rank else {
            return match self {
                Self::English => format!("no points {name}"),
                Self::Chinese => format!("{name}暂无积分"),
            };
        };
        let (rank, points) = (self.number(rank), self.points(place.score));
        match self {
            Self::English => format!("#{rank} {name} · {points}"),
            Self::Chinese => format!("{name}第 {rank} 名 · {points}"),
        }
    }

    pub(super) fn streak(self, streak: Streak) -> String {
        let Streak {
            current, longest, ..
        } = streak;
        match self {
            Self::English => format!("{current}-day streak (best: {longest})"),
            Self::Chinese => format!("连续活跃 {current} 天（最长 {longest} 天）"),
        }
    }

    pub(super) fn achievements(self, count: usize) -> String {
        match (self, count) {
            (Self::English, 1) => "1 achievement".to_owned(),
            (Self::English, _) => format!("{count} achievements"),
            (Self::Chinese, _) => format!("{count} 项成就"),
        }
    }

    /// Returns the rounding units of long numbers, largest first.
    fn units(self) -> &'static [(u64, &'static str)] {
        match self {
            Self::English => &[(1_000_000_000, "B"), (1_000_000, "M"), (1000, "K")],
            Self::Chinese => &[(100_000_000, "亿"), (10_000, "万")],
        }
    }

    /// Returns points with at most two decimals, and from 1,000 on without.
    fn amount(self, points: Points) -> String {
        let unit = 10_u64.pow(points.decimals);
        let steps = points.steps.unsigned_abs();
        let (whole, hundredths) = (steps / unit, steps % unit * 100 / unit);
        let number = self.number(whole);
        if hundredths == 0 || whole >= 1000 {
            return number;
        }
        format!(
            "{number}.{}",
            format!("{hundredths:02}").trim_end_matches('0')
        )
    }

    /// Returns a number with separators, and a long one with its first digits and a unit.
    fn number(self, number: u64) -> String {
        if number < COMPACT {
            return grouped(number);
        }
        let mut units = self.units().iter();
        let (unit, name) = units.find(|(unit, _)| number >= *unit).unwrap_or(&(1, ""));
        match (number / unit, number * 10 / unit % 10) {
            (whole @ 0..100, tenth @ 1..) => format!("{whole}.{tenth}{name}"),
            (whole, _) => format!("{}{name}", grouped(whole)),
        }
    }
}

/// Returns a number of at most six digits with a comma before the last three.
fn grouped(number: u64) -> String {
    match (number / 1000, number % 1000) {
        (0, rest) => rest.to_string(),
        (thousands, rest) => format!("{thousands},{rest:03}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_shortened() {
        for (number, english, chinese) in [
            (0, "0", "0"),
            (999, "999", "999"),
            (1000, "1,000", "1,000"),
            (99_999, "99,999", "99,999"),
            (100_000, "100K", "10万"),
            (123_456, "123K", "12.3万"),
            (8_388_607, "8.3M", "838万"),
            (13_000_000, "13M", "1,300万"),
            (1_234_567_890, "1.2B", "12.3亿"),
            (9_007_199_254_740_992, "9,007,199B", "90,071,992亿"),
        ] {
            let long = number > 1_000_000_000_000;
            for (lang, expected) in [(Lang::English, english), (Lang::Chinese, chinese)] {
                if !long {
                    assert_eq!(lang.number(number), expected);
                }
            }
        }
    }

    #[test]
    fn points_have_their_decimals() {
        for (steps, decimals, expected) in [
            (1, 0, "1 point"),
            (10, 1, "1 point"),
            (15, 1, "1.5 points"),
            (1_000_550, 4, "100.05 points"),
            (1_000_050, 4, "100 points"),
            (100_050, 2, "1,000 points"),
            (123_456_789, 2, "1.2M points"),
            (0, 2, "0 points"),
        ] {
            let points = Points { steps, decimals };
            assert_eq!(Lang::English.points(points), expected);
        }
    }
}
