//! Properties of all input of the Worker, one module per fuzz target. `tests/corpus.rs` checks the same
//! properties on the stored inputs with any toolchain.

use activity_rank_store::redis::Pipeline;

pub mod activity;
pub mod path;

/// Returns whether a text is a valid id of a user or group: 1 to 64 of `A-Z a-z 0-9 _ . : @ | -`, not
/// `.` or `..`. Implemented differently than in the service.
fn is_id(text: &str) -> bool {
    let is_allowed = |c: char| matches!(c, 'A'..='Z' | 'a'..='z' | '0'..='9' | '_' | '.' | ':' | '@' | '|' | '-');
    !matches!(text, "" | "." | "..") && text.chars().all(is_allowed) && text.chars().count() <= 64
}

/// Asserts that all keys of a pipeline have a prefix and are unique, and returns the arguments after
/// the keys by command.
fn checked_arguments(prefix: &str, pipeline: &Pipeline) -> Vec<Vec<String>> {
    let commands: Vec<Vec<String>> =
        serde_json::from_str(&pipeline.body()).expect("arrays of strings");
    let arguments = |command: Vec<String>| {
        let (first, keys) = match command.first().map(String::as_str) {
            Some("EVALSHA") => (3, command[2].parse().expect("a number of keys")),
            Some("GET" | "HGET" | "HMGET" | "HGETALL" | "ZRANGE") => (1, 1),
            other => panic!("unexpected command {other:?}"),
        };
        let (keys, arguments) = command[first..].split_at(keys);
        let tag = format!("{{{prefix}:0}}");
        for (index, key) in keys.iter().enumerate() {
            assert!(key.starts_with(&tag), "{key:?} does not begin with {tag}");
            assert!(!keys[..index].contains(key), "{key:?} occurs twice");
        }
        arguments.to_vec()
    };
    commands.into_iter().map(arguments).collect()
}
