//! Queues: producers of the bindings `HELD` and `DEAD`, and the batches that a consumer receives.
//!
//! The batch types are declared here because the `worker` crate does not expose the number of
//! attempts of a message.

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::js_sys::{Date, Object, Reflect};
use worker::{Env, Queue, QueueContentType, RawMessageBuilder};

#[wasm_bindgen]
extern "C" {
    /// A batch of messages.
    pub type Batch;
    /// Returns the messages.
    #[wasm_bindgen(method, getter)]
    pub fn messages(this: &Batch) -> Vec<QueueMessage>;

    /// One message.
    pub type QueueMessage;
    /// Returns the platform's id.
    #[wasm_bindgen(method, getter)]
    pub fn id(this: &QueueMessage) -> String;
    /// Returns when it was queued.
    #[wasm_bindgen(method, getter)]
    pub fn timestamp(this: &QueueMessage) -> Date;
    /// Returns the number of deliveries, including this one.
    #[wasm_bindgen(method, getter)]
    pub fn attempts(this: &QueueMessage) -> u32;
    /// Returns the body.
    #[wasm_bindgen(method, getter)]
    pub fn body(this: &QueueMessage) -> JsValue;
    /// Acknowledges the message.
    #[wasm_bindgen(method)]
    pub fn ack(this: &QueueMessage);
    /// Requests another delivery.
    #[wasm_bindgen(method)]
    pub fn retry(this: &QueueMessage, options: &RetryOptions);

    /// Options of a retry.
    #[wasm_bindgen(extends = Object)]
    pub type RetryOptions;
}

impl RetryOptions {
    /// Returns the options for a delay in seconds.
    #[must_use]
    pub fn new(delay: u32) -> Self {
        let options = Object::new();
        // Setting a property of a plain object cannot fail.
        let _ = Reflect::set(&options, &"delaySeconds".into(), &delay.into());
        wasm_bindgen::JsCast::unchecked_into(options)
    }
}

/// A queue.
pub struct Producer(Queue);

impl Producer {
    /// Returns the queue of a binding; `None` if it is not bound.
    #[must_use]
    pub fn bound(env: &Env, name: &str) -> Option<Self> {
        env.queue(name).ok().map(Self)
    }

    /// Sends a text.
    ///
    /// # Errors
    ///
    /// Returns the cause.
    pub async fn send(&self, text: &str) -> Result<(), String> {
        let message = RawMessageBuilder::new(JsValue::from_str(text));
        let message = message.build_with_content_type(QueueContentType::Text);
        let sent = self.0.send_raw(message).await;
        sent.map_err(|error| error.to_string())
    }
}
