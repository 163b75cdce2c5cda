//! Writes boards to the archive, page by page.

use super::shard_ids;
use crate::platform::d1::{Columns, Database, FromRow, Statement};
use activity_rank_core::board::{BoardKind, event_of_board_name, parse_board_name};
use activity_rank_core::calendar::{Calendar, Instant};
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;
use activity_rank_core::event::{Definitions, FINAL_KEPT};
use activity_rank_store::archive_source::{ArchivePage, BoardState};
use activity_rank_store::keys::Keys;
use serde_json::Value;

/// Number of visible users that the archive keeps of a board. It keeps the total of a larger one.
pub const KEPT: u32 = 100_000;

/// For how long one run holds the archive, in milliseconds; a run ends sooner.
const LEASE: i64 = 120_000;

/// A board that ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardName {
    /// The name, such as `d:2026-11-20:eu`.
    pub name: String,
    /// The name in the index and in the key: another one for what a recount has made of a board that Redis no longer has.
    pub source: String,
    /// The column `kind`: the subject as in the name, `T` for content and `A` for authors, and the period; `E` for
    /// events.
    kind: String,
    /// The column `crowd`: the group, or the event.
    group: String,
    /// The column `day`: the first day of the period, or the instant from which the event is final. Empty for an event
    /// that is not in the definitions: it has been final for [`FINAL_KEPT`].
    pub day: String,
    /// The end of the period, or when the event became final, at the latest.
    pub end: Instant,
}

/// The copies of a board in the archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchivedBoard {
    /// The complete copy.
    pub complete: Option<ArchivedCopy>,
    /// The copy that is being written.
    pub partial: Option<ArchivedCopy>,
}

/// A copy of a board in the archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivedCopy {
    /// [`BoardName::day`].
    pub day: String,
    /// The state of the board.
    pub state: BoardState,
    /// The rank from which a copy that is being written continues.
    pub next: u32,
}

struct ArchivedRow {
    name: String,
    day: String,
    done: u32,
    orders: u64,
    members: u64,
    total: u64,
    next: u32,
}

impl FromRow for ArchivedRow {
    fn from_row(mut columns: Columns) -> Option<Self> {
        Some(Self {
            name: columns.text(0)?,
            day: columns.text(1)?,
            done: columns.integer(2)?,
            orders: columns.integer(3)?,
            members: columns.integer(4)?,
            total: columns.integer(5)?,
            next: columns.integer(6)?,
        })
    }
}

/// Acquires the lease of a shard's archive. Returns the position in the index where the last run
/// stopped, -1 if the archive is new; `None` while another run holds the lease.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the database fails; so do all functions of this file.
pub async fn acquire(archive: &Database, shard: &str, now: Instant) -> Result<Option<i64>, Error> {
    let sql = "INSERT INTO runs (site, until, next) VALUES (?1, ?2, -1) \
         ON CONFLICT (site) DO UPDATE SET until = ?2 WHERE until <= ?3 RETURNING next";
    let values = vec![shard.into(), (now.0 + LEASE).into(), now.0.into()];
    let rows: Vec<i64> = archive.query(Statement::new(sql, values)).await?;
    Ok(rows.first().copied())
}

/// Releases the lease, and records when the run began and where the next one continues.
///
/// # Errors
///
/// As [`acquire`].
pub async fn release(
    archive: &Database,
    shard: &str,
    next: u32,
    now: Instant,
) -> Result<(), Error> {
    let sql = "UPDATE runs SET until = ?3, next = ?2 WHERE site = ?1";
    let statement = Statement::new(sql, vec![shard.into(), next.into(), now.0.into()]);
    archive.run(&[statement]).await.map(|_| ())
}

/// Returns all shards, the one whose last run is longest ago first.
///
/// # Errors
///
/// As [`acquire`].
pub async fn shards_by_last_run(archive: &Database, config: &Config) -> Result<Vec<u32>, Error> {
    if config.shards == 1 {
        return Ok(vec![0]);
    }
    // The key of an element is its index, which is the shard. A shard without a run comes first.
    let sql = "SELECT key AS next FROM json_each(?1) LEFT JOIN runs ON site = value ORDER BY until";
    let statement = Statement::new(sql, vec![shard_ids(config).into()]);
    let shards: Vec<i64> = archive.query(statement).await?;
    Ok(shards.into_iter().map(|shard| shard as u32).collect())
}

/// Returns at most `limit` names of archived boards of periods, in their order after one. Nothing counts on the board of
/// a final event, and another event may get its name.
///
/// # Errors
///
/// As [`acquire`].
pub async fn archived_names(
    archive: &Database,
    shard: &str,
    after: &str,
    limit: u32,
) -> Result<Vec<String>, Error> {
    let sql = "SELECT name FROM boards WHERE site = ?1 AND done = 1 AND name > ?2 AND kind <> 'E' \
         ORDER BY name LIMIT ?3";
    let values = vec![shard.into(), after.into(), limit.into()];
    archive.texts(Statement::new(sql, values)).await
}

