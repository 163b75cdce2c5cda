//! The peers as workerd takes them: one module each.

use crate::contender::Contender;
use std::path::PathBuf;
use std::process::Command;

/// Bundles all of them by the esbuild that npm installed.
pub fn make() -> Result<(), String> {
    for who in Contender::ALL {
        let Some(source) = source(who) else { continue };
        let mut command = Command::new(test_support::npm("esbuild"));
        command.arg(test_support::root().join("bench/peers").join(source));
        command.args([
            "--bundle",
            "--format=esm",
            "--minify",
            "--log-level=warning",
        ]);
        command.arg("--conditions=workerd,worker");
        command.arg(format!(
            "--outfile={}",
            folder(who).join("index.js").display()
        ));
        let status = command
            .status()
            .map_err(|error| format!("esbuild: {error}"))?;
        if !status.success() {
            return Err(format!("esbuild cannot bundle {source}"));
        }
    }
    Ok(())
}

/// Where a bundle lies.
pub fn folder(who: Contender) -> PathBuf {
    match source(who) {
        Some(_) => test_support::target().join("bench-peers").join(who.name()),
        None => test_support::root().join("build"),
    }
}

/// In `bench/peers`.
fn source(who: Contender) -> Option<&'static str> {
    match who {
        Contender::Ours => None,
        Contender::Limit => Some("limit.js"),
        Contender::Posts => Some("posts.js"),
        Contender::Hono => Some("hono/index.js"),
        Contender::Fixed => Some("fixed.js"),
    }
}
