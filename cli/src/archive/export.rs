//! `activity-rank export`: everything a site keeps, into a file.

use std::process::ExitCode;

use jiff::Timestamp;

use crate::archive::claim::RESTORING;
use crate::archive::output::Output;
use crate::archive::progress::Progress;
use crate::archive::record::{Record, VERSION};
use crate::archive::stamp::Stamp;
use crate::archive::store::Store;
use crate::archive::walk::walk;
use crate::args::ExportArgs;
use crate::count::count;
use crate::failure::Failure;
use crate::rebuild::state::REBUILDING;
use crate::screen::Screen;

/// Writes the file.
///
/// # Errors
///
/// [`Failure`] if there is no site, the store does not answer, or the file can't be written.
pub async fn run(args: &ExportArgs) -> Result<ExitCode, Failure> {
    let store = Store::new(&args.store, Progress::new(None))?;
    let stamp = stamp(&store).await?;
    let mut output = Output::open(args.output.as_deref())?;
    output.write(&first_line(&store, &stamp).await?)?;
    for shard in 0..stamp.shards {
        walk(&store.of_shard(shard, stamp.shards), &mut output).await?;
    }
    let lines = output.lines;
    output.write(&Record::End { lines })?;
    store.progress.finish();
    let aside = output.is_stdout();
    output.finish()?;
    let done = format!("exported {}", count(lines + 1, "line"));
    if aside {
        Screen::complain(&done);
    } else {
        Screen::print(&done)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The stamp that all shards have.
async fn stamp(store: &Store) -> Result<Stamp, Failure> {
    let prefix = &store.prefix;
    let Some(held) = store.stamp().await? else {
        return Err(Failure::Usage(format!(
            "there is no site under the prefix {prefix}: is PREFIX that of the service?"
        )));
    };
    let stamp = read_stamp(prefix, &held)?;
    for shard in 1..stamp.shards {
        let store = store.of_shard(shard, stamp.shards);
        let Some(other) = store.stamp().await? else {
            return Err(Failure::Usage(format!(
                "shard {shard} of {} under the prefix {prefix} has no stamp: was a part of the store lost?",
                stamp.shards
            )));
        };
        if read_stamp(prefix, &other)? != stamp {
            let [held, other] = [&held, &other].map(|stamp| crate::printable::printable(stamp));
            return Err(Failure::Usage(format!(
                "the shards under the prefix {prefix} are of more than one site ({held}; {other})"
            )));
        }
    }
    Ok(stamp)
}

fn read_stamp(prefix: &str, held: &str) -> Result<Stamp, Failure> {
    for (begins, what) in [(RESTORING, "restore"), (REBUILDING, "rebuild")] {
        if held.starts_with(begins) {
            return Err(Failure::Usage(format!(
                "a {what} under the prefix {prefix} has not been finished"
            )));
        }
    }
    Stamp::parse(held).ok_or_else(|| {
        let held = crate::printable::printable(held);
        Failure::Usage(format!(
            "the data under the prefix {prefix} was written by another version ({held})"
        ))
    })
}

async fn first_line(store: &Store, stamp: &Stamp) -> Result<Record, Failure> {
    let instant = Timestamp::from_millisecond(store.now().await?);
    Ok(Record::Export {
        version: VERSION,
        prefix: store.prefix.clone(),
        instant: instant.map_err(|error| Failure::Store(error.to_string()))?,
        shards: stamp.shards,
        decimals: stamp.decimals,
        timezone: stamp.timezone.clone(),
    })
}
