//! `/{command}/{argument}/…?key=value` with a body → one command.

use percent_encoding::percent_decode;

use crate::{command::Command, request::query};

/// The command a path stands for: its segments, then the body as one raw argument, then the
/// query's keys and values.
pub(crate) fn command(segments: Vec<Vec<u8>>, raw_query: Option<&str>, body: &[u8]) -> Command {
    let mut command = Command::default();
    for segment in segments {
        command.push(&segment);
    }
    if !body.is_empty() {
        command.push(body);
    }
    for argument in raw_query.into_iter().flat_map(query::arguments) {
        command.push(&argument);
    }
    command
}

/// The decoded segments of a path; a slash at its end is no segment.
pub(crate) fn segments(path: &str) -> impl Iterator<Item = Vec<u8>> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    // A slash inside an argument is %2F: split first, decode after.
    path.split('/')
        .map(|segment| percent_decode(segment.as_bytes()).collect())
}
