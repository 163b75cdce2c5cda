//! What became of a file, in numbers.

use std::collections::BTreeMap;
use std::fmt;

use indicatif::HumanCount;
use serde::Serialize;
use serde_json::Number;

use crate::count::count;
use crate::printable::printable;
use crate::upload::courier::Settled;
use crate::upload::shift::Shift;

/// Outcomes in the order of a summary; unknown ones follow.
const ORDER: [&str; 8] = [
    "counted",
    "stored",
    "undone",
    "duplicate",
    "nothing-to-undo",
    "capped",
    "stale",
    "queued",
];

/// Lines by what became of them.
#[derive(Debug, Default)]
pub struct Summary {
    outcomes: BTreeMap<String, u64>,
    errors: BTreeMap<String, u64>,
    /// In hundredths: a service has two decimals at most, and whole numbers add up exactly.
    points: i64,
    requests: u64,
    retries: u64,
    shift: Option<Shift>,
    /// How long it took.
    pub seconds: f64,
}

/// The summary as JSON.
#[derive(Serialize)]
struct Document<'a> {
    lines: u64,
    outcomes: &'a BTreeMap<String, u64>,
    refused: u64,
    errors: &'a BTreeMap<String, u64>,
    points: Number,
    requests: u64,
    retries: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    shifted_ms: Option<i128>,
    seconds: f64,
    lines_per_second: u64,
}

impl Summary {
    /// Nothing yet.
    #[must_use]
    pub fn new(shift: Option<Shift>) -> Self {
        Self {
            shift,
            ..Self::default()
        }
    }

    /// Adds settled lines.
    pub fn add(&mut self, settled: &Settled) {
        self.requests += settled.requests;
        self.retries += settled.retries;
        for verdict in &settled.verdicts {
            match &verdict.result {
                Ok(outcome) => {
                    *self.outcomes.entry(printable(&outcome.name)).or_default() += 1;
                    self.points += (outcome.points * 100.0).round() as i64;
                }
                Err(problem) => *self.errors.entry(problem.slug()).or_default() += 1,
            }
        }
    }

    /// All lines that are done with.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.outcomes.values().sum::<u64>() + self.refused()
    }

    /// Lines that were refused, here or by the service.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.errors.values().sum()
    }

    /// The summary as one line of JSON.
    #[must_use]
    pub fn json(&self) -> String {
        let document = Document {
            lines: self.lines(),
            outcomes: &self.outcomes,
            refused: self.refused(),
            errors: &self.errors,
            points: self.points(),
            requests: self.requests,
            retries: self.retries,
            shifted_ms: self.shift.map(Shift::milliseconds),
            seconds: (self.seconds * 1000.0).round() / 1000.0,
            lines_per_second: self.rate(),
        };
        serde_json::to_string(&document).unwrap_or_default()
    }

    /// Points as a JSON number, whole where they are.
    fn points(&self) -> Number {
        let whole = Number::from(self.points / 100);
        if self.points % 100 == 0 {
            return whole;
        }
        Number::from_f64(self.points as f64 / 100.0).unwrap_or(whole)
    }

    fn rate(&self) -> u64 {
        if self.seconds > 0.0 {
            (self.lines() as f64 / self.seconds).round() as u64
        } else {
            0
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = HumanCount(self.rate());
        write!(
            f,
            "{} in {:.1} s ({rate} lines/s), ",
            count(self.lines(), "line"),
            self.seconds
        )?;
        writeln!(
            f,
            "{}, {} sent again",
            count(self.requests, "request"),
            HumanCount(self.retries)
        )?;
        let known = ORDER
            .iter()
            .filter_map(|name| self.outcomes.get_key_value(*name));
        let unknown = self
            .outcomes
            .iter()
            .filter(|(name, _)| !ORDER.contains(&name.as_str()));
        for (name, lines) in known.chain(unknown) {
            writeln!(f, "  {name:<24}{:>12}", HumanCount(*lines).to_string())?;
        }
        for (slug, lines) in &self.errors {
            writeln!(
                f,
                "  refused: {slug:<15}{:>12}",
                HumanCount(*lines).to_string()
            )?;
        }
        write!(f, "  {:<24}{:>+12}", "points", self.points as f64 / 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Problem;
    use crate::upload::verdict::{Outcome, Verdict};

    fn summary() -> Summary {
        let counted = |name: &str, points| {
            Ok(Outcome {
                name: name.to_owned(),
                points,
            })
        };
        let results = [
            counted("counted", 0.1),
            counted("counted", 0.2),
            counted("undone", -2.0),
            counted("dreamt", 0.0),
            Err(Problem::local("unknown-action", "", String::new())),
        ];
        let mut summary = Summary::new(None);
        let verdicts = results
            .into_iter()
            .map(|result| Verdict {
                line: 1,
                bytes: 1,
                result,
            })
            .collect();
        summary.add(&Settled {
            verdicts,
            requests: 2,
            retries: 1,
        });
        summary.seconds = 0.5;
        summary
    }

    #[test]
    fn a_summary_counts_by_outcome_and_slug() {
        assert_eq!(
            summary().to_string(),
            "5 lines in 0.5 s (10 lines/s), 2 requests, 1 sent again\n\
             \u{20} counted                            2\n\
             \u{20} undone                             1\n\
             \u{20} dreamt                             1\n\
             \u{20} refused: unknown-action            1\n\
             \u{20} points                          -1.7"
        );
    }

    #[test]
    fn a_summary_is_json_too() {
        assert_eq!(
            summary().json(),
            r#"{"lines":5,"outcomes":{"counted":2,"dreamt":1,"undone":1},"refused":1,"errors":{"unknown-action":1},"points":-1.7,"requests":2,"retries":1,"seconds":0.5,"lines_per_second":10}"#
        );
    }
}
