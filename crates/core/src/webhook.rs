//! The messages to webhooks: their data, and the requests that list deliveries.

use crate::board::{BoardKind, BoardSlice, EntryView, Heading, UserView};
use crate::calendar::Instant;
use crate::config::{Achievement, Level};
use crate::error::Error;
use crate::profile::Profile;
use crate::query::Query;
use crate::score::Layout;
use serde::Serialize;

/// The prefix of an id.
const ID_PREFIX: &str = "msg_";

/// Hexadecimal digits of the random part of an id.
const ID_DIGITS: usize = 32;

/// The states of a delivery.
const STATES: [&str; 4] = ["pending", "delivered", "failed", "dropped"];

/// Returns the body of a message, as the Standard Webhooks specification says: `at` is when it happened, `data` is JSON.
#[must_use]
pub fn render(kind: &str, at: Instant, data: &str) -> String {
    format!("{{\"type\":\"{kind}\",\"timestamp\":\"{at}\",\"data\":{data}}}")
}

/// Returns the data of a message about a board that does not change any more, of which `slice` has the first rows.
#[must_use]
pub fn data_of_board(heading: &Heading, slice: &BoardSlice, layout: Layout) -> String {
    let mut entries = Vec::new();
    for row in &slice.rows {
        entries.push(to_json(&EntryView::new(BoardKind::Members, row, layout)));
    }
    let (heading, total, rows) = (to_json(heading), slice.total, entries.join(","));
    let heading = heading.trim_start_matches('{');
    let heading = heading.strip_suffix('}').unwrap_or_default();
    format!("{{{heading},\"total\":{total},\"entries\":[{rows}]}}")
}

/// Returns the data of a message about a member who has reached a level.
#[must_use]
pub fn data_of_level(user: &str, profile: Option<&Profile>, level: &Level) -> String {
    let (user, level) = (to_json(&UserView::new(user, profile)), to_json(level));
    format!("{{\"user\":{user},\"level\":{level}}}")
}

/// Returns the data of a message about a member who has earned a step of an achievement.
#[must_use]
pub fn data_of_achievement(
    user: &str,
    profile: Option<&Profile>,
    achievement: &Achievement,
    step: u64,
) -> String {
    let user = to_json(&UserView::new(user, profile));
    let (id, name) = (&achievement.id, to_json(&achievement.name("en")));
    let step = to_json(&achievement.value(step));
    format!(
        "{{\"user\":{user},\"achievement\":{{\"id\":\"{id}\",\"name\":{name},\"step\":{step}}}}}"
    )
}

/// A request for a page of deliveries, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveriesRequest {
    /// The delivery before which the page begins; empty for the newest page.
    pub before: String,
    /// The state of the deliveries; empty for any.
    pub state: String,
    /// Number of deliveries to return at most.
    pub limit: u32,
}

impl DeliveriesRequest {
    /// Parses the request.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] for an invalid query.
    pub fn parse(query: &str) -> Result<Self, Error> {
        let mut query = Query::parse(query, &["before", "limit", "state"]);
        let before = query.get("before").map(checked_id);
        let before = before.and_then(|before| query.check("/before", before));
        let state = query.get("state").map(|state| {
            let known = STATES.contains(&state).then(|| state.to_owned());
            known.ok_or_else(|| format!("must be one of {}", STATES.join(", ")))
        });
        let state = state.and_then(|state| query.check("/state", state));
        let limit = query.integer("limit", 1..=100, 30);
        query.finish()?;
        Ok(Self {
            before: before.unwrap_or_default(),
            state: state.unwrap_or_default(),
            limit,
        })
    }

    /// Renders the response body from the deliveries of the page, as JSON that begins with the id.
    #[must_use]
    pub fn render(&self, deliveries: &[String]) -> String {
        let last = deliveries
            .last()
            .filter(|_| deliveries.len() >= self.limit as usize);
        // The first member of a delivery is its id.
        let next = last.and_then(|last| last.split('"').nth(3));
        let next = next.map_or("null".to_owned(), |id| format!("\"{id}\""));
        let deliveries = deliveries.join(",");
        format!("{{\"deliveries\":[{deliveries}],\"next\":{next}}}")
    }
}

/// Checks the id of a delivery.
///
/// # Errors
///
/// Returns what is valid.
pub fn checked_id(id: &str) -> Result<String, String> {
    let digits = id.strip_prefix(ID_PREFIX).unwrap_or_default();
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if digits.len() == ID_DIGITS && digits.bytes().all(is_digit) {
        return Ok(id.to_owned());
    }
    Err("must be the id of a delivery: msg_ and 32 hexadecimal digits".to_owned())
}

/// Returns a value as JSON.
pub(crate) fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
