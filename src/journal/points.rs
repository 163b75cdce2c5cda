//! Reads what changed a user's points from the journal.

use crate::archive::deployment_id;
use crate::platform::d1::{Database, Statement};
use activity_rank_core::config::Config;
use activity_rank_core::content::{id_of_member, member_of_stub};
use activity_rank_core::error::Error;
use activity_rank_core::event;
use activity_rank_core::point_changes::{
    Cause, PointChange, PointsPage, PointsRequest, Source, steps_of_longest_period,
};
use serde::Deserialize;
use serde_json::{Map, Value};

/// A row of the table.
#[derive(Deserialize)]
struct Row {
    n: u64,
    entry: String,
    undone: u32,
}

/// The fields of an entry.
struct Fields(Map<String, Value>);

impl Fields {
    /// Returns a field; empty if the entry lacks it.
    fn text(&self, name: &str) -> &str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    fn integer(&self, name: &str) -> Option<i64> {
        self.text(name).parse().ok()
    }
}

/// Reads a page of a user's changes, newest first.
///
/// # Errors
///
/// [`Error::InvalidRequest`] for a position that is not one, [`Error::StoreUnavailable`] if the database fails.
pub async fn read_points(
    journal: &Database,
    config: &Config,
    request: &PointsRequest,
) -> Result<PointsPage, Error> {
    let before: Option<u32> = match &request.before {
        Some(text) => Some(
            text.parse()
                .map_err(|_| PointsRequest::invalid_position())?,
        ),
        None => None,
    };
    // An undo that found nothing changed no board.
    let sql = "SELECT n, entry, EXISTS (SELECT 1 FROM journal AS later WHERE later.site = ?1 \
         AND later.user <> '' AND later.user = ?2 AND later.entry ->> 'did' = 'undo' \
         AND later.entry ->> 'mark' = journal.entry ->> 'mark' AND later.n > journal.n \
         AND later.entry ->> 'applied' <> '') AS undone FROM journal \
         WHERE site = ?1 AND user <> '' AND user = ?2 AND n < IFNULL(?3, 9e15) \
         AND entry ->> 'did' IN ('count', 'undo', 'adjust', 'receive') \
         AND COALESCE(entry ->> 'applied', entry ->> 'did') <> '' ORDER BY n DESC LIMIT ?4 + 1";
    let values = vec![
        deployment_id(config).into(),
        request.user.as_str().into(),
        before.into(),
        request.limit.into(),
    ];
    let mut rows: Vec<Row> = journal.query(Statement::new(sql, values)).await?;
    let more = rows.len() > request.limit as usize;
    rows.truncate(request.limit as usize);
    let unexpected = || Error::StoreUnavailable("unexpected entry of the journal".to_owned());
    let changes = rows.iter().map(|row| decode(row).ok_or_else(unexpected));
    Ok(PointsPage {
        source: Source::Journal,
        changes: changes.collect::<Result<_, _>>()?,
        next: rows.last().filter(|_| more).map(|row| row.n.to_string()),
        is_behind: false,
    })
}

fn decode(row: &Row) -> Option<PointChange> {
    let fields = Fields(serde_json::from_slice(row.entry.as_bytes()).ok()?);
    let at = fields.integer("at").or(fields.integer("now"))?;
    if fields.text("did") == "receive" {
        let target = match fields.text("target") {
            "" => member_of_stub(fields.text("listed")),
            target => target,
        };
        return Some(PointChange {
            at,
            cause: Cause::Received,
            action: String::new(),
            target: id_of_member(target).to_owned(),
            steps: fields.integer("points")?,
            event: None,
            is_undone: false,
        });
    }
    let steps = steps_of_longest_period(&|name| fields.text(name))?;
    let event = fields.text("kinds") == event::LETTER;
    let event = event.then(|| fields.text("groups").to_owned());
    let change = PointChange::from_record(fields.text("mark"), at, steps, event);
    Some(PointChange {
        cause: match fields.text("did") {
            "undo" => Cause::Undo,
            _ => change.cause,
        },
        is_undone: row.undone > 0,
        ..change
    })
}
