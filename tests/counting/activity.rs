//! What the property test sends.

use test_support::{Value, json};

pub use test_support::reference::Activity;

/// One activity, or something that is none and the slug it is refused with.
#[derive(Clone, Debug)]
pub enum Item {
    Activity(Activity),
    Bad(Value, &'static str),
}

impl Item {
    pub fn json(&self) -> Value {
        match self {
            Self::Activity(activity) => activity.json(),
            Self::Bad(body, _) => body.clone(),
        }
    }
}

/// One request.
#[derive(Clone, Debug)]
pub enum Request {
    One(Item),
    Array(Vec<Item>),
    /// Everything of a user goes.
    Erase(String),
    /// A user is hidden or not, frozen or not.
    Moderate(String, bool, bool),
    /// An activity `adjust` with its points in smallest steps.
    Adjust(Activity, i64),
}

impl Request {
    pub fn items(&self) -> &[Item] {
        match self {
            Self::One(item) => std::slice::from_ref(item),
            Self::Array(items) => items,
            Self::Erase(_) | Self::Moderate(..) | Self::Adjust(..) => &[],
        }
    }

    pub fn json(&self) -> Value {
        match self {
            Self::One(item) => item.json(),
            Self::Array(items) => items.iter().map(Item::json).collect(),
            Self::Erase(user) => json!({ "DELETE": user }),
            Self::Moderate(user, hidden, frozen) => {
                json!({ "moderate": user, "hidden": hidden, "frozen": frozen })
            }
            Self::Adjust(activity, steps) => json!({ "adjust": activity.json(), "steps": steps }),
        }
    }
}

/// The HTTP status of a problem.
pub fn status_of(slug: &str) -> u16 {
    match slug {
        "invalid-request" => 400,
        "forbidden" => 403,
        "unknown-action" | "not-undoable" | "score-overflow" => 422,
        other => panic!("no item is refused as {other}"),
    }
}
