//! Reads an activity from JSON and finds its rule.

use crate::CLOCK_TOLERANCE;
use crate::calendar::Instant;
use crate::caller::Caller;
use crate::config::{Rule, Rules};
use crate::error::{Error, Faults};
use crate::id;
use serde_json::{Map, Value};

/// One thing a user did, or takes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    /// Who did it.
    pub user: String,
    /// What they did.
    pub action: String,
    /// To what; of a visit the path as it is compared.
    pub target: String,
    /// Whether it is taken back.
    pub undo: bool,
    /// When it happened: the instant given, or that of the request.
    pub at: Instant,
    /// Whether the instant was given.
    pub dated: bool,
    /// Whether it was held back since it was accepted.
    pub held: bool,
    /// The groups on whose boards it counts too.
    pub groups: Vec<String>,
}

const FIELDS: [&str; 6] = ["user", "action", "target", "undo", "at", "groups"];
/// The most groups that one activity counts in.
pub const MOST_GROUPS: usize = 4;
const MOST_TARGET_BYTES: usize = 512;

/// Reads one activity and finds the rule it counts by.
///
/// # Errors
///
/// [`Error::InvalidRequest`] with every fault of the content; then [`Error::Forbidden`] where the
/// caller may not send it, [`Error::UnknownAction`] or [`Error::NotUndoable`] where no rule
/// allows it.
pub fn read_item(
    value: &Value,
    caller: &Caller,
    rules: &Rules,
    now: Instant,
) -> Result<(Activity, Rule), Error> {
    let Value::Object(fields) = value else {
        return Err(Error::invalid("An activity is a JSON object."));
    };
    let mut activity = read(fields, now)?;
    caller.may_send(&activity)?;
    if let Caller::User(Some(member)) = caller {
        activity.groups.clone_from(&member.groups);
    }
    let Some(rule) = rules.get(&activity.action) else {
        let known: Vec<&str> = rules.actions().collect();
        return Err(Error::UnknownAction(format!(
            "must be one of {}",
            known.join(", ")
        )));
    };
    caller.may_do(&activity.action, rule)?;
    if activity.undo && !rule.undo {
        return Err(Error::NotUndoable(format!(
            "{} cannot be undone",
            activity.action
        )));
    }
    Ok((activity, *rule))
}

fn read(fields: &Map<String, Value>, now: Instant) -> Result<Activity, Error> {
    let mut faults = Faults::default();
    faults.unknown(fields.keys(), &FIELDS);
    let user = faults.check("/user", read_user(fields.get("user")));
    let action = faults.check("/action", read_action(fields.get("action")));
    let visit = action.as_deref() == Some("visit");
    let target = faults.check("/target", read_target(fields.get("target"), visit));
    let undo = faults.check("/undo", read_undo(fields.get("undo")));
    let at = faults.check("/at", read_at(fields.get("at"), now));
    let groups = faults.check("/groups", read_groups(fields.get("groups")));
    let read = || {
        let (user, action, target) = (user?, action?, target?);
        let given = at?;
        Some(Activity {
            user,
            action,
            target,
            undo: undo?,
            at: given.unwrap_or(now),
            dated: given.is_some(),
            held: false,
            groups: groups?,
        })
    };
    faults.or(read())
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
        return Err(format!("must be a text of 1 to {MOST_TARGET_BYTES} bytes"));
    };
    if target.is_empty() || target.len() > MOST_TARGET_BYTES {
        return Err(format!(
            "must be 1 to {MOST_TARGET_BYTES} bytes, not {}",
            target.len()
        ));
    }
    if target.chars().any(char::is_control) {
        return Err("must not contain control characters".to_owned());
    }
    if visit && !target.starts_with('/') {
        return Err("of a visit must be a path beginning with /".to_owned());
    }
    Ok(if visit {
        id::visited_path(target)
    } else {
        target
    }
    .to_owned())
}

/// Whether something is taken back; not, where nothing says so.
///
/// # Errors
///
/// What it must be.
pub fn read_undo(value: Option<&Value>) -> Result<bool, String> {
    let undo = value.map_or(Some(false), Value::as_bool);
    undo.ok_or_else(|| "must be true or false".to_owned())
}

/// The instant at which something happened, if it is dated.
///
/// # Errors
///
/// What it must be.
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

/// The groups on whose boards something counts too.
///
/// # Errors
///
/// What it must be.
pub fn read_groups(value: Option<&Value>) -> Result<Vec<String>, String> {
    let Some(value) = value else {
        return Ok(Vec::new());
    };
    let items = value.as_array().ok_or("must be a list of group ids")?;
    if items.len() > MOST_GROUPS {
        return Err(format!("must be at most {MOST_GROUPS} groups"));
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
