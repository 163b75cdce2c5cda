//! Archives boards whose period has ended.

use crate::archive::{self, ArchivedBoard, BoardName, KEPT};
use crate::platform::budget::{Budget, Cost};
use crate::platform::clock;
use crate::platform::d1::Database;
use activity_rank_core::calendar::{Calendar, Date, Instant};
use activity_rank_core::error::Error;
use activity_rank_store::archive_source as source;
use activity_rank_store::archive_source::{IndexPage, StoredState};
use activity_rank_store::deployment::Deployment;
use activity_rank_store::progress::{self, Pass, Progress};
use std::slice;

/// Names read from the index at once, and how often in one run.
const NAMES: u32 = 500;
const MAX_READS: u32 = 4;

/// The most that a shard takes without its boards: the lease, the set of archived boards, the index,
/// the states of boards in Redis and in the archive, and the release. Two requests more for a store
/// that does not know a script or refuses its flags.
const SHARD_COST: Cost = Cost::new(8, 3);

/// The most that further names of the index take.
const NAMES_COST: Cost = Cost::new(5, 1);

/// The most that a page takes: a request that reads it and a transaction that writes it or, after the
/// last page, one that counts the rows, a request that records the board and a transaction.
const PAGE_COST: Cost = Cost::new(6, 5);

/// The cost of the release of a shard.
const RELEASE_COST: Cost = Cost::new(1, 1);

/// Names of archived boards read from the database at once.
const ARCHIVED_NAMES: u32 = 10_000;

/// Milliseconds after its end when a board is archived: by then most late activity has arrived.
/// Later activity archives the board again.
const SETTLED: i64 = 3 * 3_600_000;

/// A board that expires within this many seconds is archived as soon as it has ended.
const URGENT: i64 = 12 * 3600;

/// Returns the first day whose boards have not all settled at an instant.
#[must_use]
pub fn settled_before(calendar: &Calendar, now: Instant) -> Date {
    calendar.date_at(Instant(now.0 - SETTLED))
}

/// Returns the last instant at which a period may have ended or settled.
fn last_boundary(calendar: &Calendar, now: Instant) -> i64 {
    let start = calendar.start_of(calendar.date_at(now)).0;
    match start + SETTLED {
        settled if settled <= now.0 => settled,
        _ => start,
    }
}

/// The part of a pass over the boards of a shard that one run takes.
#[derive(Clone, Copy)]
struct Part {
    pass: Pass,
    /// Whether the run continues a pass.
    continues: bool,
    /// Whether later runs depend on this pass.
    is_recorded: bool,
}

impl Part {
    /// Returns the work on a shard; `None` if no board can have changed since the last
    /// complete pass, and no period has ended or settled.
    fn due(progress: &Progress, calendar: &Calendar, now: Instant) -> Option<Self> {
        let begin = |since| Self {
            pass: Pass {
                late: progress.late,
                began: now.0,
                since,
            },
            continues: false,
            is_recorded: true,
        };
        let Some(outbox) = &progress.outbox else {
            // Nothing shows which boards change: the pass has no end.
            return Some(Self {
                continues: true,
                is_recorded: false,
                ..begin(0)
            });
        };
        if let Some(pass) = progress.pass
            && (pass.since == 0 || pass.late == progress.late)
        {
            return Some(Self {
                pass,
                continues: true,
                is_recorded: true,
            });
        }
        match progress.archived {
            Some(last) if last.late == progress.late && outbox.length == 0 => {
                (last.began < last_boundary(calendar, now)).then(|| begin(last.began))
            }
            Some(_) | None => Some(begin(0)),
        }
    }

    fn record_cost(self) -> Cost {
        Cost::new(u32::from(self.is_recorded), 0)
    }
}

/// One run over the boards of a shard.
struct Run<'a> {
    deployment: &'a Deployment,
    archive: &'a Database,
    shard: u32,
    id: String,
    now: Instant,
    /// The run leaves out boards that had settled before this instant, Unix ms.
    since: i64,
    budget: &'a Budget,
    /// The cost of the end of the run.
    end_cost: Cost,
}

