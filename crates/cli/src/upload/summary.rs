//! Totals of an upload, as text or JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use indicatif::HumanCount;
use serde::Serialize;
use serde_json::Number;

use crate::count::count;
use crate::printable::printable;
use crate::upload::sender::BatchReport;
use crate::upload::time_shift::TimeShift;

/// Known outcomes in the order they are printed; unknown ones follow.
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

/// The meanings of outcomes and reasons whose names do not say them.
const MEANINGS: [(&str, &str); 6] = [
    (
        "stale",
        "older than the last change of the same activity; of once a day, more than 30 days old",
    ),
    (
        "daily-cap",
        "beyond what the action gives a member in a day",
    ),
    (
        "pair-cap",
        "beyond what one member may give another in a day",
    ),
    ("cooldown", "too soon after the one before"),
    ("own-target", "on a target of the member"),
    ("queued", "counted when the store responds again"),
];

/// Totals by outcome and by problem.
#[derive(Debug, Default)]
pub struct Summary {
    outcomes: BTreeMap<String, u64>,
    /// Lines by outcome and reason, and by slug of the problem and first invalid field.
    reasons: BTreeMap<String, BTreeMap<String, u64>>,
    errors: BTreeMap<String, u64>,
    /// Sum of points in hundredths, because integers add up exactly.
    points: i64,
    requests: u64,
    retries: u64,
    time_shift: Option<TimeShift>,
    /// Duration of the upload.
    pub seconds: f64,
}

/// JSON form of the summary.
#[derive(Serialize)]
struct Document<'a> {
    lines: u64,
    outcomes: &'a BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    reasons: &'a BTreeMap<String, BTreeMap<String, u64>>,
    refused: u64,
    errors: &'a BTreeMap<String, u64>,
    points: Number,
    requests: u64,
    retries: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    shifted_ms: Option<i64>,
    seconds: f64,
    lines_per_second: u64,
}

impl Summary {
    /// Creates an empty summary.
    #[must_use]
    pub fn new(time_shift: Option<TimeShift>) -> Self {
        Self {
            time_shift,
            ..Self::default()
        }
    }

    /// Adds the results of a batch.
    pub fn add(&mut self, report: &BatchReport) {
        self.requests += report.requests;
        self.retries += report.retries;
        for line in &report.lines {
            match &line.result {
                Ok(outcome) => {
                    let name = printable(&outcome.name);
                    *self.outcomes.entry(name.clone()).or_default() += 1;
                    if let Some(reason) = &outcome.reason {
                        let reasons = self.reasons.entry(name).or_default();
                        *reasons.entry(printable(reason)).or_default() += 1;
                    }
                    self.points += (outcome.points * 100.0).round() as i64;
                }
                Err(problem) => {
                    let slug = problem.slug();
                    *self.errors.entry(slug.clone()).or_default() += 1;
                    let fields = problem.errors.iter().map(|error| &error.pointer);
                    if let Some(pointer) = fields.into_iter().find(|pointer| !pointer.is_empty()) {
                        let reasons = self.reasons.entry(slug).or_default();
                        *reasons.entry(printable(pointer)).or_default() += 1;
                    }
                }
            }
        }
    }

