//! The progress of the scheduled jobs: a hash in each shard, read together with the state that shows whether
//! there is anything to do.
//!
//! | field | content |
//! |---|---|
//! | `late` | how often the drain has found late changes: of boards that the archive may have already |
//! | `drains` | while a long outbox is drained: how many drains began since one removed a batch |
//! | `archive` | the last complete pass over the boards, as [`Pass`] |
//! | `pass` | the pass in progress, or empty |
//! | `sums` | the last entry of the outbox that is in the sums of the journal |
//! | `queue` | on the first shard: the last delivery of queued activity, as [`QueueDelivery`] |
//! | `preview` | on the first shard: 1 while a preview of rules has scratch keys |
//! | `cron` | on the first shard: the last recorded run of cron, as [`RecordedRun`] |
//! | `snapshots` | on the first shard: the [`State`](activity_rank_core::board::snapshot::State) of the snapshots |

use crate::deployment::Deployment;
use crate::events::{read_definitions_and, read_definitions_command};
use crate::fingerprint;
use crate::keys::Keys;
use crate::redis::{Command, Pipeline, Reply, StoreError};
use crate::stream;
use activity_rank_core::calendar::Instant;
use activity_rank_core::error::Error;
use activity_rank_core::event::Definitions;

/// The field that counts late changes.
pub(crate) const LATE: &str = "late";
/// The drains of a long outbox that have begun since one removed a batch.
pub(crate) const DRAINS: &str = "drains";

/// The field of [`Progress::snapshots`].
const SNAPSHOTS: &str = "snapshots";

/// The field of the last delivery.
pub(crate) const QUEUE: &str = "queue";

/// The field of the last recorded run of cron.
pub(crate) const CRON: &str = "cron";

/// The field of [`Progress::has_preview`].
const PREVIEW: &str = "preview";

/// The field of [`Progress::summed`].
const SUMS: &str = "sums";

/// The progress of the jobs on a shard, and its outbox.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Whether a change of visibility or an erasure is pending.
    pub is_pending: bool,
    /// The definitions of events; empty if nothing reads them.
    pub definitions: Definitions,
    /// The outbox; `None` if the store does not describe it.
    pub outbox: Option<Outbox>,
    /// The number of late changes so far.
    pub late: u64,
    /// The last complete pass over the boards.
    pub archived: Option<Pass>,
    /// The pass in progress.
    pub pass: Option<Pass>,
    /// The state of the snapshots; empty if there is none, and on other shards than the first.
    pub snapshots: String,
    /// The id of the last entry in the sums of the journal; empty if there is none.
    pub summed: String,
    /// Whether a preview of rules has scratch keys.
    pub has_preview: bool,
    /// The last recorded run of cron; `None` on other shards than the first.
    pub cron: Option<RecordedRun>,
}

/// The outbox of a shard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outbox {
    /// The entries that are not in the journal yet.
    pub length: u64,
    /// The id of the last entry, also if it has been removed: every change has a new one.
    pub last: String,
    /// The id of the first entry; empty if there is none.
    pub first: String,
    /// The number of all entries so far, if the store counts them: Redis does from version 7 on.
    pub added: Option<u64>,
}

/// A pass of the archive over the boards of a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    /// The number of late changes when it began.
    pub late: u64,
    /// When it began, Unix ms.
    pub began: i64,
    /// The pass leaves out boards that had settled before this instant, Unix ms; 0 for none.
    pub since: i64,
}

/// A delivery of queued activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueDelivery {
    /// When the oldest of its messages was queued.
    pub oldest: Instant,
    /// When it was counted.
    pub delivered: Instant,
}

/// A run of the jobs of every five minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedRun {
    /// When it began.
    pub began: Instant,
    /// How long it took, in milliseconds.
    pub duration: i64,
    /// Whether no job failed.
    pub succeeded: bool,
}

impl RecordedRun {
    /// Parses the stored text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split(' ').map(str::parse::<i64>);
        let mut next = || numbers.next()?.ok();
        Some(Self {
            began: Instant(next()?),
            duration: next()?,
            succeeded: next()? == 1,
        })
    }

    fn render(self) -> String {
        let succeeded = u8::from(self.succeeded);
        format!("{} {} {succeeded}", self.began.0, self.duration)
    }
}

impl QueueDelivery {
    /// Parses the stored text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (oldest, delivered) = text.split_once(' ')?;
        Some(Self {
            oldest: Instant(oldest.parse().ok()?),
            delivered: Instant(delivered.parse().ok()?),
        })
    }

    fn render(self) -> String {
        format!("{} {}", self.oldest.0, self.delivered.0)
    }
}

impl Pass {
    fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split(' ').map(str::parse::<i64>);
        let mut next = || numbers.next()?.ok();
        Some(Self {
            late: u64::try_from(next()?).ok()?,
            began: next()?,
            since: next()?,
        })
    }

    fn render(self) -> String {
        format!("{} {} {}", self.late, self.began, self.since)
    }
}

