//! `GET /v1/users/{user}/points`: what gave a user points, and what took them.

use crate::board::UserView;
use crate::calendar::{Calendar, Date, Instant};
use crate::content::{Target, TargetView};
use crate::error::Error;
use crate::json;
use crate::moderation::Flags;
use crate::profile::Profile;
use crate::query::Query;
use crate::score::Points;
use serde::Serialize;
use serde_json::Value;

/// A request for a page of changes, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointsRequest {
    /// The user.
    pub user: String,
    /// Number of changes to return at most.
    pub limit: u32,
    /// `next` of the page before; `None` for the first page.
    pub before: Option<String>,
    /// The first and the last instant of the changes; `None` for all.
    pub between: Option<(Instant, Instant)>,
    /// Whether to return the activities that did not count, too.
    pub refused: bool,
}

/// The reason of an undo whose activity has lost its source, in the journal.
pub const SOURCE_GONE: &str = "source-gone";

/// The most rows of activities that did not count on a page.
pub const MAX_REFUSALS: u32 = 100;

/// Activities of one action and day that did not count, for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    date: String,
    action: String,
    reason: String,
    count: u64,
    /// The instant of the last one, Unix ms.
    pub at: i64,
    /// The latest targets, the last one first.
    targets: Vec<String>,
}

/// What changed points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Cause {
    /// The user's activity.
    Activity,
    /// An undo of activity.
    Undo,
    /// A moderator.
    Adjustment,
    /// Activity of others, for which the user received points as an author. These count on boards of authors.
    Received,
}

/// A change of points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointChange {
    /// When it happened, Unix ms; for points received, when the activity happened that gave them.
    pub at: i64,
    /// What changed points.
    pub cause: Cause,
    /// The action; empty for points that were received.
    pub action: String,
    /// The target; empty for none, and for adjustments.
    pub target: String,
    /// Signed points in smallest steps.
    pub steps: i64,
    /// The event whose board alone an adjustment or its undo changed.
    pub event: Option<String>,
    /// The reason of an adjustment, if the user may read it.
    pub reason: Option<String>,
    /// Whether an undo has taken the points back since.
    pub is_undone: bool,
    /// Whether this undo took them back because the source of the activity is gone.
    pub source_gone: bool,
}

/// Where changes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The journal, which has every change.
    Journal,
    /// The active records, which have what still counts.
    Records,
}

/// A page of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointsPage {
    /// Where they come from.
    pub source: Source,
    /// The changes.
    pub changes: Vec<PointChange>,
    /// The value of `before` for the next page.
    pub next: Option<String>,
    /// Whether newer changes are still missing in the source.
    pub is_behind: bool,
    /// The flags of the user and the reason of the moderator, if the user is hidden or frozen and may read it.
    pub moderation: Option<(Flags, String)>,
    /// On the first page, the reasons of cases that exclude activity of the user, as far as the user may read them.
    pub exclusions: Vec<String>,
    /// The activities of the same time that did not count, the latest first, if they were requested.
    pub refused: Option<Vec<Refusal>>,
}

#[derive(Debug, Serialize)]
struct View<'a> {
    user: UserView<'a>,
    source: Source,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    behind: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    moderation: Option<ModerationView<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    exclusions: Vec<ExclusionView<'a>>,
    entries: Vec<Entry<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<Vec<RefusedEntry<'a>>>,
    next: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct ModerationView<'a> {
    hidden: bool,
    frozen: bool,
    reason: &'a str,
}

#[derive(Debug, Serialize)]
struct ExclusionView<'a> {
    reason: &'a str,
}

#[derive(Debug, Serialize)]
struct RefusedEntry<'a> {
    date: &'a str,
    action: &'a str,
    reason: &'a str,
    count: u64,
    at: String,
    targets: Vec<TargetView<'a>>,
}

impl Refusal {
    /// Returns the view. `target` returns what is known of a target.
    fn entry<'a>(&'a self, target: &dyn Fn(&str) -> &'a Target) -> RefusedEntry<'a> {
        let targets = self.targets.iter();
        RefusedEntry {
            date: &self.date,
            action: &self.action,
            reason: &self.reason,
            count: self.count,
            at: Instant(self.at).to_string(),
            targets: targets.map(|id| TargetView::new(id, target(id))).collect(),
        }
    }

    /// Decodes a row of the database: `[date, action, reason, count, at, targets]`.
    #[must_use]
    pub fn from_json(text: &str) -> Option<Self> {
        let row = json::read(text.as_bytes()).ok()?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        Some(Self {
            date: text(row.get(0)?)?,
            action: text(row.get(1)?)?,
            reason: text(row.get(2)?)?,
            count: row.get(3)?.as_u64()?,
            at: row.get(4)?.as_i64()?,
            targets: row.get(5)?.as_array()?.iter().filter_map(text).collect(),
        })
    }
}

#[derive(Debug, Serialize)]
struct Entry<'a> {
    at: String,
    #[serde(rename = "type")]
    cause: Cause,
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<TargetView<'a>>,
    points: Points,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    undone: Option<bool>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    source_gone: bool,
}

