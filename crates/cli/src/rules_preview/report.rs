//! The result of a preview as text.

use activity_rank_core::score::Points;
use activity_rank_store::rules_preview::report::{Change, Report, Unknown};

use crate::board::format_table;
use crate::count::count;
use crate::printable::printable;
use crate::rebuild::preview::board_text;

/// Formats the report as text.
#[must_use]
pub fn report_text(report: &Report) -> String {
    let mut parts = vec![summary(report)];
    if report.boards.iter().all(|board| board.changed == 0) {
        parts.push("Nothing changes: no member's rank or points differ.".to_owned());
    } else {
        parts.extend(report.boards.iter().map(board_text));
    }
    let pair = |before: String, after: String| match before == after {
        true => before,
        false => format!("{before} → {after}"),
    };
    let points = |change: &Change<Points>| {
        let text = |points: &Points| serde_json::to_string(points).unwrap_or_default();
        pair(text(&change.before), text(&change.after))
    };
    let number = |change: &Change<i64>| pair(change.before.to_string(), change.after.to_string());
    if !report.actions.is_empty() {
        let rows = report.actions.iter().map(|action| {
            let share = |share: Points| format!("{}.{} %", share.steps / 10, share.steps % 10);
            [
                printable(&action.action),
                number(&action.counted),
                points(&action.points),
                pair(share(action.share.before), share(action.share.after)),
                points(&action.received),
            ]
        });
        let header = ["action", "counted", "points", "of all points", "received"];
        parts.push(format_table(header, rows, 0..0));
    }
    if !report.limits.is_empty() {
        let rows = report.limits.iter().map(|limit| {
            [
                printable(&limit.action),
                limit.limit.to_owned(),
                number(&limit.members),
                number(&limit.activities),
            ]
        });
        let header = ["action", "limit", "members", "refused"];
        parts.push(format_table(header, rows, 0..0));
    }
    if !report.unknown.is_empty() {
        let lines: Vec<String> = report.unknown.iter().map(unknown_text).collect();
        parts.push(lines.join("\n"));
    }
    parts.join("\n\n")
}

fn summary(report: &Report) -> String {
    let value = |value: &Option<Points>| {
        let text = value
            .as_ref()
            .and_then(|points| serde_json::to_string(points).ok());
        text.unwrap_or("none".to_owned())
    };
    let changes = report.changes.iter().map(|change| {
        let (before, after) = (value(&change.before), value(&change.after));
        format!("{}.{} {before} → {after}", change.action, change.field)
    });
    let changes = changes.collect::<Vec<_>>().join(", ");
    let changes = match changes.as_str() {
        "" => "the rules in force have these values already",
        changes => changes,
    };
    format!(
        "{changes}\n{} from {} until {}, {} decided otherwise",
        activities_text(report.activities),
        report.from,
        report.until,
        report.changed_activities
    )
}

/// Returns a number of activities in words.
fn activities_text(number: i64) -> String {
    match number {
        1 => "1 activity".to_owned(),
        number => count(number.unsigned_abs(), "activitie"),
    }
}

/// Returns the sentence about what cannot be known.
fn unknown_text(unknown: &Unknown) -> String {
    match unknown {
        Unknown::NoRule { activities } => {
            let activities = activities_text(*activities);
            format!("Left out: {activities} of actions that no longer have a rule.")
        }
        Unknown::MemberCap { action } => format!(
            "{action}: the journal does not say whether a member sent an activity. By both rules, member_cap decides only \
             activity that a cap refused then."
        ),
        Unknown::Limit { action } => format!(
            "{action}: the journal lacks activity that a limit refused then (JOURNAL_REFUSED is off), so it does not count \
             here by the changed rules either. How much is unknown."
        ),
        Unknown::DailyCap {
            action,
            days,
            points,
        } => {
            let bound = match points {
                Some(points) => {
                    let points = serde_json::to_string(points).unwrap_or_default();
                    format!("at most {points} points")
                }
                None => "an unknown number of points".to_owned(),
            };
            let days = count(days.unsigned_abs(), "day");
            format!(
                "{action}: members reached the cap on {days}. The journal lacks activity that it refused then \
                 (JOURNAL_REFUSED is off): {bound} more by the changed rules."
            )
        }
    }
}