/// Archives boards of the shards where something is to be done, within a budget, beginning with the
/// shard whose last run is longest ago. A shard that fails does not stop the others.
///
/// # Errors
///
/// [`Error::StoreUnavailable`] if the store or the archive fails; the next run continues.
pub async fn run(
    deployment: &Deployment,
    archive: &Database,
    progress: &[Progress],
    budget: &Budget,
) -> Result<(), Error> {
    let now = clock::now();
    let due = |progress| Part::due(progress, &deployment.calendar, now);
    if progress.iter().all(|progress| due(progress).is_none()) {
        return Ok(());
    }
    let shards = archive::shards_by_last_run(archive, &deployment.config).await?;
    let mut result = Ok(());
    for shard in shards {
        let Some(part) = progress.get(shard as usize).and_then(due) else {
            continue;
        };
        if !budget.allows(SHARD_COST.plus(PAGE_COST).plus(part.record_cost())) {
            break;
        }
        result = result.and(run_shard(deployment, archive, (shard, part), budget).await);
    }
    result
}

async fn run_shard(
    deployment: &Deployment,
    archive: &Database,
    (shard, mut part): (u32, Part),
    budget: &Budget,
) -> Result<(), Error> {
    let now = clock::now();
    let id = archive::shard_id(&deployment.config, shard);
    let Some(last) = archive::acquire(archive, &id, now).await? else {
        return Ok(());
    };
    if last < 0 {
        // Another database, which has no board yet.
        part.pass.since = 0;
        part.continues = false;
    }
    let run = Run {
        deployment,
        archive,
        shard,
        id,
        now,
        since: part.pass.since,
        budget,
        end_cost: RELEASE_COST.plus(part.record_cost()),
    };
    let start = if part.continues { last as u32 } else { 0 };
    let result = run.from(start).await;
    let (next, complete) = *result.as_ref().unwrap_or(&(start, false));
    archive::release(archive, &run.id, next, now).await?;
    if part.is_recorded && result.is_ok() {
        progress::record_pass(deployment, shard, part.pass, complete).await?;
    }
    result.map(|_| ())
}

impl Run<'_> {
    /// Archives boards that expire soonest, then those from a position on, which counts from the end of
    /// the index. Returns where the next run continues, and whether the pass is complete.
    async fn from(&self, mut next: u32) -> Result<(u32, bool), Error> {
        self.restore_archived_names().await?;
        let (mut page, mut first) = (IndexPage::FirstToExpire, Vec::new());
        for _ in 0..MAX_READS {
            let mut names = source::read_index(self.deployment, self.shard, page, NAMES).await?;
            let end = names.len() < NAMES as usize;
            names.retain(|name| !first.contains(name));
            if !self.archive_due(&names).await? {
                return Ok((next, false));
            }
            if end {
                return Ok((0, true));
            }
            match page {
                IndexPage::FirstToExpire => first = names,
                IndexPage::FromEnd(start) => next = start + NAMES,
            }
            page = IndexPage::FromEnd(next);
            if !self.may_continue(NAMES_COST) {
                break;
            }
        }
        Ok((next, false))
    }

    /// Returns whether a step leaves enough for the end of the run.
    fn may_continue(&self, cost: Cost) -> bool {
        self.budget.allows(cost.plus(self.end_cost))
    }

    /// Writes the names of archived boards to a store that has lost them.
    async fn restore_archived_names(&self) -> Result<(), Error> {
        if source::knows_archived(self.deployment, self.shard).await? {
            return Ok(());
        }
        // Part of the names would look like all of them to the next run.
        let mut names: Vec<String> = Vec::new();
        loop {
            let last = names.last().cloned().unwrap_or_default();
            let more =
                archive::archived_names(self.archive, &self.id, &last, ARCHIVED_NAMES).await?;
            let is_end = more.len() < ARCHIVED_NAMES as usize;
            names.extend(more);
            if is_end {
                break;
            }
        }
        if names.is_empty() {
            return Ok(());
        }
        source::record_archived(self.deployment, self.shard, &names).await
    }

    /// Archives the boards that are due. Returns whether the run may continue.
    async fn archive_due(&self, names: &[String]) -> Result<bool, Error> {
        let keys = self.deployment.keys(self.shard);
        // The index also contains spans of histories.
        let names = names.iter().filter_map(|key| keys.board_name_of(key));
        let mut boards = Vec::new();
        for board in names.filter_map(BoardName::parse) {
            let age = self.millis_since_end(&board);
            let settled = self.now.0 - age + SETTLED;
            if age >= 0 && settled > self.since {
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
        &self,
        board: &BoardName,
        archived: &ArchivedBoard,
    ) -> Result<bool, Error> {
        let (mut state, mut start) = archived.partial.unzip();
        let mut audit = None;
        while self.may_continue(PAGE_COST) {
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
