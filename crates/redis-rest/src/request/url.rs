//! Parses a URL: `/{command}/{argument}/…?key=value`.

use std::borrow::Cow;

use percent_encoding::percent_decode;

use crate::command::Command;

/// The query parameter that carries the token.
const TOKEN: &str = "_token";

/// Builds a command from the segments of the path, then the body as one argument, then the keys
/// and values of the query.
pub(crate) fn command(segments: Vec<Vec<u8>>, raw_query: Option<&str>, body: &[u8]) -> Command {
    let mut command = Command::default();
    for segment in segments {
        command.push(&segment);
    }
    if !body.is_empty() {
        command.push(body);
    }
    for argument in raw_query.into_iter().flat_map(query_arguments) {
        command.push(&argument);
    }
    command
}

/// Returns the decoded segments of a path. A trailing slash does not add a segment.
pub(crate) fn segments(path: &str) -> impl Iterator<Item = Vec<u8>> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    // Decoded after the split, because an argument may contain a slash as %2F.
    path.split('/')
        .map(|segment| percent_decode(segment.as_bytes()).collect())
}

/// Returns the value of the first `_token` in the query.
pub(crate) fn token(raw_query: &str) -> Option<Vec<u8>> {
    raw_query.split('&').find_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        (key == TOKEN).then(|| decode(value))
    })
}

/// Returns the keys and values of the query in order, without the token. A key without `=` is one
/// argument.
pub(crate) fn query_arguments(raw_query: &str) -> impl Iterator<Item = Vec<u8>> {
    raw_query
        .split('&')
        .filter(|pair| !pair.is_empty() && pair.split('=').next() != Some(TOKEN))
        .flat_map(|pair| pair.splitn(2, '='))
        .map(decode)
}

/// Decodes `application/x-www-form-urlencoded` text, in which `+` is a space.
fn decode(text: &str) -> Vec<u8> {
    let text = if text.contains('+') {
        Cow::Owned(text.replace('+', " "))
    } else {
        Cow::Borrowed(text)
    };
    percent_decode(text.as_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
    use proptest::prelude::*;

    use super::{command, segments};

    proptest! {
        #[test]
        fn any_path_and_query_parse(path: String, query: String, body: Vec<u8>) {
            let _ = command(segments(&path).collect(), Some(&query), &body);
        }

        #[test]
        fn any_bytes_round_trip_through_url(
            first_segments in prop::collection::vec(any::<Vec<u8>>(), 1..5),
            last_segment in prop::collection::vec(any::<u8>(), 1..9),
            key in prop::collection::vec(any::<u8>(), 1..9),
            value: Vec<u8>,
        ) {
            prop_assume!(key != b"_token");
            let encode = |bytes: &[u8]| percent_encode(bytes, NON_ALPHANUMERIC).to_string();
            let mut sent = first_segments;
            sent.push(last_segment);
            let path: String = sent.iter().map(|segment| format!("/{}", encode(segment))).collect();
            // Encodes the underscore, so that no key can be mistaken for `_token`.
            let query = format!("{}={}", encode(&key), encode(&value));
            let command = command(segments(&path).collect(), Some(&query), b"body");
            sent.extend([b"body".to_vec(), key, value]);
            let parsed: Vec<Vec<u8>> = command.arguments().map(<[u8]>::to_vec).collect();
            prop_assert_eq!(parsed, sent);
        }
    }
}
