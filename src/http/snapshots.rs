//! The namespace of snapshots: boards as cron saw them last, and when somebody was hidden last.

use super::edge::words;
use crate::calendar::Instant;
use crate::error::Error;
use crate::redis::Reply;
use std::cell::Cell;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::js_sys::Promise;
use worker::wasm_bindgen_futures::JsFuture;

#[wasm_bindgen(module = "/src/http/snapshots.js")]
extern "C" {
    fn save(namespace: &JsValue, site: &str, text: &str) -> Promise;
    fn saved(namespace: &JsValue, site: &str, name: &str) -> Promise;
    fn mark_hiding(namespace: &JsValue, site: &str, until: f64) -> Promise;
    fn last_hiding(namespace: &JsValue, site: &str) -> Promise;
}

thread_local! {
    /// Until when this isolate has marked that somebody was hidden.
    static MARKED: Cell<i64> = const { Cell::new(0) };
}

/// A KV namespace, which any part of the platform may see up to a minute late.
pub struct Snapshots(pub JsValue);

impl Snapshots {
    /// Keeps boards in the place of those before.
    ///
    /// # Errors
    ///
    /// [`Error::StoreUnavailable`] where the namespace fails; so with all that follow.
    pub async fn save(&self, site: &str, text: &str) -> Result<(), Error> {
        done(save(&self.0, site, text)).await.map(|_| ())
    }

    /// What the script that reads the top of a board replied, and when.
    ///
    /// # Errors
    ///
    /// As [`Snapshots::save`].
    pub async fn find(&self, site: &str, name: &str) -> Result<Option<(Instant, Reply)>, Error> {
        let saved = done(saved(&self.0, site, name)).await?.as_string();
        Ok(saved.and_then(|text| {
            let (made, reply) = text.split_once('\n')?;
            let made = Instant(made.parse().ok()?);
            Some((made, serde_json::from_str(reply).ok()?))
        }))
    }

    /// Marks that what is made until then may show somebody who is hidden.
    ///
    /// One value takes one write a second: what the last mark covers well needs no other.
    ///
    /// # Errors
    ///
    /// As [`Snapshots::save`].
    pub async fn mark_hiding(&self, site: &str, now: Instant, until: Instant) -> Result<(), Error> {
        if MARKED.get() - now.0 > (until.0 - now.0) / 2 {
            return Ok(());
        }
        done(mark_hiding(&self.0, site, until.0 as f64)).await?;
        MARKED.set(until.0);
        Ok(())
    }

    /// The last of these marks.
    ///
    /// # Errors
    ///
    /// As [`Snapshots::save`].
    pub async fn last_hiding(&self, site: &str) -> Result<Instant, Error> {
        let until = done(last_hiding(&self.0, site)).await?.as_f64();
        Ok(Instant(until.unwrap_or(0.0) as i64))
    }
}

async fn done(promise: Promise) -> Result<JsValue, Error> {
    let done = JsFuture::from(promise).await;
    done.map_err(|error| Error::StoreUnavailable(format!("SNAPSHOTS: {}", words(&error))))
}
