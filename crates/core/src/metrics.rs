//! Metrics as text in the OpenMetrics format, version 1.0, which Prometheus reads.

use std::fmt::{self, Display};

/// The media type of the text.
pub const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Precedes every name.
const PREFIX: &str = "activity_rank_";

/// A value: `steps` times 10^-`decimals`, exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    steps: i64,
    decimals: u32,
}

impl Number {
    /// Returns a value of so many steps of 10^-`decimals`; at most 18 decimals.
    #[must_use]
    pub const fn new(steps: i64, decimals: u32) -> Self {
        Self { steps, decimals }
    }

    /// Returns milliseconds as seconds.
    #[must_use]
    pub const fn seconds(millis: i64) -> Self {
        Self::new(millis, 3)
    }
}

impl From<u64> for Number {
    fn from(number: u64) -> Self {
        Self::new(i64::try_from(number).unwrap_or(i64::MAX), 0)
    }
}

impl From<bool> for Number {
    fn from(flag: bool) -> Self {
        Self::new(i64::from(flag), 0)
    }
}

impl Display for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, steps) = (10u64.pow(self.decimals), self.steps.unsigned_abs());
        let sign = if self.steps < 0 { "-" } else { "" };
        write!(formatter, "{sign}{}", steps / unit)?;
        if self.decimals == 0 {
            return Ok(());
        }
        let width = self.decimals as usize;
        write!(formatter, ".{:0width$}", steps % unit)
    }
}

/// A text with metric families. The samples of a family follow its description, and no family is written twice.
///
/// A name ends with its unit, `_seconds` or `_bytes`, if it has one.
#[derive(Debug, Default)]
pub struct Metrics {
    text: String,
    /// The beginning of each sample of the last family.
    sample: String,
}

impl Metrics {
    /// Writes a gauge; nothing if the value is not known.
    pub fn gauge(&mut self, name: &str, help: &str, value: Option<Number>) {
        if let Some(value) = value {
            self.describe(name, "gauge", help);
            self.sample(&[], value);
        }
    }

    /// Writes a counter; nothing if the value is not known.
    pub fn counter(&mut self, name: &str, help: &str, value: Option<u64>) {
        if let Some(value) = value {
            self.describe(name, "counter", help);
            self.sample(&[], value.into());
        }
    }

    /// Writes texts as the labels of a sample with the value 1.
    pub fn info(&mut self, name: &str, help: &str, labels: &[(&str, &str)]) {
        self.describe(name, "info", help);
        self.sample(labels, Number::new(1, 0));
    }

    /// Describes a family of a kind: `gauge`, `counter` or `info`.
    pub fn describe(&mut self, name: &str, kind: &str, help: &str) {
        for (keyword, text) in [("TYPE", kind), ("UNIT", unit_of(name)), ("HELP", help)] {
            if !text.is_empty() {
                push_all(&mut self.text, &["# ", keyword, " ", PREFIX, name, " "]);
                push_escaped(&mut self.text, text);
                self.text.push('\n');
            }
        }
        let suffix = match kind {
            "counter" => "_total",
            "info" => "_info",
            _ => "",
        };
        self.sample.clear();
        push_all(&mut self.sample, &[PREFIX, name, suffix]);
    }

    /// Writes a sample of the last family. Its samples must differ in a label.
    pub fn sample(&mut self, labels: &[(&str, &str)], value: Number) {
        self.text.push_str(&self.sample);
        let mut before = "{";
        for (label, text) in labels {
            push_all(&mut self.text, &[before, label, "=\""]);
            push_escaped(&mut self.text, text);
            self.text.push('"');
            before = ",";
        }
        let end = if labels.is_empty() { " " } else { "} " };
        push_all(&mut self.text, &[end, &value.to_string(), "\n"]);
    }

    /// Returns the complete text.
    #[must_use]
    pub fn finish(self) -> String {
        self.text + "# EOF\n"
    }
}

fn push_all(text: &mut String, parts: &[&str]) {
    for part in parts {
        text.push_str(part);
    }
}

