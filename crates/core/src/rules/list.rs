//! `GET /v1/rules`: the rules that hold, and the versions that have been published.

use super::publication::{Publication, earliest};
use super::{Change, FIELDS, FieldKind, Timeline, Version};
use crate::actor::Actor;
use crate::calendar::Instant;
use crate::config::{Config, RuleView};
use crate::json;
use crate::object::Object;
use crate::score::Points;
use serde::Serialize;
use serde_json::json;

/// A version as the store has it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredVersion {
    /// The version.
    pub version: Version,
    /// Its publication.
    pub details: Details,
}

/// The publication of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Details {
    /// When it was published, Unix ms.
    pub at: i64,
    /// The actor as the audit log stores it; empty if unknown.
    pub actor: String,
    /// The reason.
    pub reason: String,
    /// Whether everyone may read the reason.
    pub public: bool,
    /// When it was removed before anything could count by it, Unix ms.
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
        let fields = json::read(text.as_bytes()).ok()?;
        let text = |name: &str| Some(fields.get(name)?.as_str()?.to_owned());
        let instant = |name: &str| fields.get(name)?.as_i64();
        let details = Details {
            at: instant("at")?,
            actor: text("actor")?,
            reason: text("reason")?,
            public: fields.get("public")?.as_bool()?,
            removed_at: instant("removed_at"),
        };
        let version = Version::parse(&text("line")?)?;
        Some(Self { version, details })
    }

    /// Returns the text that [`Self::parse`] parses.
    #[must_use]
    pub fn text(&self) -> String {
        let Details {
            at,
            actor,
            reason,
            public,
            removed_at,
        } = &self.details;
        let line = self.version.line();
        json!({
            "line": line, "at": at, "actor": actor, "reason": reason, "public": public, "removed_at": removed_at,
        })
        .to_string()
    }

    /// Returns the action of the entry of the audit log about the last change, and the version that it names.
    #[must_use]
    pub fn audited(&self) -> (&'static str, u32) {
        let number = self.version.number;
        match (self.details.removed_at, self.version.takes_back) {
            (None, None) => ("publish-rules", number),
            (None, Some(other)) => ("take-back-rules", other),
            (Some(_), _) => ("take-back-rules", number),
        }
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
    versions: Vec<VersionView<'a>>,
}

/// A version in a response.
#[derive(Serialize)]
pub struct VersionView<'a> {
    version: u32,
    from: String,
    state: &'static str,
    changes: Vec<ChangeView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    takes_back: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    /// This and the next fields are for operators alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    public_reason: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    published_at: Option<String>,
    /// `null` if the actor is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    actor: Option<Option<ActorView<'a>>>,
}

#[derive(Serialize)]
struct ChangeView<'a> {
    action: &'a str,
    field: &'static str,
    before: Option<Points>,
    after: Option<Points>,
}

#[derive(Serialize)]
struct ActorView<'a> {
    key: &'a str,
}

impl VersionList {
    /// Returns the list of some versions.
    #[must_use]
    pub fn new(versions: Vec<StoredVersion>) -> Self {
        let list = Self::default();
        versions.into_iter().fold(list, Self::with)
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
        let number = changed.version.number;
        let index = versions.partition_point(|stored| stored.version.number < number);
        match versions.get_mut(index) {
            Some(stored) if stored.version.number == number => *stored = changed,
            Some(_) | None => versions.insert(index, changed),
        }
        Self(versions)
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

    /// Returns the timeline of the versions that have not been removed.
    #[must_use]
    pub fn timeline(&self) -> Timeline {
        let kept = self.0.iter();
        let kept = kept.filter(|stored| stored.details.removed_at.is_none());
        Timeline::new(kept.map(|stored| stored.version.clone()).collect())
    }

    /// Returns the value of every field at an instant.
    #[must_use]
    pub fn in_force(&self, config: &Config, now: Instant) -> Vec<Change> {
        let (timeline, mut changes) = (self.timeline(), Vec::new());
        for action in config.rules.actions() {
            let Some(configured) = config.rules.get(action, now) else {
                continue;
            };
            let rule = timeline.rule(action, now, *configured);
            changes.extend(FIELDS.iter().map(|field| Change {
                action: action.to_owned(),
                field,
                value: field.value(&rule),
            }));
        }
        changes
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
    pub fn version_view<'a>(
        &'a self,
        number: u32,
        config: &'a Config,
        now: Instant,
    ) -> Option<VersionView<'a>> {
        let stored = self.find(number)?;
        Some(self.view(stored, &self.timeline(), config, now, true))
    }

    fn view<'a>(
        &self,
        stored: &'a StoredVersion,
        timeline: &Timeline,
        config: &'a Config,
        now: Instant,
        is_operator: bool,
    ) -> VersionView<'a> {
        let StoredVersion { version, details } = stored;
        let state = match (details.removed_at, self.taking_back(version.number)) {
            (Some(_), _) => "removed",
            (None, Some(other)) if other.version.from <= now => "taken-back",
            (None, _) if now < version.from => "coming",
            (None, _) => "in-force",
        };
        VersionView {
            version: version.number,
            from: version.from.to_string(),
            state,
            changes: changes(version, timeline, config),
            takes_back: version.takes_back,
            reason: (is_operator || details.public).then_some(&details.reason),
            public_reason: is_operator.then_some(details.public),
            published_at: is_operator.then(|| Instant(details.at).to_string()),
            actor: is_operator.then(|| {
                let key = Some(details.actor.as_str()).filter(|key| !key.is_empty());
                key.map(|key| ActorView { key })
            }),
        }
    }
}

/// Returns what a version changes: each field with its value before and from then on.
fn changes<'a>(version: &Version, timeline: &Timeline, config: &'a Config) -> Vec<ChangeView<'a>> {
    let mut changes = Vec::new();
    for action in config.rules.actions() {
        let Some(configured) = config.rules.get(action, version.from) else {
            continue;
        };
        let [before, after] = timeline.around(version, action, *configured);
        for field in &FIELDS {
            let (before, after) = (field.value(&before), field.value(&after));
            if before != after {
                let decimals = match field.kind {
                    FieldKind::Seconds => 0,
                    FieldKind::Points | FieldKind::Cap => config.layout.decimals,
                };
                let value = |value: u64| Points::new(value, decimals);
                changes.push(ChangeView {
                    action,
                    field: field.name,
                    before: before.map(value),
                    after: after.map(value),
                });
            }
        }
    }
    changes
}