/// Reads the progress of all shards of a deployment with a journal, in one request.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read(deployment: &Deployment) -> Result<Vec<Progress>, Error> {
    let mut commands = Vec::new();
    for shard in 0..deployment.config.shards {
        let keys = deployment.keys(shard);
        commands.push(fingerprint::read_with_definitions(&keys));
        let fields = Command::new("HMGET").arg(&keys.progress()).arg(LATE);
        commands.push(fields.args(["archive", "pass", SNAPSHOTS, SUMS, CRON, PREVIEW]));
        commands.push(Command::new("XINFO").arg("STREAM").arg(&keys.outbox()));
    }
    let replies = deployment.store.run_each(&Pipeline::new(commands)).await?;
    let mut replies = replies.into_iter();
    let (mut all, mut shards) = (Vec::new(), 0..);
    while let (Some(users), Some(fields), Some(info)) =
        (replies.next(), replies.next(), replies.next())
    {
        let (users, fields) = (users?, fields?);
        let fingerprint = users.at(0)?;
        let shard = shards.next().unwrap_or_default();
        deployment.check(shard, fingerprint)?;
        let field = |index| {
            let text = fields.at(index)?.optional_text()?;
            Ok::<_, StoreError>(text.unwrap_or_default())
        };
        all.push(Progress {
            is_pending: fingerprint::has_pending_changes(fingerprint),
            definitions: Definitions::new(users.at(1)?.optional_text()?.unwrap_or_default()),
            outbox: outbox(info),
            late: field(0)?.parse().unwrap_or(0),
            archived: Pass::parse(field(1)?),
            pass: Pass::parse(field(2)?),
            snapshots: field(3)?.to_owned(),
            summed: field(4)?.to_owned(),
            cron: RecordedRun::parse(field(5)?),
            has_preview: !field(6)?.is_empty(),
        });
    }
    Ok(all)
}

/// Reads only what the run of every minute, or one without a journal, needs, in one request: the lengths of the outboxes if
/// there is a journal, and the definitions if there are several shards. Sends nothing if there is neither. The fingerprints
/// are not compared, and each shard may have a pending change.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read_minute(deployment: &Deployment) -> Result<Vec<Progress>, Error> {
    let (shards, has_journal) = (deployment.config.shards, deployment.config.bound.journal);
    let mut commands = Vec::new();
    for keys in (0..shards).map(|shard| deployment.keys(shard)) {
        if has_journal {
            commands.push(Command::new("XLEN").arg(&keys.outbox()));
        }
        if shards > 1 {
            commands.push(read_definitions_command(&keys));
        }
    }
    let replies = deployment.store.run(&Pipeline::new(commands)).await?;
    let mut replies = replies.into_iter();
    let mut all = Vec::new();
    for _ in 0..shards {
        let mut progress = Progress {
            is_pending: true,
            ..Progress::default()
        };
        if has_journal {
            let length = replies.next().unwrap_or_default().unsigned()?;
            progress.outbox = Some(Outbox {
                length,
                ..Outbox::default()
            });
        }
        if shards > 1 {
            let text = replies.next().unwrap_or_default();
            progress.definitions = Definitions::new(text.optional_text()?.unwrap_or_default());
        }
        all.push(progress);
    }
    Ok(all)
}

/// Decodes the reply to `XINFO STREAM`, a list of names and values.
pub(crate) fn outbox(info: Result<Reply, StoreError>) -> Option<Outbox> {
    let info = match info {
        Ok(info) => info,
        // Nothing has been written yet.
        Err(StoreError::Unavailable(cause)) if cause.contains("no such key") => {
            return Some(Outbox::default());
        }
        Err(_) => return None,
    };
    let value = |name: &str| {
        let values = info.list().ok()?;
        let is_name = |value: &Reply| matches!(value, Reply::Text(text) if text == name);
        values.get(values.iter().position(is_name)? + 1)
    };
    Some(Outbox {
        length: value("length")?.unsigned().ok()?,
        last: value("last-generated-id")?.text().ok()?.to_owned(),
        first: id_of(value("first-entry")).unwrap_or_default().to_owned(),
        added: value("entries-added").and_then(|added| added.unsigned().ok()),
    })
}

/// Returns the id of an entry of a stream, if there is one.
fn id_of(entry: Option<&Reply>) -> Option<&str> {
    entry?.at(0).ok()?.text().ok()
}

/// Records a pass over the boards of a shard: the position of one in progress, or a complete one.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn record_pass(
    deployment: &Deployment,
    shard: u32,
    pass: Pass,
    complete: bool,
) -> Result<(), Error> {
    let keys = deployment.keys(shard);
    let text = pass.render();
    let set = set(&keys, "pass", if complete { "" } else { &text });
    let set = if complete {
        set.arg("archive").arg(&text)
    } else {
        set
    };
    deployment.run_command(set).await.map(|_| ())
}