/// Escapes backslash, quotation mark and line feed; the format leaves every other character as it is.
fn push_escaped(text: &mut String, plain: &str) {
    for character in plain.chars() {
        match character {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            other => text.push(other),
        }
    }
}

/// Returns the unit with which a name ends, or nothing.
fn unit_of(name: &str) -> &'static str {
    let mut units = ["seconds", "bytes"].into_iter();
    let unit = units.find(|unit| {
        name.strip_suffix(unit)
            .is_some_and(|rest| rest.ends_with('_'))
    });
    unit.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn families_have_type_unit_help_and_samples() {
        let mut metrics = Metrics::default();
        metrics.info(
            "build",
            "The version.",
            &[("version", "1.2.3"), ("os", "a\"b\\c\nd")],
        );
        metrics.gauge(
            "store_latency_seconds",
            "The time.",
            Some(Number::seconds(1_012)),
        );
        metrics.gauge("unknown", "Nothing.", None);
        metrics.counter("changes", "All.", Some(7));
        metrics.counter("evictions", "Nothing.", None);
        metrics.describe("board_points", "gauge", "Points.");
        metrics.sample(&[("period", "day")], 3.into());
        metrics.sample(&[("period", "all")], Number::new(-5, 1));
        let expected = r#"# TYPE activity_rank_build info
# HELP activity_rank_build The version.
activity_rank_build_info{version="1.2.3",os="a\"b\\c\nd"} 1
# TYPE activity_rank_store_latency_seconds gauge
# UNIT activity_rank_store_latency_seconds seconds
# HELP activity_rank_store_latency_seconds The time.
activity_rank_store_latency_seconds 1.012
# TYPE activity_rank_changes counter
# HELP activity_rank_changes All.
activity_rank_changes_total 7
# TYPE activity_rank_board_points gauge
# HELP activity_rank_board_points Points.
activity_rank_board_points{period="day"} 3
activity_rank_board_points{period="all"} -0.5
# EOF
"#;
        assert_eq!(metrics.finish(), expected);
    }

    #[test]
    fn numbers_are_exact() {
        for (number, text) in [
            (Number::from(u64::MAX), "9223372036854775807"),
            (Number::from(true), "1"),
            (Number::from(false), "0"),
            (Number::new(0, 3), "0.000"),
            (Number::new(-1, 4), "-0.0001"),
            (Number::new(9_007_199_254_740_991, 2), "90071992547409.91"),
            (Number::seconds(1_795_132_800_123), "1795132800.123"),
            (Number::new(i64::MIN, 0), "-9223372036854775808"),
        ] {
            assert_eq!(number.to_string(), text);
        }
    }

    /// Reads the value of a label as the specification of the format says.
    fn unescaped(text: &str) -> Option<String> {
        let (mut plain, mut characters) = (String::new(), text.chars());
        while let Some(character) = characters.next() {
            plain.push(match character {
                '\\' => match characters.next()? {
                    '\\' => '\\',
                    '"' => '"',
                    'n' => '\n',
                    _ => return None,
                },
                '"' | '\n' => return None,
                other => other,
            });
        }
        Some(plain)
    }

    proptest! {
        #[test]
        fn label_values_round_trip(text in r#"([\\"\n]|\PC|.){0,40}"#) {
            let mut metrics = Metrics::default();
            metrics.info("x", "X.", &[("a", &text), ("b", "c")]);
            let written = metrics.finish();
            prop_assert_eq!(written.lines().count(), 4);
            let line = written.split('\n').nth(2).unwrap();
            let start = line.strip_prefix("activity_rank_x_info{a=\"").unwrap();
            let value = start.strip_suffix("\",b=\"c\"} 1").unwrap();
            prop_assert_eq!(unescaped(value), Some(text));
        }

        #[test]
        fn seconds_parse_as_their_number(millis in any::<i32>()) {
            let text = Number::seconds(millis.into()).to_string();
            let parsed: f64 = text.parse().unwrap();
            prop_assert_eq!((parsed * 1000.0).round() as i32, millis);
        }
    }
}
