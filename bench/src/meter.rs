//! Processor time of a process.

use std::time::Duration;

/// The system counts in hundredths of a second: what `getconf CLK_TCK` says on any Linux.
const TICK: Duration = Duration::from_millis(10);

/// Counts from its start on.
pub struct Meter {
    process: u32,
    before: Option<Duration>,
}

impl Meter {
    /// Of a process by its id.
    pub fn start(process: u32) -> Self {
        let before = used(process);
        Self { process, before }
    }

    /// What the process has used since; nothing where the system does not tell.
    pub fn elapsed(&self) -> Option<Duration> {
        used(self.process)?.checked_sub(self.before?)
    }
}

/// User and system time of all threads.
fn used(process: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name before may hold anything, but no later parenthesis.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_whitespace().skip(11).map(str::parse);
    let (user, system): (u32, u32) = (times.next()?.ok()?, times.next()?.ok()?);
    Some(TICK * (user + system))
}
