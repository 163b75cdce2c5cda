//! Sends messages to webhooks: the platform's `fetch` and WebCrypto.

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(raw_module = "platform/webhooks.js")]
extern "C" {
    #[wasm_bindgen(catch, js_name = "sendWebhooks")]
    async fn send_webhooks(messages: &str) -> Result<JsValue, JsValue>;
}

/// Sends messages: an array of `[url, secret, id, body]` as JSON. Returns for each one the status code, `timeout`,
/// `network`, or `-` if it was not sent, between spaces.
pub async fn send(messages: &str) -> String {
    let results = send_webhooks(messages).await.ok();
    let results = results.and_then(|results| results.as_string());
    results.unwrap_or_default()
}
