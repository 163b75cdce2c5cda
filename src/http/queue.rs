//! The queues: one holds back what the store did not take in time, one keeps what nobody can read.
//!
//! They are the bindings `HELD` and `DEAD`; without the first nothing is held back.

use super::call::Call;
use super::edge::{self, binding, words};
use super::log;
use crate::activity::Activity;
use crate::calendar::Instant;
use crate::error::Error;
use crate::held::{Fate, backoff, messages, replay};
use serde_json::json;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::Env;
use worker::js_sys::Promise;
use worker::wasm_bindgen_futures::JsFuture;

#[wasm_bindgen(module = "/src/http/queue.js")]
extern "C" {
    fn send(queue: &JsValue, text: &str) -> Promise;
    fn retry(message: &Message, seconds: u32);
}

#[wasm_bindgen]
extern "C" {
    /// Messages that the platform delivers together. (The library's own type hides how often a
    /// message was tried.)
    pub type Batch;

    #[wasm_bindgen(method, getter)]
    fn messages(this: &Batch) -> Vec<Message>;

    /// One message.
    pub type Message;

    #[wasm_bindgen(method, getter)]
    fn id(this: &Message) -> String;
    #[wasm_bindgen(method, getter)]
    fn attempts(this: &Message) -> u32;
    #[wasm_bindgen(method, getter)]
    fn body(this: &Message) -> JsValue;
    #[wasm_bindgen(method)]
    fn ack(this: &Message);
}

/// The queues of a deployment.
pub struct Queues {
    held: Option<JsValue>,
    dead: Option<JsValue>,
}

impl Queues {
    /// Those that a deployment has.
    #[must_use]
    pub fn of(env: &Env) -> Self {
        Self {
            held: binding(env, "HELD"),
            dead: binding(env, "DEAD"),
        }
    }

    /// Holds back activities that the store did not take because of an error, for whoever is to
    /// count them later.
    ///
    /// # Errors
    ///
    /// The same error, unless it passes and there is a queue that takes them.
    pub async fn hold(
        &self,
        call: &Call,
        error: Error,
        activities: &[&Activity],
    ) -> Result<(), Error> {
        let (Error::StoreUnavailable(cause), Some(queue)) = (&error, &self.held) else {
            return Err(error);
        };
        for text in messages(activities) {
            if let Err(failure) = JsFuture::from(send(queue, &text)).await {
                log::warning(call, &format!("HELD: {}", words(&failure)));
                return Err(error);
            }
        }
        log::warning(call, &format!("held back: {cause}"));
        Ok(())
    }

    /// Keeps a message that can never be counted; says whether it did.
    async fn bury(&self, text: &Option<String>, reason: &str) -> bool {
        let Some(queue) = &self.dead else {
            return false;
        };
        let text = json!({"reason": reason, "message": text}).to_string();
        JsFuture::from(send(queue, &text)).await.is_ok()
    }
}

/// Counts what was held back; each message is done with or tried again on its own.
pub async fn count(batch: &Batch, env: &Env) {
    let deployment = super::Deployment::of(env);
    let messages = batch.messages();
    let text = |message: &Message| message.body().as_string();
    let texts: Vec<Option<String>> = messages.iter().map(text).collect();
    let site = match &deployment.site {
        Ok(site) => site,
        Err(error) => {
            let cause = error.cause().unwrap_or_default();
            return messages.iter().for_each(|message| again(message, &cause));
        }
    };
    let fates = replay(site, &texts, Instant(edge::clock())).await;
    for ((message, text), fate) in messages.iter().zip(&texts).zip(fates) {
        match fate {
            Fate::Done(refused) => {
                for reason in refused {
                    told(message, &format!("dropped: {reason}"));
                }
                message.ack();
            }
            Fate::Again(cause) => again(message, &cause),
            Fate::Unreadable(reason) => {
                let reason = format!("unreadable: {reason}");
                if deployment.queues.bury(text, &reason).await {
                    told(message, &reason);
                    message.ack();
                } else {
                    // In the end the platform puts it where it belongs, without the reason.
                    again(message, &reason);
                }
            }
        }
    }
}

fn again(message: &Message, cause: &str) {
    told(message, cause);
    retry(message, backoff(message.attempts()));
}

fn told(message: &Message, cause: &str) {
    log::message(&message.id(), message.attempts(), cause);
}
