//! New visitors: random ids, their signatures, and their check by Turnstile.

use activity_rank_core::config::Visitors;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(raw_module = "platform/visitors.js")]
extern "C" {
    #[wasm_bindgen(catch, js_name = "newVisitor")]
    async fn new_visitor(
        key: &str,
        address: &str,
        url: &str,
        secret: &str,
        token: &str,
    ) -> Result<JsValue, JsValue>;
}

/// Returns a new id, its signature, and a keyed hash of the network of an address, between spaces; nothing if Turnstile
/// does not accept the token of a widget.
///
/// # Errors
///
/// Returns the cause if Turnstile does not answer.
pub async fn issue(settings: &Visitors, address: &str, token: &str) -> Result<String, String> {
    let (url, secret) = match &settings.turnstile {
        Some(turnstile) => (turnstile.url.as_str(), turnstile.secret.as_str()),
        None => ("", ""),
    };
    let words = new_visitor(&settings.key, address, url, secret, token)
        .await
        .map_err(|cause| super::message(&cause))?;
    Ok(words.as_string().unwrap_or_default())
}
