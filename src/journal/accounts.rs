//! The past of accounts as recounts have decided it, for readers of the journal that do not replay it.

use crate::archive::deployment_id;
use crate::platform::d1::{Columns, Database, FromRow, Statement};
use activity_rank_core::account::{Accounts, Past};
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;

/// The condition of the index `journal_of_accounts`.
macro_rules! of_accounts {
    () => {
        "entry ->> 'did' IN ('account', 'accounts')"
    };
}

/// The number of the last entry that the last recount of accounts has read; null without one.
pub(super) const UNTIL: &str = concat!(
    "(SELECT MAX(CAST(entry ->> 'accounts' ->> 'until' AS INTEGER)) FROM journal WHERE site = ?1 AND user = '' AND ",
    of_accounts!(),
    ")"
);

/// The last recount of accounts: `past`, and what it says of the entries before: `account` are joins, `link` the member of
/// each account, and `given` the source of an entry, see [`EFFECTIVE`].
pub(super) const PAST: &str = concat!(
    "past AS MATERIALIZED (SELECT decided, CAST(decided ->> 'until' AS INTEGER) AS until FROM \
    (SELECT entry ->> 'accounts' AS decided FROM journal WHERE site = ?1 AND user = '' AND ",
    of_accounts!(),
    " ORDER BY n DESC LIMIT 1)), \
    account AS MATERIALIZED (SELECT n, user, entry ->> 'of' AS member, entry ->> 'number' AS number FROM journal \
    WHERE site = ?1 AND user > '' AND ",
    of_accounts!(),
    " AND n <= (SELECT until FROM past)), \
    link AS MATERIALIZED (SELECT user, member FROM (SELECT user, member, MAX(n) FROM account GROUP BY user) \
    WHERE member <> ''), \
    given AS MATERIALIZED (SELECT CAST(key AS INTEGER) AS n, value AS source FROM past, json_each(decided, '$.sources'))"
);

/// The target of an activity.
pub(super) const TARGET: &str = "substr(entry ->> 'mark', length(entry ->> 'action') + 2)";

/// The entry `found` with its source `m`.
const GIVEN: &str = "json_set(json_remove(m.entry, '$.gave'), '$.did', iif(m.n = found.n, 'count', 'undo'), \
    '$.at', found.entry ->> 'at', '$.now', found.entry ->> 'now', '$.counted', m.entry ->> 'at', \
    '$.applied', iif(m.n = found.n, '', '-') || (m.entry ->> 'points'))";

/// The entries of the table `raw` as the last recount of accounts counts them: `effective`. Entries that do not count are
/// left out, and receipts that the journal lacks are added. An entry with another source has its points, or takes them back.
/// `n` is in their order, `number` the number of the entry, or one that no entry has, and `origin` that of the entry that has the
/// points.
const EFFECTIVE: &str = "found AS (SELECT raw.n, raw.shard, raw.user, raw.entry, raw.entry ->> 'did' AS did, source \
    FROM raw LEFT JOIN given ON given.n = raw.n \
    WHERE IFNULL(source, raw.entry ->> 'did' <> 'refused') <> 0 \
    AND (source IS NULL OR source <= raw.n OR raw.entry ->> 'did' = 'receive')), \
    sourced AS (SELECT found.n, found.n AS number, found.shard, found.user, iif(did = 'refused', iif(found.entry ->> 'undo' = '1', 'undo', 'count'), \
    did) AS did, iif(did = 'receive' OR source IS NULL, found.entry, (SELECT {given} FROM journal AS m WHERE m.n = source)) AS entry, \
    iif(did = 'receive', found.n, IFNULL(source, found.n)) AS origin, iif(did = 'receive', source, NULL) AS named, \
    found.entry ->> 'account' AS account FROM found UNION ALL \
    SELECT m.n, found.n, found.shard, found.user, 'undo', {given}, m.n, NULL, found.entry ->> 'account' FROM given \
    JOIN raw AS m ON m.n = source AND source > given.n JOIN journal AS found ON found.n = given.n \
    AND found.entry ->> 'did' <> 'receive' UNION ALL \
    SELECT raw.n, 8e15 - (made.value ->> 0), m.shard, '', 'receive', json_object('did', 'receive', 'now', m.entry ->> 'now', 'action', m.entry ->> 'action', \
    'changed', m.entry ->> 'at', 'date', m.entry ->> 'date', 'target', \
    (SELECT entry ->> 'target' FROM journal WHERE n = made.value ->> 2), 'points', CAST((made.value ->> 3) * \
    CAST(COALESCE(NULLIF(m.entry ->> 'received', ''), m.entry ->> 'gives') AS INTEGER) AS TEXT)), m.n, \
    made.value ->> 2, NULL FROM past, json_each(decided, '$.receipts') AS made JOIN raw ON raw.n = MAX(made.value ->> 0, made.value ->> 1) \
    JOIN journal AS m ON m.n = made.value ->> 1), \
    sent AS (SELECT sourced.*, CASE WHEN named IS NOT NULL THEN (SELECT iif(entry ->> 'did' = 'target', user, \
    {target}) FROM journal WHERE n = named) \
    WHEN account IS NOT NULL THEN IFNULL((SELECT account.user FROM account WHERE account.member = sourced.user \
    AND account.number = sourced.account), sourced.user) ELSE sourced.user END AS sender FROM sourced), \
    effective AS (SELECT sent.n, number, shard, did, entry, origin, IFNULL((SELECT member FROM link WHERE link.user = sender \
    AND did <> 'adjust' AND sent.n <= (SELECT until FROM past)), sender) AS user FROM sent)";

/// Returns `past` and what follows it, `raw` by this statement, and `effective`.
pub(super) fn effective(raw: &str) -> String {
    let effective = EFFECTIVE
        .replace("{given}", GIVEN)
        .replace("{target}", TARGET);
    format!("{PAST}, {raw}, {effective}")
}

/// The number of accounts whose last join a recount has read.
struct Counted(usize);

impl FromRow for Counted {
    fn from_row(columns: Columns) -> Option<Self> {
        columns.integer(0).map(Self)
    }
}

/// Returns whether the activity of accounts before their joins counts for the member; `None` for a user without accounts.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn read_past(
    journal: Option<&Database>,
    config: &Config,
    (user, accounts): (&str, &Accounts),
) -> Result<Option<Past>, Error> {
    let joined: Vec<&str> = match accounts.member() {
        Some(_) => vec![user],
        None => accounts.list().map(|(_, account)| account).collect(),
    };
    if joined.is_empty() {
        return Ok(None);
    }
    let Some(journal) = journal else {
        return Ok(Some(Past::LeftOut));
    };
    let sql = format!(
        "SELECT COUNT(*) FROM json_each(?2) AS joined WHERE \
         (SELECT MAX(n) FROM journal WHERE site = ?1 AND user = joined.value AND {}) <= {UNTIL}",
        of_accounts!()
    );
    let users = serde_json::to_string(&joined).unwrap_or_default();
    let values = vec![deployment_id(config).into(), users.into()];
    let rows: Vec<Counted> = journal.query(Statement::new(&sql, values)).await?;
    let counted = rows.first().map_or(0, |row| row.0);
    Ok(Some(match counted == joined.len() {
        true => Past::Counted,
        false => Past::Pending,
    }))
}
