//! What the property test sends.

use crate::calendar::written;
use test_support::{Value, json};

/// User, action and target: what counts once.
pub type Mark = (String, String, String);

#[derive(Clone, Debug, PartialEq)]
pub struct Activity {
    pub user: String,
    pub action: String,
    pub target: String,
    pub undo: bool,
    pub at: Option<i64>,
    pub groups: Vec<String>,
}

impl Activity {
    /// As the service compares it: of a visit the path alone.
    pub fn mark(&self) -> Mark {
        let target = match self.action.as_str() {
            "visit" => {
                let path = self.target.split(['?', '#']).next().unwrap();
                match path.trim_end_matches('/') {
                    "" => "/",
                    rest => rest,
                }
            }
            _ => &self.target,
        };
        (self.user.clone(), self.action.clone(), target.to_owned())
    }

    pub fn json(&self) -> Value {
        // A JSON integer is a user too.
        let user = self
            .user
            .parse::<u64>()
            .map_or(json!(self.user), |number| json!(number));
        let mut body = json!({ "user": user, "action": self.action, "target": self.target });
        if self.undo {
            body["undo"] = json!(true);
        }
        if let Some(at) = self.at {
            body["at"] = json!(written(at));
        }
        if !self.groups.is_empty() {
            body["groups"] = json!(self.groups);
        }
        body
    }
}

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
}

impl Request {
    pub fn items(&self) -> &[Item] {
        match self {
            Self::One(item) => std::slice::from_ref(item),
            Self::Array(items) => items,
            Self::Erase(_) => &[],
        }
    }

    pub fn json(&self) -> Value {
        match self {
            Self::One(item) => item.json(),
            Self::Array(items) => items.iter().map(Item::json).collect(),
            Self::Erase(user) => json!({ "DELETE": user }),
        }
    }
}

/// The HTTP status of a problem.
pub fn status_of(slug: &str) -> u16 {
    match slug {
        "invalid-request" => 400,
        "unknown-action" | "not-undoable" | "score-overflow" => 422,
        other => panic!("no item is refused as {other}"),
    }
}
