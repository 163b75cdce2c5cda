//! Parses an activity from JSON and finds its rule.

use super::RuledActivity;
use crate::CLOCK_TOLERANCE;
use crate::calendar::Instant;
use crate::caller::Caller;
use crate::config::{Rule, Rules, Scope};
use crate::content;
use crate::error::{Error, FieldErrors};
use crate::id::{self, MAX_GROUPS};
use crate::path::{self, ToNfc};
use serde_json::Value;

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
    /// Whether it is undone because its source is gone, such as a deleted post.
    pub source_gone: bool,
    /// When it happened: the instant given, or that of the request.
    pub at: Instant,
    /// Whether the caller gave the instant.
    pub dated: bool,
    /// Whether the activity comes from the queue.
    pub queued: bool,
    /// Whether a member sent it, and not a service.
    pub by_member: bool,
    /// The groups on whose boards it counts too.
    pub groups: Vec<String>,
    /// The target that receives points, if it is not `target`.
    pub on: Option<String>,
    /// The author with whom a service registers the target that receives.
    pub author: Option<String>,
}

const FIELDS: [&str; 9] = [
    "user",
    "action",
    "target",
    "undo",
    "source_gone",
    "at",
    "groups",
    "on",
    "author",
];
const NO_USER: &str =
    "must be there: only a service may leave it out, of an undo that is no item of an array";
pub(super) const MAX_TARGET_BYTES: usize = 512;
/// The normal form of a path escapes each byte.
const MAX_NORMAL_BYTES: usize = 3 * MAX_TARGET_BYTES;

/// Parses activities and finds the rules they count by.
#[derive(Clone, Copy, Debug)]
pub struct ActivityReader<'a> {
    /// The rules.
    pub rules: &'a Rules,
    /// The instant of the request.
    pub now: Instant,
    /// Brings paths into Unicode Normalization Form C.
    pub to_nfc: ToNfc,
}

impl ActivityReader<'_> {
    /// Parses an activity of a request.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] lists every invalid field; then [`Error::Forbidden`] if the caller
    /// may not send the activity, [`Error::UnknownAction`] or [`Error::NotUndoable`] if no rule
    /// allows it.
    pub fn read(&self, value: &Value, caller: &Caller) -> Result<RuledActivity, Error> {
        let mut activity = read_fields(value, self.now, self.to_nfc)?;
        check_caller(&activity, caller)?;
        match caller {
            Caller::User(Ok(member)) => {
                activity.by_member = true;
                activity.groups.clone_from(&member.groups);
            }
            Caller::Visitor(_) => activity.by_member = true,
            Caller::Service(_) | Caller::User(Err(_)) => {}
        }
        let rule = self.rule(&activity)?;
        if rule.service_only {
            caller.require_service(&format!("send the action {}", activity.action))?;
        }
        // An undo takes back what its record says.
        if activity.on.is_some() && !rule.on && !activity.undo {
            let action = &activity.action;
            return Err(Error::field(
                "/on",
                format!("is not allowed for {action}, by its rule: its own target receives"),
            ));
        }
        check_undo(activity, rule)
    }

    /// Parses an activity from the queue. Its caller was authenticated when it was accepted: it has
    /// an instant, and a path in its normal form.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read), but not [`Error::Forbidden`].
    pub fn read_queued(&self, value: &Value, by_member: bool) -> Result<RuledActivity, Error> {
        let activity = Activity {
            queued: true,
            by_member,
            ..parse_fields(value, self.now, self.to_nfc, MAX_NORMAL_BYTES)?
        };
        if !activity.dated {
            return Err(Error::field("/at", "must be there"));
        }
        let rule = self.rule(&activity)?;
        check_undo(activity, rule)
    }

    fn rule(&self, activity: &Activity) -> Result<Rule, Error> {
        let rule = self.rules.get(&activity.action, activity.at);
        rule.copied()
            .ok_or_else(|| Error::UnknownAction(self.rules.unknown_action()))
    }
}

/// Parses the fields of an activity, for any sender and any rules.
///
/// # Errors
///
/// [`Error::InvalidRequest`] lists every invalid field.
pub fn read_fields(value: &Value, now: Instant, to_nfc: ToNfc) -> Result<Activity, Error> {
    parse_fields(value, now, to_nfc, MAX_TARGET_BYTES)
}

