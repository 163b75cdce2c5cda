//! The inputs that fuzzing began with (`fuzz/seeds`), and those that reached code no other one does,
//! as `make fuzz` found them (`fuzz/corpus`), held against what must be true of any. `fuzz/src` says
//! what that is; this needs no nightly.

// Tests fail by panicking.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::panic::catch_unwind;

#[path = "../fuzz/src/lib.rs"]
mod properties;

/// Bytes are kept as the characters of a JSON string, one to a line.
fn replay(files: [&str; 2], property: fn(&[u8])) {
    let broken = files.into_iter().flat_map(str::lines).filter(|line| {
        let text: String = serde_json::from_str(line).expect("a string");
        let bytes = text.chars().map(|c| u8::try_from(c).expect("a byte"));
        let bytes: Vec<u8> = bytes.collect();
        catch_unwind(|| property(&bytes)).is_err()
    });
    let broken: Vec<&str> = broken.collect();
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn activities_are_taken_as_documented_or_refused() {
    replay(
        [
            include_str!("../fuzz/seeds/activity.jsonl"),
            include_str!("../fuzz/corpus/activity.jsonl"),
        ],
        properties::activity::check,
    );
}

#[test]
fn paths_and_queries_are_taken_within_their_limits_or_refused() {
    replay(
        [
            include_str!("../fuzz/seeds/path.jsonl"),
            include_str!("../fuzz/corpus/path.jsonl"),
        ],
        properties::path::check,
    );
}
