//! `GET /v1/moderation`: the audit log, newest entry first.

use super::EntryId;
use crate::actor::Actor;
use crate::board::UserView;
use crate::calendar::Instant;
use crate::content::{Target, TargetView};
use crate::error::Error;
use crate::profile::Profile;
use crate::query::Query;
use crate::score::Points;
use serde::Serialize;
use serde_json::Value;

/// A request for a page of the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRequest {
    /// The entry before which the page begins; `None` for the newest page.
    pub before: Option<EntryId>,
    /// Number of entries to return at most.
    pub limit: u32,
}

/// One entry of the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// The entry's id.
    pub id: EntryId,
    /// When it was written.
    pub at: Instant,
    /// The action, such as `hide`.
    pub action: String,
    /// Who did it; `None` if unknown.
    pub actor: Option<Actor>,
    /// The user and their profile; `None` once the user has been erased, and for a version of the rules.
    pub user: Option<(String, Option<Profile>)>,
    /// The target that the entry is about, in the place of a user, and what boards show of it.
    pub target: Option<(String, Target)>,
    /// The moderator's reason.
    pub reason: Option<String>,
    /// Present for an adjustment or its undo.
    pub adjustment: Option<AdjustmentEntry>,
    /// Present for steps of an achievement that were awarded or withdrawn.
    pub achievement: Option<AwardEntry>,
    /// Present for an erasure.
    pub removed: Option<ErasureEntry>,
    /// The version of the rules that was published or taken back.
    pub version: Option<u32>,
}

/// An adjustment in the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdjustmentEntry {
    /// The id under which the adjustment was sent.
    pub id: String,
    /// The day whose boards it changed; `None` for that of an event.
    pub date: Option<String>,
    /// The event whose board it changed.
    pub event: Option<String>,
    /// The signed points in smallest steps.
    pub steps: i64,
}

/// Steps of an achievement in the audit log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AwardEntry {
    /// The achievement.
    pub id: String,
    /// The steps, as responses have them.
    pub steps: Value,
}

/// The data that an erasure removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ErasureEntry {
    /// Number of boards.
    pub boards: u64,
    /// Number of keys.
    pub keys: u64,
    /// Number of profiles: 0 or 1.
    pub profiles: u64,
}

#[derive(Debug, Serialize)]
struct View<'a> {
    entries: Vec<EntryView<'a>>,
    /// The value of `before` for the next page; `None` at the end.
    next: Option<String>,
}

#[derive(Debug, Serialize)]
struct EntryView<'a> {
    id: String,
    at: String,
    action: &'a str,
    /// `null` if unknown, and for an erased user.
    actor: Option<ActorView<'a>>,
    /// `null` for an erased user, and for a version of the rules.
    user: Option<UserView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<TargetView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    adjustment: Option<AdjustmentView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    achievement: Option<&'a AwardEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    removed: Option<&'a ErasureEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u32>,
}

/// An object with one field.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum ActorView<'a> {
    Key(&'a str),
    User(&'a str),
}

#[derive(Debug, Serialize)]
struct AdjustmentView<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    date: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<&'a str>,
    points: Points,
}

impl AuditRequest {
    /// Parses the request.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] for an invalid query.
    pub fn parse(query: &str) -> Result<Self, Error> {
        let mut query = Query::parse(query, &["before", "limit"]);
        let before = query.get("before").map(|before| {
            let before = EntryId::parse(before);
            before.ok_or_else(|| "must be the id of an entry such as 1795132800000-0".to_owned())
        });
        let before = before.and_then(|before| query.check("/before", before));
        let limit = query.integer("limit", 1..=100, 30);
        query.finish()?;
        Ok(Self { before, limit })
    }

    /// Renders the response body from the entries of all shards, in any order.
    #[must_use]
    pub fn render(&self, entries: &[AuditEntry], decimals: u32) -> String {
        let mut sorted: Vec<&AuditEntry> = Vec::new();
        for entry in entries {
            let index = sorted.partition_point(|other| other.id > entry.id);
            sorted.insert(index, entry);
        }
        let limit = self.limit as usize;
        sorted.truncate(limit);
        let last = sorted.last().filter(|_| sorted.len() >= limit);
        let next = last.map(|entry| entry.id.to_string());
        let entries = sorted.iter().map(|entry| EntryView::new(entry, decimals));
        let view = View {
            entries: entries.collect(),
            next,
        };
        serde_json::to_string(&view).unwrap_or_default()
    }
}

impl<'a> EntryView<'a> {
    fn new(entry: &'a AuditEntry, decimals: u32) -> Self {
        let (user, target) = (entry.user.as_ref(), entry.target.as_ref());
        let adjustment = entry.adjustment.as_ref();
        Self {
            id: entry.id.to_string(),
            at: entry.at.to_string(),
            action: &entry.action,
            actor: match &entry.actor {
                Some(Actor::Key(name)) => Some(ActorView::Key(name)),
                Some(Actor::User) => user.map(|(id, _)| ActorView::User(id)),
                None => None,
            },
            user: user.map(|(id, profile)| UserView::new(id, profile.as_ref())),
            target: target.map(|(id, target)| TargetView::new(id, target)),
            reason: entry.reason.as_deref(),
            adjustment: adjustment.map(|adjustment| AdjustmentView {
                id: &adjustment.id,
                date: adjustment.date.as_deref(),
                event: adjustment.event.as_deref(),
                points: Points {
                    steps: adjustment.steps,
                    decimals,
                },
            }),
            achievement: entry.achievement.as_ref(),
            removed: entry.removed.as_ref(),
            version: entry.version,
        }
    }
}
