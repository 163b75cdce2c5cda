//! Ports for servers that can't choose one themselves.

use std::hash::{BuildHasher, RandomState};
use std::net::{Ipv4Addr, TcpListener};

/// Below the range from which systems take ports for outgoing connections: one of those might
/// otherwise hold the port when a killed server comes back to it.
const RANGE: std::ops::Range<u64> = 10_000..32_000;

/// A port of the loopback address that nobody listens on at this moment.
///
/// Another process may take it before its user does, so whoever starts a server on it tries
/// again with another one.
pub(crate) fn free() -> u16 {
    loop {
        // Each RandomState has keys of its own: a random number without a dependency.
        let random = RandomState::new().hash_one(std::process::id());
        let port = RANGE.start + random % (RANGE.end - RANGE.start);
        let port = u16::try_from(port).expect("the range is one of ports");
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
}
