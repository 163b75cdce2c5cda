//! The services of the Workers platform: one file for each binding or service.
//!
//! Where a request passes on its usual way (the store, the edge cache, rate limits, signatures),
//! the `.js` file beside the `.rs` file does the work in one call, because each call between wasm
//! and JavaScript takes time. Everything else uses the `worker` crate.

pub mod analytics;
pub mod assets;
pub mod bridge;
pub mod budget;
pub mod clock;
pub mod crypto;
pub mod d1;
pub mod env;
pub mod key_server;
pub mod live;
pub mod queue;
pub mod rate_limit;
pub mod refusals;
pub mod snapshots;
pub mod store;
pub mod text;
pub mod time_zone;
pub mod visitors;
pub mod webhooks;

use wasm_bindgen::{JsCast, JsValue};
use worker::js_sys::Error;

/// Returns the message of a JavaScript error.
pub fn message(cause: &JsValue) -> String {
    match cause.dyn_ref::<Error>() {
        Some(error) => error.message().into(),
        None => cause.as_string().unwrap_or_default(),
    }
}
