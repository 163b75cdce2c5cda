//! `GET /v1/users/{user}/targets`: the targets of an author.

use super::{StoredTarget, TargetView};
use crate::calendar::Instant;
use crate::error::Error;
use crate::query::Query;
use crate::score::Points;
use serde::Serialize;

/// A request for a page of an author's targets, newest registration first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListRequest {
    /// The author.
    pub user: String,
    /// Number of targets to return at most.
    pub limit: u32,
    /// Where the page before ended: the instant and the member of its last target; empty for the first page.
    pub after: String,
}

/// The id of a target, its registration, and the points received of all time if there is such a board.
pub type ListedTarget = (String, StoredTarget, Option<u64>);

/// A page of targets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListPage {
    /// The targets.
    pub targets: Vec<ListedTarget>,
    /// The value of `after` for the next page.
    pub next: Option<String>,
}

#[derive(Debug, Serialize)]
struct View<'a> {
    entries: Vec<EntryView<'a>>,
    next: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct EntryView<'a> {
    target: TargetView<'a>,
    registered_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<Points>,
}

impl ListRequest {
    /// Parses the request.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] for an invalid user or query.
    pub fn parse(user: &str, query: &str) -> Result<Self, Error> {
        let mut query = Query::parse(query, &["limit", "after"]);
        let user = query.user(user);
        let limit = query.integer("limit", 1..=100, 30);
        let after = query.get("after").map(|after| match is_position(after) {
            true => Ok(after.to_owned()),
            false => Err("must be `next` of the previous page".to_owned()),
        });
        let after = after.and_then(|after| query.check("/after", after));
        query.finish()?;
        Ok(Self {
            user,
            limit,
            after: after.unwrap_or_default(),
        })
    }
}

/// Returns whether a text is an instant in Unix ms, `-` and a member.
fn is_position(text: &str) -> bool {
    let Some((instant, member)) = text.split_once('-') else {
        return false;
    };
    let is_instant =
        (1..=16).contains(&instant.len()) && instant.bytes().all(|byte| byte.is_ascii_digit());
    is_instant && !member.is_empty()
}

impl ListPage {
    /// Renders the response body.
    #[must_use]
    pub fn render(&self, decimals: u32) -> String {
        let entries = self.targets.iter().map(|(id, stored, steps)| EntryView {
            target: TargetView::new(id, &stored.target),
            registered_at: Instant(stored.registered).to_string(),
            score: steps.map(|steps| Points::new(steps, decimals)),
        });
        let view = View {
            entries: entries.collect(),
            next: self.next.as_deref(),
        };
        serde_json::to_string(&view).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn position_is_instant_and_member() {
        for position in ["1795132800000-post-7", "0-a", "1--"] {
            let query = format!("after={position}");
            let request = ListRequest::parse("9", &query).unwrap();
            assert_eq!((request.after.as_str(), request.limit), (position, 30));
        }
        for odd in [
            "",
            "1795132800000",
            "-a",
            "1-",
            "x-a",
            "12345678901234567-a",
        ] {
            let parsed = ListRequest::parse("9", &format!("after={odd}"));
            assert!(parsed.is_err(), "{odd}");
        }
    }
}
