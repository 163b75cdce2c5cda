//! `POST /v1/users/{user}/adjustments`: points that a moderator gives or takes.

use super::{read_public, read_reason};
use crate::activity::{read_at, read_groups, read_undo};
use crate::calendar::Instant;
use crate::error::{Error, FieldErrors};
use crate::id;
use crate::score::Layout;
use serde_json::Value;

/// An adjustment of a user's points, or its undo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adjustment {
    /// The user.
    pub user: String,
    /// The id that makes the adjustment idempotent.
    pub id: String,
    /// Signed points in smallest steps; 0 for an undo.
    pub points: i64,
    /// Whether to undo the adjustment with this id.
    pub undo: bool,
    /// The instant whose boards are adjusted; `None` for now.
    pub at: Option<Instant>,
    /// The groups whose boards are adjusted too.
    pub groups: Vec<String>,
    /// The event whose board is adjusted, and no other board.
    pub event: Option<String>,
    /// The reason, for the audit log.
    pub reason: String,
    /// Whether the user may read the reason.
    pub has_public_reason: bool,
}

const FIELDS: [&str; 8] = [
    "id",
    "points",
    "reason",
    "public_reason",
    "undo",
    "at",
    "groups",
    "event",
];

impl Adjustment {
    /// Parses a request body; the user comes from the path.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] lists every invalid field.
    pub fn parse(user: &str, body: &Value, layout: Layout, now: Instant) -> Result<Self, Error> {
        let Value::Object(fields) = body else {
            return Err(Error::invalid("An adjustment is a JSON object."));
        };
        let mut errors = FieldErrors::default();
        errors.reject_unknown(fields.keys(), &FIELDS);
        let user = errors.check("/user", id::checked_member(user));
        let id = fields.get("id").and_then(id::user);
        let id = errors.check("/id", id.ok_or_else(|| id::ID.to_owned()));
        let undo = errors.check("/undo", read_undo(fields.get("undo")));
        let (excluded, of): (&[&str], _) = if undo == Some(true) {
            // An undo reverses the whole adjustment where it was made.
            (&["points", "at", "groups", "event"], "an undo")
        } else if fields.contains_key("event") {
            (&["at", "groups"], "the adjustment of an event")
        } else {
            (&[], "")
        };
        for field in excluded.iter().filter(|field| fields.contains_key(**field)) {
            let unexpected = Err::<(), _>(format!("must be left out of {of}"));
            errors.check(&format!("/{field}"), unexpected);
        }
        let points = match undo {
            Some(true) => Ok(0),
            Some(false) | None => read_points(fields.get("points"), layout),
        };
        let points = errors.check("/points", points);
        let at = errors.check("/at", read_at(fields.get("at"), now));
        let groups = errors.check("/groups", read_groups(fields.get("groups")));
        let event = fields.get("event");
        let event = event.map(|event| id::checked(event.as_str().unwrap_or_default()));
        let event = errors.check("/event", event.transpose());
        let reason = errors.check("/reason", read_reason(fields.get("reason")));
        let is_public = errors.check("/public_reason", read_public(fields));
        let adjustment = || {
            Some(Self {
                user: user?,
                id: id?,
                points: points?,
                undo: undo?,
                at: at?,
                groups: groups?,
                event: event?,
                reason: reason?,
                has_public_reason: is_public?,
            })
        };
        errors.finish(adjustment())
    }
}

fn read_points(value: Option<&Value>, layout: Layout) -> Result<i64, String> {
    let (max, decimals) = (layout.max_points() / layout.unit(), layout.decimals);
    let steps = value
        .and_then(Value::as_f64)
        .and_then(|points| layout.steps(points))
        .filter(|steps| *steps != 0.0 && steps.abs() <= layout.max_points() as f64);
    steps.map(|steps| steps as i64).ok_or_else(|| {
        format!("must be a number, -{max} to {max} and not 0, with at most {decimals} decimals")
    })
}
