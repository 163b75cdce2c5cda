//! Copies outbox entries to the table.
//!
//! A batch is removed from the outbox only when it is in the table. A process that dies in between,
//! or one of two concurrent ones, inserts rows that exist already, and those stay as they are.
//! Batches begin at the start of the outbox, so rows keep its order.

use super::{achievements, fair_play, refusals, rules_preview, sums};
use crate::archive::deployment_id;
use crate::platform::d1::{Database, Statement};
use crate::webhooks::statements_of_changes;
use activity_rank_core::error::Error;
use activity_rank_core::object::Object;
use activity_rank_store::deployment::Deployment;
use activity_rank_store::outbox::{self, OutboxEntry, PREVIEW};
use serde::Serialize;

/// Approximate maximum size of the rows in one statement, in bytes: D1 accepts 2 MB.
const MAX_BYTES: usize = 1_000_000;

/// A batch of rows.
#[derive(Debug, Default)]
struct Batch {
    /// The number of entries of the outbox.
    entries: usize,
    /// `[id, user, fields]` of each entry, as a JSON array.
    rows: String,
    /// User and id of each erasure, and the target that the erased author loses on another shard; else empty.
    erased: Vec<(String, String, String)>,
}

/// Id, user and fields.
#[derive(Serialize)]
struct Row<'a>(&'a str, &'a str, Object<&'a str, &'a str>);

/// Writes the first entries of a shard's outbox, as many as fit in one statement, and returns their
/// number. Of a shard with pending changes, the first entry may be in the journal already.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails; then nothing was written.
pub async fn write(
    journal: &Database,
    deployment: &Deployment,
    shard: u32,
    batch_of_outbox: &outbox::Batch,
) -> Result<usize, Error> {
    let entries = &batch_of_outbox.entries;
    let batch = Batch::new(entries);
    let config = &deployment.config;
    let mut statements = batch.statements(&deployment_id(config), shard);
    if !batch.erased.is_empty() {
        // An erasure empties only rows that are in the sums.
        statements.splice(1..1, sums::statements(config, None));
        let erased = batch.erased_users();
        if config.refused_days.is_some() {
            statements.push(refusals::erase(config, &erased));
        }
        statements.extend(achievements::forget(config, &erased));
        statements.push(rules_preview::erase(config, &erased));
        if config.fair_play.is_some() {
            statements.extend(fair_play::erase(config, &erased));
        }
    }
    let written = entries.get(..batch.entries).unwrap_or_default();
    let oldest = written.get(usize::from(batch_of_outbox.is_pending));
    statements.extend(statements_of_changes(deployment, shard, written, oldest).await);
    journal.run(&statements).await?;
    Ok(batch.entries)
}

impl Batch {
    /// Returns the first entries that fit in one statement.
    fn new(entries: &[OutboxEntry]) -> Self {
        let mut batch = Self {
            rows: "[".to_owned(),
            ..Self::default()
        };
        for entry in entries {
            if batch.rows.len() > MAX_BYTES {
                break;
            }
            batch.add(entry);
        }
        batch.rows.push(']');
        batch
    }

    fn add(&mut self, entry: &OutboxEntry) {
        self.entries += 1;
        // Entries for other shards alone, which name an erased author, and for the job of the next minute.
        if ["disown", PREVIEW].contains(&entry.field("did")) {
            return;
        }
        let (erases, registers) = (
            entry.field("did") == "erase",
            entry.field("did") == "target",
        );
        let erased = entry.field(if erases { "user" } else { "erased" });
        // The table keeps only the hash of an erased user. It has no fields for the readers of other shards, which name
        // an author.
        let is_kept = |name: &str| match name {
            "erased" | "author" => false,
            "at" => !registers,
            name => !(erases && name == "user"),
        };
        let kept = entry.fields.iter().filter(|(name, _)| is_kept(name));
        let fields = kept.map(|(name, value)| (name.as_str(), value.as_str()));
        let user = if erases { "" } else { entry.field("user") };
        let row = Row(&entry.id, user, Object(fields.collect()));
        if self.rows.len() > 1 {
            self.rows.push(',');
        }
        self.rows
            .push_str(&serde_json::to_string(&row).unwrap_or_default());
        if !erased.is_empty() {
            let target = entry.field("target").to_owned();
            self.erased
                .push((erased.to_owned(), entry.id.clone(), target));
        }
    }

    /// Returns the users whom the batch erases.
    fn erased_users(&self) -> Vec<&str> {
        let erased = self.erased.iter().filter(|(.., lost)| lost.is_empty());
        erased.map(|(user, ..)| user.as_str()).collect()
    }

