//! Behaviour while the store fails, times out or is down.

mod activity_queue;
mod circuit_breaker;
mod refused_writes;
mod snapshots;
mod stale_responses;
mod store_failures;
