//! The command, for a service and its store.

use std::io;
use std::process::Command;

use test_support::{SERVICE_KEY, TOKEN};

use crate::journalled::Journalled;
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

/// The command with these arguments for this site; all else comes by the environment.
pub fn command(site: &Journalled, args: &[&str]) -> Command {
    command_at(site, &site.place.store, args)
}

/// The same, with its store at another address.
pub fn command_at(site: &Journalled, store: &str, args: &[&str]) -> Command {
    let variables = [
        ("ACTIVITY_RANK_URL", site.url.as_str()),
        ("ACTIVITY_RANK_KEY", SERVICE_KEY),
        ("UPSTASH_REDIS_REST_URL", store),
        ("UPSTASH_REDIS_REST_TOKEN", TOKEN),
        ("PREFIX", &site.place.prefix),
    ];
    run::command(args, &variables)
}

/// Runs it to its end. Nowhere does a secret show.
#[track_caller]
pub fn run(site: &Journalled, args: &[&str]) -> io::Result<Run> {
    let run = run::finish(command(site, args), "", TOKEN)?;
    assert!(
        !run.stdout.contains(SERVICE_KEY) && !run.stderr.contains(SERVICE_KEY),
        "the key shows: {run:?}"
    );
    Ok(run)
}

/// Rebuilds, and says what it said.
#[track_caller]
pub fn rebuilt(site: &Journalled, args: &[&str]) -> io::Result<String> {
    let run = run(site, &[&["rebuild"], args].concat())?;
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stdout.contains("\nrebuilt from "), "{run:?}");
    Ok(run.stdout)
}

/// Verifies; the exit code and what it said.
#[track_caller]
pub fn verified(site: &Journalled) -> io::Result<(Option<i32>, String)> {
    let run = run(site, &["verify"])?;
    Ok((run.code, run.stdout))
}
