//! Text functions of the platform.

use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(raw_module = "platform/text.js")]
extern "C" {
    #[wasm_bindgen(js_name = "toNfc")]
    fn normalize(text: &str) -> String;
}

/// Returns a text in Unicode Normalization Form C.
#[must_use]
pub fn to_nfc(text: &str) -> String {
    normalize(text)
}
