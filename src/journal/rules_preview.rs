//! The previews of rules of a deployment: the table `rules_previews`, and the part of the journal that they read.

use crate::archive::deployment_id;
use crate::platform::d1::{Database, Rows, Statement};
use activity_rank_core::CLOCK_TOLERANCE;
use activity_rank_core::calendar::{Instant, Period};
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;
use activity_rank_core::rules::{PreviewRequest, Version, VersionList};
use activity_rank_store::deployment::Deployment;
use activity_rank_store::progress::wake_preview;
use activity_rank_store::rules_preview::{ACTIVITY_COMMANDS, RuleSets, scratch_shard, version};
use serde_json::{Map, Value, json};

/// The most rows of the journal that one statement reads.
pub const SCANNED: i64 = 20_000;

/// The longest time of a preview, ms: then the first keys expire.
pub const MAX_TIME: i64 = 20 * 3_600_000;

/// The part of the budget for which a run reads [`ROWS`] rows: about ten milliseconds of processor time.
const BUDGET: u32 = 50;

/// Rows of a slice.
pub const ROWS: usize = 200;

/// The cost of a preview.
pub struct PreviewCost {
    /// Rows of the journal, at most.
    pub entries: i64,
    /// Redis commands, at most.
    pub commands: u64,
    /// Minutes, about.
    pub minutes: i64,
    /// The last row.
    last: i64,
}

/// Returns the rows that a run reads.
#[must_use]
pub fn run_rows(config: &Config) -> i64 {
    ROWS as i64 * i64::from((config.cron_budget / BUDGET).max(1))
}

/// Returns the cost of a preview of activity from an instant on.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails; [`Error::RulesConflict`] for a span that takes too long.
pub async fn cost(
    journal: &Database,
    config: &Config,
    from: Instant,
) -> Result<PreviewCost, Error> {
    // The activity of a caller may be dated ahead.
    let from = Instant(from.0 - CLOCK_TOLERANCE);
    let (last, before) = read_extent(journal, config, from).await?;
    let entries = last - before.min(last);
    let rows = run_rows(config);
    // Comparing boards and deleting keys take about as long as a tenth of the rows.
    let minutes = (entries + entries / 10) / rows + before / SCANNED + 2;
    if minutes * 60_000 > MAX_TIME {
        let detail = format!(
            "The preview would take about {} hours, and may take {}: choose a shorter span.",
            minutes / 60,
            MAX_TIME / 3_600_000
        );
        return Err(Error::RulesConflict(detail));
    }
    Ok(PreviewCost {
        entries,
        commands: entries.unsigned_abs() * ACTIVITY_COMMANDS,
        minutes,
        last,
    })
}

/// Starts a preview, unless one is running. Returns whether it was started.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database or the store fails.
pub async fn start(
    journal: &Database,
    deployment: &Deployment,
    versions: &VersionList,
    (request, cost): (&PreviewRequest, &PreviewCost),
    now: Instant,
) -> Result<bool, Error> {
    let config = &deployment.config;
    let in_force = version(false, versions.in_force(config, now));
    let changed = version(true, request.changes.clone());
    let job = json!({
        "from": request.from.0,
        "until": request.to.0,
        "rules": [in_force.line(), changed.line()],
        // Two previews never begin in the same millisecond.
        "shard": scratch_shard(now.0 as u32),
        "entries": cost.entries,
        "last": cost.last,
    });
    let progress = json!({"phase": "read", "n": 0, "done": [], "figures": {}});
    // A run of cron without a preview ends it.
    wake_preview(deployment).await?;
    insert(journal, config, (&job, &progress), now).await
}

/// Returns the rule sets of a preview. `config` is changed to one shard with boards of all time alone.
#[must_use]
pub fn rule_sets(mut config: Config, preview: &Preview) -> RuleSets {
    config.shards = 1;
    config.periods = vec![Period::All];
    if config.has_content() {
        config.content_periods = vec![Period::All];
    }
    let lines = preview.job.get("rules").and_then(Value::as_array);
    let mut lines = lines.into_iter().flatten().filter_map(Value::as_str);
    let mut next = |is_changed| {
        let parsed = lines.next().and_then(Version::parse);
        parsed.unwrap_or_else(|| version(is_changed, Vec::new()))
    };
    let versions = [next(false), next(true)];
    RuleSets::new(config, Instant(preview.id), versions)
}

/// Why a preview has failed whose rows an erasure may have read.
const ERASED: &str = "erased";

