//! Archives boards whose period has ended.

use crate::archive::{self, ArchivedBoard, BoardName, KEPT};
use crate::platform::clock;
use crate::platform::d1::Database;
use activity_rank_core::calendar::Instant;
use activity_rank_core::error::Error;
use activity_rank_store::archive_source as source;
use activity_rank_store::archive_source::StoredState;
use activity_rank_store::deployment::Deployment;
use std::slice;

/// Names read from the index at once, and how often in one run.
const NAMES: u32 = 500;
const MAX_READS: u32 = 4;

/// Pages of boards that one run reads: the next run continues.
const MAX_PAGES: u32 = 40;

/// Milliseconds after its end when a board is archived: by then most late activity has arrived.
/// Later activity archives the board again.
const SETTLED: i64 = 3 * 3_600_000;

/// A board that expires within this many seconds is archived as soon as it has ended.
const URGENT: i64 = 12 * 3600;

/// One run over the boards of a shard.
struct Run<'a> {
    deployment: &'a Deployment,
    archive: &'a Database,
    shard: u32,
    id: String,
    now: Instant,
    /// Pages that may still be read.
    pages: &'a mut u32,
}

/// Archives boards of all shards, as many as one run may. A shard that fails does not stop the
/// others.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the store or the archive fails; the next run continues.
pub async fn run(deployment: &Deployment, archive: &Database) -> Result<(), Error> {
    let (mut pages, mut result) = (MAX_PAGES, Ok(()));
    for shard in 0..deployment.config.shards {
        result = result.and(run_shard(deployment, archive, shard, &mut pages).await);
    }
    result
}

async fn run_shard(
    deployment: &Deployment,
    archive: &Database,
    shard: u32,
    pages: &mut u32,
) -> Result<(), Error> {
    let now = clock::now();
    let id = archive::shard_id(&deployment.config, shard);
    let Some(start) = archive::acquire(archive, &id, now).await? else {
        return Ok(());
    };
    let mut run = Run {
        deployment,
        archive,
        shard,
        id,
        now,
        pages,
    };
    let result = run.from(start).await;
    let next = *result.as_ref().unwrap_or(&start);
    archive::release(archive, &run.id, next).await?;
    result.map(|_| ())
}

impl Run<'_> {
    /// Goes through the index from a position, and returns where the next run continues.
    async fn from(&mut self, mut next: u32) -> Result<u32, Error> {
        self.restore_archived_names().await?;
        for _ in 0..MAX_READS {
            let names = source::read_index(self.deployment, self.shard, next, NAMES).await?;
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

    /// Writes the names of archived boards to a store that has lost them.
    async fn restore_archived_names(&self) -> Result<(), Error> {
        if source::knows_archived(self.deployment, self.shard).await? {
            return Ok(());
        }
        let mut last = String::new();
        loop {
            let names = archive::archived_names(self.archive, &self.id, &last, NAMES).await?;
            let Some(name) = names.last() else {
                return Ok(());
            };
            last.clone_from(name);
            source::record_archived(self.deployment, self.shard, &names).await?;
        }
    }

    /// Archives the boards that are due. Returns whether the run may continue.
    async fn archive_due(&mut self, names: &[String]) -> Result<bool, Error> {
        let keys = self.deployment.keys(self.shard);
        // The index also contains spans of histories.
        let names = names.iter().filter_map(|key| keys.board_name_of(key));
        let mut boards = Vec::new();
        for board in names.filter_map(BoardName::parse) {
            if self.millis_since_end(&board) >= 0 {
                boards.push(board);
            }
        }
        if boards.is_empty() {
            return Ok(true);
        }
        let names: Vec<&str> = boards.iter().map(|board| board.name.as_str()).collect();
        let stored = source::read_states(self.deployment, self.shard, &names).await?;
        let archived = archive::read_boards(self.archive, &self.id, &boards).await?;
        for ((board, stored), archived) in boards.iter().zip(stored).zip(archived) {
            let due = stored.is_some_and(|stored| self.is_due(board, &stored, &archived));
            if due && !self.archive_board(board, &archived).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the milliseconds since the end of a board's period; -1 for a board without an end.
    fn millis_since_end(&self, board: &BoardName) -> i64 {
        let end = board.end(&self.deployment.calendar);
        end.map_or(-1, |end| self.now.0 - end.0)
    }

    fn is_due(&self, board: &BoardName, stored: &StoredState, archived: &ArchivedBoard) -> bool {
        let urgent = (0..URGENT).contains(&stored.expires_in);
        let changed = archived.complete != Some(stored.state);
        changed && (urgent || self.millis_since_end(board) >= SETTLED)
    }

    /// Archives one board, from where the last run stopped. Returns whether it is complete.
    ///
    /// The pages only belong together if nothing changed between them. After a change the board is
    /// read again from its start; a later run would find it changed anyway.
    async fn archive_board(
        &mut self,
        board: &BoardName,
        archived: &ArchivedBoard,
    ) -> Result<bool, Error> {
        let (mut state, mut start) = archived.partial.unzip();
        let mut audit = None;
        while *self.pages > 0 {
            *self.pages -= 1;
            let first = start.unwrap_or(0);
            let page =
                source::read_page(self.deployment, self.shard, &board.name, first, KEPT).await?;
            let Some(page) = page else {
                return Ok(true);
            };
            let changed = state.is_some_and(|state| state != page.state)
                || audit.as_ref().is_some_and(|audit| *audit != page.audit);
            let end = page.rows.is_empty() && first > 0;
            let incomplete = end
                && !board
                    .has_every_row(self.archive, &self.id, page.state)
                    .await?;
            if changed || incomplete {
                (state, start, audit) = (None, None, None);
                continue;
            }
            if end {
                let name = slice::from_ref(&board.name);
                source::record_archived(self.deployment, self.shard, name).await?;
                board.finish(self.archive, &self.id, page.state).await?;
                return Ok(true);
            }
            board
                .write_page(self.archive, &self.id, &page, first, self.now)
                .await?;
            (state, start, audit) = (Some(page.state), Some(page.next), Some(page.audit));
        }
        Ok(false)
    }
}
