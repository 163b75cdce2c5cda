//! What schemathesis reports of a run, counted.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use test_support::Value;

/// How often each path and method was answered with each status; 0 stands for no answer.
#[derive(Default)]
pub struct Report(BTreeMap<(String, String), BTreeMap<u64, u64>>);

impl Report {
    /// Adds a report that is a file: an event in each line.
    pub fn add(&mut self, file: &Path) {
        let file = File::open(file).expect("a report");
        for line in BufReader::new(file).lines() {
            let event: Value = serde_json::from_str(&line.expect("text")).expect("JSON");
            let scenario = &event["ScenarioFinished"]["recorder"];
            let sent = scenario["interactions"].as_object();
            for (id, interaction) in sent.into_iter().flatten() {
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

    /// How many requests were sent with a method, and answered with a status, such as these.
    pub fn count(&self, method: impl Fn(&str) -> bool, status: impl Fn(u64) -> bool) -> u64 {
        let operations = self.0.iter().filter(|((_, name), _)| method(name));
        let statuses = operations.flat_map(|(_, statuses)| statuses);
        let counts = statuses.filter(|(known, _)| status(**known));
        counts.map(|(_, count)| count).sum()
    }

    /// Whether an operation did what it is for at least once.
    pub fn has_done(&self, path: &str, method: &str) -> bool {
        let operation = self.0.get(&(path.to_owned(), method.to_owned()));
        operation.is_some_and(|statuses| statuses.keys().copied().any(is_done))
    }
}

impl fmt::Display for Report {
    /// A line for each operation, and one for all of them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((path, method), statuses) in &self.0 {
            // Methods that a path does not have are told together at the end.
            if !statuses.keys().all(|status| *status == 405) {
                let count = |(status, count)| format!("{status}: {count}");
                let counts: Vec<String> = statuses.iter().map(count).collect();
                writeln!(f, "{method:>7} {path:<34} {}", counts.join(", "))?;
            }
        }
        let refused = self.count(|_| true, |status| status == 405);
        writeln!(f, "  other methods {:<28} 405: {refused}", "")?;
        let any = self.count(|_| true, |_| true);
        let (writes, done) = (
            self.count(is_write, |_| true),
            self.count(is_write, is_done),
        );
        let share = 100 * done / writes.max(1);
        write!(f, "{any} cases; {writes} writes, {done} done ({share} %)")
    }
}

/// Whether a method changes something.
pub fn is_write(method: &str) -> bool {
    ["POST", "PUT", "PATCH", "DELETE"].contains(&method)
}

/// Whether a status says that what was asked for has been done.
pub fn is_done(status: u64) -> bool {
    (200..300).contains(&status)
}
