//! `POST /v1/rules` and `DELETE /v1/rules/{version}`: a new version, and one that is taken back.

use super::{Change, FIELDS, Field, FieldKind, LEAD, Version};
use crate::calendar::{Date, Instant};
use crate::config::{Config, Rule, parse_rule};
use crate::error::{Error, FieldErrors, pointer_part};
use crate::moderation::{read_public, read_reason};
use crate::query::Query;
use serde_json::{Map, Value};

/// The longest time from a publication to the instant from which it holds, ms.
const MAX_AHEAD: i64 = 366 * Date::MILLIS;

/// The longest span of a preview, ms.
const MAX_SPAN: i64 = 366 * Date::MILLIS;

const INVALID_INSTANT: &str =
    "must be an RFC 3339 date and time with an offset such as 2026-11-20T08:00:00Z";

/// A request for a new version.
#[derive(Clone, Debug, PartialEq)]
pub struct Publication {
    /// The instant from which it holds; `None` for the earliest one.
    pub from: Option<Instant>,
    /// The changes, in the order of the actions and of [`FIELDS`].
    pub changes: Vec<Change>,
    /// The reason.
    pub reason: String,
    /// Whether everyone may read the reason.
    pub has_public_reason: bool,
}

/// A request for a preview of rules.
#[derive(Clone, Debug, PartialEq)]
pub struct PreviewRequest {
    /// The changes, as in a [`Publication`].
    pub changes: Vec<Change>,
    /// The first instant of the span.
    pub from: Instant,
    /// The first instant after it.
    pub to: Instant,
    /// Whether the preview begins; else its cost is returned.
    pub is_confirmed: bool,
}

/// A request to take a version back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakeBack {
    /// The number of the version.
    pub number: u32,
    /// The reason.
    pub reason: String,
    /// Whether everyone may read the reason.
    pub has_public_reason: bool,
}

impl Publication {
    /// Parses a request body.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] lists every invalid field.
    pub fn parse(body: &Value, config: &Config, now: Instant) -> Result<Self, Error> {
        let Value::Object(fields) = body else {
            return Err(Error::invalid("Rules are published as a JSON object."));
        };
        let mut errors = FieldErrors::default();
        let known = ["from", "rules", "reason", "public_reason"];
        errors.reject_unknown(fields.keys(), &known);
        let from = fields.get("from").map(|from| read_from(from, now));
        let from = errors.check("/from", from.transpose());
        let reason = errors.check("/reason", read_reason(fields.get("reason")));
        let is_public = errors.check("/public_reason", read_public(fields));
        let changes = read_changes(fields, config, &mut errors);
        let publication = || {
            Some(Self {
                from: from?,
                changes,
                reason: reason?,
                has_public_reason: is_public?,
            })
        };
        errors.finish(publication())
    }
}

impl PreviewRequest {
    /// Parses a request body. Without `to`, the span ends now.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] lists every invalid field.
    pub fn parse(body: &Value, config: &Config, now: Instant) -> Result<Self, Error> {
        let Value::Object(fields) = body else {
            return Err(Error::invalid("Rules are previewed as a JSON object."));
        };
        let mut errors = FieldErrors::default();
        errors.reject_unknown(fields.keys(), &["rules", "from", "to", "confirm"]);
        let instant = |name: &str| {
            let instant = fields.get(name)?.as_str().and_then(Instant::parse);
            Some(instant.ok_or_else(|| INVALID_INSTANT.to_owned()))
        };
        let to = errors.check("/to", instant("to").unwrap_or(Ok(now)));
        let from = instant("from").unwrap_or_else(|| Err(INVALID_INSTANT.to_owned()));
        let from = from.and_then(|from| match to.map_or(1, |to| to.0 - from.0) {
            1..=MAX_SPAN => Ok(from),
            _ => Err(format!(
                "must be before the end of the span, by at most {} days",
                MAX_SPAN / Date::MILLIS
            )),
        });
        let from = errors.check("/from", from);
        let is_confirmed = match fields.get("confirm") {
            None => Ok(false),
            Some(confirm) => confirm.as_bool().ok_or("must be true or false".to_owned()),
        };
        let is_confirmed = errors.check("/confirm", is_confirmed);
        let changes = read_changes(fields, config, &mut errors);
        let request = || {
            Some(Self {
                changes,
                from: from?,
                to: to?,
                is_confirmed: is_confirmed?,
            })
        };
        errors.finish(request())
    }
}

impl TakeBack {
    /// Parses the version of a path and a query.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] lists every invalid parameter.
    pub fn parse(version: &str, query: &str) -> Result<Self, Error> {
        let mut query = Query::parse(query, &["reason", "public_reason"]);
        let number = version.parse().ok().filter(|number| *number > 0);
        let number = number.ok_or_else(|| "must be the number of a version".to_owned());
        let number = query.check("/version", number).unwrap_or_default();
        let reason = query.get("reason").map(Value::from);
        let reason = query.check("/reason", read_reason(reason.as_ref()));
        let has_public_reason = query.flag("public_reason");
        query.finish()?;
        Ok(Self {
            number,
            reason: reason.unwrap_or_default(),
            has_public_reason,
        })
    }
}

