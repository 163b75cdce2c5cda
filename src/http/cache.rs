//! Boards in the edge cache, so that most readers never touch Redis.
//!
//! What is stored is the body alone and when it was made; every header is made anew, so that
//! none of one caller's reaches another. A platform without a cache only misses.

use super::log;
use worker::{Cache, Context, Headers, Response, Result};

/// When a stored body was made, in milliseconds since 1970.
const MADE: &str = "x-made";

/// A body as it was stored.
pub struct Stored {
    /// The body.
    pub body: String,
    /// When it was made, in milliseconds since 1970.
    pub made: i64,
}

/// The body stored under a URL, if it is there and young enough.
pub async fn find(url: &str) -> Option<Stored> {
    let mut response = Cache::default().get(url, false).await.ok()??;
    let made = response.headers().get(MADE).ok()??.parse().ok()?;
    let body = response.text().await.ok()?;
    Some(Stored { body, made })
}

/// Stores a body under a URL for some seconds; the caller does not wait for it.
pub fn keep(context: &Context, url: String, stored: &Stored, seconds: u32) -> Result<()> {
    let headers = Headers::new();
    headers.set("cache-control", &format!("public, max-age={seconds}"))?;
    headers.set(MADE, &stored.made.to_string())?;
    let body = stored.body.clone().into_bytes();
    let response = Response::builder().with_headers(headers).fixed(body);
    context.wait_until(async move {
        if let Err(error) = Cache::default().put(url, response).await {
            // A plain workerd has no cache; anywhere else this is worth knowing.
            log::debug(&format!("cache: {error}"));
        }
    });
    Ok(())
}
