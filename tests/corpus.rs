//! Replays the fuzzing inputs on the stable toolchain: the initial seeds (`crates/fuzz/seeds`) and the
//! inputs with unique coverage that `make fuzz` found (`crates/fuzz/corpus`). The checked properties are
//! in `crates/fuzz/src`.

// Tests fail by panicking.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::panic::catch_unwind;

#[path = "../crates/fuzz/src/lib.rs"]
mod properties;

/// Checks a property of all inputs. Each line is a JSON string whose characters are the bytes.
fn replay(files: [&str; 2], property: fn(&[u8])) {
    let failures = files.into_iter().flat_map(str::lines).filter(|line| {
        let text: String = serde_json::from_str(line).expect("a string");
        let bytes = text.chars().map(|c| u8::try_from(c).expect("a byte"));
        let bytes: Vec<u8> = bytes.collect();
        catch_unwind(|| property(&bytes)).is_err()
    });
    let failures: Vec<&str> = failures.collect();
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn activity_is_accepted_as_documented_or_refused() {
    replay(
        [
            include_str!("../crates/fuzz/seeds/activity.jsonl"),
            include_str!("../crates/fuzz/corpus/activity.jsonl"),
        ],
        properties::activity::check,
    );
}

#[test]
fn path_and_query_values_stay_within_limits() {
    replay(
        [
            include_str!("../crates/fuzz/seeds/path.jsonl"),
            include_str!("../crates/fuzz/corpus/path.jsonl"),
        ],
        properties::path::check,
    );
}
