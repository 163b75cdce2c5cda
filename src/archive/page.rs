//! A stretch of a board on its way from Redis to the archive.

use super::{Board, Statement};
use crate::calendar::Instant;
use crate::keys::Keys;
use crate::redis::{Command, Failure, Reply};
use crate::scripts;
use serde_json::Value;

/// How many members are read at once.
pub const PAGE: u32 = 2000;

/// How many of those seen are kept of a board; of a larger one the total is kept too.
pub const KEPT: u32 = 100_000;

/// What tells that a board has changed: its order counter moves with every score, but for one that
/// returns to zero; then there is a member less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// The order counter.
    pub orders: u64,
    /// All members, the counter and who is hidden with them.
    pub members: u64,
    /// How many are seen.
    pub total: u64,
}

impl State {
    /// Three numbers of a list, from a place on.
    ///
    /// # Errors
    ///
    /// [`Failure::Unavailable`] where there are others.
    pub fn read(list: &Reply, at: usize) -> Result<Self, Failure> {
        Ok(Self {
            orders: list.at(at)?.unsigned()?,
            members: list.at(at + 1)?.unsigned()?,
            total: list.at(at + 2)?.unsigned()?,
        })
    }

    /// How many places a whole copy has.
    #[must_use]
    pub fn places(&self) -> u64 {
        let hidden = self.members.saturating_sub(1 + self.total);
        self.total.min(u64::from(KEPT)) + hidden
    }
}

/// A stretch of a board as it was read.
#[derive(Clone, Debug)]
pub struct Page {
    /// The last entry of the audit list then: nobody was hidden since who is seen here.
    pub audit: String,
    /// What the whole board was then.
    pub state: State,
    /// Where to go on.
    pub next: u32,
    rows: Vec<(String, i64)>,
}

impl Page {
    /// The command that reads it.
    #[must_use]
    pub fn command(board: &Board, start: u32, keys: &Keys) -> Command {
        let all = [keys.stamp(), keys.audit(), keys.board_named(&board.name)];
        Command::script(&scripts::ARCHIVE_PAGE, &all)
            .arg(&start.to_string())
            .arg(&PAGE.to_string())
            .arg(&KEPT.to_string())
    }

    /// What was read; `None` where there is no board.
    ///
    /// # Errors
    ///
    /// [`Failure::Unavailable`] where the reply is not one of this script.
    pub fn read(reply: &Reply) -> Result<Option<Self>, Failure> {
        if reply.at(2)?.some().is_none() {
            return Ok(None);
        }
        let mut rows = Vec::new();
        for (user, score) in reply.at(5)?.list()?.iter().zip(reply.at(6)?.list()?) {
            rows.push((user.text()?.to_owned(), score.integer()?));
        }
        Ok(Some(Self {
            audit: reply.at(1)?.text()?.to_owned(),
            state: State::read(reply, 2)?,
            next: u32::try_from(reply.at(7)?.unsigned()?).unwrap_or(u32::MAX),
            rows,
        }))
    }

    /// Whether there is nobody on it: the one before was the last.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Writes it; the first one begins the board anew. Only when one is written is it known that
    /// the one before was.
    #[must_use]
    pub fn statements(
        &self,
        site: &str,
        board: &Board,
        start: u32,
        now: Instant,
    ) -> Vec<Statement> {
        let statement = |sql: &str, more: &[Value]| board.statement(site, sql, more);
        let mut all = Vec::new();
        if start == 0 {
            let [kind, crowd, day] = board.place();
            let State {
                orders,
                members,
                total,
            } = self.state;
            let values = [
                kind,
                crowd,
                day,
                orders.into(),
                members.into(),
                total.into(),
                now.0.into(),
            ];
            all.extend(board.give_up(site));
            all.push(statement(
                "INSERT INTO boards \
                 (site, name, kind, crowd, day, orders, members, total, next, made, done) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0, ?9, 0)",
                &values,
            ));
        } else {
            all.push(statement(
                "UPDATE boards SET next = ?3 WHERE site = ?1 AND name = ?2 AND done = 0",
                &[start.into()],
            ));
        }
        let rows = serde_json::to_string(&self.rows).unwrap_or_default();
        all.push(statement(
            "INSERT OR REPLACE INTO places (user, board, score) \
             SELECT value ->> 0, (SELECT id FROM boards WHERE site = ?1 AND name = ?2 AND done = 0), \
             value ->> 1 FROM json_each(?3)",
            &[rows.into()],
        ));
        all
    }
}