/// Returns the earliest instant from which a version that is published now may hold: a full second.
#[must_use]
pub fn earliest(now: Instant) -> Instant {
    Instant((now.0 + LEAD + 999).div_euclid(1000) * 1000)
}

fn read_from(value: &Value, now: Instant) -> Result<Instant, String> {
    let from = value.as_str().and_then(Instant::parse);
    let from = from.ok_or(INVALID_INSTANT)?;
    match from.0 - now.0 {
        LEAD..=MAX_AHEAD => Ok(from),
        _ => Err(format!(
            "must be {} seconds to {} days ahead; without it, the rules hold from the earliest instant",
            LEAD / 1000,
            MAX_AHEAD / Date::MILLIS
        )),
    }
}

/// Returns the changes of a body, in the order of the actions and of [`FIELDS`].
fn read_changes(
    fields: &Map<String, Value>,
    config: &Config,
    errors: &mut FieldErrors,
) -> Vec<Change> {
    let rules = fields.get("rules").and_then(Value::as_object);
    let rules = rules.filter(|rules| !rules.is_empty());
    let rules = rules.ok_or("must be an object of one action or more with their changes");
    let rules = errors.check("/rules", rules.map_err(str::to_owned));
    let mut changes = Vec::new();
    if let Some(rules) = rules {
        let is_known = |action: &str| config.rules.actions().any(|known| known == action);
        for action in rules.keys().filter(|action| !is_known(action)) {
            let pointer = format!("/rules{}", pointer_part(action));
            errors.check::<()>(&pointer, Err(config.rules.unknown_action()));
        }
        for action in config.rules.actions() {
            if let (Some(fields), Some((_, rule))) =
                (rules.get(action), config.rules.dated(action).next())
            {
                let read = read_action((action, *rule), fields, config, errors);
                changes.extend(read);
            }
        }
    }
    changes
}

/// Parses the changes of an action, which has this rule at first.
fn read_action(
    (action, rule): (&str, Rule),
    fields: &Value,
    config: &Config,
    errors: &mut FieldErrors,
) -> Vec<Change> {
    let (pointer, mut changes) = (format!("/rules{}", pointer_part(action)), Vec::new());
    let Some(fields) = fields.as_object().filter(|fields| !fields.is_empty()) else {
        let detail = "must be an object of one field or more";
        errors.check::<()>(&pointer, Err(detail.to_owned()));
        return changes;
    };
    for name in fields.keys().filter(|name| Field::named(name).is_none()) {
        let names: Vec<&str> = FIELDS.iter().map(|field| field.name).collect();
        let detail = format!("cannot be published; expected one of {}", names.join(", "));
        errors.check::<()>(&format!("{pointer}{}", pointer_part(name)), Err(detail));
    }
    for field in &FIELDS {
        let Some(value) = fields.get(field.name) else {
            continue;
        };
        let change = read_value(field, value, rule, config).map(|value| Change {
            action: action.to_owned(),
            field,
            value,
        });
        changes.extend(errors.check(&format!("{pointer}/{}", field.name), change));
    }
    let mut after = rule;
    for change in &changes {
        (change.field.set)(&mut after, change.value);
    }
    let is_of_receivers = |change: &Change| ["pair_cap", "received"].contains(&change.field.name);
    if after.pair_cap.is_some() && after.received == 0 && changes.iter().any(is_of_receivers) {
        let detail = "limits what others receive; `received` is 0";
        errors.check::<()>(&format!("{pointer}/pair_cap"), Err(detail.to_owned()));
    }
    changes
}

/// Parses the value of a field as `RULES` does.
fn read_value(
    field: &Field,
    value: &Value,
    rule: Rule,
    config: &Config,
) -> Result<Option<u64>, String> {
    if value.is_null() && field.kind != FieldKind::Points {
        return Ok(None);
    }
    if field.name == "pair_cap" && !config.has_content() {
        return Err("needs boards of content: CONTENT_PERIODS is not set".to_owned());
    }
    // A version may change `received` too.
    let rule = Rule {
        received: rule.received.max(1),
        ..rule
    };
    let changes = Value::Object(Map::from_iter([(field.name.to_owned(), value.clone())]));
    match parse_rule("", Some(rule), &changes, config.layout) {
        Ok(rule) => Ok(field.value(&rule)),
        // The remedy begins with the name of the field, which is in the pointer.
        Err(Error::Misconfigured(_, remedy)) => {
            let detail = remedy.split_once(' ').map_or("", |(_, detail)| detail);
            Err(detail.to_owned())
        }
        Err(error) => Err(error.problem().detail),
    }
}

impl Version {
    /// Returns the version of a publication at an instant.
    #[must_use]
    pub fn published(number: u32, publication: &Publication, now: Instant) -> Self {
        Self {
            number,
            from: publication.from.unwrap_or_else(|| earliest(now)),
            takes_back: None,
            changes: publication.changes.clone(),
        }
    }

    /// Returns the version that takes another one back at an instant.
    #[must_use]
    pub fn taking_back(number: u32, other: u32, now: Instant) -> Self {
        Self {
            number,
            from: earliest(now),
            takes_back: Some(other),
            changes: Vec::new(),
        }
    }

    /// Returns whether nothing can have counted by it yet.
    #[must_use]
    pub fn is_ahead(&self, now: Instant) -> bool {
        self.from.0 >= now.0 + LEAD
    }
}
