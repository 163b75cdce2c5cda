//! Reads from the journal what counts in an event, for its recount.

use crate::archive::deployment_id;
use crate::platform::d1::{Database, Rows, Statement};
use activity_rank_core::calendar::Instant;
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;
use activity_rank_core::event::Definitions;
use activity_rank_store::recount::Counted;
use serde_json::{Map, Value, json};

/// The most entries of a page.
const PAGE: usize = 4000;

/// An entry is processed at most so many milliseconds before the instant of its activity: the clocks of Workers and of
/// the store differ.
const AHEAD: i64 = 3_600_000;

/// Rows of the journal with the instant and the points by which they may count. Old entries of an
/// undo do not say when the activity counted that they undo: the latest one of the same record.
const ROWS: &str = "SELECT n, user, entry ->> 'did' AS did, entry ->> 'action' AS action, \
    entry ->> 'mark' AS mark, entry ->> 'kinds' AS kinds, entry ->> 'groups' AS groups, entry ->> 'hash' AS hash, \
    entry ->> 'applied' AS applied, \
    CAST(CASE entry ->> 'did' WHEN 'undo' THEN COALESCE(NULLIF(entry ->> 'counted', ''), \
    CASE WHEN entry ->> 'counted' IS NULL AND COALESCE(entry ->> 'applied', '0') <> '' THEN \
    (SELECT MAX(CAST(earlier.entry ->> 'at' AS INTEGER)) FROM journal AS earlier WHERE earlier.site = ?1 \
    AND earlier.user <> '' AND earlier.user = journal.user AND earlier.n < journal.n \
    AND earlier.entry ->> 'mark' = journal.entry ->> 'mark') END) ELSE entry ->> 'at' END AS INTEGER) AS at, \
    CAST(COALESCE(NULLIF(entry ->> 'gave', ''), entry ->> 'points') AS INTEGER) AS points \
    FROM journal WHERE +site = ?1 AND +shard = ?2 AND n > ?3 AND n <= ?4";

/// The points of an activity in the event: its own, or those of the rule by which the latest recount of rules has
/// counted it.
const POINTS: &str = "CASE WHEN ?7 IS NULL THEN COALESCE((SELECT value ->> '$[3]' FROM json_each(?9) \
    WHERE value ->> '$[0]' >= n AND value ->> '$[1]' = action AND value ->> '$[2]' <= at \
    ORDER BY value ->> '$[0]' DESC, value ->> '$[2]' DESC LIMIT 1), points) \
    ELSE (SELECT value FROM json_each(?7) WHERE key = action) END";

/// The entries of the journal that count in an event.
pub struct EventEntries<'a> {
    journal: &'a Database,
    config: &'a Config,
    event: &'a str,
    from: i64,
    to: i64,
    /// A JSON object of the actions with their points in smallest steps, and a JSON array of the groups; null for all.
    actions: Value,
    groups: Value,
}

/// The part of a shard's journal to read, by the numbers of its entries.
pub struct Range {
    /// The entry before the first one.
    pub after: u64,
    /// The last one.
    pub last: u64,
    /// Of entries after this one, erasures are read too. Those before have emptied the entries of their users.
    pub erased_after: u64,
}

/// The entries of a shard, before a recount reads them.
pub struct Extent {
    /// The number before the first entry that may count.
    pub before_first: u64,
    /// The number of an entry.
    pub last: u64,
    /// The points that recounts of rules gave: `[[last entry, action, from, points]]` as JSON.
    pub rules: String,
}

impl<'a> EventEntries<'a> {
    /// Returns the entries of the only event of some definitions; `None` if there is none.
    #[must_use]
    pub fn new(
        journal: &'a Database,
        config: &'a Config,
        definitions: &'a Definitions,
    ) -> Option<Self> {
        let event = definitions.events().next()?;
        let [_, _, actions, groups] = event.counts();
        let list = |words: &'a str| words.split(',').filter(move |_| words != "-");
        let actions: Map<String, Value> = list(actions)
            .filter_map(|action| action.split_once('='))
            .map(|(action, steps)| (action.to_owned(), json!(steps.parse::<u64>().unwrap_or(0))))
            .collect();
        let groups: Vec<&str> = list(groups).collect();
        let text = |is_empty: bool, value: Value| match is_empty {
            true => Value::Null,
            false => value.to_string().into(),
        };
        Some(Self {
            journal,
            config,
            event: event.id,
            from: event.from.0,
            to: event.to.0,
            actions: text(actions.is_empty(), Value::Object(actions)),
            groups: text(groups.is_empty(), json!(groups)),
        })
    }

    /// Returns the instant of the first entry of the journal.
    ///
    /// # Errors
    ///
    /// [`Error::StoreUnavailable`] if the database fails.
    pub async fn journal_from(&self) -> Result<Option<Instant>, Error> {
        let sql = "SELECT entry ->> 'now' AS text FROM journal WHERE +site = ?1 AND entry <> '{}' ORDER BY n LIMIT 1";
        let first = Statement::new(sql, vec![deployment_id(self.config).into()]);
        let texts = self.journal.texts(first).await?;
        let now = texts.first().and_then(|now| now.parse().ok());
        Ok(now.map(Instant))
    }