fn parse_fields(
    value: &Value,
    now: Instant,
    to_nfc: ToNfc,
    max_target: usize,
) -> Result<Activity, Error> {
    let Value::Object(fields) = value else {
        return Err(Error::invalid("An activity is a JSON object."));
    };
    let mut errors = FieldErrors::default();
    errors.reject_unknown(fields.keys(), &FIELDS);
    let user = match (fields.get("user"), fields.get("undo")) {
        (None, Some(Value::Bool(true))) => Err(NO_USER.to_owned()),
        (user, _) => id::required_user(user),
    };
    let user = errors.check("/user", user);
    let action = errors.check("/action", read_action(fields.get("action")));
    let target = id::required(fields.get("target"));
    let target = target.and_then(|target| read_target(target.as_str(), max_target));
    let named = action.as_deref().unwrap_or_default();
    let target = target.and_then(|target| normal_target(named, target, to_nfc));
    // The author is that of `on`, if there is one.
    let registered = fields.contains_key("author") && !fields.contains_key("on");
    let target = match registered {
        true => target.and_then(|target| content::checked_id(&target)),
        false => target,
    };
    let target = errors.check("/target", target);
    let undo = errors.check("/undo", read_undo(fields.get("undo")));
    let source_gone = read_undo(fields.get("source_gone")).and_then(|gone| match gone {
        true if undo == Some(false) => Err("is only allowed in an undo".to_owned()),
        gone => Ok(gone),
    });
    let source_gone = errors.check("/source_gone", source_gone);
    let at = errors.check("/at", read_at(fields.get("at"), now));
    let groups = errors.check("/groups", read_groups(fields.get("groups")));
    let on = fields.get("on").map(read_registrable);
    let on = errors.check("/on", on.transpose());
    let author = fields
        .get("author")
        .map(|author| id::required_user(Some(author)));
    let author = errors.check("/author", author.transpose());
    let activity = || {
        let (user, action, target) = (user?, action?, target?);
        let given = at?;
        Some(Activity {
            user,
            action,
            target,
            undo: undo?,
            source_gone: source_gone?,
            at: given.unwrap_or(now),
            dated: given.is_some(),
            queued: false,
            by_member: false,
            groups: groups?,
            on: on?,
            author: author?,
        })
    };
    errors.finish(activity())
}

fn check_undo(activity: Activity, rule: Rule) -> Result<RuledActivity, Error> {
    if activity.undo && !rule.undo {
        let action = &activity.action;
        return Err(Error::NotUndoable(format!("{action} cannot be undone")));
    }
    Ok((activity, rule))
}

/// Requires the permission to send an activity, regardless of its action: a user may send only
/// their own, without the fields that are reserved for services.
fn check_caller(activity: &Activity, caller: &Caller) -> Result<(), Error> {
    caller.may_send(&activity.action, &activity.user)?;
    if activity.dated {
        caller.require_service("send `at`")?;
    }
    if !activity.groups.is_empty() {
        caller.require_service("send `groups`")?;
    }
    if activity.source_gone {
        caller.require_service("send `source_gone`")?;
    }
    if activity.author.is_some() {
        caller.require_service("send `author`")?;
        caller.must_have(Scope::Content)?;
    }
    Ok(())
}

fn read_action(value: Option<&Value>) -> Result<String, String> {
    let action = id::required(value)?.as_str();
    action
        .map(str::to_owned)
        .ok_or_else(|| "must be the name of an action".to_owned())
}

/// Returns the form in which a target of an action is stored.
pub(super) fn normal_target(action: &str, target: String, to_nfc: ToNfc) -> Result<String, String> {
    if action != "visit" {
        return Ok(target);
    }
    path::normal_form(&target, to_nfc)
        .ok_or_else(|| "of a visit must be a path beginning with /".to_owned())
}

/// Checks the length and the characters of a target.
pub(super) fn read_target(target: Option<&str>, max_bytes: usize) -> Result<String, String> {
    let Some(target) = target else {
        return Err(format!("must be a text of 1 to {max_bytes} bytes"));
    };
    let length = target.len();
    if !(1..=max_bytes).contains(&length) {
        return Err(format!("must be 1 to {max_bytes} bytes, not {length}"));
    }
    if target.chars().any(char::is_control) {
        return Err("must not contain control characters".to_owned());
    }
    Ok(target.to_owned())
}

fn read_registrable(value: &Value) -> Result<String, String> {
    let target = read_target(id::required(Some(value))?.as_str(), MAX_TARGET_BYTES)?;
    content::checked_id(&target)
}

/// Parses the field `undo`, or another flag; returns `false` if it is absent.
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
    let at =
        at.ok_or("must be an RFC 3339 date and time with an offset such as 2026-11-20T08:00:00Z")?;
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
