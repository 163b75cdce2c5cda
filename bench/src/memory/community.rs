//! The demo's community, moved so that its last activity is now, as `make dev` imports it.

use super::deed::{ACTIONS, Deed};
use jiff::Timestamp;
use serde::Deserialize;
use std::fs;

#[derive(Deserialize)]
struct Line {
    at: Timestamp,
    user: String,
    action: String,
    target: String,
}

/// What its members did, in order.
pub fn deeds(now: i64) -> Result<Vec<Deed>, String> {
    let path = test_support::root().join("demo/community.jsonl");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let lines = text.lines().map(serde_json::from_str);
    let lines: Result<Vec<Line>, _> = lines.collect();
    let lines = lines.map_err(|error| format!("{}: {error}", path.display()))?;
    let last = lines.iter().map(|line| line.at.as_millisecond()).max();
    let shift = now - last.unwrap_or(now);
    let deed = |line: Line| {
        let action = ACTIONS.iter().position(|(name, ..)| *name == line.action);
        Ok(Deed {
            at: line.at.as_millisecond() + shift,
            user: line.user,
            action: action.ok_or_else(|| format!("no rule for {}", line.action))?,
            target: line.target,
            undo: false,
        })
    };
    lines.into_iter().map(deed).collect()
}
