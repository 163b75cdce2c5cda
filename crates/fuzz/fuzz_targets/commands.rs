//! Parses any path, query and body as commands of the gateway.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| redis_rest::decoding::check(input));
