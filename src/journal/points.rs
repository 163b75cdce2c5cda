//! Reads what changed a user's points from the journal.

use super::accounts::{UNTIL, effective};
use super::refusals;
use crate::archive::deployment_id;
use crate::platform::d1::{Columns, Database, FromRow, Rows, Statement};
use activity_rank_core::account::Accounts;
use activity_rank_core::config::Config;
use activity_rank_core::content::{id_of_member, member_of_stub};
use activity_rank_core::error::Error;
use activity_rank_core::event;
use activity_rank_core::point_changes::{
    Cause, PointChange, PointsPage, PointsRequest, Refusal, SOURCE_GONE, Source,
    steps_of_longest_period,
};
use serde_json::{Map, Value};

/// When a change happened, in Unix ms. The index `journal_by_time` has the same expression.
const AT: &str = "CAST(COALESCE(entry ->> 'at', \
    CASE entry ->> 'did' WHEN 'receive' THEN entry ->> 'changed' END, entry ->> 'now') AS INTEGER)";

/// Whether a row changed points: an undo that found nothing changed no board.
const CHANGED: &str = "entry ->> 'did' IN ('count', 'undo', 'adjust', 'receive') \
    AND COALESCE(entry ->> 'applied', entry ->> 'did') <> ''";

/// The users of a person, their rows if the person has several, and the rows of receipts that the journal lacks.
const PERSONS_AND_ROWS: &str = "persons AS MATERIALIZED (SELECT ?2 AS user UNION SELECT user FROM account WHERE member = ?2 \
    UNION SELECT member FROM account WHERE user = ?2 AND member <> ''), \
    raw AS MATERIALIZED (SELECT n, shard, user, entry FROM journal WHERE site = ?1 AND user <> '' \
    AND user IN (SELECT user FROM persons WHERE (SELECT COUNT(*) FROM persons) > 1) UNION \
    SELECT journal.n, shard, user, entry FROM past, json_each(decided, '$.receipts') AS made \
    CROSS JOIN journal ON journal.n = MAX(made.value ->> 0, made.value ->> 1))";

/// The rows of a user.
const OWN: &str = "site = ?1 AND user <> '' AND user = ?2";

/// Whether a row undoes a listed one. Numbers do not have the order of several shards.
const UNDONE: &str = "{later}.entry ->> 'did' = 'undo' AND {later}.entry ->> 'mark' = listed.entry ->> 'mark' \
    AND {later}.entry ->> 'applied' <> '' AND (CAST({later}.entry ->> 'now' AS INTEGER), {later}.n) \
    >= (CAST(listed.entry ->> 'now' AS INTEGER), listed.n + (listed.entry ->> 'did' = 'undo'))";

/// An instant before and one after all others, in Unix ms.
const ALWAYS: (i64, i64) = (-9_000_000_000_000_000, 9_000_000_000_000_000);

/// A row of the table.
struct Change {
    n: u64,
    at: i64,
    entry: String,
    undone: u32,
}

