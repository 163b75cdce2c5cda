//! What a request would make Redis do.

use activity_rank::redis::Pipeline;
use serde_json::from_str;

/// Fails unless every key that a pipeline names lies under a prefix; returns the arguments behind
/// them, command by command.
pub fn all_under(prefix: &str, pipeline: &Pipeline) -> Vec<Vec<String>> {
    let commands: Vec<Vec<String>> = from_str(&pipeline.body()).expect("arrays of texts");
    commands
        .into_iter()
        .map(|command| arguments(prefix, &command))
        .collect()
}

fn arguments(prefix: &str, command: &[String]) -> Vec<String> {
    let (first, keys) = match command.first().map(String::as_str) {
        Some("EVALSHA") => (3, command[2].parse().expect("a number of keys")),
        Some("GET" | "HGET" | "HGETALL" | "ZRANGE") => (1, 1),
        other => panic!("{other:?} is none of the commands that requests send"),
    };
    let (keys, arguments) = command[first..].split_at(keys);
    let tag = format!("{{{prefix}:0}}");
    for (place, key) in keys.iter().enumerate() {
        assert!(key.starts_with(&tag), "{key:?} lies outside {tag}");
        assert!(!keys[..place].contains(key), "{key:?} is named twice");
    }
    arguments.to_vec()
}
