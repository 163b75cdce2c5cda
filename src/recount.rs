//! `POST /v1/events/{event}/recount`: counts an event again from the journal.
//!
//! Each shard counts beside its board, page by page, while activity goes on. Then its board is replaced in one step,
//! which counts what the journal does not have yet. Nothing is locked.

use crate::app::RequestContext;
use crate::journal;
use crate::journal::counted::{EventEntries, Range};
use crate::journal::drain::{REQUEST_BATCHES, drain};
use crate::platform::d1::Database;
use activity_rank_core::board::{BoardId, BoardQuery, BoardSlice, Row};
use activity_rank_core::calendar::Instant;
use activity_rank_core::error::Error;
use activity_rank_core::event::{Definitions, Event};
use activity_rank_core::score::Points;
use activity_rank_store::boards::{self, RelatedBoards};
use activity_rank_store::deployment::Deployment;
use activity_rank_store::outbox::Batch;
use activity_rank_store::recount::{Recount, Swap};
use serde_json::{Value, json};

/// The most attempts to swap a shard. Another one is needed if cron drains the outbox in between.
const MAX_SWAPS: u32 = 5;

/// The first rows of both boards that a preview compares.
const PREVIEWED: u32 = 100;

/// A recount.
struct Run<'a> {
    deployment: &'a Deployment,
    journal: &'a Database,
    entries: EventEntries<'a>,
    event: &'a Event,
    counts: String,
    now: Instant,
    /// The last recount of rules of each shard.
    rules: Vec<u64>,
    /// The pages of the journal that this request may still read, besides the last one of each shard.
    pages: u32,
}

/// Counts an event again, or shows what would change. Returns the answer, and whether it is complete.
///
/// # Errors
///
/// [`Error::EventConflict`] for too many events or points, a rebuild or another recount in progress; else the errors of
/// store and database.
pub async fn recount(
    context: RequestContext<'_>,
    journal: &Database,
    event: &Event,
    is_preview: bool,
) -> Result<(Value, bool), Error> {
    let deployment = context.app.job_deployment()?;
    let (config, now) = (&deployment.config, context.request.now);
    deployment.claim().await?;
    let definitions = Definitions::default().changed(&event.id, Some(event), config, now);
    let missing = || Error::invalid("The event has no definition.");
    let entries = EventEntries::new(journal, config, &definitions).ok_or_else(missing)?;
    let words = definitions
        .events()
        .next()
        .map(|event| event.counts().join(" "));
    let mut run = Run {
        deployment,
        journal,
        entries,
        event,
        counts: words.unwrap_or_default(),
        now,
        rules: vec![0; config.shards as usize],
        pages: config.cron_budget / 4,
    };
    let mut is_counted = true;
    for shard in 0..config.shards {
        is_counted = is_counted && run.advance(shard).await?.is_some();
    }
    let journal_from = run
        .entries
        .journal_from()
        .await?
        .map(|from| from.to_string());
    let answer = |state: &str| json!({"event": event.view(now), "state": state, "journal_from": journal_from});
    if !is_counted {
        return Ok((answer("counting"), false));
    }
    if is_preview {
        for shard in 0..config.shards {
            run.shard(shard).show().await?;
        }
        let mut answer = answer("preview");
        let [total, changes] = run.changes().await?;
        if let Some(fields) = answer.as_object_mut() {
            fields.insert("total".to_owned(), total);
            fields.insert("changes".to_owned(), changes);
        }
        return Ok((answer, true));
    }
    for shard in 0..config.shards {
        run.swap(shard).await?;
    }
    Ok((answer("recounted"), true))
}