/// A preview.
#[derive(Clone, Debug, Default)]
pub struct Preview {
    /// The start, Unix ms.
    pub id: i64,
    /// `running`, `done`, `cancelled` or `failed`.
    pub state: String,
    /// Completed slices.
    pub slice: u64,
    /// Span, rules and shard, as [`crate::jobs::rules_preview`] writes them.
    pub job: Map<String, Value>,
    /// Position and figures.
    pub progress: Map<String, Value>,
    /// The report as JSON.
    pub result: Option<String>,
    /// Why it has failed.
    pub error: Option<String>,
    /// The last slice, Unix ms.
    pub updated: i64,
}

/// The fields of a [`Preview`] as JSON.
const FIELDS: &str = "json_object('id', id, 'state', state, 'slice', slice, 'job', json(job), 'progress', json(progress), \
    'result', result, 'error', error, 'updated', updated) AS text FROM rules_previews";

impl Preview {
    fn parse(text: &str) -> Option<Self> {
        let mut fields = parse(text)?;
        let mut take = |name: &str| fields.get_mut(name).map(Value::take).unwrap_or_default();
        let text = |value: Value| value.as_str().map(str::to_owned);
        let object = |value: Value| match value {
            Value::Object(object) => Some(object),
            _ => None,
        };
        Some(Self {
            id: take("id").as_i64()?,
            state: text(take("state"))?,
            slice: take("slice").as_u64()?,
            job: object(take("job"))?,
            progress: object(take("progress"))?,
            result: text(take("result")),
            error: text(take("error")),
            updated: take("updated").as_i64()?,
        })
    }
}

fn parse(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_slice(text.as_bytes()).ok()
}

/// Runs a statement with the site as the first value, and returns the texts of its rows.
async fn texts(
    journal: &Database,
    config: &Config,
    sql: &str,
    mut values: Vec<Value>,
) -> Result<Vec<String>, Error> {
    values.insert(0, deployment_id(config).into());
    journal.texts(Statement::new(sql, values)).await
}

/// Returns the numbers of the last row of the journal, and of the last one that was processed before an instant, 0 for none. It
/// takes a binary search: rows have gaps, and emptied ones have no instant.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn read_extent(
    journal: &Database,
    config: &Config,
    from: Instant,
) -> Result<(i64, i64), Error> {
    let early = "IFNULL((SELECT CAST(entry ->> 'now' AS INTEGER) < ?2 FROM journal WHERE +site = ?1 \
        AND n > (low + high) / 2 AND entry ->> 'now' IS NOT NULL ORDER BY n LIMIT 1), 0)";
    let sql = format!(
        "WITH RECURSIVE search AS (SELECT 0 AS low, \
         IFNULL((SELECT n FROM journal WHERE +site = ?1 ORDER BY n DESC LIMIT 1), 0) AS high UNION ALL \
         SELECT iif({early}, (low + high) / 2 + 1, low), iif({early}, high, (low + high) / 2) FROM search WHERE low < high) \
         SELECT MAX(high) || ' ' || MAX(low) AS text FROM search"
    );
    let rows = texts(journal, config, &sql, vec![from.0.into()]).await?;
    let row = rows.first().and_then(|row| row.split_once(' '));
    let numbers = row.and_then(|(last, before)| Some((last.parse().ok()?, before.parse().ok()?)));
    numbers.ok_or_else(|| Error::StoreUnavailable("no extent of the journal".to_owned()))
}

/// Reads rows after `after` until `last` that a preview needs: changes that activity depends on, and activity of a span, without
/// the rows `done`, oldest first: their fields, and the number `n` of each.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn read_rows(
    journal: &Database,
    config: &Config,
    (after, last, done): (i64, i64, &Value),
    span: [Instant; 2],
    limit: usize,
) -> Result<Vec<Map<String, Value>>, Error> {
    // `+` keeps the database from an index that is not in the order of the rows.
    let sql = "SELECT json_set(entry, '$.n', n) AS text FROM journal WHERE +site = ?1 AND n > ?2 AND n <= ?3 \
        AND n NOT IN (SELECT value FROM json_each(?4)) \
        AND (entry ->> 'did' IN ('target', 'moderate-target', 'profile', 'moderate', 'account', 'exclude', 'erase') \
        OR entry ->> 'did' IN ('count', 'undo', 'refused') AND CAST(entry ->> 'at' AS INTEGER) >= ?5 \
        AND CAST(entry ->> 'at' AS INTEGER) < ?6) ORDER BY n LIMIT ?7";
    let [from, until] = span;
    let values = vec![
        after.into(),
        last.into(),
        done.to_string().into(),
        from.0.into(),
        until.0.into(),
        limit.into(),
    ];
    let rows = texts(journal, config, sql, values).await?;
    Ok(rows.iter().filter_map(|row| parse(row)).collect())
}

