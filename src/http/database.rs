//! The database where closed boards are kept.

use super::edge::words;
use crate::archive::Statement;
use crate::error::Error;
use crate::redis::Reply;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::js_sys::Promise;
use worker::wasm_bindgen_futures::JsFuture;

#[wasm_bindgen(module = "/src/http/database.js")]
extern "C" {
    fn run(database: &JsValue, statements: &str) -> Promise;
}

/// A D1 database.
pub struct Database(pub JsValue);

impl Database {
    /// Runs statements, all or none; for each a list of rows.
    ///
    /// # Errors
    ///
    /// [`Error::StoreUnavailable`] where the database fails.
    pub async fn run(&self, statements: &[Statement]) -> Result<Vec<Reply>, Error> {
        let statements = serde_json::to_string(statements).unwrap_or_default();
        let rows = JsFuture::from(run(&self.0, &statements)).await;
        let rows = rows.map_err(|error| failed(&words(&error)))?;
        serde_json::from_str(&rows.as_string().unwrap_or_default())
            .map_err(|_| failed("unexpected rows"))
    }
}

fn failed(cause: &str) -> Error {
    Error::StoreUnavailable(format!("ARCHIVE: {cause}"))
}
