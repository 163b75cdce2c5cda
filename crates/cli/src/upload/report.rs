//! The file of `--report`: the result of each line as JSON, in the order of the input.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;

use serde::Serialize;
use serde_json::Number;

use crate::failure::Failure;
use crate::upload::line::LineResult;

/// Writes results while the upload runs. The results of later lines wait for the earlier ones.
#[derive(Debug)]
pub struct Report {
    name: String,
    file: File,
    /// Index of the next line to write.
    next: u64,
    /// Rendered results by index.
    waiting: BTreeMap<u64, String>,
}

/// A line of the report.
#[derive(Serialize)]
struct Entry<'a> {
    line: u64,
    outcome: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    /// Left out if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    points: Option<Number>,
    /// Left out if only this program refuses the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<Field<'a>>,
}

/// An invalid field.
#[derive(Serialize)]
struct Field<'a> {
    pointer: &'a str,
    detail: &'a str,
}

impl Report {
    /// Opens the report. An existing file must be empty: it may be the input, or the report of an earlier run.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] for `-` and for a file that is not empty, [`Failure::File`] if the file cannot be written.
    pub fn open(name: &str) -> Result<Self, Failure> {
        if name == "-" {
            let message = "--report: standard output has the summary: name a file";
            return Err(Failure::Usage(message.to_owned()));
        }
        let opened = || {
            // Appending never overwrites.
            let file = OpenOptions::new().create(true).append(true).open(name)?;
            let metadata = file.metadata()?;
            Ok((file, metadata.is_file() && metadata.len() > 0))
        };
        match opened() {
            Ok((_, true)) => Err(Failure::Usage(format!(
                "--report: {name} exists: name a new file"
            ))),
            Ok((file, false)) => Ok(Self {
                name: name.to_owned(),
                file,
                next: 0,
                waiting: BTreeMap::new(),
            }),
            Err(cause) => Err(Failure::File {
                name: name.to_owned(),
                cause,
            }),
        }
    }

    /// Adds results, and writes each result whose earlier lines have one.
    ///
    /// # Errors
    ///
    /// [`Failure::File`] if the file cannot be written.
    pub fn add(&mut self, lines: &[LineResult]) -> Result<(), Failure> {
        for line in lines {
            self.waiting.insert(line.index, json(line));
        }
        let mut text = String::new();
        while let Some(line) = self.waiting.remove(&self.next) {
            text.push_str(&line);
            self.next += 1;
        }
        self.write(&text)
    }

    fn write(&mut self, text: &str) -> Result<(), Failure> {
        let written = self.file.write_all(text.as_bytes());
        written.map_err(|cause| Failure::File {
            name: self.name.clone(),
            cause,
        })
    }
}

/// Writes the results that still wait: the upload failed, and lines before them have no result.
impl Drop for Report {
    fn drop(&mut self) {
        let rest: String = std::mem::take(&mut self.waiting).into_values().collect();
        // The upload has already failed for another reason.
        let _ = self.write(&rest);
    }
}

/// Renders a result with a newline.
fn json(line: &LineResult) -> String {
    let slug;
    let entry = match &line.result {
        Ok(outcome) => Entry {
            line: line.line,
            outcome: &outcome.name,
            reason: outcome.reason.as_deref(),
            points: points(outcome.points),
            status: None,
            detail: None,
            errors: Vec::new(),
        },
        Err(problem) => {
            slug = problem.slug();
            let errors = problem.errors.iter().map(|error| Field {
                pointer: &error.pointer,
                detail: &error.detail,
            });
            Entry {
                line: line.line,
                outcome: "refused",
                reason: Some(&slug),
                points: None,
                status: Some(problem.status).filter(|status| *status > 0),
                detail: Some(&problem.detail),
                errors: errors.collect(),
            }
        }
    };
    let mut json = serde_json::to_string(&entry).unwrap_or_default();
    json.push('\n');
    json
}

/// Returns points as a JSON number, an integer if they are whole; `None` if there are none.
fn points(points: f64) -> Option<Number> {
    match points.fract() == 0.0 {
        true => Some(Number::from(points as i64)).filter(|_| points != 0.0),
        false => Number::from_f64(points),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use activity_rank_core::error::Error;
    use reqwest::StatusCode;

    use super::*;
    use crate::problem::Problem;
    use crate::upload::line::Outcome;

    fn result(index: u64, result: Result<Outcome, Problem>) -> LineResult {
        LineResult {
            line: index + 1,
            index,
            bytes: 1,
            result,
        }
    }

    fn counted(index: u64, points: f64) -> LineResult {
        let outcome = Outcome {
            name: "counted".to_owned(),
            points,
            reason: None,
        };
        result(index, Ok(outcome))
    }

    #[test]
    fn entry_has_outcome_and_reason() {
        let capped = Outcome {
            name: "capped".to_owned(),
            points: 0.0,
            reason: Some("cooldown".to_owned()),
        };
        let proxy = Problem::from_response(StatusCode::PAYLOAD_TOO_LARGE, b"");
        let invalid = Error::field("/user", "is empty").into();
        let json_error = Problem::local("not-json", "", "expected".to_owned());
        for (line, expected) in [
            (counted(0, 2.0), r#""outcome":"counted","points":2"#),
            (counted(1, -0.5), r#""outcome":"counted","points":-0.5"#),
            (
                result(2, Ok(capped)),
                r#""outcome":"capped","reason":"cooldown""#,
            ),
            (
                result(3, Err(invalid)),
                r#""outcome":"refused","reason":"invalid-request","status":400,"detail":"user: is empty","errors":[{"pointer":"/user","detail":"is empty"}]"#,
            ),
            (
                result(4, Err(proxy)),
                r#""outcome":"refused","reason":"413","status":413,"detail":"status 413 without a problem document""#,
            ),
            (
                result(5, Err(json_error)),
                r#""outcome":"refused","reason":"not-json","detail":"expected""#,
            ),
        ] {
            let expected = format!("{{\"line\":{},{expected}}}", line.line);
            assert_eq!(json(&line).trim_end(), expected);
        }
    }

    #[test]
    fn results_are_in_order_of_lines() -> Result<(), Box<dyn std::error::Error>> {
        let file = tempfile::NamedTempFile::new()?;
        let name = file.path().to_string_lossy();
        let lines = || -> Result<Vec<String>, std::io::Error> {
            let text = fs::read_to_string(file.path())?;
            let line = |line: &str| line.split(',').next().unwrap_or_default().to_owned();
            Ok(text.lines().map(line).collect())
        };
        let mut report = Report::open(&name)?;
        report.add(&[counted(1, 1.0)])?;
        assert_eq!(lines()?, [""; 0]);
        report.add(&[counted(0, 1.0), counted(3, 1.0)])?;
        assert_eq!(lines()?, ["{\"line\":1", "{\"line\":2"]);
        // The line between has no result.
        drop(report);
        assert_eq!(lines()?, ["{\"line\":1", "{\"line\":2", "{\"line\":4"]);
        let reopened = Report::open(&name)
            .map(|_| ())
            .map_err(|error| error.to_string());
        assert_eq!(
            reopened,
            Err(format!("--report: {name} exists: name a new file"))
        );
        Ok(())
    }
}