    /// Returns the statements that write the batch. They empty the earlier rows of erased users
    /// instead of deleting them: a slower process could insert a deleted row again. A row that also
    /// has a target loses its user only: the target stays registered and keeps its points.
    fn statements(&self, deployment: &str, shard: u32) -> Vec<Statement> {
        let rows = self.rows.as_str();
        let insert = Statement::new(
            "INSERT INTO journal (site, shard, id, user, entry) \
             SELECT ?1, ?2, json_extract(value, '$[0]'), json_extract(value, '$[1]'), \
             json_extract(value, '$[2]') FROM json_each(?3) WHERE true ORDER BY key \
             ON CONFLICT (site, shard, id) DO NOTHING",
            vec![deployment.into(), shard.into(), rows.into()],
        );
        if self.erased.is_empty() {
            return vec![insert];
        }
        let erased = serde_json::to_string(&self.erased).unwrap_or_default();
        let empty = Statement::new(
            "UPDATE journal SET user = '', entry = CASE WHEN json_extract(entry, '$.target') <> '' \
             THEN json_set(entry, '$.user', '') ELSE '{}' END WHERE n IN (SELECT journal.n FROM \
             (SELECT json_extract(value, '$[0]') AS gone, (SELECT n FROM journal WHERE site = ?1 \
             AND shard = ?2 AND id = json_extract(value, '$[1]')) AS until, \
             json_extract(value, '$[2]') AS lost FROM json_each(?3)) \
             CROSS JOIN journal WHERE site = ?1 AND user <> '' AND user = gone AND n < until \
             AND (lost = '' OR shard = ?2 AND json_extract(entry, '$.target') = lost))",
            vec![deployment.into(), shard.into(), erased.into()],
        );
        vec![insert, empty]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entry(id: &str, fields: &[(&str, &str)]) -> OutboxEntry {
        let fields = fields.iter();
        let fields = fields.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        OutboxEntry {
            id: id.to_owned(),
            fields: fields.collect(),
        }
    }

    #[test]
    fn erasure_row_holds_hash_instead_of_user() {
        let batch = Batch::new(&[
            entry(
                "1-0",
                &[("did", "count"), ("user", "42"), ("mark", "like:\"a\"")],
            ),
            entry(
                "2-0",
                &[
                    ("did", "erase"),
                    ("now", "7"),
                    ("user", "42"),
                    ("hash", "ab"),
                ],
            ),
        ]);
        assert_eq!(batch.entries, 2);
        let rows = r#"[["1-0","42",{"did":"count","user":"42","mark":"like:\"a\""}],["2-0","",{"did":"erase","now":"7","hash":"ab"}]]"#;
        let [insert, empty] = batch.statements("ar v1", 3).try_into().unwrap();
        let rows = vec![json!("ar v1"), json!(3), json!(rows)];
        assert_eq!(insert.values, rows);
        let erased = vec![json!("ar v1"), json!(3), json!(r#"[["42","2-0",""]]"#)];
        assert_eq!(empty.values, erased);
    }

    /// The user of an entry with a target is its author. An erasure on the author's shard may be in the table
    /// before it.
    #[test]
    fn row_of_target_names_no_erased_author() {
        let target = |user: &'static str, erased: &'static str| {
            [
                ("did", "target"),
                ("user", user),
                ("target", "post-7"),
                ("erased", erased),
            ]
        };
        let batch = Batch::new(&[
            entry("1-0", &target("9", "")),
            entry("2-0", &target("", "9")),
        ]);
        let rows = r#"[["1-0","9",{"did":"target","user":"9","target":"post-7"}],["2-0","",{"did":"target","user":"","target":"post-7"}]]"#;
        assert_eq!(batch.rows, rows);
        let erased = ["9", "2-0", "post-7"].map(str::to_owned);
        assert_eq!(batch.erased, [erased.into()]);
    }

    #[test]
    fn batch_ends_at_size_limit() {
        let batch = |count: usize, bytes: usize| {
            let long = "x".repeat(bytes);
            let fields = [("did", "profile"), ("json", long.as_str())];
            let entries = (0..count).map(|number| entry(&format!("{number}-0"), &fields));
            Batch::new(&entries.collect::<Vec<_>>())
        };
        assert_eq!(batch(0, 0).entries, 0);
        assert_eq!(batch(1000, 100).entries, 1000);
        let large = batch(900, 4500);
        assert!(large.entries < 900);
        assert!(large.rows.len() < MAX_BYTES + 5000, "{}", large.rows.len());
    }
}