/// Returns what the archive has of each of some boards.
///
/// # Errors
///
/// As [`acquire`].
pub async fn read_boards(
    archive: &Database,
    shard: &str,
    boards: &[BoardName],
) -> Result<Vec<ArchivedBoard>, Error> {
    let names: Vec<&str> = boards.iter().map(|board| board.name.as_str()).collect();
    let json = serde_json::to_string(&names).unwrap_or_default();
    let sql = "SELECT name, day, done, orders, members, total, next FROM boards \
         WHERE site = ?1 AND name IN (SELECT value FROM json_each(?2))";
    let statement = Statement::new(sql, vec![shard.into(), json.into()]);
    let rows: Vec<ArchivedRow> = archive.query(statement).await?;
    let mut archived = vec![ArchivedBoard::default(); boards.len()];
    for row in rows {
        let has_name = |(name, _): &(&str, _)| *name == row.name;
        let Some((_, archived)) = names.iter().copied().zip(&mut archived).find(has_name) else {
            continue;
        };
        let state = BoardState {
            orders: row.orders,
            members: row.members,
            total: row.total,
        };
        let copy = Some(ArchivedCopy {
            day: row.day,
            state,
            next: row.next,
        });
        match row.done {
            1 => archived.complete = copy,
            _ => archived.partial = copy,
        }
    }
    Ok(archived)
}

/// Writes the only pages of boards, in one transaction. They are complete after [`finish`].
///
/// # Errors
///
/// As [`acquire`].
pub async fn write_boards(
    archive: &Database,
    shard: &str,
    boards: &[(&BoardName, &ArchivePage)],
    now: Instant,
) -> Result<(), Error> {
    let names: Vec<&str> = boards
        .iter()
        .map(|(board, _)| board.name.as_str())
        .collect();
    let rows: Vec<Value> = boards.iter().map(|(board, page)| board.row(page)).collect();
    let rows = Value::Array(rows).to_string();
    let mut statements = remove_all(shard, &names, 0);
    let boards = "INSERT INTO boards \
        (site, name, kind, crowd, day, orders, members, total, next, made, done) \
        SELECT ?1, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, \
        value ->> 6, 0, ?3, 0 FROM json_each(?2)";
    let places = "INSERT INTO places (user, board, score) \
        SELECT place.value ->> 0, boards.id, place.value ->> 1 FROM json_each(?2) AS board \
        CROSS JOIN boards ON site = ?1 AND name = board.value ->> 0 AND done = 0 \
        CROSS JOIN json_each(board.value, '$[7]') AS place";
    let values = vec![shard.into(), rows.into(), now.0.into()];
    statements.push(Statement::new(boards, values.clone()));
    statements.push(Statement::new(places, values.into_iter().take(2).collect()));
    archive.run(&statements).await.map(|_| ())
}

/// Replaces the complete copies of boards by those that [`write_boards`] wrote.
///
/// # Errors
///
/// As [`acquire`].
pub async fn finish(archive: &Database, shard: &str, names: &[&str]) -> Result<(), Error> {
    let mut statements = remove_all(shard, names, 1);
    let sql = "UPDATE boards SET done = 1 WHERE site = ?1 AND done = 0 \
        AND name IN (SELECT value FROM json_each(?2))";
    let names = serde_json::to_string(names).unwrap_or_default();
    statements.push(Statement::new(sql, vec![shard.into(), names.into()]));
    archive.run(&statements).await.map(|_| ())
}

/// Removes copies of boards: the complete ones, or those that are being written (`done` is 0).
fn remove_all(shard: &str, names: &[&str], done: u32) -> Vec<Statement> {
    let names = serde_json::to_string(names).unwrap_or_default();
    let places = "DELETE FROM places WHERE board IN (SELECT id FROM boards WHERE site = ?1 \
        AND name IN (SELECT value FROM json_each(?2)) AND done = ?3)";
    let boards = "DELETE FROM boards WHERE site = ?1 \
        AND name IN (SELECT value FROM json_each(?2)) AND done = ?3";
    let statement = |sql| {
        let values = vec![shard.into(), names.as_str().into(), done.into()];
        Statement::new(sql, values)
    };
    vec![statement(places), statement(boards)]
}

/// Returns `[[user, score], …]`.
fn places(rows: &[(String, i64)]) -> Value {
    let place = |(user, score): &(String, i64)| {
        Value::from(vec![user.as_str().into(), Value::from(*score)])
    };
    rows.iter().map(place).collect()
}

