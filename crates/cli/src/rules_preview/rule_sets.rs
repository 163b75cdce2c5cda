//! The rules in force and the changed ones, with the configuration by which the service's own code plans activity: one
//! shard, and boards of all time alone.

use activity_rank_core::calendar::{Calendar, Instant};
use activity_rank_core::config::{Config, Rule, Vars};
use activity_rank_core::error::Error;
use activity_rank_core::rules::{Change, FIELDS, FieldKind, Publication, Timeline, Version};
use activity_rank_core::score::Points;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::problem::Problem;
use crate::rebuild::rules::{calendar, zone};
use crate::rebuild::settings::Settings;

/// Number of the version with the rules in force.
const IN_FORCE: u32 = 1;
/// Number of the version with the changes.
const CHANGED: u32 = 2;

/// The two sets of rules: those in force, then the changed ones.
pub struct RuleSets {
    /// The configuration.
    pub config: Config,
    /// The days of the deployment.
    pub calendar: Calendar,
    timelines: [Timeline; 2],
}

/// A change of a field.
#[derive(Debug, Serialize)]
pub struct ChangedField {
    /// The action.
    pub action: String,
    /// The field.
    pub field: &'static str,
    /// Its value in force; `None` for none.
    pub before: Option<Points>,
    /// The changed value.
    pub after: Option<Points>,
}

impl RuleSets {
    /// Returns the rules of a response of `GET /v1/rules`, and the same with changes by action, as they are published.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] if the service would refuse the changes, or has rules of another version.
    pub fn new(
        settings: &Settings,
        has_content: bool,
        rules: &Map<String, Value>,
        changes: &Value,
    ) -> Result<Self, Failure> {
        let unknown = |what: &str| {
            let advice = "use the version of this program that the service has";
            Failure::Usage(format!(
                "the service has rules that are unknown here ({what}): {advice}"
            ))
        };
        let (mut fixed, mut in_force) = (Map::new(), Vec::new());
        for (action, fields) in rules {
            let mut rule = fields.as_object().cloned().unwrap_or_default();
            for field in &FIELDS {
                // Without the field there is no limit, and no points are received.
                let value = match (rule.remove(field.name), field.kind) {
                    (None, FieldKind::Points) => Some(0),
                    (None, FieldKind::Cap | FieldKind::Seconds) => None,
                    (Some(value), FieldKind::Seconds) => value.as_u64(),
                    (Some(value), FieldKind::Points | FieldKind::Cap) => {
                        let steps = value.as_f64().and_then(|v| settings.layout.steps(v));
                        let steps = steps.ok_or_else(|| unknown(action))?;
                        Some(steps as u64)
                    }
                };
                in_force.push(Change {
                    action: action.clone(),
                    field,
                    value,
                });
            }
            rule.insert("points".to_owned(), json!(1));
            fixed.insert(action.clone(), Value::Object(rule));
        }
        let vars = json!({
            "UPSTASH_REDIS_REST_URL": "http://localhost", "UPSTASH_REDIS_REST_TOKEN": "-",
            "TIMEZONE": settings.timezone, "POINT_DECIMALS": settings.layout.decimals,
            "ORDER_BITS": settings.layout.order_bits, "PERIODS": "all",
            "CONTENT_PERIODS": if has_content { "all" } else { "" }, "RULES": fixed,
        });
        let vars = Vars::new(vars.as_object().cloned().unwrap_or_default());
        let zone = |name: &str| {
            zone(name).map_err(|error| Error::Misconfigured("TIMEZONE", error.to_string()))
        };
        let config = Config::parse(&vars, zone)
            .map_err(|error| unknown(&Problem::from(error).to_string()))?;
        let publication = json!({"rules": changes, "reason": "preview"});
        let publication = Publication::parse(&publication, &config, Instant(0))
            .map_err(|error| Failure::Usage(Problem::from(error).to_string()))?;
        let version = |number, changes: &[Change]| Version {
            number,
            from: Instant(i64::MIN),
            takes_back: None,
            changes: changes.to_vec(),
        };
        let in_force = version(IN_FORCE, &in_force);
        let changed = version(CHANGED, &publication.changes);
        Ok(Self {
            config,
            calendar: calendar(&settings.timezone).map_err(Failure::Usage)?,
            timelines: [
                Timeline::new([in_force.clone()].into_iter()),
                Timeline::new([in_force, changed].into_iter()),
            ],
        })
    }

    /// Returns the rule of an action by each set; `None` for an action without a rule.
    #[must_use]
    pub fn rules(&self, action: &str) -> Option<[Rule; 2]> {
        let at = Instant(0);
        let configured = self.config.rules.get(action, at)?;
        let [before, after] = &self.timelines;
        Some([before, after].map(|timeline| timeline.rule(action, at, *configured)))
    }

    /// Returns the fields that differ.
    #[must_use]
    pub fn changes(&self) -> Vec<ChangedField> {
        let mut changes = Vec::new();
        for action in self.config.rules.actions() {
            let Some([before, after]) = self.rules(action) else {
                continue;
            };
            for field in &FIELDS {
                let (before, after) = (field.value(&before), field.value(&after));
                let decimals = match field.kind {
                    FieldKind::Seconds => 0,
                    FieldKind::Points | FieldKind::Cap => self.config.layout.decimals,
                };
                let value = |value: Option<u64>| value.map(|value| Points::new(value, decimals));
                if before != after {
                    changes.push(ChangedField {
                        action: action.to_owned(),
                        field: field.name,
                        before: value(before),
                        after: value(after),
                    });
                }
            }
        }
        changes
    }
}
