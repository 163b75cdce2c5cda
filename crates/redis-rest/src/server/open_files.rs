//! The limit of open files of the process, which also limits its connections.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::Config;

/// Open files besides client connections and the connections of streams to Redis: connections of
/// requests to Redis, also to the nodes of a cluster, and connections that are refused.
const RESERVE: usize = 128;

/// Raises the soft limit of open files to the hard limit.
///
/// The soft limit, commonly 1,024, is kept low for programs that call `select`. This one does not.
pub fn raise_open_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    // Some systems limit the number further. Then the soft limit remains.
    let _ = setrlimit(Resource::Nofile, raised);
}

/// Returns the number of client connections for which there are enough file descriptors, or `None`
/// without a limit.
pub(super) fn max_connections(config: &Config) -> Option<usize> {
    let limit = usize::try_from(getrlimit(Resource::Nofile).current?).ok()?;
    Some(connections_within(limit, config.max_streams))
}

/// Returns the number of connections for which `files` open files are enough. Each stream has a
/// connection to its client, and another one to Redis.
fn connections_within(files: usize, max_streams: usize) -> usize {
    let files = files.saturating_sub(RESERVE);
    files.saturating_sub(max_streams).max(files / 2).max(1)
}

#[cfg(test)]
mod tests {
    use super::connections_within;

    #[test]
    fn streams_take_two_files() {
        for (files, max_streams, connections) in [
            (10_128, 1000, 9000),
            (1128, 1000, 500),
            (1128, 0, 1000),
            (100, 10, 1),
        ] {
            assert_eq!(connections_within(files, max_streams), connections);
        }
    }
}
