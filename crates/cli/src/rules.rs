//! `activity-rank rules`: prints, previews, publishes and takes back versions of the rules.

use std::fs;
use std::process::ExitCode;

use reqwest::Method;
use serde::Deserialize;
use serde_json::{Map, Number, Value, json};

use crate::args::{ChangeArgs, RulesArgs, RulesCommand, ServiceArgs};
use crate::board::{RETRIES, print_body};
use crate::client::client;
use crate::failure::Failure;
use crate::printable::printable;
use crate::rebuild::rules::read_table;
use crate::rules_preview;

/// The rules and their versions.
#[derive(Debug, Deserialize)]
struct Rules {
    rules: Map<String, Value>,
    locked: bool,
    versions: Vec<Version>,
}

/// A published version.
#[derive(Debug, Deserialize)]
struct Version {
    version: u32,
    from: String,
    state: String,
    changes: Vec<Change>,
    takes_back: Option<u32>,
    reason: Option<String>,
}

/// A change of one field.
#[derive(Debug, Deserialize)]
struct Change {
    action: String,
    field: String,
    before: Option<Number>,
    after: Option<Number>,
}

/// Runs a command of `rules`.
///
/// # Errors
///
/// Returns [`Failure`] if the service gives no usable response, the file cannot be read or stdout fails.
pub async fn run(service: &ServiceArgs, args: &RulesArgs) -> Result<ExitCode, Failure> {
    let client = client(service)?;
    let mut url = client.url(&["v1", "rules"]);
    match &args.command {
        RulesCommand::Show { json } => {
            let get = || client.get_with_key(&url);
            let body = client.with_backoff(RETRIES, |_, _| (), get).await?;
            print_body(&url, &body, *json, describe)
        }
        RulesCommand::Preview(args) => {
            let changes = changes(&args.changes)?;
            rules_preview::run(service, args, &changes).await
        }
        RulesCommand::Publish(args) => {
            let fields = [
                ("from", args.from.as_ref().map(|from| json!(from))),
                ("rules", Some(changes(&args.changes)?)),
                ("reason", Some(json!(args.reason.reason))),
                ("public_reason", Some(json!(args.reason.public_reason))),
            ];
            let set = fields.into_iter();
            let set = set.filter_map(|(name, value)| Some((name.to_owned(), value?)));
            let publication = Value::Object(set.collect());
            let send = || client.send(Method::POST, &url, publication.to_string());
            let body = client.with_backoff(RETRIES, |_, _| (), send).await?;
            print_body(&url, &body, args.reason.json, describe_version)
        }
        RulesCommand::TakeBack { version, reason } => {
            url = client.url(&["v1", "rules", &version.to_string()]);
            url.query_pairs_mut()
                .append_pair("reason", &reason.reason)
                .append_pair("public_reason", &reason.public_reason.to_string());
            let send = || client.send(Method::DELETE, &url, String::new());
            let body = client.with_backoff(RETRIES, |_, _| (), send).await?;
            print_body(&url, &body, reason.json, describe_version)
        }
    }
}

/// Returns the changes by action, of the file or of the options.
fn changes(args: &ChangeArgs) -> Result<Value, Failure> {
    if let Some(file) = &args.file {
        let text = fs::read_to_string(file).map_err(|cause| Failure::File {
            name: file.clone(),
            cause,
        })?;
        return read_table(&text).map_err(|error| Failure::Usage(format!("{file}: {error}")));
    }
    let mut actions = Map::new();
    for change in &args.set {
        let parsed = change.split_once('=').and_then(|(name, value)| {
            let (action, field) = name.split_once('.')?;
            let value = match value {
                "none" => Value::Null,
                value => serde_json::from_str::<Number>(value).ok()?.into(),
            };
            Some((action, field, value))
        });
        let (action, field, value) = parsed.ok_or_else(|| {
            Failure::Usage(format!(
                "--set {}: expected ACTION.FIELD=NUMBER, or none to remove a cap",
                printable(change)
            ))
        })?;
        let fields = actions.entry(action).or_insert_with(|| json!({}));
        if let Value::Object(fields) = fields {
            fields.insert(field.to_owned(), value);
        }
    }
    Ok(Value::Object(actions))
}

fn describe(rules: &Rules) -> String {
    let mut lines = Vec::new();
    for (action, rule) in &rules.rules {
        let fields = rule.as_object().into_iter().flatten();
        let mut fields: Vec<_> = fields.collect();
        fields.sort_by_key(|(name, _)| *name != "points");
        let fields = fields
            .into_iter()
            .map(|(name, value)| describe_field(name, value));
        let fields = fields.collect::<Vec<_>>().join(", ");
        lines.push(printable(&format!("{action}: {fields}")));
    }
    if rules.locked {
        lines.push("RULES_LOCKED is true: no version can be published".to_owned());
    }
    lines.extend(rules.versions.iter().map(describe_version));
    lines.join("\n")
}

/// Returns what a field of a rule says.
fn describe_field(name: &str, value: &Value) -> String {
    match (name, value.as_str(), value.as_bool()) {
        ("points", ..) => format!("{value} points"),
        ("once", Some("standing"), _) => "once for each target".to_owned(),
        ("once", Some("day"), _) => "once a day for each target".to_owned(),
        ("undo", _, Some(true)) => "can be undone".to_owned(),
        ("undo", _, Some(false)) => "cannot be undone".to_owned(),
        ("by", Some("user"), _) => "sent by members or services".to_owned(),
        ("by", Some("service"), _) => "sent by services alone".to_owned(),
        ("own", _, Some(true)) => "also on own targets".to_owned(),
        ("own", _, Some(false)) => "not on own targets".to_owned(),
        ("daily_cap", ..) => format!("at most {value} points a day"),
        ("member_cap", ..) => format!("at most {value} points a day if members send it"),
        ("pair_cap", ..) => format!("at most {value} points a day to one member"),
        ("cooldown", ..) => format!("at least {value} s apart"),
        ("received", ..) => format!("{value} points for the target and its author"),
        (name, ..) => format!("{name} {value}"),
    }
}

fn describe_version(version: &Version) -> String {
    let value = |value: &Option<Number>| {
        let value = value.as_ref();
        value.map_or("none".to_owned(), ToString::to_string)
    };
    let changes = version.changes.iter().map(|change| {
        let (before, after) = (value(&change.before), value(&change.after));
        format!("{}.{} {before} -> {after}", change.action, change.field)
    });
    let changes = changes.collect::<Vec<_>>().join(", ");
    let mut line = format!(
        "version {} from {} ({})",
        version.version, version.from, version.state
    );
    if let Some(other) = version.takes_back {
        line = format!("{line}, takes back {other}");
    }
    line = match changes.as_str() {
        "" => format!("{line}: no changes"),
        changes => format!("{line}: {changes}"),
    };
    if let Some(reason) = &version.reason {
        line = format!("{line}: {reason}");
    }
    printable(&line)
}
