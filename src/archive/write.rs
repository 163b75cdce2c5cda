//! Writes boards to the archive, page by page.

use super::shard_ids;
use crate::platform::d1::{Database, Statement};
use activity_rank_core::board::{BoardKind, parse_board_name};
use activity_rank_core::calendar::{Calendar, Date, Instant, Period};
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;
use activity_rank_store::archive_source::{ArchivePage, BoardState};
use serde::Deserialize;
use serde_json::Value;

/// Number of visible users that the archive keeps of a board. It keeps the total of a larger one.
pub const KEPT: u32 = 100_000;

/// For how long one run holds the archive, in milliseconds; a run ends sooner.
const LEASE: i64 = 120_000;

/// The name of a board that has a period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardName {
    /// The name, such as `d:2026-11-20:eu`.
    pub name: String,
    /// The subject, as in the name: `T` for content, `A` for authors, else nothing.
    subject: &'static str,
    period: Period,
    first_day: Date,
    group: String,
}

/// The copies of a board in the archive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArchivedBoard {
    /// The state of the complete copy.
    pub complete: Option<BoardState>,
    /// The state of the copy that is being written, and the rank from which it continues.
    pub partial: Option<(BoardState, u32)>,
}

#[derive(Deserialize)]
struct Row {
    name: String,
    done: u32,
    orders: u64,
    members: u64,
    total: u64,
    next: u32,
}

#[derive(Deserialize)]
struct Next {
    next: i64,
}

#[derive(Deserialize)]
struct Name {
    name: String,
}

#[derive(Deserialize)]
struct Count {
    count: u64,
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
    let rows: Vec<Next> = archive.query(Statement::new(sql, values)).await?;
    Ok(rows.first().map(|row| row.next))
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
    let shards: Vec<Next> = archive.query(statement).await?;
    Ok(shards.into_iter().map(|shard| shard.next as u32).collect())
}

/// Returns at most `limit` names of archived boards, in their order after one.
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
    let sql = "SELECT name FROM boards WHERE site = ?1 AND done = 1 AND name > ?2 \
         ORDER BY name LIMIT ?3";
    let values = vec![shard.into(), after.into(), limit.into()];
    let rows: Vec<Name> = archive.query(Statement::new(sql, values)).await?;
    Ok(rows.into_iter().map(|row| row.name).collect())
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
    let sql = "SELECT name, done, orders, members, total, next FROM boards \
         WHERE site = ?1 AND name IN (SELECT value FROM json_each(?2))";
    let statement = Statement::new(sql, vec![shard.into(), json.into()]);
    let rows: Vec<Row> = archive.query(statement).await?;
    let mut archived = vec![ArchivedBoard::default(); boards.len()];
    for (name, archived) in names.into_iter().zip(&mut archived) {
        for row in rows.iter().filter(|row| row.name == name) {
            let state = BoardState {
                orders: row.orders,
                members: row.members,
                total: row.total,
            };
            if row.done == 1 {
                archived.complete = Some(state);
            } else {
                archived.partial = Some((state, row.next));
            }
        }
    }
    Ok(archived)
}

impl BoardName {
    /// Parses a board name; `None` for a board without an end.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let kind = BoardKind::of_board_name(name);
        let (period, first_day, group) = parse_board_name(name.strip_prefix(kind.prefix())?)?;
        Some(Self {
            name: name.to_owned(),
            subject: kind.prefix(),
            period,
            first_day,
            group: group.to_owned(),
        })
    }

    /// Returns the end of the period.
    #[must_use]
    pub fn end(&self, calendar: &Calendar) -> Option<Instant> {
        let (_, end) = self.period.days(self.first_day)?;
        Some(calendar.start_of(end))
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
        let mut statements = Vec::new();
        if start == 0 {
            let BoardState {
                orders,
                members,
                total,
            } = page.state;
            statements.extend(self.remove(shard, 0));
            let values = [
                format!("{}{}", self.subject, self.period.letter()).into(),
                self.group.as_str().into(),
                self.first_day.to_string().into(),
                orders.into(),
                members.into(),
                total.into(),
                now.0.into(),
            ];
            statements.push(self.statement(
                shard,
                "INSERT INTO boards \
                 (site, name, kind, crowd, day, orders, members, total, next, made, done) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0, ?9, 0)",
                &values,
            ));
        } else {
            statements.push(self.statement(
                shard,
                "UPDATE boards SET next = ?3 WHERE site = ?1 AND name = ?2 AND done = 0",
                &[start.into()],
            ));
        }
        let rows = serde_json::to_string(&page.rows).unwrap_or_default();
        statements.push(self.statement(
            shard,
            "INSERT OR REPLACE INTO places (user, board, score) SELECT value ->> 0, \
             (SELECT id FROM boards WHERE site = ?1 AND name = ?2 AND done = 0), \
             value ->> 1 FROM json_each(?3)",
            &[rows.into()],
        ));
        archive.run(&statements).await.map(|_| ())
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
        let rows: Vec<Count> = archive.query(self.statement(shard, sql, &[])).await?;
        let hidden = state.members.saturating_sub(1 + state.total);
        let expected = state.total.min(u64::from(KEPT)) + hidden;
        Ok(rows.first().is_some_and(|row| row.count == expected))
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
        let mut statements = self.remove(shard, 1);
        if state.total > u64::from(KEPT) {
            // Hidden users who would rank below the last user that is kept.
            let partial = "(SELECT id FROM boards WHERE site = ?1 AND name = ?2 AND done = 0)";
            let sql = format!(
                "DELETE FROM places WHERE board = {partial} AND score < 0 AND -score < \
                 (SELECT MIN(score) FROM places WHERE board = {partial} AND score > 0)"
            );
            statements.push(self.statement(shard, &sql, &[]));
        }
        let sql = "UPDATE boards SET done = 1 WHERE site = ?1 AND name = ?2 AND done = 0";
        statements.push(self.statement(shard, sql, &[]));
        archive.run(&statements).await.map(|_| ())
    }

    /// Removes a copy: the complete one, or the one that is being written (`done` is 0).
    fn remove(&self, shard: &str, done: u32) -> Vec<Statement> {
        let places = "DELETE FROM places WHERE board = \
             (SELECT id FROM boards WHERE site = ?1 AND name = ?2 AND done = ?3)";
        let board = "DELETE FROM boards WHERE site = ?1 AND name = ?2 AND done = ?3";
        [places, board]
            .map(|sql| self.statement(shard, sql, &[done.into()]))
            .to_vec()
    }

    /// Returns a statement about this board: `?1` is the shard and `?2` the name.
    fn statement(&self, shard: &str, sql: &str, more: &[Value]) -> Statement {
        let board = [Value::from(shard), Value::from(self.name.as_str())];
        Statement::new(sql, board.iter().chain(more).cloned().collect())
    }
}
