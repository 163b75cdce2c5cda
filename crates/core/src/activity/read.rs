//! Parses an activity from JSON and finds its rule.

use super::RuledActivity;
use crate::CLOCK_TOLERANCE;
use crate::calendar::Instant;
use crate::caller::Caller;
use crate::config::{Rules, Scope};
use crate::error::{Error, FieldErrors};
use crate::id::{self, MAX_GROUPS};
use serde_json::{Map, Value};

/// One thing a user did, or its undo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    /// The user.
    pub user: String,
    /// The action.
    pub action: String,
    /// The target; for a visit the path in its normal form.
    pub target: String,
    /// Whether the activity is undone.
    pub undo: bool,
    /// When it happened: the instant given, or that of the request.
    pub at: Instant,
    /// Whether the caller gave the instant.
    pub dated: bool,
    /// Whether the activity comes from the queue.
    pub queued: bool,
    /// The groups on whose boards it counts too.
    pub groups: Vec<String>,
}

const FIELDS: [&str; 6] = ["user", "action", "target", "undo", "at", "groups"];
const MAX_TARGET_BYTES: usize = 512;

/// Parses one activity and finds the rule it counts by.
///
/// # Errors
///
/// [`Error::InvalidRequest`] lists every invalid field; then [`Error::Forbidden`] if the caller may
/// not send the activity, [`Error::UnknownAction`] or [`Error::NotUndoable`] if no rule allows it.
pub fn read_item(
    value: &Value,
    caller: &Caller,
    rules: &Rules,
    now: Instant,
) -> Result<RuledActivity, Error> {
    let Value::Object(fields) = value else {
        return Err(Error::invalid("An activity is a JSON object."));
    };
    let mut activity = read(fields, now)?;
    check_caller(&activity, caller)?;
    if let Caller::User(Some(member)) = caller {
        activity.groups.clone_from(&member.groups);
    }
    let action = &activity.action;
    let Some(rule) = rules.get(action) else {
        let known: Vec<&str> = rules.actions().collect();
        let detail = format!("must be one of {}", known.join(", "));
        return Err(Error::UnknownAction(detail));
    };
    if rule.service_only {
        caller.require_service(&format!("send the action {action}"))?;
    }
    if activity.undo && !rule.undo {
        return Err(Error::NotUndoable(format!("{action} cannot be undone")));
    }
    Ok((activity, *rule))
}

/// Requires the permission to send an activity, regardless of its action: a user may send only
/// their own, without the fields that are reserved for services.
fn check_caller(activity: &Activity, caller: &Caller) -> Result<(), Error> {
    caller.must_be(&activity.user, Scope::Activity)?;
    if activity.dated {
        caller.require_service("send at")?;
    }
    if !activity.groups.is_empty() {
        caller.require_service("send groups")?;
    }
    Ok(())
}

fn read(fields: &Map<String, Value>, now: Instant) -> Result<Activity, Error> {
    let mut errors = FieldErrors::default();
    errors.reject_unknown(fields.keys(), &FIELDS);
    let user = errors.check("/user", read_user(fields.get("user")));
    let action = errors.check("/action", read_action(fields.get("action")));
    let visit = action.as_deref() == Some("visit");
    let target = errors.check("/target", read_target(fields.get("target"), visit));
    let undo = errors.check("/undo", read_undo(fields.get("undo")));
    let at = errors.check("/at", read_at(fields.get("at"), now));
    let groups = errors.check("/groups", read_groups(fields.get("groups")));
    let activity = || {
        let (user, action, target) = (user?, action?, target?);
        let given = at?;
        Some(Activity {
            user,
            action,
            target,
            undo: undo?,
            at: given.unwrap_or(now),
            dated: given.is_some(),
            queued: false,
            groups: groups?,
        })
    };
    errors.finish(activity())
}

fn read_user(value: Option<&Value>) -> Result<String, String> {
    value.and_then(id::user).ok_or_else(|| id::ID.to_owned())
}

fn read_action(value: Option<&Value>) -> Result<String, String> {
    let action = value.and_then(Value::as_str);
    action
        .map(str::to_owned)
        .ok_or_else(|| "must be the name of an action".to_owned())
}

fn read_target(value: Option<&Value>, visit: bool) -> Result<String, String> {
    let Some(target) = value.and_then(Value::as_str) else {
        return Err(format!("must be a text of 1 to {MAX_TARGET_BYTES} bytes"));
    };
    let length = target.len();
    if !(1..=MAX_TARGET_BYTES).contains(&length) {
        return Err(format!(
            "must be 1 to {MAX_TARGET_BYTES} bytes, not {length}"
        ));
    }
    if target.chars().any(char::is_control) {
        return Err("must not contain control characters".to_owned());
    }
    if !visit {
        return Ok(target.to_owned());
    }
    if !target.starts_with('/') {
        return Err("of a visit must be a path beginning with /".to_owned());
    }
    Ok(id::visited_path(target).to_owned())
}

/// Parses the field `undo`; returns `false` if it is absent.
///
/// # Errors
///
/// Returns what is valid.
pub fn read_undo(value: Option<&Value>) -> Result<bool, String> {
    let undo = value.map_or(Some(false), Value::as_bool);
    undo.ok_or_else(|| "must be true or false".to_owned())
}

/// Parses the field `at`.
///
/// # Errors
///
/// Returns what is valid.
pub fn read_at(value: Option<&Value>, now: Instant) -> Result<Option<Instant>, String> {
    let Some(value) = value else {
        return Ok(None);
    };
    let at = value.as_str().and_then(Instant::parse);
    let at = at.ok_or("must be an RFC 3339 date and time such as 2026-11-20T08:00:00Z")?;
    if at.0 > now.0 + CLOCK_TOLERANCE {
        return Err("must not be more than 60 seconds in the future".to_owned());
    }
    Ok(Some(at))
}

/// Parses the field `groups`.
///
/// # Errors
///
/// Returns what is valid.
pub fn read_groups(value: Option<&Value>) -> Result<Vec<String>, String> {
    let Some(value) = value else {
        return Ok(Vec::new());
    };
    let items = value.as_array().ok_or("must be a list of group ids")?;
    if items.len() > MAX_GROUPS {
        return Err(format!("must be at most {MAX_GROUPS} groups"));
    }
    let mut groups = Vec::new();
    for item in items {
        let group = item.as_str().filter(|group| id::is_id(group));
        let group = group.ok_or_else(|| format!("each {}", id::ID))?.to_owned();
        if groups.contains(&group) {
            return Err(format!("must not repeat a group: {group}"));
        }
        groups.push(group);
    }
    Ok(groups)
}
