//! The functions that `entry.js` calls, one for each kind of event.

use crate::app::App;
use crate::jobs::replay::Message;
use crate::jobs::{self, replay};
use crate::journal::refusals;
use crate::platform::queue::{Batch, QueueMessage, RetryOptions};
use crate::platform::{bridge, clock};
use crate::request::Request;
use crate::routes;
use crate::routes::table::{self, Sharing};
use activity_rank_core::MAX_BODY_BYTES;
use activity_rank_core::calendar::Instant;
use wasm_bindgen::prelude::wasm_bindgen;

/// Runs when the wasm is instantiated.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|panic| {
        let message = panic.to_string();
        bridge::panicked(&message);
        worker::console_error!("{message}");
    }));
}

/// Returns the size of a body in bytes at which `request.js` stops reading.
#[wasm_bindgen(js_name = "maxBodyBytes")]
#[must_use]
pub fn max_body_bytes() -> usize {
    MAX_BODY_BYTES
}

/// Returns the patterns of the routes whose responses are shared, between spaces: those that a cache may store, or the
/// others.
#[wasm_bindgen(js_name = "sharedPatterns")]
#[must_use]
pub fn shared_patterns(cached: bool) -> String {
    let sharing = if cached {
        Sharing::Cached
    } else {
        Sharing::Current
    };
    table::shared_patterns(sharing)
}

/// Returns whether `ALLOWED_ORIGINS` has an origin.
#[wasm_bindgen(js_name = "allowsOrigin")]
#[must_use]
pub fn allows_origin(origin: &str) -> bool {
    App::get().origins.allow(origin)
}

/// Responds to a request, as the texts of `request.js` and `response.js`.
#[wasm_bindgen]
pub fn respond(event: u32, request: String) {
    bridge::run_request(event, async {
        routes::respond(&App::get(), Request::parse(request)).await
    });
}

/// Reads a board for the object that watches it, see `live.js`: `forms` are numbers of rows
/// between commas, with `m` after a number for movement.
#[wasm_bindgen(js_name = "readLive")]
pub fn read_live(event: u32, request: String, forms: String) {
    bridge::run(event, async move {
        routes::read_live(&App::get(), Request::parse(request), &forms).await
    });
}

/// Gives others what they receive for activities of a shard, see `wake.js`.
#[wasm_bindgen]
pub fn receive(event: u32, shard: u32) {
    bridge::run(event, async move {
        jobs::receive::run(&App::get(), shard).await;
        String::new()
    });
}

/// Writes activities that did not count, see `refusals.js`.
#[wasm_bindgen(js_name = "writeRefusals")]
pub fn write_refusals(event: u32, rows: String) {
    bridge::run(event, async move {
        refusals::write(&App::get(), rows).await;
        String::new()
    });
}

/// Runs the jobs of a cron trigger.
#[wasm_bindgen]
pub fn scheduled(event: u32, cron: String) {
    bridge::run(event, async move {
        jobs::run_scheduled(&App::get(), &cron).await;
        String::new()
    });
}

/// Counts queued activity. Each message is acknowledged or retried on its own: an error would
/// redeliver the whole batch.
#[wasm_bindgen]
pub fn queue(event: u32, batch: Batch) {
    bridge::run(event, async move {
        let batch = batch.messages();
        let messages: Vec<Message> = batch.iter().map(Message::from).collect();
        let delays = replay::run(&App::get(), &messages, clock::now()).await;
        for (message, delay) in batch.iter().zip(delays) {
            match delay {
                None => message.ack(),
                Some(seconds) => message.retry(&RetryOptions::new(seconds)),
            }
        }
        String::new()
    });
}

impl From<&QueueMessage> for Message {
    fn from(message: &QueueMessage) -> Self {
        Self {
            id: message.id(),
            queued: Instant(message.timestamp().get_time() as i64),
            tries: message.attempts(),
            text: message.body().as_string(),
        }
    }
}
