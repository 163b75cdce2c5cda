//! `GET /v1/users/{user}/done`: which activities of a user have counted.

use super::read::{MAX_TARGET_BYTES, normal_target, read_target};
use crate::calendar::Instant;
use crate::config::{Once, Rules};
use crate::error::Error;
use crate::path::ToNfc;
use crate::query::Query;
use percent_encoding::percent_decode_str;
use serde::Serialize;

/// The most targets of a request.
const MAX_TARGETS: usize = 100;

/// A request for the state of one action and several targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoneRequest {
    /// The user.
    pub user: String,
    /// The action.
    pub action: String,
    /// Whether the action counts once a day, by the rule of now.
    pub once: Once,
    /// The targets, as [`Activity`](super::Activity) has them, without repeats.
    pub targets: Vec<String>,
}

#[derive(Serialize)]
struct View<'a> {
    action: &'a str,
    targets: Vec<TargetState<'a>>,
}

#[derive(Serialize)]
struct TargetState<'a> {
    target: &'a str,
    done: bool,
}

impl DoneRequest {
    /// Parses the request.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] for an invalid user or query, and for an action without a rule.
    pub fn parse(
        user: &str,
        query: &str,
        rules: &Rules,
        now: Instant,
        to_nfc: ToNfc,
    ) -> Result<Self, Error> {
        let mut query = Query::parse(query, &["action", "targets"]);
        let user = query.user(user);
        let action = query.get("action").unwrap_or_default().to_owned();
        let once = rules.get(&action, now).map(|rule| rule.once);
        let once = query.check("/action", once.ok_or_else(|| rules.unknown_action()));
        let targets = target_list(query.get("targets").unwrap_or_default(), &action, to_nfc);
        let targets = query.check("/targets", targets).unwrap_or_default();
        query.finish()?;
        Ok(Self {
            user,
            action,
            once: once.unwrap_or(Once::Standing),
            targets,
        })
    }

    /// Renders the response body. `done` has the state of each target.
    #[must_use]
    pub fn render(&self, done: &[bool]) -> String {
        let states = self.targets.iter().zip(done);
        let targets = states.map(|(target, done)| TargetState {
            target,
            done: *done,
        });
        let view = View {
            action: &self.action,
            targets: targets.collect(),
        };
        serde_json::to_string(&view).unwrap_or_default()
    }
}

/// Parses targets between commas. In a target a comma is `%2C` and a percent sign `%25`.
///
/// # Errors
///
/// Returns what is valid.
pub(crate) fn target_list(text: &str, action: &str, to_nfc: ToNfc) -> Result<Vec<String>, String> {
    let count = text.split(',').count();
    if count > MAX_TARGETS {
        return Err(format!(
            "must be at most {MAX_TARGETS} targets, not {count}"
        ));
    }
    let mut targets: Vec<String> = Vec::new();
    for item in text.split(',') {
        let target = percent_decode_str(item).decode_utf8_lossy();
        let target = read_target(Some(&target), MAX_TARGET_BYTES)
            .map_err(|detail| format!("each {detail}"))?;
        let target = normal_target(action, target, to_nfc)?;
        if targets.contains(&target) {
            return Err(format!("must not repeat a target: {target}"));
        }
        targets.push(target);
    }
    Ok(targets)
}
