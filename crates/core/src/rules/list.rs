//! `GET /v1/rules`: the rules that hold, and the versions that have been published.

use super::publication::{Publication, earliest};
use super::{FIELDS, Field, FieldKind, Timeline, Version};
use crate::actor::Actor;
use crate::calendar::Instant;
use crate::config::{Config, RuleView};
use crate::json;
use crate::object::Object;
use crate::score::Points;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A version as the store has it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredVersion {
    /// The version.
    pub version: Version,
    /// Its publication.
    pub details: Details,
}

/// The publication of a version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Details {
    line: String,
    /// When it was published, Unix ms.
    pub at: i64,
    /// Who published it, as the audit log stores it; empty if unknown.
    pub actor: String,
    /// The reason.
    pub reason: String,
    /// Whether everyone may read the reason.
    pub public: bool,
    /// When it was removed before anything could count by it, Unix ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed_at: Option<i64>,
}

impl StoredVersion {
    /// Returns a version with its publication at an instant.
    #[must_use]
    pub fn new(
        version: Version,
        at: Instant,
        actor: Option<&Actor>,
        (reason, public): (&str, bool),
    ) -> Self {
        let details = Details {
            line: version.line(),
            at: at.0,
            actor: Actor::stored(actor).to_owned(),
            reason: reason.to_owned(),
            public,
            removed_at: None,
        };
        Self { version, details }
    }

    /// Parses a stored version; `None` if the text is not one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let details: Details = serde_json::from_value(json::read(text.as_bytes()).ok()?).ok()?;
        let version = Version::parse(&details.line)?;
        Some(Self { version, details })
    }

    /// Returns the text that [`Self::parse`] parses.
    #[must_use]
    pub fn text(&self) -> String {
        serde_json::to_string(&self.details).unwrap_or_default()
    }

    /// Returns the version as removed at an instant.
    #[must_use]
    pub fn removed(mut self, at: Instant) -> Self {
        self.details.removed_at = Some(at.0);
        self
    }
}

/// The versions of a deployment, in the order of their numbers.
#[derive(Clone, Debug, Default)]
pub struct VersionList(pub Vec<StoredVersion>);

#[derive(Serialize)]
struct View<'a> {
    rules: Object<&'a str, RuleView>,
    locked: bool,
    versions: Vec<Value>,
}

impl VersionList {
    /// Returns the list of some versions.
    #[must_use]
    pub fn new(mut versions: Vec<StoredVersion>) -> Self {
        versions.sort_by_key(|stored| stored.version.number);
        Self(versions)
    }

    /// Returns a version.
    #[must_use]
    pub fn find(&self, number: u32) -> Option<&StoredVersion> {
        let mut versions = self.0.iter();
        versions.find(|stored| stored.version.number == number)
    }

    /// Returns the version that takes another one back, unless it has been taken back or removed itself.
    #[must_use]
    pub fn taking_back(&self, number: u32) -> Option<&StoredVersion> {
        let mut versions = self.0.iter().rev();
        versions.find(|stored| {
            stored.version.takes_back == Some(number)
                && stored.details.removed_at.is_none()
                && self.taking_back(stored.version.number).is_none()
        })
    }

    /// Returns the versions with a new or changed one.
    #[must_use]
    pub fn with(self, changed: StoredVersion) -> Self {
        let mut versions = self.0;
        versions.retain(|stored| stored.version.number != changed.version.number);
        versions.push(changed);
        Self::new(versions)
    }

    /// Returns the number of the last version if a publication repeats it: with the same content, and without an instant
    /// of its own before the version holds.
    #[must_use]
    pub fn repeated(&self, publication: &Publication, now: Instant) -> Option<u32> {
        let StoredVersion { version, details } = self.0.last()?;
        let is_same = version.takes_back.is_none()
            && details.removed_at.is_none()
            && version.changes == publication.changes
            && (details.reason.as_str(), details.public)
                == (publication.reason.as_str(), publication.has_public_reason);
        let is_due = match publication.from {
            Some(from) => version.from == from,
            None => version.from == earliest(Instant(details.at)) && now < version.from,
        };
        (is_same && is_due).then_some(version.number)
    }

