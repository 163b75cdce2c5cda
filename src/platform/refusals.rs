//! Adds up activities that did not count, see `refusals.js`.

use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(raw_module = "platform/refusals.js")]
extern "C" {
    /// Adds an activity. `at` is in Unix ms.
    #[wasm_bindgen(js_name = "addRefusal")]
    pub fn add_refusal(user: &str, date: &str, action: &str, reason: &str, target: &str, at: f64);
}