    /// Returns the number of lines with a result.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.outcomes.values().sum::<u64>() + self.refused()
    }

    /// Returns the number of lines refused, before sending or by the service.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.errors.values().sum()
    }

    /// Returns the summary as one line of JSON.
    #[must_use]
    pub fn json(&self) -> String {
        let document = Document {
            lines: self.lines(),
            outcomes: &self.outcomes,
            reasons: &self.reasons,
            refused: self.refused(),
            errors: &self.errors,
            points: self.points(),
            requests: self.requests,
            retries: self.retries,
            shifted_ms: self.time_shift.map(TimeShift::milliseconds),
            seconds: (self.seconds * 1000.0).round() / 1000.0,
            lines_per_second: self.rate(),
        };
        serde_json::to_string(&document).unwrap_or_default()
    }

    /// Returns the points as a JSON number, an integer if they are whole.
    fn points(&self) -> Number {
        let whole = Number::from(self.points / 100);
        if self.points % 100 == 0 {
            return whole;
        }
        Number::from_f64(self.points as f64 / 100.0).unwrap_or(whole)
    }

    fn write_reasons(&self, f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
        for (reason, lines) in self.reasons.get(name).into_iter().flatten() {
            writeln!(f, "    {reason:<22}{:>12}", HumanCount(*lines).to_string())?;
        }
        Ok(())
    }

    /// Returns lines per second.
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
        let (lines, rate) = (count(self.lines(), "line"), HumanCount(self.rate()));
        write!(f, "{lines} in {:.1} s ({rate} lines/s), ", self.seconds)?;
        let requests = count(self.requests, "request");
        let retries = match self.retries {
            1 => "1 retry".to_owned(),
            retries => format!("{} retries", HumanCount(retries)),
        };
        writeln!(f, "{requests}, {retries}")?;
        let known = ORDER
            .iter()
            .filter_map(|name| self.outcomes.get_key_value(*name));
        let unknown = self
            .outcomes
            .iter()
            .filter(|(name, _)| !ORDER.contains(&name.as_str()));
        for (name, lines) in known.chain(unknown) {
            writeln!(f, "  {name:<24}{:>12}", HumanCount(*lines).to_string())?;
            self.write_reasons(f, name)?;
        }
        for (slug, lines) in &self.errors {
            writeln!(
                f,
                "  refused: {slug:<15}{:>12}",
                HumanCount(*lines).to_string()
            )?;
            self.write_reasons(f, slug)?;
        }
        write!(f, "  {:<24}{:>+12}", "points", self.points as f64 / 100.0)?;
        let reasons = self.reasons.values().flat_map(BTreeMap::keys);
        let names: BTreeSet<_> = self
            .outcomes
            .keys()
            .chain(reasons)
            .map(String::as_str)
            .collect();
        let mut meanings = MEANINGS.iter().filter(|(name, _)| names.contains(name));
        meanings.try_for_each(|(name, meaning)| write!(f, "\n  {name}: {meaning}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use activity_rank_core::error::Error;

    use crate::problem::Problem;
    use crate::upload::line::{LineResult, Outcome};

    fn summary() -> Summary {
        let outcome = |name: &str, points| {
            let (name, reason) = name.split_once(' ').unwrap_or((name, ""));
            Ok(Outcome {
                name: name.to_owned(),
                points,
                reason: Some(reason.to_owned()).filter(|reason| !reason.is_empty()),
            })
        };
        let results = [
            outcome("counted", 0.1),
            outcome("counted", 0.2),
            outcome("undone", -2.0),
            outcome("capped daily-cap", 0.0),
            outcome("capped own-target", 0.0),
            outcome("capped daily-cap", 0.0),
            outcome("unknown", 0.0),
            Err(Problem::local("not-json", "", String::new())),
            Err(Error::field("/user", "is empty").into()),
        ];
        let mut summary = Summary::new(None);
        let lines = results
            .into_iter()
            .map(|result| LineResult {
                line: 1,
                index: 0,
                bytes: 1,
                result,
            })
            .collect();
        summary.add(&BatchReport {
            lines,
            requests: 2,
            retries: 1,
        });
        summary.seconds = 0.5;
        summary
    }

    #[test]
    fn text_counts_by_outcome_and_slug() {
        assert_eq!(
            summary().to_string(),
            "9 lines in 0.5 s (18 lines/s), 2 requests, 1 retry\n\
             \u{20} counted                            2\n\
             \u{20} undone                             1\n\
             \u{20} capped                             3\n\
             \u{20}   daily-cap                        2\n\
             \u{20}   own-target                       1\n\
             \u{20} unknown                            1\n\
             \u{20} refused: invalid-request           1\n\
             \u{20}   /user                            1\n\
             \u{20} refused: not-json                  1\n\
             \u{20} points                          -1.7\n\
             \u{20} daily-cap: beyond what the action gives a member in a day\n\
             \u{20} own-target: on a target of the member"
        );
    }

    #[test]
    fn json_counts_by_outcome_and_slug() {
        assert_eq!(
            summary().json(),
            r#"{"lines":9,"outcomes":{"capped":3,"counted":2,"undone":1,"unknown":1},"reasons":{"capped":{"daily-cap":2,"own-target":1},"invalid-request":{"/user":1}},"refused":2,"errors":{"invalid-request":1,"not-json":1},"points":-1.7,"requests":2,"retries":1,"seconds":0.5,"lines_per_second":18}"#
        );
    }
}
