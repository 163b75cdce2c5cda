//! Processes by their id: those that a test started, and theirs.

use std::collections::BTreeSet;
use std::process::Command;

use rustix::process::{Pid, kill_process};

pub(crate) use rustix::process::Signal;

/// Sends a signal to one process, if it is still there.
pub(crate) fn signal(signal: Signal, id: u32) {
    if let Some(id) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        let _ = kill_process(id, signal);
    }
}

/// The processes under this one, each with its command line.
///
/// # Panics
///
/// When there is no `ps`.
pub(crate) fn under(id: u32) -> Vec<(u32, String)> {
    let mut ps = Command::new("ps");
    ps.args(["-A", "-o", "pid=", "-o", "ppid=", "-o", "args="]);
    let output = ps.output().expect("ps lists processes");
    let all = String::from_utf8_lossy(&output.stdout);
    let mut rest: Vec<_> = all.lines().filter_map(line).collect();
    let (mut family, mut found) = (BTreeSet::from([id]), Vec::new());
    loop {
        let (children, others): (Vec<_>, _) = rest
            .into_iter()
            .partition(|(_, parent, _)| family.contains(parent));
        if children.is_empty() {
            return found;
        }
        family.extend(children.iter().map(|(id, ..)| *id));
        found.extend(children.into_iter().map(|(id, _, command)| (id, command)));
        rest = others;
    }
}

fn line(line: &str) -> Option<(u32, u32, String)> {
    let (id, rest) = line.trim_start().split_once(' ')?;
    let (parent, command) = rest.trim_start().split_once(' ')?;
    Some((id.parse().ok()?, parent.parse().ok()?, command.to_owned()))
}
