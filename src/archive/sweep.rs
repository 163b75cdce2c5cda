//! Which boards are to be archived, and where the work goes on.

use super::{KEPT, State, Statement};
use crate::calendar::{Calendar, Date, Instant, Period};
use crate::keys::Keys;
use crate::redis::{Command, Failure, Reply};
use crate::scripts;
use serde_json::Value;

/// How long after its end a board is archived, in milliseconds: most of what comes late has come.
/// What comes later archives it again.
const SETTLED: i64 = 3 * 3_600_000;

/// A board with fewer seconds to live is archived as soon as it has closed.
const URGENT: i64 = 12 * 3600;

/// How long one run has the archive to itself, in milliseconds; it ends sooner.
const LEASE: i64 = 120_000;

/// A board that is to be archived some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    /// Its name, see [`Keys::board_name`].
    pub name: String,
    period: Period,
    first: Date,
    group: String,
}

/// What the archive has of a board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sweep {
    /// The state of the whole one.
    pub whole: Option<State>,
    /// The state of the one under way, and the rank from which it goes on.
    pub begun: Option<(State, u32)>,
}

impl Board {
    /// The board of a name in the index; `None` where that is something else.
    #[must_use]
    pub fn of(name: &Reply, keys: &Keys) -> Option<Self> {
        let name = keys.name_of(name.text().ok()?)?;
        let (period, first, group) = Keys::parts_of(name)?;
        Some(Self {
            name: name.to_owned(),
            period,
            first,
            group: group.to_owned(),
        })
    }

    /// When its period ends.
    #[must_use]
    pub fn end(&self, calendar: &Calendar) -> Option<Instant> {
        let (_, end) = self.period.days(self.first)?;
        Some(calendar.start_of(end))
    }

    /// The command that tells what boards are like now, and how long they live.
    #[must_use]
    pub fn states(boards: &[Self], keys: &Keys) -> Command {
        let named = boards.iter().map(|board| keys.board_named(&board.name));
        let all: Vec<String> = [keys.stamp()].into_iter().chain(named).collect();
        Command::script(&scripts::ARCHIVE_STATES, &all)
    }

    /// Whether what Redis has is to be archived now: a state and seconds to live.
    ///
    /// # Errors
    ///
    /// [`Failure::Unavailable`] where the reply is not one of this script.
    pub fn is_due(&self, held: &Reply, known: &Sweep, since: i64) -> Result<bool, Failure> {
        if held.some().is_none() {
            return Ok(false);
        }
        let urgent = (0..URGENT).contains(&held.at(3)?.integer()?);
        let changed = known.whole != Some(State::read(held, 0)?);
        Ok(changed && since >= 0 && (urgent || since >= SETTLED))
    }

    /// What the archive has of each of some boards.
    #[must_use]
    pub fn known(boards: &[Self], site: &str) -> Statement {
        let names: Vec<&str> = boards.iter().map(|board| board.name.as_str()).collect();
        let names = serde_json::to_string(&names).unwrap_or_default();
        let sql = "SELECT name, done, orders, members, total, next FROM boards \
             WHERE site = ?1 AND name IN (SELECT value FROM json_each(?2))";
        Statement::new(sql, vec![site.into(), names.into()])
    }

    /// What the rows of [`Board::known`] say of this one.
    ///
    /// # Errors
    ///
    /// [`Failure::Unavailable`] where they are others.
    pub fn read_known(&self, rows: &Reply) -> Result<Sweep, Failure> {
        let mut known = Sweep::default();
        for row in rows.list()? {
            if row.at(0)?.text()? != self.name {
                continue;
            }
            let state = State::read(row, 2)?;
            if row.at(1)?.integer()? == 1 {
                known.whole = Some(state);
            } else {
                let next = u32::try_from(row.at(5)?.unsigned()?).unwrap_or(0);
                known.begun = Some((state, next));
            }
        }
        Ok(known)
    }

    /// Counts the places of the one under way.
    #[must_use]
    pub fn count(&self, site: &str) -> Statement {
        let sql = "SELECT COUNT(*) FROM places WHERE board = \
             (SELECT id FROM boards WHERE site = ?1 AND name = ?2 AND done = 0)";
        self.statement(site, sql, &[])
    }

    /// Puts the one under way in the place of the one before.
    #[must_use]
    pub fn finish(&self, site: &str, state: State) -> Vec<Statement> {
        let mut all = self.remove(site, 1);
        if state.total > u64::from(KEPT) {
            // Who is hidden, and had no place among those kept either.
            let begun = "(SELECT id FROM boards WHERE site = ?1 AND name = ?2 AND done = 0)";
            let sql = format!(
                "DELETE FROM places WHERE board = {begun} AND score < 0 AND -score < \
                 (SELECT MIN(score) FROM places WHERE board = {begun} AND score > 0)"
            );
            all.push(self.statement(site, &sql, &[]));
        }
        let sql = "UPDATE boards SET done = 1 WHERE site = ?1 AND name = ?2 AND done = 0";
        all.push(self.statement(site, sql, &[]));
        all
    }

    /// Removes the one under way.
    #[must_use]
    pub fn give_up(&self, site: &str) -> Vec<Statement> {
        self.remove(site, 0)
    }

    fn remove(&self, site: &str, done: u32) -> Vec<Statement> {
        let places = "DELETE FROM places WHERE board = \
             (SELECT id FROM boards WHERE site = ?1 AND name = ?2 AND done = ?3)";
        let board = "DELETE FROM boards WHERE site = ?1 AND name = ?2 AND done = ?3";
        [places, board]
            .map(|sql| self.statement(site, sql, &[done.into()]))
            .to_vec()
    }

    /// A statement about this board, which is `?1` and `?2`.
    #[must_use]
    pub fn statement(&self, site: &str, sql: &str, more: &[Value]) -> Statement {
        let board = [Value::from(site), Value::from(self.name.as_str())];
        Statement::new(sql, board.iter().chain(more).cloned().collect())
    }

    /// Kind, group and first day, as the archive has them.
    #[must_use]
    pub fn place(&self) -> [Value; 3] {
        [
            self.period.letter().to_string().into(),
            self.group.as_str().into(),
            self.first.to_string().into(),
        ]
    }
}

impl Sweep {
    /// Begins a run: a row with where to go on in the index, or none while another run is under way.
    #[must_use]
    pub fn begin(site: &str, now: Instant) -> Statement {
        let sql = "INSERT INTO runs (site, until, next) VALUES (?1, ?2, 0) \
             ON CONFLICT (site) DO UPDATE SET until = ?2 WHERE until < ?3 RETURNING next";
        let until = now.0 + LEASE;
        Statement::new(sql, vec![site.into(), until.into(), now.0.into()])
    }

    /// Ends a run.
    #[must_use]
    pub fn end(site: &str, next: u32) -> Statement {
        let sql = "UPDATE runs SET until = 0, next = ?2 WHERE site = ?1";
        Statement::new(sql, vec![site.into(), next.into()])
    }

    /// Names of archived boards, those after one.
    #[must_use]
    pub fn names(site: &str, after: &str, most: u32) -> Statement {
        let sql = "SELECT name FROM boards WHERE site = ?1 AND done = 1 AND name > ?2 \
             ORDER BY name LIMIT ?3";
        Statement::new(sql, vec![site.into(), after.into(), most.into()])
    }
}
