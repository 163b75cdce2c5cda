//! Archives boards of periods that have ended, and of final events.

use crate::archive::{self, ArchivedBoard, BoardName, KEPT, SETTLED};
use crate::platform::budget::{Budget, Cost};
use crate::platform::clock;
use crate::platform::d1::Database;
use activity_rank_core::calendar::{Calendar, Instant};
use activity_rank_core::config::Config;
use activity_rank_core::error::Error;
use activity_rank_core::event::Definitions;
use activity_rank_store::archive_source as source;
use activity_rank_store::archive_source::{ArchivePage, IndexPage};
use activity_rank_store::deployment::Deployment;
use activity_rank_store::events;
use activity_rank_store::progress::{self, Pass, Progress};

/// Names read from the index at once, and how often in one run.
const NAMES: u32 = 500;
const MAX_READS: u32 = 4;

/// The most that a shard takes without its boards: the lease, the set of archived boards, the index and the release. Two
/// requests more for a store that does not know a script or refuses its flags.
const SHARD_COST: Cost = Cost::new(6, 2);

/// The cost of further names of the index.
const NAMES_COST: Cost = Cost::new(1, 0);

/// The most that the states of boards take, in Redis and in the archive, and reading events.
const STATES_COST: Cost = Cost::new(3, 1);

/// The most that boards take that are written together: requests that read pages, states and the audit log, and two
/// transactions.
const TOGETHER_COST: Cost = Cost::new(5, 7);

/// The most that a page takes: a request that reads it and a transaction that writes it or, after the
/// last page, one that counts the rows, requests that record the board and delete a corrected one, and a transaction.
const PAGE_COST: Cost = Cost::new(7, 5);

/// The cost of the release of a shard.
const RELEASE_COST: Cost = Cost::new(1, 1);

/// Returns the number of boards that are written together, if one page has all their members: few on the free plan, which
/// gives a run 10 ms of processor time.
fn boards_together(config: &Config) -> usize {
    (config.cron_budget as usize / 10).min(20)
}

/// Names of archived boards read from the database at once.
const ARCHIVED_NAMES: u32 = 10_000;

/// Milliseconds after an event has become final when its board is archived. Requests that arrived before that instant have
/// ended by then, and nothing counts later.
const EVENT_SETTLED: i64 = 10 * 60_000;

/// A board that expires within this many seconds is archived as soon as it has ended.
const URGENT: i64 = 12 * 3600;

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

