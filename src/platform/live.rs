//! Live boards: the Durable Object namespace `LIVE`.
//!
//! One object for each board reads it on behalf of all its watchers; see `live.js`. A Worker that changes
//! a board wakes its object; see `wake.js`, which also wakes the reader of what others receive.

use activity_rank_store::deployment::Changed;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use worker::Env;

#[wasm_bindgen(raw_module = "platform/wake.js")]
extern "C" {
    #[wasm_bindgen(js_name = "wakeBoards")]
    fn wake_boards(names: &str);
    #[wasm_bindgen(js_name = "wakeAll")]
    fn wake_all(request: &str);
    #[wasm_bindgen(js_name = "wakeReceivers")]
    fn wake_receivers(shard: u32);
}

#[wasm_bindgen(raw_module = "platform/live.js")]
extern "C" {
    type Opened;
    #[wasm_bindgen(method, getter)]
    fn stream(this: &Opened) -> Option<u32>;
    #[wasm_bindgen(method, getter)]
    fn failure(this: &Opened) -> Option<String>;

    #[wasm_bindgen(catch, js_name = "watch")]
    async fn watch_board(
        env: &Env,
        name: &str,
        method: &str,
        url: &str,
        known: &str,
    ) -> Result<JsValue, JsValue>;
}

/// The answer of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Watch {
    /// The number of an open stream, which `response.js` attaches to the response.
    Stream(u32),
    /// The object could not read the board: a misconfigured variable or nothing, a line end and the
    /// cause.
    Failed(String),
}

/// Wakes the objects of watched boards that have changed, after the response.
pub fn wake(changed: Changed<'_>) {
    match changed {
        Changed::Boards(names) => wake_boards(names),
        Changed::Any(request) => wake_all(request),
        Changed::Receivers(shard) => wake_receivers(shard),
    }
}

/// Wakes the reader of what others receive, after the response, where no board is live.
pub fn wake_without_objects(changed: Changed<'_>) {
    if matches!(changed, Changed::Receivers(_)) {
        wake(changed);
    }
}

/// Opens a stream of the board that the object with this name watches. `known` is the version that
/// the caller already has, or empty.
///
/// # Errors
///
/// Returns the cause if the object cannot be reached.
pub async fn watch(
    env: &Env,
    name: &str,
    method: &str,
    url: &str,
    known: &str,
) -> Result<Watch, String> {
    let opened = watch_board(env, name, method, url, known).await;
    let opened: Opened = opened
        .map_err(|cause| super::message(&cause))?
        .unchecked_into();
    Ok(match opened.stream() {
        Some(stream) => Watch::Stream(stream),
        None => Watch::Failed(opened.failure().unwrap_or_default()),
    })
}
