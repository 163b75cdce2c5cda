//! The databases: of closed boards, and of the journal.

use super::edge::{binding, words};
use crate::archive::Statement;
use crate::error::Error;
use crate::redis::Reply;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::Env;
use worker::js_sys::Promise;
use worker::wasm_bindgen_futures::JsFuture;

#[wasm_bindgen(module = "/src/http/database.js")]
extern "C" {
    fn run(database: &JsValue, statements: &str) -> Promise;
}

/// A D1 database.
pub struct Database {
    name: &'static str,
    handle: JsValue,
}

impl Database {
    /// The one bound under a name.
    #[must_use]
    pub fn bound(env: &Env, name: &'static str) -> Option<Self> {
        binding(env, name).map(|handle| Self { name, handle })
    }

    /// Runs statements, all or none; for each a list of rows.
    ///
    /// # Errors
    ///
    /// [`Error::StoreUnavailable`] where the database fails.
    pub async fn run(&self, statements: &[Statement]) -> Result<Vec<Reply>, Error> {
        let statements = serde_json::to_string(statements).unwrap_or_default();
        let rows = JsFuture::from(run(&self.handle, &statements)).await;
        let rows = rows.map_err(|error| self.failed(&words(&error)))?;
        let rows = serde_json::from_str(&rows.as_string().unwrap_or_default());
        match rows {
            Ok(Reply::List(rows)) => Ok(rows),
            Ok(_) | Err(_) => Err(self.failed("unexpected rows")),
        }
    }

    fn failed(&self, cause: &str) -> Error {
        Error::StoreUnavailable(format!("{}: {cause}", self.name))
    }
}