/// The position of a board among names of the index, the board, and its copies in the archive.
type DueBoard = (usize, BoardName, ArchivedBoard);

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
        if !budget.allows(
            SHARD_COST
                .plus(STATES_COST)
                .plus(TOGETHER_COST)
                .plus(part.record_cost()),
        ) {
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
        let first = self.read_index(IndexPage::FirstToExpire).await?;
        let urgent: Vec<_> = first
            .iter()
            .filter(|name| self.is_urgent(name))
            .cloned()
            .collect();
        if self.archive_due(&urgent).await? < urgent.len() {
            return Ok((next, false));
        }
        let is_whole = first.len() < NAMES as usize;
        for _ in 0..MAX_READS {
            let names = match is_whole {
                true => first.iter().rev().skip(next as usize).cloned().collect(),
                false if self.may_continue(NAMES_COST) => {
                    self.read_index(IndexPage::FromEnd(next)).await?
                }
                false => break,
            };
            let done = self.archive_due(&names).await?;
            next += done as u32;
            if done < names.len() {
                break;
            }
            if is_whole || names.len() < NAMES as usize {
                return Ok((0, true));
            }
        }
        Ok((next, false))
    }

    async fn read_index(&self, page: IndexPage) -> Result<Vec<(String, i64)>, Error> {
        source::read_index(self.deployment, self.shard, page, NAMES).await
    }

    /// Returns whether a name of the index, where it stays for a day after its expiry, expires soon.
    fn is_urgent(&self, (_, expiry): &(String, i64)) -> bool {
        expiry.saturating_sub(86_400) < self.now.0 / 1000 + URGENT
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
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        source::record_archived(self.deployment, self.shard, &names)
            .await
            .map(|_| ())
    }

    /// Archives the boards among names of the index that are due, in their order. Returns how many names are complete.
    async fn archive_due(&self, names: &[(String, i64)]) -> Result<usize, Error> {
        let (calendar, definitions) = (&self.deployment.calendar, &self.definitions);
        let (mut boards, mut indexes) = (Vec::new(), Vec::new());
        for (index, name) in names.iter().enumerate() {
            // The index also contains spans of histories.
            let board = BoardName::parse(&name.0, calendar, definitions, self.now);
            let Some(board) = board else { continue };
            let settled = settled_at(&board, board.end);
            let may_be_due = settled <= self.now.0 || self.is_urgent(name);
            let is_due = board.end <= self.now && settled > self.since && may_be_due;
            if is_due || board.is_corrected() {
                boards.push(board);
                indexes.push(index);
            }
        }
        let Some(first) = indexes.first() else {
            return Ok(names.len());
        };
        if !self.may_continue(STATES_COST.plus(TOGETHER_COST)) {
            return Ok(*first);
        }
        let archived = archive::read_boards(self.archive, &self.id, &boards).await?;
        let boards = indexes.into_iter().zip(boards).zip(archived);
        let boards = boards.map(|((index, board), archived)| (index, board, archived));
        let boards: Vec<DueBoard> = boards.collect();
        let together = boards_together(&self.deployment.config);
        let (mut rest, mut size) = (boards.as_slice(), 2 * together);
        while let Some((index, _, _)) = rest.first() {
            if !self.may_continue(STATES_COST.plus(TOGETHER_COST)) {
                return Ok(*index);
            }
            let (part, later) = rest.split_at(size.min(rest.len()));
            let due = self.due(part).await?;
            // A run reads few more states than it writes boards.
            if due.len() * 2 < part.len() {
                size *= 2;
            }
            for due in due.chunks(together) {
                if let Some(index) = self.archive_some(due).await? {
                    return Ok(index);
                }
            }
            rest = later;
        }
        Ok(names.len())
    }

    /// Returns the boards that are not archived as they are. A board without a copy needs no state. A corrected one is
    /// deleted once it is archived.
    async fn due(&self, boards: &[DueBoard]) -> Result<Vec<DueBoard>, Error> {
        let with_state = boards
            .iter()
            .filter(|(_, board, archived)| board.is_corrected() || archived.complete.is_some());
        let names: Vec<&str> = with_state
            .map(|(_, board, _)| board.source.as_str())
            .collect();
        let mut states = Vec::new();
        if !names.is_empty() {
            states = source::read_states(self.deployment, self.shard, &names).await?;
        }
        let mut states = states.into_iter();
        let mut due = Vec::new();
        for (index, board, archived) in boards {
            let is_due = match &archived.complete {
                _ if board.is_corrected() => states.next().flatten().is_some(),
                None => true,
                Some(copy) => states.next().flatten().is_some_and(|state| {
                    let is_same_day = copy.day == board.day || board.day.is_empty();
                    state != copy.state || !is_same_day
                }),
            };
            if is_due {
                due.push((*index, board.clone(), archived.clone()));
            }
        }
        let is_unknown = |(_, board, _): &DueBoard| board.day.is_empty();
        if due.iter().any(is_unknown) {
            self.add_final_instants(&mut due).await?;
        }
        Ok(due)
    }

    /// Archives boards: those whose members fit in one page together, then each of the others. Returns the index of the
    /// first one that is not complete.
    async fn archive_some(&self, due: &[DueBoard]) -> Result<Option<usize>, Error> {
        let Some((first, _, _)) = due.first() else {
            return Ok(None);
        };
        if !self.may_continue(TOGETHER_COST) {
            return Ok(Some(*first));
        }
        let is_new =
            |(_, board, archived): &&DueBoard| archived.partial.is_none() && !board.is_corrected();
        let new: Vec<&DueBoard> = due.iter().filter(is_new).collect();
        let names: Vec<&str> = new
            .iter()
            .map(|(_, board, _)| board.name.as_str())
            .collect();
        let mut pages = Vec::new();
        if !names.is_empty() {
            pages = source::read_pages(self.deployment, self.shard, &names, 0, KEPT).await?;
        }
        let (mut whole, mut gone) = (Vec::new(), Vec::new());
        for ((index, board, _), page) in new.iter().zip(&pages) {
            match page {
                Some(page) if page.is_whole() => whole.push((board, page)),
                Some(_) => {}
                None => gone.push(*index),
            }
        }
        let complete = self.archive_whole(&whole).await?;
        for (index, board, archived) in due {
            let is_complete = complete.contains(&board.name.as_str()) || gone.contains(index);
            if !is_complete && !self.archive_board(board, archived).await? {
                return Ok(Some(*index));
            }
            if board.is_corrected() {
                source::delete_corrected(self.deployment, self.shard, &board.name).await?;
            }
        }
        Ok(None)
    }

    /// Archives boards by their only pages. Returns those that did not change meanwhile; a user may have been hidden.
    async fn archive_whole<'a>(
        &self,
        boards: &[(&'a BoardName, &ArchivePage)],
    ) -> Result<Vec<&'a str>, Error> {
        if boards.is_empty() {
            return Ok(Vec::new());
        }
        archive::write_boards(self.archive, &self.id, boards, self.now).await?;
        let names: Vec<&'a str> = boards
            .iter()
            .map(|(board, _)| board.name.as_str())
            .collect();
        let states = source::read_states(self.deployment, self.shard, &names).await?;
        let periods = boards.iter().filter(|(board, _)| board.event().is_none());
        let periods: Vec<&str> = periods.map(|(board, _)| board.name.as_str()).collect();
        let audit = source::record_archived(self.deployment, self.shard, &periods).await?;
        let mut complete = Vec::new();
        for ((name, (_, page)), state) in names.into_iter().zip(boards).zip(states) {
            if page.audit == audit && state == Some(page.state) {
                complete.push(name);
            }
        }
        archive::finish(self.archive, &self.id, &complete).await?;
        Ok(complete)
    }

    /// Reads the events that the definitions do not have, and removes the boards of events that do not exist or are not
    /// final.
    async fn add_final_instants(&self, due: &mut Vec<DueBoard>) -> Result<(), Error> {
        let boards = due.iter().map(|(_, board, _)| board);
        let unknown = boards.filter(|board| board.day.is_empty());
        let ids: Vec<&str> = unknown.filter_map(BoardName::event).collect();
        for event in events::read_some(self.deployment, &ids).await? {
            let mut boards = due.iter_mut().map(|(_, board, _)| board);
            let board = boards.find(|board| board.event() == Some(&event.id));
            if let Some(board) = board
                && settled_at(board, event.final_at) <= self.now.0
            {
                board.day = event.final_at.to_string();
            }
        }
        due.retain(|(_, board, _)| !board.day.is_empty());
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
            let sources = [board.source.as_str()];
            let mut pages =
                source::read_pages(self.deployment, self.shard, &sources, first, KEPT).await?;
            let Some(page) = pages.pop().flatten() else {
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
                    let names = [board.name.as_str()];
                    source::record_archived(self.deployment, self.shard, &names).await?;
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
