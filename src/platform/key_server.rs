//! Fetches the key set of user tokens from `JWKS_URL`.

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(raw_module = "platform/key_server.js")]
extern "C" {
    #[wasm_bindgen(catch, js_name = "fetchKeys")]
    async fn fetch_keys(url: &str) -> Result<JsValue, JsValue>;
}

/// Returns the response body of a key server.
///
/// # Errors
///
/// Returns the cause.
pub async fn fetch(url: &str) -> Result<String, String> {
    let body = fetch_keys(url)
        .await
        .map_err(|cause| super::message(&cause))?;
    Ok(body.as_string().unwrap_or_default())
}
