//! Starts the built binary, with nothing of the caller's environment.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use test_support::TOKEN;

/// How a run ended.
#[derive(Debug)]
pub struct Run {
    /// The exit code.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it complained about.
    pub stderr: String,
}

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
    let mut command = Command::new(env!("CARGO_BIN_EXE_activity-rank"));
    command.env_clear().args(args);
    command
        .env("UPSTASH_REDIS_REST_URL", &place.store)
        .env("UPSTASH_REDIS_REST_TOKEN", TOKEN)
        .env("PREFIX", &place.prefix);
    command
}

/// Runs it to its end. Nowhere does the token show.
#[track_caller]
pub fn run(place: &Place, args: &[&str]) -> io::Result<Run> {
    finish(command(place, args))
}

/// Runs a prepared command to its end.
#[track_caller]
pub fn finish(mut command: Command) -> io::Result<Run> {
    let output = command.output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let run = Run {
        code: output.status.code(),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    };
    assert!(
        !run.stdout.contains(TOKEN) && !run.stderr.contains(TOKEN),
        "the token shows: {run:?}"
    );
    assert!(!run.stderr.contains("panicked"), "{run:?}");
    Ok(run)
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
