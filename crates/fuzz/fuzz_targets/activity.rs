//! Parses any bytes as an activity or an array of activities.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| activity_rank_fuzz::activity::check(input));
