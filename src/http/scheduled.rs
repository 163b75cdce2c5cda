//! What cron does: it archives boards that have closed, and keeps a snapshot of those of now.

use super::database::Database;
use super::edge;
use super::snapshots::Snapshots;
use crate::archive::{self, Board, Page, Sweep};
use crate::calendar::Instant;
use crate::error::Error;
use crate::keys::Keys;
use crate::ranking::Snapshot;
use crate::redis::{Command, Reply};
use crate::site::Site;
use std::slice;

/// Names of the index looked at in one go, and how often in one run.
const NAMES: u32 = 500;
const MOST_GOES: u32 = 4;

/// How many stretches of boards one run reads: what is left is for the next.
const MOST_PAGES: u32 = 40;

/// One run over the boards of a shard.
struct Run<'a> {
    site: &'a Site,
    archive: &'a Database,
    keys: Keys,
    id: String,
    now: Instant,
    /// How many stretches may still be read.
    pages: &'a mut u32,
}

/// Archives boards that have closed, as many as one run may; a shard that fails keeps no other up.
///
/// # Errors
///
/// What the store and the archive can fail with; the next run goes on.
pub async fn archive(site: &Site, archive: &Database) -> Result<(), Error> {
    let (mut pages, mut went) = (MOST_PAGES, Ok(()));
    for shard in 0..site.config.shards {
        went = went.and(archive_shard(site, archive, shard, &mut pages).await);
    }
    went
}

async fn archive_shard(
    site: &Site,
    archive: &Database,
    shard: u32,
    pages: &mut u32,
) -> Result<(), Error> {
    let now = Instant(edge::clock());
    let id = archive::shard(&site.config, shard);
    let begun = archive.run(&[Sweep::begin(&id, now)]).await?;
    let Some(row) = begun.first().unwrap_or(&Reply::Nil).list()?.first() else {
        return Ok(());
    };
    let next = u32::try_from(row.at(0)?.unsigned()?).unwrap_or(0);
    let mut run = Run {
        site,
        archive,
        keys: site.config.keys(shard),
        id,
        now,
        pages,
    };
    let went = run.go(next).await;
    let next = *went.as_ref().unwrap_or(&next);
    archive.run(&[Sweep::end(&run.id, next)]).await?;
    went.map(|_| ())
}

/// Keeps a snapshot of the boards of now.
///
/// # Errors
///
/// What the store and the namespace can fail with.
pub async fn snapshot(site: &Site, snapshots: &Snapshots) -> Result<(), Error> {
    let now = Instant(edge::clock());
    let today = site.calendar.date_at(now);
    let snapshot = Snapshot::of(site, today, now).await?;
    let text = serde_json::to_string(&snapshot).unwrap_or_default();
    snapshots.save(&archive::site(&site.config), &text).await
}

impl Run<'_> {
    /// Goes through the index from a name on, and returns where the next run goes on.
    async fn go(&mut self, mut next: u32) -> Result<u32, Error> {
        self.remember().await?;
        for _ in 0..MOST_GOES {
            let names = self.names(next).await?;
            if !self.archive_due(&names).await? {
                return Ok(next);
            }
            if names.len() < NAMES as usize {
                return Ok(0);
            }
            next += NAMES;
        }
        Ok(next)
    }

    /// Tells a store that has forgotten it which boards are archived.
    async fn remember(&self) -> Result<(), Error> {
        let known = Command::new("EXISTS").arg(&self.keys.archived());
        let known = self.site.ask_plainly(&self.keys, known).await?;
        if known == Reply::Integer(1) {
            return Ok(());
        }
        let mut last = String::new();
        loop {
            let rows = self
                .archive
                .run(&[Sweep::names(&self.id, &last, NAMES)])
                .await?;
            let mut names = Vec::new();
            for row in rows.first().unwrap_or(&Reply::Nil).list()? {
                names.push(row.at(0)?.text()?.to_owned());
            }
            let Some(name) = names.last() else {
                return Ok(());
            };
            last.clone_from(name);
            self.mark(&names).await?;
        }
    }

    async fn mark(&self, names: &[String]) -> Result<(), Error> {
        let command = Command::new("SADD").arg(&self.keys.archived());
        let named = names.iter().map(|name| self.keys.board_named(name));
        let command = named.fold(command, |command, key| command.arg(&key));
        self.site.ask_plainly(&self.keys, command).await?;
        Ok(())
    }

    async fn names(&self, next: u32) -> Result<Vec<Reply>, Error> {
        let names = Command::new("ZRANGE").arg(&self.keys.index());
        let names = names.arg(&next.to_string());
        let names = names.arg(&(next + NAMES - 1).to_string());
        let names = self.site.ask_plainly(&self.keys, names).await?;
        Ok(names.list()?.to_vec())
    }

    /// Archives those that are due; whether the run may go on.
    async fn archive_due(&mut self, names: &[Reply]) -> Result<bool, Error> {
        let (site, now) = (self.site, self.now);
        let since = |board: &Board| Some(now.0 - board.end(&site.calendar)?.0);
        let boards = names.iter().filter_map(|name| Board::of(name, &self.keys));
        let boards: Vec<Board> = boards.filter(|board| since(board) >= Some(0)).collect();
        if boards.is_empty() {
            return Ok(true);
        }
        let held = self.site.ask(Board::states(&boards, &self.keys)).await?;
        let known = self.archive.run(&[Board::known(&boards, &self.id)]).await?;
        for (at, board) in (1..).zip(&boards) {
            let known = board.read_known(known.first().unwrap_or(&Reply::Nil))?;
            let due = board.is_due(held.at(at)?, &known, since(board).unwrap_or(-1))?;
            if due && !self.archive_board(board, &known).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Archives one board, from where it was left; whether it is done.
    ///
    /// Its pages are of one board only if nothing moved meanwhile, so where anything did it is
    /// begun again; a later run would find it changed.
    async fn archive_board(&mut self, board: &Board, known: &Sweep) -> Result<bool, Error> {
        let (mut state, mut start) = known.begun.unzip();
        let mut audit = None;
        while *self.pages > 0 {
            *self.pages -= 1;
            let at = start.unwrap_or(0);
            let reply = self.site.ask(Page::command(board, at, &self.keys)).await?;
            let Some(page) = Page::read(&reply)? else {
                return Ok(true);
            };
            let moved = state.is_some_and(|state| state != page.state)
                || audit.as_ref().is_some_and(|audit| *audit != page.audit);
            if moved || (page.is_empty() && at > 0 && !self.is_whole(board, &page).await?) {
                (state, start, audit) = (None, None, None);
                continue;
            }
            if page.is_empty() && at > 0 {
                self.mark(slice::from_ref(&board.name)).await?;
                self.archive
                    .run(&board.finish(&self.id, page.state))
                    .await?;
                return Ok(true);
            }
            let statements = page.statements(&self.id, board, at, self.now);
            self.archive.run(&statements).await?;
            (state, start, audit) = (Some(page.state), Some(page.next), Some(page.audit));
        }
        Ok(false)
    }

    /// Whether all places of a board have been written: who comes into sight while another is
    /// hidden moves others past the end of a page.
    async fn is_whole(&self, board: &Board, page: &Page) -> Result<bool, Error> {
        let rows = self.archive.run(&[board.count(&self.id)]).await?;
        let places = rows
            .first()
            .unwrap_or(&Reply::Nil)
            .at(0)?
            .at(0)?
            .unsigned()?;
        Ok(places == page.state.places())
    }
}
