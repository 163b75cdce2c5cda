//! Counts the responses in a report of schemathesis.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use test_support::Value;

/// The number of responses by path and method, and by status; 0 is a missing response.
#[derive(Default)]
pub struct Report(BTreeMap<(String, String), BTreeMap<u64, u64>>);

impl Report {
    /// Adds a report file with one event per line.
    pub fn add(&mut self, file: &Path) {
        let file = File::open(file).expect("a report");
        for line in BufReader::new(file).lines() {
            let event: Value = serde_json::from_str(&line.expect("text")).expect("JSON");
            let scenario = &event["ScenarioFinished"]["recorder"];
            let interactions = scenario["interactions"].as_object();
            for (id, interaction) in interactions.into_iter().flatten() {
                let case = &scenario["cases"][id]["value"];
                let name = |field: &str| case[field].as_str().unwrap_or_default().to_owned();
                let status = interaction["response"]["status_code"].as_u64();
                let operation = self.0.entry((name("path"), name("method")));
                *operation
                    .or_default()
                    .entry(status.unwrap_or(0))
                    .or_default() += 1;
            }
        }
    }

    /// Returns the number of requests whose method and status pass the filters.
    pub fn count(&self, method: impl Fn(&str) -> bool, status: impl Fn(u64) -> bool) -> u64 {
        let operations = self.0.iter().filter(|((_, name), _)| method(name));
        let statuses = operations.flat_map(|(_, statuses)| statuses);
        let counts = statuses.filter(|(known, _)| status(**known));
        counts.map(|(_, count)| count).sum()
    }

    /// Returns whether an operation succeeded at least once.
    pub fn has_succeeded(&self, path: &str, method: &str) -> bool {
        let operation = self.0.get(&(path.to_owned(), method.to_owned()));
        operation.is_some_and(|statuses| statuses.keys().copied().any(is_success))
    }
}

impl fmt::Display for Report {
    /// Writes a line per operation and a summary.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((path, method), statuses) in &self.0 {
            // Methods that a path does not support are summarised at the end.
            if !statuses.keys().all(|status| *status == 405) {
                let count = |(status, count)| format!("{status}: {count}");
                let counts: Vec<String> = statuses.iter().map(count).collect();
                writeln!(f, "{method:>7} {path:<34} {}", counts.join(", "))?;
            }
        }
        let refused = self.count(|_| true, |status| status == 405);
        writeln!(f, "  other methods {:<28} 405: {refused}", "")?;
        let cases = self.count(|_| true, |_| true);
        let (writes, successful) = (
            self.count(is_write, |_| true),
            self.count(is_write, is_success),
        );
        let share = 100 * successful / writes.max(1);
        write!(
            f,
            "{cases} cases; {writes} writes, {successful} successful ({share} %)"
        )
    }
}

/// Returns whether a method writes.
pub fn is_write(method: &str) -> bool {
    ["POST", "PUT", "PATCH", "DELETE"].contains(&method)
}

/// Returns whether a status is 2xx.
pub fn is_success(status: u64) -> bool {
    (200..300).contains(&status)
}
