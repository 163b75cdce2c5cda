//! `/{command}/{argument}/…?key=value` with a body → one command.

use percent_encoding::percent_decode;

use crate::{command::Command, error::Fault, request::query};

/// The command a path stands for: its segments, then the body as one raw argument, then the
/// query's keys and values.
pub(crate) fn command(path: &str, raw_query: Option<&str>, body: &[u8]) -> Result<Command, Fault> {
    let mut command = Command::default();
    for segment in segments(path) {
        command.push(&segment);
    }
    if command.arguments().len() == 0 {
        return Err(Fault::EmptyCommand);
    }
    if !body.is_empty() {
        command.push(body);
    }
    for argument in raw_query.into_iter().flat_map(query::arguments) {
        command.push(&argument);
    }
    Ok(command)
}

/// The decoded segments of a path; a slash at its end is no segment.
pub(crate) fn segments(path: &str) -> impl Iterator<Item = Vec<u8>> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    // A slash inside an argument is %2F: split first, decode after.
    path.split('/').map(|segment| percent_decode(segment.as_bytes()).collect())
}
