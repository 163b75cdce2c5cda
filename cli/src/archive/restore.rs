//! `activity-rank restore`: an exported site, into an empty store.

use std::process::ExitCode;
use std::thread;

use tokio::sync::mpsc::channel;

use crate::archive::check::{Checked, at_line, check, read_line};
use crate::archive::claim::Claim;
use crate::archive::progress::Progress;
use crate::archive::store::Store;
use crate::archive::writing::Writing;
use crate::args::RestoreArgs;
use crate::count::count;
use crate::failure::Failure;
use crate::screen::Screen;
use crate::upload::source::Source;

/// Lines read ahead.
const LINES_AHEAD: usize = 256;

/// Checks the file, then writes what it says.
///
/// # Errors
///
/// [`Failure`] if the file is not sound, the prefix is not empty, or the store does not answer.
pub async fn run(args: &RestoreArgs) -> Result<ExitCode, Failure> {
    let mut source = Source::open(&args.file)?;
    let store = Store::new(&args.store, Progress::new(source.size()))?;
    let checked = check(&mut source, &args.file)?;
    let claim = Claim::new(&store, &checked);
    claim.take(args.go_on).await?;
    let expired = match write(source, &checked, args, &claim).await {
        Ok(expired) => expired,
        Err(failure) => {
            store.progress.finish();
            Screen::complain(&format!(
                "the restore has begun and is not finished; run it again with --continue: until \
                 then the service answers nothing under the prefix {}",
                args.store.prefix
            ));
            return Err(failure);
        }
    };
    store.progress.finish();
    let mut done = format!("restored {}", count(checked.lines, "line"));
    if checked.stamp.shards > 1 {
        done.push_str(&format!(" over {} shards", checked.stamp.shards));
    }
    if expired > 0 {
        let lines = count(expired, "line");
        done.push_str(&format!(", and left out {lines} that expired meanwhile"));
    }
    Screen::print(&done)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes all lines and says how many have expired.
async fn write(
    source: Source,
    checked: &Checked,
    args: &RestoreArgs,
    claim: &Claim,
) -> Result<u64, Failure> {
    let now = claim.store.now().await?;
    let mut shards = Vec::new();
    for store in &claim.shards {
        // One that is all there, and stamped, is written no more.
        let held = claim.holds(store).await?;
        shards.push(held.then(|| Writing::new(store, claim.stamp.clone())));
    }
    let (lines, mut read) = channel(LINES_AHEAD);
    // Reading is no work for a task: it may wait for a disk.
    let reader = thread::spawn(move || source.read(|line| lines.blocking_send(line).is_ok()));
    let (mut done, mut expired) = (0, 0);
    while let Some(line) = read.recv().await {
        let record = read_line(&line).map_err(|what| at_line(&args.file, line.number, what))?;
        done += 1;
        let shard = usize::try_from(record.shard(checked.stamp.shards)).unwrap_or(usize::MAX);
        if record
            .expires()
            .is_some_and(|at| at.as_millisecond() <= now)
        {
            expired += 1;
        } else if let Some(Some(writing)) = shards.get_mut(shard) {
            writing.add(&record).await?;
        }
        let lines = count(done, "line");
        claim.store.progress.moved(line.bytes, lines);
    }
    match reader.join() {
        Ok(read) => read?,
        Err(_) => return Err(Failure::Usage("the file could not be read".to_owned())),
    }
    if done != checked.lines {
        let what = "the file has changed since it was checked".to_owned();
        return Err(at_line(&args.file, done + 1, what));
    }
    // The first shard tells how far it is, so it comes last.
    for writing in shards.into_iter().rev().flatten() {
        writing.finish(checked.stamp.to_string()).await?;
    }
    Ok(expired)
}
