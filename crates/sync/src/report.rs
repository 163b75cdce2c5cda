//! The result of a comparison, as text or JSON.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use crate::compare::{Comparison, Difference};
use crate::count::count;
use crate::facts::Key;
use crate::printable::printable;

/// Differences that a report lists.
const LISTED: usize = 20;
/// Characters of a report, as the deployment accepts them.
const DETAIL: usize = 300;

/// Returns the comparison as text, with at most `limit` differences.
pub fn text(comparison: &Comparison, limit: usize) -> String {
    let mut lines = String::new();
    for difference in comparison.differences.iter().take(limit) {
        let line = match difference {
            Difference::Missing { key, .. } => format!("missing: {}", activity(key)),
            Difference::Excess { key, .. } => format!("too many: {}", activity(key)),
            Difference::Receiver { key, .. } => format!("other receiver: {}", activity(key)),
            Difference::Author {
                target,
                found,
                expected,
            } => {
                let found = found.as_deref().unwrap_or("none");
                format!("other author: {target} has {found}, and the source {expected}")
            }
        };
        push(&mut lines, &printable(&line));
    }
    let differ = comparison.differences.len();
    if differ > limit && limit > 0 {
        push(&mut lines, &format!("and {} more", differ - limit));
    }
    if let Some(refused) = refused_text(comparison) {
        push(&mut lines, &refused);
    }
    if comparison.erased > 0 {
        let erased = activities(comparison.erased);
        push(
            &mut lines,
            &format!("{erased} of erased users: erased stays erased"),
        );
    }
    if comparison.awaiting_recount > 0 {
        let pending = activities(comparison.awaiting_recount);
        let what = "of accounts from before they were joined: recount --accounts first";
        push(&mut lines, &format!("{pending} {what}"));
    }
    if comparison.daily > 0 {
        let daily = activities(comparison.daily);
        push(&mut lines, &format!("{daily} of once a day not compared"));
    }
    if !comparison.changed.is_empty() {
        let changed = activities(comparison.changed.len() as u64);
        let what = "that changed while the source was read not compared";
        push(&mut lines, &format!("{changed} {what}"));
    }
    push(&mut lines, &format!("{differ} differ"));
    lines
}

/// Returns the numbers of activities that rules refuse; `None` for none.
#[must_use]
pub fn refused_text(comparison: &Comparison) -> Option<String> {
    let refused = comparison.refused.iter();
    let reasons = refused.map(|(reason, keys)| format!("{} {reason}", keys.len()));
    let reasons: Vec<String> = reasons.collect();
    let text = format!("refused by rules: {}", printable(&reasons.join(", ")));
    (!reasons.is_empty()).then_some(text)
}

fn push(lines: &mut String, line: &str) {
    if !lines.is_empty() {
        lines.push('\n');
    }
    // Writing to a text does not fail.
    let _ = lines.write_str(line);
}

/// Returns the comparison as JSON, with all differences.
pub fn json(comparison: &Comparison) -> Value {
    let differences = comparison.differences.iter().map(|difference| {
        let (name, fields) = match difference {
            Difference::Missing { key, .. } => ("missing", fields(key)),
            Difference::Excess { key, .. } => ("too-many", fields(key)),
            Difference::Receiver { key, .. } => ("other-receiver", fields(key)),
            Difference::Author {
                target,
                found,
                expected,
            } => (
                "other-author",
                json!({"target": target, "author": found, "expected": expected}),
            ),
        };
        let mut fields = fields;
        if let Value::Object(fields) = &mut fields {
            fields.insert("difference".to_owned(), name.into());
        }
        fields
    });
    let differences: Vec<Value> = differences.collect();
    json!({
        "differ": comparison.differences.len(),
        "differences": differences,
        "refused": refused(comparison),
        "erased": comparison.erased,
        "awaiting_recount": comparison.awaiting_recount,
        "daily": comparison.daily,
        "changed": comparison.changed.len(),
    })
}

/// Returns the result of a complete run, as the deployment accepts it.
#[must_use]
pub fn done(comparison: &Comparison, mended: usize) -> Value {
    json!({
        "state": "done",
        "differences": comparison.differences.len(),
        "mended": mended,
        "refused": refused(comparison),
        "detail": shortened(&text(comparison, LISTED)),
    })
}

/// Returns the result of a run that ended with an error.
#[must_use]
pub fn failed(error: &str) -> Value {
    json!({"state": "failed", "detail": shortened(error)})
}

/// Returns a text as one line of at most [`DETAIL`] characters.
fn shortened(text: &str) -> String {
    let line = printable(&text.replace('\n', "; "));
    line.chars().take(DETAIL).collect()
}

/// Returns the numbers of activities that rules refuse, by reason.
fn refused(comparison: &Comparison) -> Map<String, Value> {
    let refused = comparison.refused.iter();
    refused
        .map(|(reason, keys)| (reason.clone(), keys.len().into()))
        .collect()
}

fn fields(key: &Key) -> Value {
    json!({"user": key.user, "action": key.action, "target": key.target})
}

fn activity(key: &Key) -> String {
    format!("{} {} {}", key.user, key.action, key.target)
}

/// `1 activity`, `3 activities`.
pub fn activities(number: u64) -> String {
    match number {
        1 => "1 activity".to_owned(),
        number => count(number, "activitie"),
    }
}
