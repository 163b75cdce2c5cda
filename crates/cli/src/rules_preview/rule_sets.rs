//! The rules in force and the changed ones, with the configuration by which the service's own code plans activity: one
//! shard, and boards of all time alone.

use activity_rank_core::calendar::Instant;
use activity_rank_core::config::{Config, Vars};
use activity_rank_core::error::Error;
use activity_rank_core::rules::{Change, FIELDS, FieldKind, Publication};
use activity_rank_store::rules_preview::{RuleSets, version};
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::problem::Problem;
use crate::rebuild::rules::zone;
use crate::rebuild::settings::Settings;

/// Returns the rules of a response of `GET /v1/rules`, and the same with changes by action, as they are published.
///
/// # Errors
///
/// [`Failure::Usage`] if the service would refuse the changes, or has rules of another version.
pub fn rule_sets(
    settings: &Settings,
    has_content: bool,
    rules: &Map<String, Value>,
    changes: &Value,
) -> Result<RuleSets, Failure> {
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
    let config =
        Config::parse(&vars, zone).map_err(|error| unknown(&Problem::from(error).to_string()))?;
    let publication = json!({"rules": changes, "reason": "preview"});
    let publication = Publication::parse(&publication, &config, Instant(0))
        .map_err(|error| Failure::Usage(Problem::from(error).to_string()))?;
    let in_force = version(false, in_force);
    let changed = version(true, publication.changes);
    Ok(RuleSets::new(config, Instant(0), [in_force, changed]))
}
