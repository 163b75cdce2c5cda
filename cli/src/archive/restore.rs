//! `activity-rank restore`: an exported site, into an empty store.

use std::process::ExitCode;
use std::thread;

use tokio::sync::mpsc::channel;

use crate::archive::check::{Checked, at_line, check, read_line};
use crate::archive::key::Key;
use crate::archive::progress::Progress;
use crate::archive::store::Store;
use crate::archive::writing::Writing;
use crate::args::RestoreArgs;
use crate::count::count;
use crate::failure::Failure;
use crate::screen::Screen;
use crate::upload::source::Source;

/// Begins what stands in place of the stamp while a restore is under way. A service takes it for
/// the stamp of another version, and answers nothing.
pub const RESTORING: &str = "restoring ";

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
    let claim = format!("{RESTORING}{}", checked.digest);
    claim_prefix(&store, args, &claim).await?;
    let expired = match write(&store, source, &checked, args, claim).await {
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
    if expired > 0 {
        let lines = count(expired, "line");
        done.push_str(&format!(", and left out {lines} that expired meanwhile"));
    }
    Screen::print(&done)?;
    Ok(ExitCode::SUCCESS)
}

/// Takes an empty prefix, or goes on with one that this very file has taken.
async fn claim_prefix(store: &Store, args: &RestoreArgs, claim: &str) -> Result<(), Failure> {
    let prefix = &args.store.prefix;
    let refuse = |what: &str| Err(Failure::Usage(format!("the prefix {prefix} {what}")));
    match store.stamp().await? {
        Some(held) if held == claim => {
            return if args.go_on {
                Ok(())
            } else {
                refuse("holds a restore of this file that is not finished: add --continue")
            };
        }
        Some(held) if held.starts_with(RESTORING) => {
            return refuse("holds a restore of another file that is not finished");
        }
        Some(_) => return refuse("holds a site already; choose another PREFIX"),
        None => (),
    }
    let mut cursor = "0".to_owned();
    loop {
        let (next, keys) = store.scan(&cursor).await?;
        if !keys.is_empty() {
            return refuse("is not empty; choose another PREFIX");
        }
        if next == "0" {
            break;
        }
        cursor = next;
    }
    let stamp = store.key(&Key::Stamp);
    let _: Option<String> = store.ask(&["SET", &stamp, claim, "NX"]).await?;
    // Asked again rather than told by SET, whose answer may have been lost and which is then repeated.
    if store.stamp().await?.as_deref() == Some(claim) {
        Ok(())
    } else {
        refuse("has been taken by somebody else just now")
    }
}

/// Writes all lines and says how many have expired.
async fn write(
    store: &Store,
    source: Source,
    checked: &Checked,
    args: &RestoreArgs,
    claim: String,
) -> Result<u64, Failure> {
    let now = store.now().await?;
    let (lines, mut read) = channel(LINES_AHEAD);
    // Reading is no work for a task: it may wait for a disk.
    let reader = thread::spawn(move || source.read(|line| lines.blocking_send(line).is_ok()));
    let mut writing = Writing::new(store, claim);
    let (mut done, mut expired) = (0, 0);
    while let Some(line) = read.recv().await {
        let record = read_line(&line).map_err(|what| at_line(&args.file, line.number, what))?;
        done += 1;
        if record
            .expires()
            .is_some_and(|at| at.as_millisecond() <= now)
        {
            expired += 1;
        } else {
            writing.add(&record).await?;
        }
        let lines = count(done, "line");
        store.progress.moved(line.bytes, lines);
    }
    match reader.join() {
        Ok(read) => read?,
        Err(_) => return Err(Failure::Usage("the file could not be read".to_owned())),
    }
    if done != checked.lines {
        let what = "the file has changed since it was checked".to_owned();
        return Err(at_line(&args.file, done + 1, what));
    }
    writing.finish(checked.stamp.clone()).await?;
    Ok(expired)
}
