//! The variables and bindings of the deployment.

use activity_rank_core::config::Vars;
use activity_rank_core::json;
use serde_json::{Map, Value};
use wasm_bindgen::JsValue;
use worker::Env;
use worker::js_sys::{JSON, Reflect};

/// Returns whether a binding exists.
#[must_use]
pub fn is_bound(env: &Env, name: &str) -> bool {
    get(env, name).is_some()
}

/// Reads every variable and secret of the configuration.
#[must_use]
pub fn vars(env: &Env) -> Vars {
    let mut vars = Map::new();
    for name in Vars::NAMES {
        if let Some(value) = get(env, name).and_then(to_json) {
            vars.insert(name.to_owned(), value);
        }
    }
    Vars::new(vars)
}

fn get(env: &Env, name: &str) -> Option<JsValue> {
    let value = Reflect::get(env, &JsValue::from_str(name)).ok()?;
    (!value.is_undefined()).then_some(value)
}

/// Converts a variable: text, or a table of `wrangler.toml`, which arrives as an object.
fn to_json(value: JsValue) -> Option<Value> {
    if let Some(text) = value.as_string() {
        return Some(text.into());
    }
    let text = JSON::stringify(&value).ok()?.as_string()?;
    json::read(text.as_bytes()).ok()
}