impl FromRow for Change {
    fn from_row(mut columns: Columns) -> Option<Self> {
        Some(Self {
            n: columns.integer(0)?,
            at: columns.integer(1)?,
            entry: columns.text(2)?,
            undone: columns.integer(3)?,
        })
    }
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

/// Returns the end of a statement that lists a page of rows, newest first.
fn range() -> String {
    format!(
        "{AT} BETWEEN ?3 AND ?4 AND ({AT} < ?4 OR n < ?5) AND {CHANGED} ORDER BY {AT} DESC, n DESC LIMIT ?6 + 1"
    )
}

/// Returns the statement that lists a page after a recount of accounts.
pub fn recounted(values: Vec<Value>) -> Statement {
    let (range, undone) = (range(), UNDONE.replace("{later}", "later"));
    let sql = format!(
        "WITH {}, own AS MATERIALIZED (SELECT CAST(number AS INTEGER) AS n, entry FROM effective WHERE user = ?2), listed AS (\
         SELECT * FROM (SELECT n, {AT} AS at, entry FROM journal WHERE (SELECT COUNT(*) FROM persons) = 1 AND {OWN} \
         AND n NOT IN (SELECT n FROM given WHERE source = 0) AND {range}) \
         UNION ALL SELECT * FROM (SELECT n, {AT} AS at, entry FROM own WHERE {range}) ORDER BY at DESC, n DESC LIMIT ?6 + 1) \
         SELECT n, at, entry, EXISTS (SELECT 1 FROM journal AS later WHERE (SELECT COUNT(*) FROM persons) = 1 \
         AND later.site = ?1 AND later.user <> '' AND later.user = ?2 AND {undone}) \
         OR EXISTS (SELECT 1 FROM own AS known WHERE {}) AS undone FROM listed",
        effective(PERSONS_AND_ROWS),
        UNDONE.replace("{later}", "known"),
    );
    Statement::new(&sql, values)
}

/// Reads a page of a user's changes, newest first, with what did not count for the user and for `accounts`.
///
/// # Errors
///
/// [`Error::InvalidRequest`] for a position that is not one, [`Error::StoreUnavailable`] if the database fails.
pub async fn read_points(
    journal: &Database,
    config: &Config,
    request: &PointsRequest,
    accounts: &Accounts,
) -> Result<PointsPage, Error> {
    let (first, last) = request
        .between
        .map_or(ALWAYS, |(first, last)| (first.0, last.0));
    let (last, before, end) = match &request.before {
        Some(text) => {
            let (at, n) = parse_position(text).ok_or_else(PointsRequest::invalid_position)?;
            // The page before has the refusals of this instant.
            (last.min(at), n, at.min(last.saturating_add(1)))
        }
        None => (last, ALWAYS.1, last + 1),
    };
    let undone = UNDONE.replace("{later}", "later");
    // A row without a number says that accounts were recounted.
    let sql = format!(
        "SELECT * FROM (SELECT n, {AT} AS at, entry, EXISTS (SELECT 1 FROM journal AS later WHERE later.site = ?1 \
         AND later.user <> '' AND later.user = ?2 AND {undone}) AS undone FROM journal AS listed WHERE {OWN} AND {range}) \
         UNION ALL SELECT 0, 0, '', 0 WHERE {UNTIL} > 0 ORDER BY at DESC, n DESC",
        range = range(),
    );
    let values = vec![
        deployment_id(config).into(),
        request.user.as_str().into(),
        first.into(),
        last.into(),
        before.into(),
        request.limit.into(),
    ];
    let mut statements = vec![Statement::new(&sql, values.clone())];
    if request.refused && config.refused_days.is_some() {
        let users = accounts.list().map(|(_, account)| account);
        let users: Vec<&str> = [request.user.as_str()].into_iter().chain(users).collect();
        statements.push(refusals::select(config, &users, (first, end)));
    }
    let results = journal.run(&statements).await?;
    let mut rows: Vec<Change> = results.first().map_or(Ok(Vec::new()), Rows::decode)?;
    if rows.iter().any(|row| row.n == 0) {
        rows = journal.query(recounted(values)).await?;
    }
    let more = rows.len() > request.limit as usize;
    rows.truncate(request.limit as usize);
    let oldest = rows.last().filter(|_| more);
    let mut refused = Vec::new();
    for text in results.get(1).map_or(Ok(Vec::new()), Rows::texts)? {
        let refusal = Refusal::from_json(&text);
        refused.extend(refusal.filter(|refusal| oldest.is_none_or(|row| refusal.at >= row.at)));
    }
    let unexpected = || Error::StoreUnavailable("unexpected entry of the journal".to_owned());
    let changes = rows.iter().map(|row| decode(row).ok_or_else(unexpected));
    Ok(PointsPage {
        source: Source::Journal,
        changes: changes.collect::<Result<_, _>>()?,
        next: oldest.map(|row| format!("{}-{}", row.at, row.n)),
        is_behind: false,
        moderation: None,
        exclusions: Vec::new(),
        refused: request.refused.then_some(refused),
    })
}

/// Reads the reason of the moderator who hid or froze a user last, or reverted that; `None` if the user may not read it.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn read_moderation_reason(
    journal: &Database,
    config: &Config,
    user: &str,
) -> Result<Option<String>, Error> {
    // A frozen user has no later activity, so few rows are read.
    let sql = format!(
        "SELECT iif(entry ->> 'public' = '1', entry ->> 'reason', '') AS text FROM journal \
         WHERE site = ?1 AND user <> '' AND user = ?2 AND entry ->> 'did' = 'moderate' ORDER BY {AT} DESC, n DESC LIMIT 1"
    );
    let statement = Statement::new(&sql, vec![deployment_id(config).into(), user.into()]);
    let results = journal.run(&[statement]).await?;
    let mut texts = results.first().map_or(Ok(Vec::new()), Rows::texts)?;
    Ok(texts.pop().filter(|reason| !reason.is_empty()))
}

/// Reads the reasons of the cases that exclude activity of a user, as far as the user may read them.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn read_exclusion_reasons(
    journal: &Database,
    config: &Config,
    user: &str,
) -> Result<Vec<String>, Error> {
    let sql = "SELECT reason AS text FROM cases WHERE site = ?1 AND id IN (SELECT entry ->> 'case' FROM journal \
         WHERE site = ?1 AND user = ?2 AND entry ->> 'did' = 'exclude') AND state = 'excluded' AND public = 1 \
         ORDER BY decided";
    let values = vec![deployment_id(config).into(), user.into()];
    journal.texts(Statement::new(sql, values)).await
}

/// Parses the instant and the number of the last row of a page.
fn parse_position(text: &str) -> Option<(i64, i64)> {
    let (at, n) = text.rsplit_once('-')?;
    Some((at.parse().ok()?, n.parse().ok()?))
}

fn decode(row: &Change) -> Option<PointChange> {
    let fields = Fields(serde_json::from_slice(row.entry.as_bytes()).ok()?);
    let at = row.at;
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
            reason: None,
            is_undone: false,
            source_gone: false,
        });
    }
    let steps = steps_of_longest_period(&|name| fields.text(name))?;
    let event = fields.text("kinds") == event::LETTER;
    let event = event.then(|| fields.text("groups").to_owned());
    let change = PointChange::from_record(fields.text("mark"), at, steps, event);
    // The reason of an adjustment is any text.
    let source_gone = change.cause == Cause::Activity && fields.text("reason") == SOURCE_GONE;
    Some(PointChange {
        source_gone,
        cause: match fields.text("did") {
            "undo" => Cause::Undo,
            _ => change.cause,
        },
        is_undone: row.undone > 0,
        reason: (fields.text("public") == "1").then(|| fields.text("reason").to_owned()),
        ..change
    })
}