    /// Returns the number of the next version.
    #[must_use]
    pub fn next_number(&self) -> u32 {
        let last = self.0.last();
        last.map_or(0, |stored| stored.version.number) + 1
    }

    /// Returns what the versions change at each instant.
    #[must_use]
    pub fn timeline(&self) -> Timeline {
        let kept = self.0.iter();
        let kept = kept.filter(|stored| stored.details.removed_at.is_none());
        Timeline::new(kept.map(|stored| stored.version.clone()).collect())
    }

    /// Returns the response body: the rules at an instant and the versions, newest first; for an operator with every
    /// reason and actor.
    #[must_use]
    pub fn render(&self, config: &Config, now: Instant, is_operator: bool) -> String {
        let timeline = self.timeline();
        let rules = config.rules.actions().filter_map(|action| {
            let rule = timeline.rule(action, now, *config.rules.get(action, now)?);
            Some((action, RuleView::new(&rule, config.layout)))
        });
        let versions = self.0.iter().rev();
        let view = View {
            rules: Object(rules.collect()),
            locked: config.rules_locked,
            versions: versions
                .map(|stored| self.view(stored, &timeline, config, now, is_operator))
                .collect(),
        };
        serde_json::to_string(&view).unwrap_or_default()
    }

    /// Returns a version as an operator reads it; `None` if there is none with this number.
    #[must_use]
    pub fn version_view(&self, number: u32, config: &Config, now: Instant) -> Option<Value> {
        let stored = self.find(number)?;
        Some(self.view(stored, &self.timeline(), config, now, true))
    }

    fn view(
        &self,
        stored: &StoredVersion,
        timeline: &Timeline,
        config: &Config,
        now: Instant,
        is_operator: bool,
    ) -> Value {
        let StoredVersion { version, details } = stored;
        let number = version.number;
        let state = match (details.removed_at, self.taking_back(number)) {
            (Some(_), _) => "removed",
            (None, Some(other)) if other.version.from <= now => "taken-back",
            (None, _) if now < version.from => "coming",
            (None, _) => "in-force",
        };
        let mut view = json!({
            "version": number,
            "from": version.from.to_string(),
            "state": state,
            "changes": Self::changes(stored, timeline, config),
        });
        let mut add = |name: &str, value: Value| {
            if let Some(fields) = view.as_object_mut() {
                fields.insert(name.to_owned(), value);
            }
        };
        if let Some(other) = version.takes_back {
            add("takes_back", json!(other));
        }
        if is_operator || details.public {
            add("reason", json!(details.reason));
        }
        if is_operator {
            add("public_reason", json!(details.public));
            add("published_at", json!(Instant(details.at).to_string()));
            let key = match Actor::parse(&details.actor) {
                Some(Actor::Key(name)) => json!({"key": name}),
                Some(Actor::User) | None => Value::Null,
            };
            add("actor", key);
        }
        view
    }

    /// Returns what a version changes: each field with its value before and from then on.
    fn changes(stored: &StoredVersion, timeline: &Timeline, config: &Config) -> Vec<Value> {
        let version = &stored.version;
        let mut changes = Vec::new();
        for action in config.rules.actions() {
            let Some(configured) = config.rules.get(action, version.from) else {
                continue;
            };
            let [before, after] = timeline.around(version, action, *configured);
            for field in &FIELDS {
                let (before, after) = (field.value(&before), field.value(&after));
                if before != after {
                    changes.push(json!({
                        "action": action,
                        "field": field.name,
                        "before": value_view(field, before, config),
                        "after": value_view(field, after, config),
                    }));
                }
            }
        }
        changes
    }
}

/// Returns the value of a field as responses show it.
fn value_view(field: &Field, value: Option<u64>, config: &Config) -> Value {
    match field.kind {
        FieldKind::Seconds => json!(value),
        FieldKind::Points | FieldKind::Cap => {
            json!(value.map(|steps| Points::new(steps, config.layout.decimals)))
        }
    }
}
