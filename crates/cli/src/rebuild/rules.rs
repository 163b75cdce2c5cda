//! The rules of a recount: what an action gives at an instant.
//!
//! A recount is an entry of the journal, with the rules as JSON: it holds for all entries before it on the same shard.
//! The JSON has points in smallest steps and instants, so it does not depend on default rules or a time zone.

use std::fs;

use activity_rank_core::calendar::{Calendar, Instant, Zone};
use activity_rank_core::config::{Rule, Rules, Vars};
use activity_rank_core::error::Error;
use activity_rank_core::rules::Timeline;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

pub use activity_rank_sync::journal::rules::{Given, RecountRules, Recounts};

use super::settings::Settings;
use crate::failure::Failure;

const RULES: &str = "RULES";

/// Configured rules, with the versions that were published.
#[derive(Clone, Debug)]
pub struct PublishedRules<'a> {
    /// The rules of a configuration.
    pub configured: &'a Rules,
    /// The versions.
    pub versions: Timeline,
}

impl PublishedRules<'_> {
    /// Returns the rule of an action at an instant.
    #[must_use]
    pub fn get(&self, action: &str, at: Instant) -> Option<Rule> {
        let configured = self.configured.get(action, at)?;
        Some(self.versions.rule(action, at, *configured))
    }
}

/// Reads the rules of a file for a deployment.
///
/// # Errors
///
/// [`Failure`] if the file cannot be read, or has no valid rules.
pub fn read(file: &str, environment: Option<&str>, settings: &Settings) -> Result<Rules, Failure> {
    let text = fs::read_to_string(file).map_err(|cause| Failure::File {
        name: file.to_owned(),
        cause,
    })?;
    let rules = find_rules(&text, environment).and_then(|rules| parse(rules, settings));
    rules.map_err(|error| Failure::Usage(format!("{file}: {error}")))
}

/// Returns the default rules of a deployment.
///
/// # Errors
///
/// [`Failure::Usage`] if its time zone is unknown.
pub fn defaults(settings: &Settings) -> Result<Rules, Failure> {
    parse(Value::Object(Map::new()), settings).map_err(Failure::Usage)
}

/// Returns the value of `RULES` in a text: the variable of a wrangler.toml, or the whole text.
fn find_rules(text: &str, environment: Option<&str>) -> Result<Value, String> {
    let table = read_table(text)?;
    let deployment = match environment {
        Some(name) => {
            let environment = table.get("env").and_then(|all| all.get(name));
            environment.ok_or_else(|| format!("has no environment '{name}'"))?
        }
        None => &table,
    };
    let (vars, is_configuration) = (deployment.get("vars"), table.get("compatibility_date"));
    if vars.is_none() && is_configuration.is_none() && environment.is_none() {
        return Ok(table);
    }
    let rules = vars.and_then(|vars| vars.get(RULES)).cloned();
    rules.ok_or_else(|| "has no [vars.RULES]".to_owned())
}

/// Returns a text of JSON or TOML as JSON.
///
/// # Errors
///
/// Why it is neither.
pub fn read_table(text: &str) -> Result<Value, String> {
    if text.trim_start().starts_with('{') {
        return serde_json::from_str(text).map_err(|error| error.to_string());
    }
    let table: toml::Table = toml::from_str(text).map_err(|error| error.to_string())?;
    Ok(to_json(toml::Value::Table(table)))
}

/// Converts TOML to JSON. A date of TOML becomes a text.
fn to_json(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => number.into(),
        toml::Value::Boolean(flag) => flag.into(),
        toml::Value::Datetime(at) => at.to_string().into(),
        toml::Value::Array(items) => items.into_iter().map(to_json).collect(),
        toml::Value::Table(fields) => {
            let fields = fields.into_iter();
            let fields = fields.map(|(name, value)| (name, to_json(value)));
            Value::Object(fields.collect())
        }
    }
}

/// Returns the days of a time zone.
///
/// # Errors
///
/// Why there is no such time zone.
pub fn calendar(timezone: &str) -> Result<Calendar, String> {
    Ok(Calendar::new(timezone, zone(timezone)?))
}

/// Returns a time zone.
///
/// # Errors
///
/// Why there is no such time zone.
pub fn zone(name: &str) -> Result<Box<dyn Zone>, String> {
    let zone = TimeZone::get(name).map_err(|error| error.to_string())?;
    Ok(Box::new(JiffZone(zone)))
}

