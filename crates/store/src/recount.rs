//! `recount.lua`: counts an event again beside its board, then puts the result in its place.

use crate::deployment::Deployment;
use crate::events::{self, Change};
use crate::outbox::OutboxEntry;
use crate::redis::{Command, Reply};
use crate::scripts::RECOUNT;
use activity_rank_core::board::BoardId;
use activity_rank_core::calendar::Instant;
use activity_rank_core::error::Error;
use activity_rank_core::event::Event;

/// A recount of an event on one shard.
pub struct Recount<'a> {
    /// The deployment.
    pub deployment: &'a Deployment,
    /// The event, as it is to be defined.
    pub event: &'a Event,
    /// The words of the definition that say what counts: a recount with others begins anew.
    pub counts: String,
    /// The shard.
    pub shard: u32,
    /// The current instant.
    pub now: Instant,
}

/// Where a recount begins or continues.
pub struct Start {
    /// The id of an entry in the outbox. The journal must have all entries up to it before the swap.
    pub marker: String,
    /// The number of the last entry that is counted; `None` at first.
    pub entry: Option<u64>,
}

/// An entry of the journal that counts: `count`, `undo` or `erase`; the user, or the hash of an erased one; points in
/// smallest steps.
pub type Counted = [String; 3];

/// How a swap ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swap {
    /// The board has been replaced.
    Done,
    /// More entries have reached the journal, or the definitions have changed: count them, and swap again.
    Stale,
}

impl Recount<'_> {
    /// Returns the board to be.
    #[must_use]
    pub fn board(event: &str) -> BoardId {
        // No id has a tab.
        BoardId::for_event(format!("\t{event}"))
    }

    /// Begins or continues the recount.
    ///
    /// # Errors
    ///
    /// As [`Deployment::run_script`].
    pub async fn begin(&self) -> Result<Start, Error> {
        let reply = self.run("begin", Vec::new()).await?;
        Ok(Start {
            marker: reply.at(0)?.text()?.to_owned(),
            entry: reply.at(1)?.text()?.parse().ok(),
        })
    }

    /// Reads the entries of the outbox after one of them, up to another one.
    ///
    /// # Errors
    ///
    /// As [`Deployment::run_script`].
    pub async fn outbox(&self, after: &str, until: &str) -> Result<Vec<OutboxEntry>, Error> {
        let keys = self.deployment.keys(self.shard);
        let first = match after {
            "" => "-".to_owned(),
            after => format!("({after}"),
        };
        let read = Command::new("XRANGE").arg(&keys.outbox()).arg(&first);
        let read = read.arg(until).args(["COUNT", "1000"]);
        let reply = self.deployment.run_command(read).await?;
        let entries = reply.list()?.iter().map(OutboxEntry::decode);
        Ok(entries.collect::<Result<_, _>>()?)
    }

    /// Counts the next entries: those after one number, up to another one.
    ///
    /// # Errors
    ///
    /// [`Error::EventConflict`] if another recount goes on, or a score would exceed its maximum; else as
    /// [`Deployment::run_script`].
    pub async fn count(&self, after: u64, last: u64, entries: Vec<Counted>) -> Result<(), Error> {
        let mut arguments = vec![after.to_string(), last.to_string()];
        arguments.extend(entries.into_iter().flatten());
        match self.run("count", arguments).await?.text()? {
            "counted" => Ok(()),
            other => Err(conflict(other)),
        }
    }

    /// Prepares the board to be for reads.
    ///
    /// # Errors
    ///
    /// As [`Self::count`].
    pub async fn show(&self) -> Result<(), Error> {
        match self.run("show", Vec::new()).await?.text()? {
            "shown" => Ok(()),
            other => Err(conflict(other)),
        }
    }

    /// Puts the counted board in the place of the event's board, and defines the event.
    ///
    /// # Errors
    ///
    /// As [`Self::count`], and as [`events::define`].
    pub async fn swap(&self, marker: &str) -> Result<Swap, Error> {
        // The other shards get the definitions of the first one.
        let known = match self.shard {
            0 => events::check_recount(self.deployment, self.event, self.now).await?,
            _ => Change {
                number: "*".to_owned(),
                changed: events::read_definitions(self.deployment).await?,
            },
        };
        let arguments = [
            marker,
            &known.number,
            known.changed.text(),
            &self.event.stored(),
            &events::expiry(&known.changed, &self.event.id),
        ];
        let arguments = arguments.map(str::to_owned).into();
        match self.run("swap", arguments).await?.text()? {
            "swapped" => {
                self.deployment.report_change();
                Ok(Swap::Done)
            }
            "stale" | "changed" => Ok(Swap::Stale),
            other => Err(conflict(other)),
        }
    }

    async fn run(&self, step: &str, arguments: Vec<String>) -> Result<Reply, Error> {
        let keys = self.deployment.keys(self.shard);
        let mut all = vec![
            keys.users(),
            keys.outbox(),
            keys.index(),
            keys.event_board(&self.event.id),
            keys.board_named(&Self::board(&self.event.id).name()),
            keys.recount(&self.event.id),
            keys.rebuild(),
        ];
        if self.shard == 0 {
            all.push(keys.events());
        }
        let header = [
            self.deployment.fingerprint(self.shard),
            self.now.0.to_string(),
            step.to_owned(),
            self.event.id.clone(),
            self.counts.clone(),
        ];
        let call = Command::script(&RECOUNT, &all);
        let call = call.args(header).args(arguments);
        let reply = self.deployment.run_script(call).await?;
        Ok(reply.at(1)?.clone())
    }
}

/// Returns why a step of a recount changed nothing.
fn conflict(reply: &str) -> Error {
    let detail = match reply {
        "overflow" => "A score would exceed its maximum.",
        "rebuild" => "A rebuild is in progress: repeat the recount afterwards.",
        _ => "Another recount of this event has begun meanwhile.",
    };
    Error::EventConflict(detail.to_owned())
}
