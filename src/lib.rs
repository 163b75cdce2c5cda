//! activity-rank: counts what members of a site do, exactly once, and ranks the most active.
//!
//! A tour in the order of a request:
//!
//! 1. [`http`] finds the route, the caller and the content, and writes every answer. [`token`]
//!    reads what a user shows, [`caller`] says who may do what, [`limit`] by what calls are counted.
//! 2. [`activity`] makes of what was sent a plan, and of the reply an outcome; [`config`] holds
//!    the rules it counts by, [`calendar`] the days and periods it counts on.
//! 3. [`redis`] carries the plan to the store in one request; there one of the [`scripts`]
//!    applies it in one atomic step. [`keys`] names what it touches, [`score`] explains the
//!    number that a board holds.
//! 4. [`ranking`] and [`users`] read boards, standings, profiles and histories; [`moderation`]
//!    hides, freezes and adjusts; [`json`], [`query`] and [`id`] say what may be sent and asked
//!    for, [`pairs`] writes what has no fixed names.
//! 5. [`archive`] keeps boards that have closed, when Redis has forgotten them.
//!    What the store does not take in time waits in a queue: [`held`] writes it down and counts
//!    it later, the same way. [`journal`] keeps what was done.
//! 6. [`error`] is everything that can go wrong, as the caller sees it; [`site`] ties a
//!    deployment's parts together.
//!
//! All but `http` builds and runs on the host too.

pub mod activity;
pub mod archive;
pub mod calendar;
pub mod caller;
pub mod config;
pub mod error;
pub mod held;
pub mod http;
pub mod id;
pub mod journal;
pub mod json;
pub mod keys;
pub mod limit;
pub mod moderation;
pub mod pairs;
pub mod query;
pub mod ranking;
pub mod redis;
pub mod score;
pub mod scripts;
pub mod shard;
pub mod site;
pub mod token;
pub mod users;

use http::queue::Batch;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::web_sys::{Request, Response};
use worker::{Context, Env, Result, ScheduleContext, ScheduledEvent, event};

/// How far clocks may disagree, in milliseconds: an activity may be dated this far ahead.
pub const CLOCK_TOLERANCE: i64 = 60_000;

/// Answers every HTTP request.
///
/// # Errors
///
/// None: every failure is answered as a problem document.
#[event(fetch)]
pub async fn fetch(request: Request, env: Env, context: Context) -> Result<Response> {
    http::respond(request, &env, &context).await
}

/// Does what is due from time to time.
#[event(scheduled)]
pub async fn scheduled(event: ScheduledEvent, env: Env, _context: ScheduleContext) {
    http::run_scheduled(&env, &event.cron()).await;
}

/// Counts what was held back. A failure would have the whole batch delivered again: there is none.
#[wasm_bindgen(wasm_bindgen_futures = ::worker::wasm_bindgen_futures)]
pub async fn queue(batch: Batch, env: Env) {
    http::queue::count(&batch, &env).await;
}