impl Run<'_> {
    fn shard(&self, shard: u32) -> Recount<'_> {
        let rules = self.rules.get(shard as usize).copied().unwrap_or_default();
        Recount {
            deployment: self.deployment,
            event: self.event,
            counts: format!("{} {rules}", self.counts),
            shard,
            now: self.now,
        }
    }

    /// Counts the entries of a shard up to now. Returns the entry of its outbox until which all are counted; `None` if
    /// there are more than this request may read.
    async fn advance(&mut self, shard: u32) -> Result<Option<String>, Error> {
        let shards = shard..shard + 1;
        if !drain(self.deployment, self.journal, shards, REQUEST_BATCHES).await? {
            return Ok(None);
        }
        let rules = self.entries.rules_until(shard).await?;
        if let Some(known) = self.rules.get_mut(shard as usize) {
            *known = rules;
        }
        let start = self.shard(shard).begin().await?;
        self.copy_outbox(shard, &start.marker).await?;
        let extent = self.entries.extent(shard, &start.marker).await?;
        if self.entries.rules_until(shard).await? != rules {
            return Ok(None);
        }
        let mut range = Range {
            after: start.entry.unwrap_or(extent.before_first),
            last: extent.last,
            erased_after: start.entry.unwrap_or(extent.last),
        };
        while range.after < range.last {
            let (counted, last) = self.entries.page(shard, &range, &extent.rules).await?;
            self.shard(shard).count(range.after, last, counted).await?;
            range.after = last;
            // The last page of a shard is free: else a request would read only new entries of the first shards.
            if last < range.last {
                match self.pages.checked_sub(1) {
                    Some(left) => self.pages = left,
                    None => return Ok(None),
                }
            }
        }
        Ok(Some(start.marker))
    }

    /// Writes the entries of a shard's outbox up to one of them to the journal. They stay in the outbox.
    async fn copy_outbox(&self, shard: u32, marker: &str) -> Result<(), Error> {
        let mut last = String::new();
        while last != marker {
            let entries = self.shard(shard).outbox(&last, marker).await?;
            let batch = Batch {
                entries,
                is_pending: false,
                received: None,
                ended: 0,
            };
            let written = journal::write(self.journal, self.deployment, shard, &batch).await?;
            // The outbox has been drained meanwhile: the journal has the entries.
            let written = batch.entries.get(..written).unwrap_or_default();
            let Some(entry) = written.last() else {
                break;
            };
            last.clone_from(&entry.id);
        }
        Ok(())
    }

    async fn swap(&mut self, shard: u32) -> Result<(), Error> {
        for _ in 0..MAX_SWAPS {
            if let Some(marker) = self.advance(shard).await?
                && self.shard(shard).swap(&marker).await? == Swap::Done
            {
                return Ok(());
            }
        }
        let detail = "the journal or the definitions changed between every two calls";
        Err(Error::StoreUnavailable(detail.to_owned()))
    }

    /// Returns the numbers of users, and the changes of the first rows.
    async fn changes(&self) -> Result<[Value; 2], Error> {
        let ids = [
            BoardId::for_event(self.event.id.clone()),
            Recount::board(&self.event.id),
        ];
        let page = BoardQuery::Page {
            offset: 0,
            limit: PREVIEWED,
        };
        let mut users: Vec<String> = Vec::new();
        for id in &ids {
            let rows = self.read(id, &page).await?.rows;
            let new = rows.into_iter().map(|row| row.user);
            let new: Vec<String> = new.filter(|user| !users.contains(user)).collect();
            users.extend(new);
        }
        let [before, after] = &ids;
        let query = BoardQuery::Users(&users);
        let [before, after] = [
            self.read(before, &query).await?,
            self.read(after, &query).await?,
        ];
        let place = |slice: &BoardSlice, user: &str| {
            let row = slice.rows.iter().find(|row| row.user == user);
            row.map(|row| self.place(row))
        };
        let rank = |place: &Option<Value>| {
            let rank = place.as_ref().and_then(|place| place["rank"].as_u64());
            rank.unwrap_or(u64::MAX)
        };
        let mut changes: Vec<(u64, u64, Value)> = Vec::new();
        for user in &users {
            let [before, after] = [place(&before, user), place(&after, user)];
            let ranks = (rank(&after), rank(&before));
            if before != after {
                let change = json!({"user": {"id": user}, "before": before, "after": after});
                let index =
                    changes.partition_point(|(after, before, _)| (*after, *before) <= ranks);
                changes.insert(index, (ranks.0, ranks.1, change));
            }
        }
        let total = json!({"before": before.total, "after": after.total});
        let changes = changes.into_iter().map(|(_, _, change)| change);
        Ok([total, Value::Array(changes.collect())])
    }

    async fn read(&self, board: &BoardId, query: &BoardQuery<'_>) -> Result<BoardSlice, Error> {
        if matches!(query, BoardQuery::Users([])) {
            return Ok(BoardSlice::default());
        }
        let related = RelatedBoards::default();
        let stored = boards::read(self.deployment, board, query, &related).await?;
        Ok(stored.slice)
    }

    fn place(&self, row: &Row) -> Value {
        let layout = self.deployment.config.layout;
        let score = Points::new(layout.points(row.score), layout.decimals);
        json!({"rank": row.rank, "score": score})
    }
}