impl PointChange {
    /// Returns the change of a deduplication record such as `like:post-7`, on the board of an event or on others.
    #[must_use]
    pub fn from_record(record: &str, at: i64, steps: i64, event: Option<String>) -> Self {
        let (action, target) = record.split_once(':').unwrap_or((record, ""));
        let is_adjustment = action == "adjust";
        Self {
            at,
            cause: if is_adjustment {
                Cause::Adjustment
            } else {
                Cause::Activity
            },
            action: action.to_owned(),
            // The id of an adjustment is for moderators.
            target: if is_adjustment {
                String::new()
            } else {
                target.to_owned()
            },
            steps,
            event,
            reason: None,
            is_undone: false,
            source_gone: false,
        }
    }
}

/// Returns the points by which an entry of the journal changed the board of its longest period of all users, in smallest steps.
#[must_use]
pub fn steps_of_longest_period<'a>(field: &dyn Fn(&str) -> &'a str) -> Option<i64> {
    let applied = field("applied");
    if applied.is_empty() {
        let points: i64 = field("points").parse().ok()?;
        return Some(if field("did") == "undo" {
            -points
        } else {
            points
        });
    }
    let mut amounts = applied.split('/');
    let first = amounts.next()?;
    let count = field("kinds").len().checked_sub(2);
    let longest = count.and_then(|index| amounts.nth(index));
    longest.unwrap_or(first).parse().ok()
}

impl PointsRequest {
    /// Parses the request.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] for an invalid user or query.
    pub fn parse(user: &str, query: &str, today: Date, calendar: &Calendar) -> Result<Self, Error> {
        let mut query = Query::parse(query, &["limit", "before", "date", "refused"]);
        let (user, limit) = (query.user(user), query.integer("limit", 1..=100, 30));
        let before = query.get("before").map(str::to_owned);
        let has_date = query.get("date").is_some();
        let (date, refused) = (query.date(today), query.flag("refused"));
        query.finish()?;
        let last = || Instant(calendar.start_of(date.next()).0 - 1);
        Ok(Self {
            user,
            limit,
            before,
            refused,
            between: has_date.then(|| (calendar.start_of(date), last())),
        })
    }

    /// Returns whether the request includes a change of this instant, in Unix ms.
    #[must_use]
    pub fn contains(&self, at: i64) -> bool {
        let between = self.between;
        between.is_none_or(|(first, last)| (first.0..=last.0).contains(&at))
    }

    /// Returns the error for a `before` that the source of the changes did not give.
    #[must_use]
    pub fn invalid_position() -> Error {
        Error::field("/before", "must be `next` of the previous page")
    }
}

impl PointsPage {
    /// Returns the targets of the page that may be registered, in their order, without repeats.
    #[must_use]
    pub fn targets(&self) -> Vec<&str> {
        let mut targets = Vec::new();
        let refused = self.refused.iter().flatten();
        let refused = refused.flat_map(|refusal| &refusal.targets);
        let changed = self.changes.iter().map(|change| &change.target);
        for target in changed.chain(refused) {
            let target = target.as_str();
            if !target.is_empty() && !targets.contains(&target) {
                targets.push(target);
            }
        }
        targets
    }

    /// Renders the response body. `targets` are those of [`Self::targets`] with what is known of them.
    #[must_use]
    pub fn render(
        &self,
        user: &str,
        profile: Option<&Profile>,
        targets: &[(&str, Target)],
        decimals: u32,
    ) -> String {
        let unknown = Target::default();
        let target = |id: &'_ str| {
            let found = targets.iter().find(|(known, _)| *known == id);
            found.map_or(&unknown, |(_, target)| target)
        };
        let entries = self.changes.iter().map(|change| {
            let id = change.target.as_str();
            let can_be_undone = matches!(change.cause, Cause::Activity | Cause::Adjustment);
            let has_action = matches!(change.cause, Cause::Activity | Cause::Undo);
            Entry {
                at: Instant(change.at).to_string(),
                cause: change.cause,
                action: has_action.then_some(change.action.as_str()),
                target: (!id.is_empty()).then(|| TargetView::new(id, target(id))),
                points: Points {
                    steps: change.steps,
                    decimals,
                },
                event: change.event.as_deref(),
                reason: change.reason.as_deref(),
                undone: can_be_undone.then_some(change.is_undone),
                source_gone: change.source_gone,
            }
        });
        let (refusals, moderation) = (self.refused.as_ref(), self.moderation.as_ref());
        let exclusions = self.exclusions.iter();
        let exclusions = exclusions.map(|reason| ExclusionView { reason });
        let view = View {
            refused: refusals.map(|refusals| {
                refusals
                    .iter()
                    .map(|refusal| refusal.entry(&target))
                    .collect()
            }),
            user: UserView::new(user, profile),
            source: self.source,
            behind: self.is_behind,
            moderation: moderation.map(|(flags, reason)| ModerationView {
                hidden: flags.hidden,
                frozen: flags.frozen,
                reason,
            }),
            exclusions: exclusions.collect(),
            entries: entries.collect(),
            next: self.next.as_deref(),
        };
        serde_json::to_string(&view).unwrap_or_default()
    }
}
