//! The journal as JSON lines. `import` reads those of activities; `entry` has all that a rebuild needs.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::output::Output;
use crate::args::{ExportArgs, ServiceArgs};
use crate::client::client;
use crate::count::count;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::rebuild::journal::{Journal, RawPage};
use crate::request_error::RequestError;

/// Fields of lines that are not of an activity.
const ENTRY: &str = "entry";
const JOURNAL: &str = "journal";

/// The first line: what the entries depend on.
#[derive(Serialize)]
struct FirstLine<'a> {
    journal: Settings<'a>,
}

#[derive(Serialize)]
struct Settings<'a> {
    prefix: &'a str,
    /// The schema fingerprint without a generation.
    stamp: &'a str,
    /// Lifetimes of stored data.
    keep: &'a RawValue,
    exported_at: Timestamp,
}

/// A line of an entry.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    activity: Option<Activity>,
    entry: &'a RawValue,
}

/// An activity, as `POST /v1/activity` accepts it.
#[derive(Serialize)]
struct Activity {
    at: Timestamp,
    user: String,
    action: String,
    target: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    groups: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    undo: bool,
}

/// What an activity needs of an entry.
#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Entry {
    did: String,
    user: String,
    action: String,
    mark: String,
    at: String,
    groups: String,
}

/// Writes all entries of the journal in order.
pub async fn write(
    service: &ServiceArgs,
    args: &ExportArgs,
    output: &mut Output,
    progress: &Progress,
) -> Result<(), Failure> {
    let journal = Journal::new(client(service)?, args.retries);
    let mut next = Some(0);
    while let Some(after) = next {
        let notify = |error: &RequestError, wait| progress.retrying(&error.to_string(), wait);
        let page = journal.raw_page(None, after, notify).await?;
        if after == 0 {
            output.write(&json(&first_line(&page))?)?;
        }
        for entry in &page.entries {
            let activity = serde_json::from_str(entry.get()).ok().and_then(activity);
            output.write(&json(&Line { activity, entry })?)?;
        }
        let lines = output.lines;
        progress.advance(0, count(lines, "line"));
        next = page.next;
    }
    Ok(())
}

fn first_line(page: &RawPage) -> FirstLine<'_> {
    FirstLine {
        journal: Settings {
            prefix: &page.prefix,
            stamp: &page.stamp,
            keep: &page.keep,
            exported_at: Timestamp::now(),
        },
    }
}

/// Returns the activity of an entry; `None` for an adjustment, or an entry of another kind.
fn activity(entry: Entry) -> Option<Activity> {
    let (action, target) = entry.mark.split_once(':')?;
    let undo = match (entry.did.as_str(), action) {
        (_, "adjust") => return None,
        ("count", _) => false,
        ("undo", _) => true,
        _ => return None,
    };
    let groups = entry.groups.split(',').filter(|group| !group.is_empty());
    Some(Activity {
        at: Timestamp::from_millisecond(entry.at.parse().ok()?).ok()?,
        action: entry.action,
        target: target.to_owned(),
        groups: groups.map(str::to_owned).collect(),
        user: entry.user,
        undo,
    })
}

/// Returns a line for `import`, without the entry; `None` for a line that is of no activity.
#[must_use]
pub fn activity_of(line: &Map<String, Value>) -> Option<Map<String, Value>> {
    let mut activity = line.clone();
    activity.remove(ENTRY);
    activity.remove(JOURNAL);
    (!activity.is_empty()).then_some(activity)
}

fn json(line: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(line).map_err(|error| Failure::Data(error.to_string()))
}
