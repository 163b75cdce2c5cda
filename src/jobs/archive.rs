//! Archives boards of periods that have ended, and of final events.

use crate::archive::{self, ArchivedBoard, BoardName, KEPT};
use crate::platform::budget::{Budget, Cost};
use crate::platform::clock;
use crate::platform::d1::Database;
use activity_rank_core::calendar::{Calendar, Date, Instant};
use activity_rank_core::error::Error;
use activity_rank_core::event::Definitions;
use activity_rank_store::archive_source as source;
use activity_rank_store::archive_source::{IndexPage, StoredState};
use activity_rank_store::deployment::Deployment;
use activity_rank_store::events;
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

/// The cost of reading events.
const EVENTS_COST: Cost = Cost::new(1, 0);

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

/// Milliseconds after an event has become final when its board is archived. Requests that arrived before that instant have
/// ended by then, and nothing counts later.
const EVENT_SETTLED: i64 = 10 * 60_000;

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

/// Returns the last instant at which an event has settled; 0 without one.
fn last_settled(definitions: &Definitions, now: Instant) -> i64 {
    let settled = definitions
        .events()
        .map(|event| event.final_at.0 + EVENT_SETTLED);
    settled
        .filter(|settled| *settled <= now.0)
        .fold(0, i64::max)
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
    /// complete pass, no period has ended or settled, and no event has settled.
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
                let settled = last_settled(&progress.definitions, now);
                let boundary = last_boundary(calendar, now).max(settled);
                (last.began < boundary).then(|| begin(last.began))
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
    definitions: Definitions,
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
    let mut run = Run {
        deployment,
        archive,
        shard,
        id,
        now,
        since: part.pass.since,
        definitions: Definitions::default(),
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
    async fn from(&mut self, mut next: u32) -> Result<(u32, bool), Error> {
        let (definitions, knows_archived) =
            source::read_definitions(self.deployment, self.shard).await?;
        self.definitions = definitions;
        if !knows_archived {
            self.restore_archived_names().await?;
        }
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
        // No id has a tab: this is the board of an event that is counted again.
        let names = names.filter(|name| !name.contains('\t'));
        let (calendar, definitions) = (&self.deployment.calendar, &self.definitions);
        let mut boards = Vec::new();
        for name in names {
            let board = BoardName::parse(name, calendar, definitions, self.now);
            boards.extend(board.filter(|board| {
                board.end <= self.now && settled_at(board, board.end) > self.since
            }));
        }
        if boards.is_empty() {
            return Ok(true);
        }
        let names: Vec<&str> = boards.iter().map(|board| board.name.as_str()).collect();
        let stored = source::read_states(self.deployment, self.shard, &names).await?;
        let archived = archive::read_boards(self.archive, &self.id, &boards).await?;
        let mut due = Vec::new();
        for ((board, stored), archived) in boards.into_iter().zip(stored).zip(archived) {
            if stored.is_some_and(|stored| self.is_due(&board, &stored, &archived)) {
                due.push((board, archived));
            }
        }
        let is_unknown = |(board, _): &(BoardName, _)| board.day.is_empty();
        if due.iter().any(is_unknown) {
            if !self.may_continue(EVENTS_COST) {
                return Ok(false);
            }
            self.add_final_instants(&mut due).await?;
        }
        for (board, archived) in &due {
            if !self.archive_board(board, archived).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_due(&self, board: &BoardName, stored: &StoredState, archived: &ArchivedBoard) -> bool {
        let urgent = (0..URGENT).contains(&stored.expires_in);
        let is_current = archived.complete.as_ref().is_some_and(|copy| {
            copy.state == stored.state && (copy.day == board.day || board.day.is_empty())
        });
        !is_current && (urgent || settled_at(board, board.end) <= self.now.0)
    }

    /// Reads the events that the definitions do not have, and removes the boards of events that do not exist or are not
    /// final.
    async fn add_final_instants(
        &self,
        due: &mut Vec<(BoardName, ArchivedBoard)>,
    ) -> Result<(), Error> {
        let boards = due.iter().map(|(board, _)| board);
        let unknown = boards.filter(|board| board.day.is_empty());
        let ids: Vec<&str> = unknown.filter_map(BoardName::event).collect();
        for event in events::read_some(self.deployment, &ids).await? {
            let mut boards = due.iter_mut().map(|(board, _)| board);
            let board = boards.find(|board| board.event() == Some(&event.id));
            if let Some(board) = board
                && settled_at(board, event.final_at) <= self.now.0
            {
                board.day = event.final_at.to_string();
            }
        }
        due.retain(|(board, _)| !board.day.is_empty());
        Ok(())
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
        let partial = archived.partial.as_ref();
        let partial = partial.filter(|copy| copy.day == board.day);
        let (mut state, mut start) = partial.map(|copy| (copy.state, copy.next)).unzip();
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
                if board.event().is_none() {
                    let name = slice::from_ref(&board.name);
                    source::record_archived(self.deployment, self.shard, name).await?;
                }
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

/// Returns the instant from which a board is archived, Unix ms, if it ends at another one.
fn settled_at(board: &BoardName, end: Instant) -> i64 {
    let settling = match board.event() {
        Some(_) => EVENT_SETTLED,
        None => SETTLED,
    };
    end.0 + settling
}
