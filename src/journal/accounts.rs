//! Reads whether recounts have added the past of accounts.

use crate::archive::deployment_id;
use crate::platform::d1::{Columns, Database, FromRow, Statement};
use activity_rank_core::account::{Accounts, Past};
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;

/// The condition of the index `journal_of_accounts`.
const OF_ACCOUNTS: &str = "entry ->> 'did' IN ('account', 'accounts')";

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
         (SELECT MAX(n) FROM journal WHERE site = ?1 AND user = joined.value AND {OF_ACCOUNTS}) <= \
         (SELECT MAX(entry ->> 'accounts' ->> 'until') FROM journal WHERE site = ?1 AND user = '' AND {OF_ACCOUNTS})"
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
