//! How often one caller may call, by the platform's counters.
//!
//! They are the bindings `WRITE_LIMIT` and `READ_LIMIT`; without one nothing is limited by it.

use super::call::Call;
use super::edge::{binding, words};
use super::log;
use crate::error::Error;
use crate::limit::place;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::Env;
use worker::js_sys::Promise;
use worker::wasm_bindgen_futures::JsFuture;

#[wasm_bindgen(module = "/src/http/limits.js")]
extern "C" {
    fn lets_through(limiter: &JsValue, key: &str) -> Promise;
}

/// The counters of a deployment.
pub struct Limits {
    write: Option<JsValue>,
    read: Option<JsValue>,
}

const WRITE: &str = "WRITE_LIMIT";
const READ: &str = "READ_LIMIT";

impl Limits {
    /// Those that a deployment has.
    #[must_use]
    pub fn of(env: &Env) -> Self {
        Self {
            write: binding(env, WRITE),
            read: binding(env, READ),
        }
    }

    /// Counts a write of a user.
    ///
    /// # Errors
    ///
    /// [`Error::RateLimited`] where there were too many.
    pub async fn write(&self, call: &Call, user: &str) -> Result<(), Error> {
        if over(call, WRITE, self.write.as_ref(), user).await {
            return Err(Error::RateLimited("This user writes too often."));
        }
        Ok(())
    }

    /// Counts a read, or a caller who is not known, of the address it comes from.
    ///
    /// # Errors
    ///
    /// [`Error::RateLimited`] where there were too many.
    pub async fn read(&self, call: &Call) -> Result<(), Error> {
        // Only the platform's edge tells the address; without it everybody would be one caller.
        let Some(address) = call.header("cf-connecting-ip") else {
            return Ok(());
        };
        if over(call, READ, self.read.as_ref(), &place(address)).await {
            let detail = "Too many requests come from this address.";
            return Err(Error::RateLimited(detail));
        }
        Ok(())
    }
}

/// Whether there were too many under a key. A counter that fails stops nobody.
async fn over(call: &Call, name: &str, limiter: Option<&JsValue>, key: &str) -> bool {
    let Some(limiter) = limiter else {
        return false;
    };
    match JsFuture::from(lets_through(limiter, key)).await {
        Ok(success) => success == JsValue::FALSE,
        Err(error) => {
            log::warning(call, &format!("{name}: {}", words(&error)));
            false
        }
    }
}