impl BoardName {
    /// Parses the name of a board of the index; `None` for a board without an end, and for the board of an event that is
    /// counted again.
    #[must_use]
    pub fn parse(
        source: &str,
        calendar: &Calendar,
        definitions: &Definitions,
        now: Instant,
    ) -> Option<Self> {
        let name = source.strip_suffix(Keys::CORRECTED).unwrap_or(source);
        // No id has a tab.
        if name.contains('\t') {
            return None;
        }
        let subject = BoardKind::from_board_name(name).prefix();
        let (kind, group, day, end);
        if let Some(event) = event_of_board_name(name) {
            let final_at = definitions.final_at(event);
            (kind, group) = (subject.to_owned(), event);
            day = final_at.map_or_else(String::new, |at| at.to_string());
            end = final_at.unwrap_or(Instant(now.0 - FINAL_KEPT));
        } else {
            let (period, first_day, board_group) = parse_board_name(name.strip_prefix(subject)?)?;
            (kind, group) = (format!("{subject}{}", period.letter()), board_group);
            day = first_day.to_string();
            end = calendar.start_of(period.days(first_day)?.1);
        }
        Some(Self {
            name: name.to_owned(),
            source: source.to_owned(),
            kind,
            group: group.to_owned(),
            day,
            end,
        })
    }

    /// Returns whether a recount has made it of a board that Redis no longer has.
    #[must_use]
    pub fn is_corrected(&self) -> bool {
        self.source != self.name
    }

    /// Returns the event, if the board is that of one.
    #[must_use]
    pub fn event(&self) -> Option<&str> {
        event_of_board_name(&self.name)
    }

    /// Writes a page that begins at the rank `start`. The first page starts a new copy. Each page also
    /// confirms the one before.
    ///
    /// # Errors
    ///
    /// As [`acquire`].
    pub async fn write_page(
        &self,
        archive: &Database,
        shard: &str,
        page: &ArchivePage,
        start: u32,
        now: Instant,
    ) -> Result<(), Error> {
        if start == 0 {
            return write_boards(archive, shard, &[(self, page)], now).await;
        }
        let next = self.statement(
            shard,
            "UPDATE boards SET next = ?3 WHERE site = ?1 AND name = ?2 AND done = 0",
            &[start.into()],
        );
        let rows = places(&page.rows).to_string();
        let places = self.statement(
            shard,
            "INSERT OR REPLACE INTO places (user, board, score) SELECT value ->> 0, \
             (SELECT id FROM boards WHERE site = ?1 AND name = ?2 AND done = 0), \
             value ->> 1 FROM json_each(?3)",
            &[rows.into()],
        );
        archive.run(&[next, places]).await.map(|_| ())
    }

    /// Returns whether the copy that is being written has every row of a board in this state.
    ///
    /// When one user is shown while another is hidden, a row may move past the end of a page that was
    /// already read.
    ///
    /// # Errors
    ///
    /// As [`acquire`].
    pub async fn has_every_row(
        &self,
        archive: &Database,
        shard: &str,
        state: BoardState,
    ) -> Result<bool, Error> {
        let sql = "SELECT COUNT(*) AS count FROM places WHERE board = \
             (SELECT id FROM boards WHERE site = ?1 AND name = ?2 AND done = 0)";
        let rows: Vec<i64> = archive.query(self.statement(shard, sql, &[])).await?;
        let hidden = state.members.saturating_sub(1 + state.total);
        let expected = state.total.min(u64::from(KEPT)) + hidden;
        Ok(rows
            .first()
            .is_some_and(|count| count.unsigned_abs() == expected))
    }

    /// Replaces the complete copy by the one that was written.
    ///
    /// # Errors
    ///
    /// As [`acquire`].
    pub async fn finish(
        &self,
        archive: &Database,
        shard: &str,
        state: BoardState,
    ) -> Result<(), Error> {
        if state.total > u64::from(KEPT) {
            // Hidden users who would rank below the last user that is kept.
            let partial = "(SELECT id FROM boards WHERE site = ?1 AND name = ?2 AND done = 0)";
            let sql = format!(
                "DELETE FROM places WHERE board = {partial} AND score < 0 AND -score < \
                 (SELECT MIN(score) FROM places WHERE board = {partial} AND score > 0)"
            );
            archive.run(&[self.statement(shard, &sql, &[])]).await?;
        }
        finish(archive, shard, &[&self.name]).await
    }

    /// Returns the values of the board and its places for [`write_boards`].
    fn row(&self, page: &ArchivePage) -> Value {
        let state = page.state;
        let row: Vec<Value> = vec![
            self.name.as_str().into(),
            self.kind.as_str().into(),
            self.group.as_str().into(),
            self.day.as_str().into(),
            state.orders.into(),
            state.members.into(),
            state.total.into(),
            places(&page.rows),
        ];
        row.into()
    }

    /// Returns a statement about this board: `?1` is the shard and `?2` the name.
    fn statement(&self, shard: &str, sql: &str, more: &[Value]) -> Statement {
        let board = [Value::from(shard), Value::from(self.name.as_str())];
        Statement::new(sql, board.iter().chain(more).cloned().collect())
    }
}
