//! `activity-rank export`: everything a site keeps, into a file.

use std::process::ExitCode;

use jiff::Timestamp;

use crate::archive::output::Output;
use crate::archive::progress::Progress;
use crate::archive::record::{Record, VERSION};
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
    let stamp = store.stamp().await?;
    let first = first_line(&args.store.prefix, stamp, store.now().await?)?;
    let mut output = Output::open(args.output.as_deref())?;
    output.write(&first)?;
    walk(&store, &mut output).await?;
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

/// The stamp, taken apart.
fn first_line(prefix: &str, stamp: Option<String>, now: i64) -> Result<Record, Failure> {
    let Some(stamp) = stamp else {
        return Err(Failure::Usage(format!(
            "there is no site under the prefix {prefix}: is PREFIX that of the service?"
        )));
    };
    if stamp.starts_with(super::restore::RESTORING) {
        return Err(Failure::Usage(format!(
            "a restore under the prefix {prefix} has not been finished"
        )));
    }
    if stamp.starts_with(REBUILDING) {
        return Err(Failure::Usage(format!(
            "a rebuild under the prefix {prefix} has not been finished"
        )));
    }
    let known = || {
        let settings = stamp.strip_prefix("v2 shards=")?;
        let (shards, rest) = settings.split_once(" decimals=")?;
        let (decimals, timezone) = rest.split_once(" timezone=")?;
        Some(Record::Export {
            version: VERSION,
            prefix: prefix.to_owned(),
            instant: Timestamp::from_millisecond(now).ok()?,
            shards: shards.parse().ok()?,
            decimals: decimals.parse().ok()?,
            timezone: timezone.to_owned(),
        })
    };
    let first = known().filter(|first| first.check().is_ok());
    first.ok_or_else(|| {
        let stamp = crate::printable::printable(&stamp);
        Failure::Usage(format!(
            "the data under the prefix {prefix} was written by another version ({stamp})"
        ))
    })
}
