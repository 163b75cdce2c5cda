//! Reads what the metrics need of the journal's database, in one query.

use crate::archive::deployment_id;
use crate::platform::d1::{Database, Statement};
use activity_rank_core::calendar::{Date, Instant};
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;

/// What the database of the journal knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalMetrics {
    /// When the last entry was written to the outbox; `None` if there is no entry.
    pub last: Option<Instant>,
    /// The instant until which the sums have all changes; `None` if nothing has been summed up.
    pub summed: Option<Instant>,
    /// The messages to webhooks that wait.
    pub messages: i64,
    /// When the oldest of these messages happened.
    pub oldest: Option<Instant>,
    /// The sums of the day: action, activities after undos, and net points in smallest steps. An empty action
    /// is for the members whose first counted activity was on that day.
    pub sums: Vec<(String, i64, i64)>,
    /// The results of sync runs, in the order of their sources.
    pub syncs: Vec<SyncMetrics>,
}

/// The result of the sync runs of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncMetrics {
    /// The source.
    pub source: String,
    /// The number of differences at the end of the last run that was done; `None` if none was.
    pub differences: Option<i64>,
    /// When that run ended.
    pub completed: Option<Instant>,
    /// Whether the last run failed.
    pub has_failed: bool,
}

/// Rows of a word and integers, of which -1 is unknown: two, and three for a source. The rows read are one for each shard, each
/// waiting message, each action of the day and each source: the last entry of a shard is found by an index, and its id begins
/// with Unix ms. Without the other index, the database would read the messages of 30 days. A compound `SELECT` of D1 has at
/// most 5 parts.
const METRICS: &str = "SELECT 'last ' || IFNULL(MAX(CAST((SELECT MAX(id) FROM journal WHERE site = ?1 \
    AND shard = value) AS INTEGER)), -1) || ' -1' AS text FROM json_each(?3) \
    UNION ALL SELECT 'summed ' || at || ' -1' FROM summed WHERE site = ?1 \
    UNION ALL SELECT 'waiting ' || COUNT(*) || ' ' || IFNULL(MIN(at), -1) \
    FROM deliveries INDEXED BY deliveries_by_due WHERE site = ?1 AND state = 'pending' \
    UNION ALL SELECT '=' || action || ' ' || count || ' ' || points FROM sums WHERE site = ?1 AND date = ?2 \
    UNION ALL SELECT '~' || source || ' ' || IFNULL(differences, -1) || ' ' || IFNULL(completed, -1) || ' ' || (state = 'failed') \
    FROM syncs WHERE site = ?1";

/// Returns the number of the last entry, which is the number of entries of all deployments in the database; 0 if this
/// deployment has none. It reads a row for each shard.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn last_number(journal: &Database, config: &Config) -> Result<u64, Error> {
    let sql = "SELECT CAST(IFNULL(MAX((SELECT n FROM journal WHERE site = ?1 AND shard = value \
        ORDER BY id DESC LIMIT 1)), 0) AS TEXT) AS text FROM json_each(?2)";
    let values = vec![deployment_id(config).into(), shards(config).into()];
    let numbers = journal.texts(Statement::new(sql, values)).await?;
    Ok(numbers.first().and_then(|n| n.parse().ok()).unwrap_or(0))
}

/// Returns the shards as a JSON array.
fn shards(config: &Config) -> String {
    let shards = 0..config.shards;
    serde_json::to_string(&shards.collect::<Vec<_>>()).unwrap_or_default()
}

/// Reads the metrics, with the sums of a day.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails.
pub async fn read(
    journal: &Database,
    config: &Config,
    today: Date,
) -> Result<JournalMetrics, Error> {
    let values = vec![
        deployment_id(config).into(),
        today.to_string().into(),
        shards(config).into(),
    ];
    let rows = journal.texts(Statement::new(METRICS, values)).await?;
    let mut metrics = JournalMetrics::default();
    for row in &rows {
        metrics.add(row);
    }
    Ok(metrics)
}

impl JournalMetrics {
    /// Adds a row; one of another form does not exist.
    fn add(&mut self, row: &str) {
        let mut words = row.split(' ');
        let word = words.next().unwrap_or_default();
        let mut next = || words.next().and_then(|number| number.parse::<i64>().ok());
        let (Some(first), Some(second)) = (next(), next()) else {
            return;
        };
        let instant = |millis| (millis >= 0).then_some(Instant(millis));
        match word {
            "last" => self.last = instant(first),
            "summed" => self.summed = instant(first),
            "waiting" => (self.messages, self.oldest) = (first, instant(second)),
            name => match name.strip_prefix('~') {
                Some(source) => self.syncs.push(SyncMetrics {
                    source: source.to_owned(),
                    differences: (first >= 0).then_some(first),
                    completed: instant(second),
                    has_failed: next() == Some(1),
                }),
                None => {
                    let action = name.trim_start_matches('=').to_owned();
                    self.sums.push((action, first, second));
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_decoded_by_their_word() {
        let mut metrics = JournalMetrics::default();
        for row in [
            "last 5 -1",
            "summed 6 -1",
            "waiting 2 7",
            "= 3 0",
            "=like -1 -2",
            "=last 1 2",
            "~ghost -1 -1 1",
            "~last 3 8 0",
        ] {
            metrics.add(row);
        }
        let expected = JournalMetrics {
            last: Some(Instant(5)),
            summed: Some(Instant(6)),
            messages: 2,
            oldest: Some(Instant(7)),
            sums: vec![
                (String::new(), 3, 0),
                ("like".into(), -1, -2),
                ("last".into(), 1, 2),
            ],
            syncs: vec![
                SyncMetrics {
                    source: "ghost".into(),
                    differences: None,
                    completed: None,
                    has_failed: true,
                },
                SyncMetrics {
                    source: "last".into(),
                    differences: Some(3),
                    completed: Some(Instant(8)),
                    has_failed: false,
                },
            ],
        };
        assert_eq!(metrics, expected);
        let mut none = JournalMetrics::default();
        none.add("last -1 -1");
        none.add("waiting 0 -1");
        assert_eq!(none, JournalMetrics::default());
    }
}
