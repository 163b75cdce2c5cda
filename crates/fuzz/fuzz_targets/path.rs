//! Parses any text as a path with a query.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| activity_rank_fuzz::path::check(input));
