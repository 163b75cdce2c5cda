//! Any body as an activity, or an array of them.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| activity_rank_fuzz::activity::check(input));
