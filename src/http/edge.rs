//! The crossings between wasm and the platform: one for a request, one for its body, one for an
//! answer.

use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use worker::Env;
use worker::js_sys::{Date, Error as JsError, Promise, Reflect};
use worker::web_sys::{Request, Response};

#[wasm_bindgen(module = "/src/http/edge.js")]
extern "C" {
    /// Request id, milliseconds since 1970, method, origin, path and query; then name and value
    /// of each header that is there: one line each.
    pub fn taken_apart(request: &Request) -> String;

    /// The bytes of the body; null where there are more than these.
    pub fn body_of(request: &Request, most: usize) -> Promise;

    /// A response of a status, of headers as lines of name and value, and of a body or none.
    #[wasm_bindgen(catch)]
    pub fn response(status: u16, headers: &str, body: &[u8]) -> Result<Response, JsValue>;
}

/// What a deployment has under a name.
pub fn binding(env: &Env, name: &str) -> Option<JsValue> {
    let binding = Reflect::get(env, &JsValue::from_str(name)).ok()?;
    (!binding.is_undefined()).then_some(binding)
}

/// Milliseconds since 1970. A request happens at the one instant of its [`Call`](super::call::Call):
/// this is for what takes time.
pub fn clock() -> i64 {
    Date::now() as i64
}

/// What a failure of JavaScript's says.
pub fn words(error: &JsValue) -> String {
    let error: Option<&JsError> = error.dyn_ref();
    error.map_or_else(String::new, |error| error.message().into())
}
