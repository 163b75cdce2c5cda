//! activity-rank: counts what the members of a community do, exactly once, and ranks the most
//! active.
//!
//! This crate is the Worker: everything that needs HTTP or the Workers platform. The domain is in
//! [`activity_rank_core`], the Redis store in [`activity_rank_store`]. The way of a request:
//!
//! 1. `src/entry.js` passes each event of the platform to the functions exported by `entry`.
//! 2. [`app`] holds what the requests of an isolate share; [`request`] and [`response`] are the two
//!    ends of a request.
//! 3. [`routes`] finds the route and calls its handler: parse, call the store, render.
//! 4. [`middleware`] authenticates callers, applies CORS and rate limits.
//! 5. [`cache`] says what is cached where, and keeps copies of boards in step when a user is hidden or erased;
//!    [`archive`] and [`journal`] are the two databases. [`movement`] reads the ranks of the period before.
//! 6. [`jobs`] runs on a schedule or for the queue; [`message`] is what the queue holds. [`webhooks`] are the messages that it sends.
//! 7. [`platform`] wraps the platform, one file for each binding. [`log`] writes log lines.

pub mod app;
pub mod archive;
pub mod cache;
mod entry;
mod events;
pub mod jobs;
pub mod journal;
pub mod log;
pub mod message;
pub mod middleware;
pub mod movement;
pub mod platform;
#[cfg(test)]
mod query_plans;
pub mod request;
pub mod response;
pub mod routes;
pub mod webhooks;
