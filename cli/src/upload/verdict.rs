//! What became of a line.

use std::fmt;

use serde::Deserialize;

use crate::problem::Problem;
use crate::upload::line::Line;

/// The end of a line's way: counted in some way, or refused, here or by the service.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// From 1, in the file.
    pub line: u64,
    /// Its length in the file.
    pub bytes: u64,
    /// What the service made of it, or why it was refused.
    pub result: Result<Outcome, Problem>,
}

impl Verdict {
    /// The verdict on a line that was sent.
    #[must_use]
    pub fn on(line: &Line, result: Result<Outcome, Problem>) -> Self {
        Self {
            line: line.number,
            bytes: line.bytes,
            result,
        }
    }
}

/// What the service made of a line it accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// `counted`, `duplicate`, …
    pub name: String,
    /// The signed change of points.
    pub points: f64,
}

/// One item of an array's answer, as the service sends it.
#[derive(Clone, Debug, Deserialize)]
pub struct Item {
    error: Option<Problem>,
    outcome: Option<String>,
    points: Option<f64>,
}

impl Item {
    /// The item as a result; none if it has neither an outcome nor an error, and `done` is none.
    #[must_use]
    pub fn result(self, done: Option<&str>) -> Option<Result<Outcome, Problem>> {
        if let Some(problem) = self.error {
            return Some(Err(problem));
        }
        let name = self.outcome.or_else(|| done.map(str::to_owned))?;
        Some(Ok(Outcome {
            name,
            points: self.points.unwrap_or_default(),
        }))
    }
}

/// A refused line as it is shown: number, slug, title, detail, pointers.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.result {
            Ok(outcome) => write!(f, "line {}: {}", self.line, outcome.name),
            Err(problem) => write!(f, "line {}: {}: {problem}", self.line, problem.slug()),
        }
    }
}