/// Reads the definitions of events and the state of the snapshots; empty if there is none.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn read_snapshots(deployment: &Deployment) -> Result<(Definitions, String), Error> {
    let keys = deployment.keys(0);
    let get = Command::new("HGET").arg(&keys.progress()).arg(SNAPSHOTS);
    let (definitions, state) = read_definitions_and(deployment, 0, get).await?;
    Ok((definitions, state.into_text()?.unwrap_or_default()))
}

/// Records the state of the snapshots.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn record_snapshots(deployment: &Deployment, state: &str) -> Result<(), Error> {
    let set = set(&deployment.keys(0), SNAPSHOTS, state);
    deployment.store.run(&Pipeline::new(vec![set])).await?;
    Ok(())
}

/// Records a delivery of queued activity, in one command.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn record_delivery(
    deployment: &Deployment,
    delivery: QueueDelivery,
) -> Result<(), Error> {
    let set = set(&deployment.keys(0), QUEUE, &delivery.render());
    deployment.store.run(&Pipeline::new(vec![set])).await?;
    Ok(())
}

/// Records a run of cron, in one command.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn record_cron(deployment: &Deployment, run: RecordedRun) -> Result<(), Error> {
    let set = set(&deployment.keys(0), CRON, &run.render());
    deployment.store.run(&Pipeline::new(vec![set])).await?;
    Ok(())
}

/// Lets the next run of every minute continue a preview of rules.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn wake_preview(deployment: &Deployment) -> Result<(), Error> {
    let keys = deployment.keys(0);
    let entry = Command::new("XADD").arg(&keys.outbox());
    let entry = entry.args(["*", "did", stream::PREVIEW]);
    let commands = vec![set(&keys, PREVIEW, "1"), entry];
    deployment.store.run(&Pipeline::new(commands)).await?;
    Ok(())
}

/// Records that no preview of rules has scratch keys.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn end_preview(deployment: &Deployment) -> Result<(), Error> {
    let keys = deployment.keys(0);
    let delete = Command::new("HDEL").arg(&keys.progress()).arg(PREVIEW);
    deployment.store.run(&Pipeline::new(vec![delete])).await?;
    Ok(())
}

/// Records, for some shards, the last entry that is in the sums of the journal.
///
/// # Errors
///
/// As [`Deployment::run_script`].
pub async fn record_sums(deployment: &Deployment, last: &[(u32, &str)]) -> Result<(), Error> {
    let mut sets = Vec::new();
    for (shard, last) in last {
        sets.push(set(&deployment.keys(*shard), SUMS, last));
    }
    deployment.store.run(&Pipeline::new(sets)).await?;
    Ok(())
}

fn set(keys: &Keys, field: &str, value: &str) -> Command {
    let set = Command::new("HSET").arg(&keys.progress());
    set.arg(field).arg(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pass_round_trips() {
        let pass = Pass {
            late: 2,
            began: 1_795_132_800_000,
            since: 0,
        };
        assert_eq!(Pass::parse(&pass.render()), Some(pass));
        for odd in ["", "1 2", "-1 2 3", "a b c"] {
            assert_eq!(Pass::parse(odd), None, "{odd}");
        }
    }

    #[test]
    fn delivery_round_trips() {
        let delivery = QueueDelivery {
            oldest: Instant(1_795_132_800_000),
            delivered: Instant(1_795_132_801_000),
        };
        assert_eq!(QueueDelivery::parse(&delivery.render()), Some(delivery));
        for odd in ["", "1", "a 1", "1 b"] {
            assert_eq!(QueueDelivery::parse(odd), None, "{odd}");
        }
    }

    #[test]
    fn cron_run_round_trips() {
        for succeeded in [true, false] {
            let run = RecordedRun {
                began: Instant(1_795_132_800_000),
                duration: 420,
                succeeded,
            };
            assert_eq!(RecordedRun::parse(&run.render()), Some(run));
        }
        for odd in ["", "1", "1 2", "a 2 1"] {
            assert_eq!(RecordedRun::parse(odd), None, "{odd}");
        }
    }

    #[test]
    fn outbox_is_unknown_without_its_description() {
        let missing = StoreError::Unavailable("ERR no such key".into());
        assert_eq!(outbox(Err(missing)), Some(Outbox::default()));
        assert_eq!(outbox(Err(StoreError::Refused("NOPERM".into()))), None);
        let text = r#"["length",2,"last-generated-id","7-1","groups",0]"#;
        let described = Outbox {
            length: 2,
            last: "7-1".into(),
            ..Outbox::default()
        };
        assert_eq!(outbox(Ok(Reply::parse(text).unwrap())), Some(described));
        let text = r#"["length",1,"last-generated-id","7-1","entries-added",9,
            "first-entry",["7-1",["length","3"]],"last-entry",["7-1",["length","3"]]]"#;
        let described = Outbox {
            length: 1,
            last: "7-1".into(),
            first: "7-1".into(),
            added: Some(9),
        };
        assert_eq!(outbox(Ok(Reply::parse(text).unwrap())), Some(described));
        assert_eq!(outbox(Ok(Reply::Nil)), None);
    }
}
