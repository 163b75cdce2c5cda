//! From the outbox into the table.
//!
//! Whoever brings a batch there takes from the outbox just what is in it, and not before it is in
//! the table: who dies in between, or is one of two, writes rows that are there already, and those
//! stay as they are. Batches begin where the outbox begins, so rows have the order of the outbox.

use crate::archive::Statement;
use crate::keys::Keys;
use crate::pairs::Pairs;
use crate::redis::{Command, Failure, Reply};
use serde::Serialize;

/// Entries read at once.
const ENTRIES: usize = 1000;

/// About the most bytes of rows in a statement: the database takes 2 MB.
const MOST_BYTES: usize = 1_000_000;

/// Entries that go to the table together.
#[derive(Debug, Default)]
pub struct Batch {
    /// Their ids in the outbox.
    pub ids: Vec<String>,
    /// Whether the outbox has more.
    pub more: bool,
    /// `[id, user, fields]` of each, a JSON array.
    rows: String,
    /// `[user, id]` of each erasure.
    erased: Vec<(String, String)>,
}

/// One entry as a row.
#[derive(Serialize)]
struct Row<'a>(&'a str, &'a str, Pairs<&'a str, &'a str>);

/// Takes entries from the outbox of a shard that are in the table; and reads those that come next,
/// if asked.
#[must_use]
pub fn read(taken: &[String], next: bool, keys: &Keys) -> Vec<Command> {
    let mut commands = Vec::new();
    if !taken.is_empty() {
        let delete = Command::new("XDEL").arg(&keys.outbox());
        commands.push(taken.iter().fold(delete, |delete, id| delete.arg(id)));
    }
    if next {
        let read = Command::new("XRANGE").arg(&keys.outbox()).arg("-").arg("+");
        commands.push(read.arg("COUNT").arg(&ENTRIES.to_string()));
    }
    commands
}

impl Batch {
    /// What was read: as much as goes together.
    ///
    /// # Errors
    ///
    /// [`Failure::Unavailable`] where that is no stream.
    pub fn of(reply: &Reply) -> Result<Self, Failure> {
        let entries = reply.list()?;
        let mut batch = Self {
            rows: "[".to_owned(),
            ..Self::default()
        };
        for entry in entries {
            if batch.rows.len() > MOST_BYTES {
                break;
            }
            batch.add(entry.at(0)?.text()?, entry.at(1)?.list()?)?;
        }
        batch.rows.push(']');
        batch.more = entries.len() >= ENTRIES || batch.ids.len() < entries.len();
        Ok(batch)
    }

    fn add(&mut self, id: &str, fields: &[Reply]) -> Result<(), Failure> {
        let (mut user, mut erases) = ("", false);
        let mut pairs = Vec::new();
        for pair in fields.chunks(2) {
            let [name, value] = pair else { continue };
            let (name, value) = (name.text()?, value.text()?);
            match name {
                "user" => user = value,
                "did" => erases = value == "erase",
                _ => {}
            }
            pairs.push((name, value));
        }
        if erases {
            // Of who it was the hash is kept.
            pairs.retain(|(name, _)| *name != "user");
            self.erased.push((user.to_owned(), id.to_owned()));
            user = "";
        }
        if !self.ids.is_empty() {
            self.rows.push(',');
        }
        let row = serde_json::to_string(&Row(id, user, Pairs(pairs)));
        self.rows.push_str(&row.unwrap_or_default());
        self.ids.push(id.to_owned());
        Ok(())
    }

    /// Writes it. Of who is erased the rows of before are emptied: one that was gone could be
    /// written once more, by somebody slower.
    #[must_use]
    pub fn statements(&self, site: &str, shard: u32) -> Vec<Statement> {
        let rows = self.rows.as_str();
        let insert = Statement::new(
            "INSERT INTO journal (site, shard, id, user, entry) \
             SELECT ?1, ?2, json_extract(value, '$[0]'), json_extract(value, '$[1]'), \
             json_extract(value, '$[2]') FROM json_each(?3) WHERE true ORDER BY key \
             ON CONFLICT (site, shard, id) DO NOTHING",
            vec![site.into(), shard.into(), rows.into()],
        );
        if self.erased.is_empty() {
            return vec![insert];
        }
        let erased = serde_json::to_string(&self.erased).unwrap_or_default();
        let empty = Statement::new(
            "UPDATE journal SET user = '', entry = '{}' FROM \
             (SELECT json_extract(value, '$[0]') AS gone, (SELECT n FROM journal WHERE site = ?1 \
             AND shard = ?2 AND id = json_extract(value, '$[1]')) AS until FROM json_each(?3)) \
             WHERE site = ?1 AND user <> '' AND user = gone AND n < until",
            vec![site.into(), shard.into(), erased.into()],
        );
        vec![insert, empty]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entry(id: &str, fields: &[(&str, &str)]) -> Reply {
        let text = |text: &str| Reply::Text(text.to_owned());
        let fields = fields.iter().flat_map(|(name, value)| [*name, *value]);
        Reply::List(vec![text(id), Reply::List(fields.map(text).collect())])
    }

    #[test]
    fn rows_hold_the_fields_in_their_order_and_an_erasure_only_the_hash() {
        let batch = Batch::of(&Reply::List(vec![
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
        ]))
        .unwrap();
        assert_eq!(
            (batch.ids.as_slice(), batch.more),
            (["1-0", "2-0"].map(str::to_owned).as_slice(), false)
        );
        let rows = r#"[["1-0","42",{"did":"count","user":"42","mark":"like:\"a\""}],["2-0","",{"did":"erase","now":"7","hash":"ab"}]]"#;
        let [insert, empty] = batch.statements("ar v1", 3).try_into().unwrap();
        let values = |statement: &Statement| serde_json::to_value(statement).unwrap()[1].clone();
        assert_eq!(values(&insert), json!(["ar v1", 3, rows]));
        assert_eq!(values(&empty), json!(["ar v1", 3, r#"[["42","2-0"]]"#]));
    }

    #[test]
    fn a_batch_is_as_much_as_the_database_takes_and_says_whether_there_is_more() {
        let many = |count: usize, bytes: usize| {
            let long = "x".repeat(bytes);
            let entry = |number| {
                entry(
                    &format!("{number}-0"),
                    &[("did", "profile"), ("json", &long)],
                )
            };
            Batch::of(&Reply::List((0..count).map(entry).collect())).unwrap()
        };
        let told = |batch: &Batch| (batch.ids.len(), batch.more);
        assert_eq!(told(&many(0, 0)), (0, false));
        assert_eq!(told(&many(999, 100)), (999, false));
        assert_eq!(told(&many(1000, 100)), (1000, true));
        let large = many(900, 4500);
        assert!(
            large.more && large.rows.len() < MOST_BYTES + 5000,
            "{}",
            large.ids.len()
        );
        assert_eq!(told(&many(1, 1_900_000)), (1, false));
    }

    #[test]
    fn what_is_no_stream_is_no_batch() {
        for reply in [Reply::Nil, Reply::List(vec![Reply::Nil])] {
            assert!(Batch::of(&reply).is_err());
        }
    }
}
