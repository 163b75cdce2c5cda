//! The command, for data in a store.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use test_support::TOKEN;

use crate::run;
use crate::run::Run;

/// Where a site's data lie.
#[derive(Clone, Debug)]
pub struct Place {
    /// The store's address.
    pub store: String,
    /// The site's prefix.
    pub prefix: String,
}

/// The command with these arguments on this place; all but the file comes by the environment.
pub fn command(place: &Place, args: &[&str]) -> Command {
    let place = [
        ("UPSTASH_REDIS_REST_URL", place.store.as_str()),
        ("UPSTASH_REDIS_REST_TOKEN", TOKEN),
        ("PREFIX", &place.prefix),
    ];
    run::command(args, &place)
}

/// Runs it to its end. Nowhere does the token show.
#[track_caller]
pub fn run(place: &Place, args: &[&str]) -> io::Result<Run> {
    finish(command(place, args))
}

/// Runs a prepared command to its end.
#[track_caller]
pub fn finish(command: Command) -> io::Result<Run> {
    run::finish(command, "", TOKEN)
}

/// What is told while it takes long is no complaint.
fn without_progress(stderr: &str) -> String {
    let told = |line: &&str| !line.contains(" lines") && !line.contains("; trying again in ");
    stderr.lines().filter(told).collect()
}

/// A new file in a folder with what is exported of a place.
#[track_caller]
pub fn exported(place: &Place, folder: &Path) -> io::Result<PathBuf> {
    let file = folder.join("site.jsonl");
    let run = run(place, &["export", "--output", &file.to_string_lossy()])?;
    let told = without_progress(&run.stderr);
    assert_eq!((run.code, told.as_str()), (Some(0), ""), "{run:?}");
    assert!(run.stdout.starts_with("exported "), "{run:?}");
    Ok(file)
}

/// Restores a file that is all right.
#[track_caller]
pub fn restored(place: &Place, file: &Path) -> io::Result<()> {
    let run = run(place, &["restore", &file.to_string_lossy()])?;
    let told = without_progress(&run.stderr);
    assert_eq!((run.code, told.as_str()), (Some(0), ""), "{run:?}");
    assert!(run.stdout.starts_with("restored "), "{run:?}");
    Ok(())
}
