//! `POST /v1/users/{user}/adjustments`: points given or taken by a moderator.

use super::read_reason;
use crate::activity::{read_at, read_groups, read_undo};
use crate::calendar::Instant;
use crate::error::{Error, Faults};
use crate::id;
use crate::score::{MAX_POINTS, steps};
use serde_json::Value;

/// Points given or taken, or that taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adjustment {
    /// Whose points.
    pub user: String,
    /// Names it: sent again with the same id it is a duplicate.
    pub id: String,
    /// Points in smallest steps, below zero to take them; 0 where it is taken back.
    pub points: i64,
    /// Whether the adjustment of this id is taken back.
    pub undo: bool,
    /// The instant on whose boards, if not now.
    pub at: Option<Instant>,
    /// The groups on whose boards too.
    pub groups: Vec<String>,
    /// Why.
    pub reason: String,
}

const FIELDS: [&str; 6] = ["id", "points", "reason", "undo", "at", "groups"];

impl Adjustment {
    /// Reads an adjustment; the user comes from the path.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] with every fault of the path and content.
    pub fn read(user: &str, value: &Value, decimals: u32, now: Instant) -> Result<Self, Error> {
        let Value::Object(fields) = value else {
            return Err(Error::invalid("An adjustment is a JSON object."));
        };
        let mut faults = Faults::default();
        faults.unknown(fields.keys(), &FIELDS);
        let user = faults.check("/user", id::checked(user));
        let id = fields.get("id").and_then(id::user);
        let id = faults.check("/id", id.ok_or_else(|| id::ID.to_owned()));
        let undo = faults.check("/undo", read_undo(fields.get("undo")));
        if undo == Some(true) {
            // It takes back all, from where it is.
            for field in ["points", "at", "groups"] {
                if fields.contains_key(field) {
                    let left_out = Err::<(), _>("must be left out of an undo".to_owned());
                    faults.check(&format!("/{field}"), left_out);
                }
            }
        }
        let points = match undo {
            Some(true) => Ok(0),
            Some(false) | None => read_points(fields.get("points"), decimals),
        };
        let points = faults.check("/points", points);
        let at = faults.check("/at", read_at(fields.get("at"), now));
        let groups = faults.check("/groups", read_groups(fields.get("groups")));
        let reason = faults.check("/reason", read_reason(fields.get("reason")));
        let read = || {
            Some(Self {
                user: user?,
                id: id?,
                points: points?,
                undo: undo?,
                at: at?,
                groups: groups?,
                reason: reason?,
            })
        };
        faults.or(read())
    }
}

fn read_points(value: Option<&Value>, decimals: u32) -> Result<i64, String> {
    let most = MAX_POINTS / 10u64.pow(decimals);
    let steps = value
        .and_then(Value::as_f64)
        .and_then(|points| steps(points, decimals))
        .filter(|steps| *steps != 0.0 && steps.abs() <= MAX_POINTS as f64);
    steps.map(|steps| steps as i64).ok_or_else(|| {
        format!("must be a number, -{most} to {most} and not 0, with at most {decimals} decimals")
    })
}
