//! Boards in the edge cache (Cache API): most readers never touch Redis, and all of them get the
//! last response while Redis is down.
//!
//! An entry holds the body and the instant when it was made. Headers are made again for each
//! response, so no header of one caller reaches another. An entry is stored for longer than it is
//! fresh; the reader says how old it may be. On a platform without a cache every look-up misses.
//! `response.js` stores entries, because it has the body anyway.

use crate::platform::bridge::HostCall;
use activity_rank_core::board::CachedResponse;
use activity_rank_core::calendar::Instant;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(raw_module = "cache/edge.js")]
extern "C" {
    #[wasm_bindgen(catch, js_name = "store")]
    async fn store_entry(url: &str, made: f64, body: &str) -> Result<JsValue, JsValue>;
}

/// Returns the entry of a URL, unless it was made before `oldest`.
pub async fn find(url: &str, oldest: Instant) -> Option<CachedResponse> {
    let oldest = oldest.0 as f64;
    let reply = HostCall::Find { url, oldest }.start().await.ok()?;
    (!reply.number.is_nan()).then_some(CachedResponse {
        body: reply.text,
        made: Instant(reply.number as i64),
    })
}

/// Stores an entry.
///
/// # Errors
///
/// Returns the cause.
pub async fn store(url: &str, made: Instant, body: &str) -> Result<(), String> {
    let stored = store_entry(url, made.0 as f64, body).await;
    stored
        .map(|_| ())
        .map_err(|cause| crate::platform::message(&cause))
}