    /// Returns the number of the last recount of rules of a shard; 0 if there is none.
    ///
    /// # Errors
    ///
    /// [`Error::StoreUnavailable`] if the database fails.
    pub async fn rules_until(&self, shard: u32) -> Result<u64, Error> {
        let sql = "SELECT CAST(MAX(n) AS TEXT) AS text FROM journal WHERE site = ?1 AND shard = ?2 AND id >= ?3 \
            AND entry ->> 'did' = 'rules' HAVING MAX(n) IS NOT NULL";
        let last = Statement::new(sql, self.shard_parameters(shard, &self.first_id()));
        let texts = self.journal.texts(last).await?;
        Ok(texts.first().and_then(|n| n.parse().ok()).unwrap_or(0))
    }

    /// Reads the extent of a shard up to the entry with an id.
    ///
    /// # Errors
    ///
    /// [`Error::StoreUnavailable`] if the database fails or lacks the entry.
    pub async fn extent(&self, shard: u32, last: &str) -> Result<Extent, Error> {
        let first = self.first_id();
        let id = "SELECT CAST(n AS TEXT) AS text FROM journal WHERE site = ?1 AND shard = ?2 AND id >= ?3 \
            ORDER BY id LIMIT 1";
        let rules = "SELECT json_group_array(json_array(n, action.key, \
            COALESCE(dated.value ->> '$[0]', -1e16), dated.value ->> '$[1].points')) AS text \
            FROM journal, json_each(entry ->> 'rules') AS action, json_each(action.value) AS dated \
            WHERE site = ?1 AND shard = ?2 AND journal.id >= ?3 AND entry ->> 'did' = 'rules'";
        let statements = [
            Statement::new(id, self.shard_parameters(shard, &first)),
            Statement::new(id, self.shard_parameters(shard, last)),
            Statement::new(rules, self.shard_parameters(shard, &first)),
        ];
        let results = self.journal.run(&statements).await?;
        let mut texts = Vec::new();
        for result in &results {
            texts.push(result.texts()?.into_iter().next().unwrap_or_default());
        }
        let number = |index: usize| texts.get(index).and_then(|text| text.parse::<u64>().ok());
        let lacks =
            || Error::StoreUnavailable("the journal lacks an entry of the outbox".to_owned());
        Ok(Extent {
            before_first: number(0).unwrap_or(1).saturating_sub(1),
            last: number(1).ok_or_else(lacks)?,
            rules: texts.pop().unwrap_or_default(),
        })
    }

    /// Returns an id before all entries that may count.
    fn first_id(&self) -> String {
        (self.from - AHEAD).max(0).to_string()
    }

    fn shard_parameters(&self, shard: u32, id: &str) -> Vec<Value> {
        vec![deployment_id(self.config).into(), shard.into(), id.into()]
    }

    /// Reads the next entries of a shard that count, and the number of the last entry of the page.
    ///
    /// # Errors
    ///
    /// [`Error::StoreUnavailable`] if the database fails.
    pub async fn page(
        &self,
        shard: u32,
        range: &Range,
        rules: &str,
    ) -> Result<(Vec<Counted>, u64), Error> {
        let sql = format!(
            "SELECT n || char(9) || did || char(9) || user || char(9) || points AS text FROM \
             (SELECT n, CASE did WHEN 'adjust' THEN 'count' ELSE did END AS did, COALESCE(hash, user) AS user, \
             CASE WHEN did = 'erase' THEN 0 WHEN did = 'adjust' THEN CAST(applied AS INTEGER) \
             WHEN kinds = 'e' THEN points ELSE {POINTS} END AS points FROM ({ROWS}) \
             WHERE did IN ('count', 'undo') AND action <> 'adjust' AND at >= ?5 AND at < ?6 \
             AND (?8 IS NULL OR EXISTS (SELECT 1 FROM json_each(?8) \
             WHERE instr(',' || groups || ',', ',' || value || ',') > 0)) \
             OR did IN ('adjust', 'undo') AND kinds = 'e' AND groups = ?10 AND at >= ?5 \
             OR did = 'erase' AND n > ?11) \
             WHERE points IS NOT NULL ORDER BY n LIMIT {PAGE}"
        );
        let values = vec![
            deployment_id(self.config).into(),
            shard.into(),
            range.after.into(),
            range.last.into(),
            self.from.into(),
            self.to.into(),
            self.actions.clone(),
            self.groups.clone(),
            rules.into(),
            self.event.into(),
            range.erased_after.into(),
        ];
        let results = self.journal.run(&[Statement::new(&sql, values)]).await?;
        let texts = results.first().map_or(Ok(Vec::new()), Rows::texts)?;
        let mut last = range.last;
        if let Some(text) = texts.get(PAGE - 1) {
            last = text
                .split('\t')
                .next()
                .and_then(|n| n.parse().ok())
                .unwrap_or(last);
        }
        let counted = |text: &String| {
            let mut words = text.split('\t').skip(1);
            let mut next = || words.next().unwrap_or_default().to_owned();
            [next(), next(), next()]
        };
        Ok((texts.iter().map(counted).collect(), last))
    }
}
