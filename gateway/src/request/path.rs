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

#[cfg(test)]
mod tests {
    use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
    use proptest::prelude::*;

    use super::{command, segments};

    proptest! {
        #[test]
        fn any_path_and_query_are_a_command(path: String, query: String, body: Vec<u8>) {
            let _ = command(segments(&path).collect(), Some(&query), &body);
        }

        #[test]
        fn any_bytes_arrive_through_a_path_and_a_query(
            inside in prop::collection::vec(any::<Vec<u8>>(), 1..5),
            last in prop::collection::vec(any::<u8>(), 1..9),
            key in prop::collection::vec(any::<u8>(), 1..9),
            value: Vec<u8>,
        ) {
            prop_assume!(key != b"_token");
            let encode = |bytes: &[u8]| percent_encode(bytes, NON_ALPHANUMERIC).to_string();
            let mut sent = inside;
            sent.push(last);
            let path: String = sent.iter().map(|segment| format!("/{}", encode(segment))).collect();
            // An underscore is encoded here, so that no key can pass for the token's name.
            let query = format!("{}={}", encode(&key), encode(&value));
            let command = command(segments(&path).collect(), Some(&query), b"body");
            sent.extend([b"body".to_vec(), key, value]);
            let arrived: Vec<Vec<u8>> = command.arguments().map(<[u8]>::to_vec).collect();
            prop_assert_eq!(arrived, sent);
        }
    }
}
