//! CSV and TSV of any database.

use activity_rank_sync::facts::{Profile, Row, Target};
use activity_rank_sync::instant::InstantFormat;
use activity_rank_sync::sources::{Adapter, Collector};
use activity_rank_sync::{Failure, Progress};
use serde_json::{Map, Value};

use crate::args::CsvArgs;
use crate::sync::dump::{failure, open};
use crate::upload::csv::{Columns, read};

/// The columns.
const COLUMNS: [&str; 14] = [
    "user", "action", "type", "target", "at", "on", "author", "groups", "title", "url", "image",
    "name", "avatar", "profile",
];

/// A file, or standard input.
pub struct Csv<'a>(pub &'a CsvArgs);

impl Adapter for Csv<'_> {
    const ID_PREFIX: &'static str = "";
    const TYPES: &'static [(&'static str, &'static str)] = &[];
    const UNIT: &'static str = "line";

    async fn read(self, collector: &mut Collector<'_>, _: &dyn Progress) -> Result<(), Failure> {
        let Self(args) = self;
        let columns = args.columns.as_deref().map(Columns::parse).transpose();
        let columns = columns.map_err(|what| Failure::Usage(format!("--columns: {what}")))?;
        let instants = InstantFormat {
            format: args.date_format.clone(),
            zone: args.timezone.clone(),
        };
        let (input, columns) = (open(&args.file)?, columns.unwrap_or_default());
        let is_column = |name: &str| COLUMNS.contains(&name);
        let read = read(input, &columns, is_column, |row| {
            if let Err(detail) = add(collector, &instants, &row.fields, row.number) {
                collector.facts.fault(row.number, detail);
            }
            true
        });
        read.map_err(|cause| failure(&args.file, cause))
    }
}

/// Adds a row: an activity, or without an action a user or a target.
fn add(
    collector: &mut Collector<'_>,
    instants: &InstantFormat,
    fields: &Map<String, Value>,
    place: u64,
) -> Result<(), String> {
    if let Some(unknown) = fields.keys().find(|name| !COLUMNS.contains(&name.as_str())) {
        return Err(format!("{unknown} has a cell and no name in the first row"));
    }
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    let owned = |name: &str| text(name).map(str::to_owned);
    let (user, target) = (text("user"), text("target"));
    let kind = match (text("action"), text("type")) {
        (Some(_), Some(_)) => return Err("has an action and a type".to_owned()),
        (action, kind) => action.or(kind),
    };
    if let Some(user) = user {
        let profile = Profile {
            name: owned("name"),
            avatar: owned("avatar"),
            url: owned("profile"),
        };
        if !profile.is_empty() {
            collector.facts.profile(user, profile);
        }
    }
    let receiver = text("on").or(target);
    if let Some(receiver) = receiver {
        let found = Target {
            title: owned("title"),
            url: owned("url"),
            image: owned("image"),
            author: owned("author"),
        };
        if found != Target::default() {
            collector.facts.target(receiver, found, place);
        }
    }
    let Some(kind) = kind else {
        return match (user, target) {
            (None, None) => Err("has no user, action or target".to_owned()),
            _ => Ok(()),
        };
    };
    let user = user.ok_or("has no user")?;
    let target = target.ok_or("has no target")?;
    let groups = fields.get("groups").and_then(Value::as_array);
    let groups = groups.into_iter().flatten().filter_map(Value::as_str);
    collector.activity(Row {
        kind,
        user,
        target,
        at: text("at").map(|at| instants.parse(at)).transpose()?,
        on: text("on"),
        author: None,
        groups: groups.map(str::to_owned).collect(),
        is_private: false,
        place,
    });
    Ok(())
}