fn parse(rules: Value, settings: &Settings) -> Result<Rules, String> {
    let calendar = calendar(&settings.timezone)?;
    let vars = Vars::new(Map::from_iter([(RULES.to_owned(), rules)]));
    let start_of = |date| Ok(calendar.start_of(date));
    match Rules::parse(&vars, settings.layout, &start_of) {
        Ok(rules) => Ok(rules),
        Err(Error::Misconfigured(_, remedy)) => Err(remedy),
        Err(error) => Err(format!("{error:?}")),
    }
}

/// A zone of the time zone database.
struct JiffZone(TimeZone);

impl Zone for JiffZone {
    fn offset(&self, at: Instant) -> i64 {
        let at = Timestamp::from_millisecond(at.0).unwrap_or(Timestamp::MIN);
        i64::from(self.0.to_offset(at).seconds()) * 1000
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use activity_rank_core::score::Layout;
    use serde_json::json;

    fn settings() -> Settings {
        Settings {
            stamp: String::new(),
            shards: 1,
            layout: Layout::DEFAULT,
            timezone: "Europe/Berlin".to_owned(),
        }
    }

    fn read(text: &str, environment: Option<&str>) -> Result<RecountRules, String> {
        parse(find_rules(text, environment)?, &settings()).map(|rules| RecountRules::from(&rules))
    }

    fn points(rules: &RecountRules, action: &str, at: &str) -> Option<i64> {
        let given = rules.given(action, Instant::parse(at)?);
        given.map(|given| given.points)
    }

    #[test]
    fn rules_are_found_in_each_form() {
        let table = "[[like]]\npoints = 5\n[[like]]\nfrom = 2026-11-20\npoints = 7\n";
        let configuration = table.replace("[like]", "[vars.RULES.like]");
        let environment_table = table.replace("[like]", "[env.production.vars.RULES.like]");
        let json = json!({"like": [{"points": 5}, {"from": "2026-11-20", "points": 7}]});
        let text = json!({"vars": {"RULES": json.to_string()}}).to_string();
        for (text, environment) in [
            (table, None),
            (&configuration, None),
            (&environment_table, Some("production")),
            (&json.to_string(), None),
            (&text, None),
        ] {
            let rules = read(text, environment).unwrap();
            assert_eq!(points(&rules, "like", "2026-11-19T22:59:59.999Z"), Some(5));
            assert_eq!(points(&rules, "like", "2026-11-19T23:00:00Z"), Some(7));
            assert_eq!(points(&rules, "comment", "2026-11-19T23:00:00Z"), Some(3));
            assert_eq!(points(&rules, "wave", "2026-11-19T23:00:00Z"), None);
            let stored = serde_json::to_string(&rules).unwrap();
            let read: RecountRules = serde_json::from_str(&stored).unwrap();
            assert_eq!(read, rules);
        }
    }

    #[test]
    fn files_without_rules_are_refused() {
        let date = "compatibility_date = \"2026-11-01\"\n";
        let finer = "like.points is finer than POINT_DECIMALS = 0 allows";
        for (text, environment, expected) in [
            (date, None, "has no [vars.RULES]"),
            ("[vars]\nPREFIX = \"ar\"", None, "has no [vars.RULES]"),
            (date, Some("preview"), "has no environment 'preview'"),
            ("[like]\npoints = 0.5", None, finer),
        ] {
            assert_eq!(read(text, environment).unwrap_err(), expected);
        }
    }

    #[test]
    fn later_recount_precedes_unless_it_lacks_the_action() {
        let rules = |text: &str| serde_json::from_str(text).unwrap();
        let both = r#"{"like":[[null,{"points":3,"received":1}]],"wave":[[null,{"points":9,"received":0}]]}"#;
        let like = r#"{"like":[[null,{"points":4,"received":2}]]}"#;
        let recounts = Recounts(vec![(5, rules(both)), (8, rules(like))]);
        let given = |entry, action| {
            let given = recounts.given(entry, action, Instant(0));
            given.map(|given| (given.points, given.received))
        };
        assert_eq!(given(5, "like"), Some((4, 2)));
        assert_eq!((given(5, "wave"), given(6, "wave")), (Some((9, 0)), None));
        assert_eq!((given(8, "like"), given(9, "like")), (Some((4, 2)), None));
    }
}
