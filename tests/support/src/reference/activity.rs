//! What is sent.

use serde_json::{Value, json};

use super::calendar::written;

/// User, action and target: what counts once.
pub type Mark = (String, String, String);

/// One activity.
#[derive(Clone, Debug, PartialEq)]
pub struct Activity {
    /// Who did it.
    pub user: String,
    /// What they did.
    pub action: String,
    /// To what.
    pub target: String,
    /// Whether it takes that back.
    pub undo: bool,
    /// When, in Unix milliseconds, where a service says so.
    pub at: Option<i64>,
    /// The groups on whose boards it counts too.
    pub groups: Vec<String>,
}

impl Activity {
    /// As the service compares it: of a visit the path alone.
    #[must_use]
    pub fn mark(&self) -> Mark {
        let target = match self.action.as_str() {
            "visit" => {
                let path = self.target.split(['?', '#']).next().unwrap_or_default();
                match path.strip_suffix('/') {
                    Some(rest) if !rest.is_empty() => rest,
                    _ => path,
                }
            }
            _ => &self.target,
        };
        (self.user.clone(), self.action.clone(), target.to_owned())
    }

    /// As `POST /v1/activity` takes it.
    #[must_use]
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