/// Reads the last preview, or the first one that has scratch keys.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn read(
    journal: &Database,
    config: &Config,
    has_keys: bool,
) -> Result<Option<Preview>, Error> {
    let order = match has_keys {
        true => "AND uncleared = 1 ORDER BY id LIMIT 1",
        false => "ORDER BY id DESC LIMIT 1",
    };
    let sql = format!("SELECT {FIELDS} WHERE site = ?1 {order}");
    let rows = texts(journal, config, &sql, Vec::new()).await?;
    Ok(rows.first().and_then(|row| Preview::parse(row)))
}

/// Inserts a preview, unless one is running, and deletes those before it that have no scratch keys. Returns whether it was
/// inserted.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn insert(
    journal: &Database,
    config: &Config,
    (job, progress): (&Value, &Value),
    now: Instant,
) -> Result<bool, Error> {
    let site = Value::from(deployment_id(config));
    let insert = "INSERT INTO rules_previews (site, id, state, slice, uncleared, job, progress, updated) \
        SELECT ?1, ?2, 'running', 0, 1, ?3, ?4, ?2 \
        WHERE NOT EXISTS (SELECT 1 FROM rules_previews WHERE site = ?1 AND state = 'running') \
        ON CONFLICT DO NOTHING RETURNING state AS text";
    let values = vec![
        site.clone(),
        now.0.into(),
        job.to_string().into(),
        progress.to_string().into(),
    ];
    let delete = "DELETE FROM rules_previews WHERE site = ?1 AND uncleared = 0 \
        AND id < (SELECT MAX(id) FROM rules_previews WHERE site = ?1)";
    let statements = [
        Statement::new(insert, values),
        Statement::new(delete, vec![site]),
    ];
    let results = journal.run(&statements).await?;
    let inserted = results.first().map_or(Ok(Vec::new()), Rows::texts)?;
    Ok(!inserted.is_empty())
}

/// Stores the progress after a slice, if it is the next one of a preview that is running, and the report with those whom it
/// names if it was the last one. Returns whether it was stored.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn advance(
    journal: &Database,
    config: &Config,
    (preview, progress): (&Preview, &Value),
    report: Option<(String, String)>,
    now: Instant,
) -> Result<bool, Error> {
    let sql = "UPDATE rules_previews SET slice = slice + 1, progress = ?4, updated = ?5, result = ?6, members = ?7, \
        state = iif(?6 IS NULL, state, 'done') WHERE site = ?1 AND id = ?2 AND slice = ?3 AND state = 'running' \
        RETURNING state AS text";
    let (result, members) = report.unzip();
    let values = vec![
        preview.id.into(),
        preview.slice.into(),
        progress.to_string().into(),
        now.0.into(),
        result.into(),
        members.into(),
    ];
    let stored = texts(journal, config, sql, values).await?;
    Ok(!stored.is_empty())
}

/// Ends the preview that is running, by another state and the reason of a failure.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn end(
    journal: &Database,
    config: &Config,
    state: &str,
    error: Option<&str>,
    now: Instant,
) -> Result<(), Error> {
    let sql = "UPDATE rules_previews SET state = ?2, error = ?3, updated = ?4 WHERE site = ?1 AND state = 'running'";
    let values = vec![state.into(), error.into(), now.0.into()];
    texts(journal, config, sql, values).await?;
    Ok(())
}

/// Records that a preview has no scratch keys any more.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn clear(journal: &Database, config: &Config, id: i64) -> Result<(), Error> {
    let sql = "UPDATE rules_previews SET uncleared = 0 WHERE site = ?1 AND id = ?2";
    texts(journal, config, sql, vec![id.into()]).await?;
    Ok(())
}

/// Returns the statement that ends a preview which may have read erased members, and deletes the result of one that names them.
pub(super) fn erase(config: &Config, users: &[&str]) -> Statement {
    let sql = "UPDATE rules_previews SET state = 'failed', error = ?3, result = NULL, members = NULL WHERE site = ?1 \
        AND (state = 'running' OR state = 'done' AND EXISTS (SELECT 1 FROM json_each(members) AS member \
        JOIN json_each(?2) AS erased ON erased.value = member.value))";
    let users = serde_json::to_string(users).unwrap_or_default();
    let values = vec![deployment_id(config).into(), users.into(), ERASED.into()];
    Statement::new(sql, values)
}
