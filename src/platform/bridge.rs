//! The bridge of requests: how they enter and leave the wasm, and how they await the platform.
//!
//! A request is one event: `bridge.js` calls the wasm with its number and text, and [`run`] passes
//! the text of the response to `finish`. On its usual way a request awaits [`HostCall`]s: JavaScript
//! passes the result of each to `settle` or `fail` with its number, and the event is polled at once.
//!
//! `wasm-bindgen-futures` does the same for any promise, with two closures for each promise that is
//! awaited, another promise for each event, and a microtask for each step. With both builds taking
//! turns, each in the place of the other (`BEFORE=folder make bench`, twice 20 rounds), it answered 3 %
//! fewer activities a second, and 4 % fewer with a user token and fewer standings. Nor does anything
//! catch a trap in its microtasks, after which the instance must be reset. Rarer promises (D1, KV, key
//! servers) use it.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use wasm_bindgen::prelude::wasm_bindgen;
use worker::Env;

#[wasm_bindgen(raw_module = "platform/bridge.js")]
extern "C" {
    /// Returns the variables and bindings of the deployment.
    pub fn env() -> Env;

    /// Rejects the pending events.
    pub fn panicked(message: &str);

    fn finish(event: u32, text: &str);

    #[wasm_bindgen(js_name = "startPost")]
    fn start_post(
        call: u32,
        event: u32,
        url: &str,
        authorization: &str,
        timeout: u32,
        body: &str,
        may_coalesce: bool,
    );
    #[wasm_bindgen(js_name = "startFind")]
    fn start_find(call: u32, url: &str, oldest: f64);
    #[wasm_bindgen(js_name = "startAllow")]
    fn start_allow(call: u32, binding: &str, key: &str, calls: u32);
    #[wasm_bindgen(js_name = "startVerify")]
    fn start_verify(call: u32, algorithm: &str, key: &str, signature: &str, signed: &str);
    #[wasm_bindgen(js_name = "startWait")]
    fn start_wait(call: u32, milliseconds: u32);
}

/// An operation of the platform on the path of a request.
#[derive(Clone, Copy, Debug)]
pub enum HostCall<'a> {
    /// Sends a request to the store, for an event of [`run_request`] perhaps together with those of
    /// others. Replies with the status code and the body.
    Post {
        /// The URL of the store.
        url: &'a str,
        /// The value of the header `Authorization`.
        authorization: &'a str,
        /// The deadline of the complete response in milliseconds.
        timeout: u32,
        /// The JSON body.
        body: &'a str,
    },
    /// Looks up an entry of the edge cache. Replies with the instant when it was made and its
    /// body, or with NaN if there is none.
    Find {
        /// The URL of the entry.
        url: &'a str,
        /// The earliest instant when it may have been made, in milliseconds since 1970.
        oldest: f64,
    },
    /// Counts calls of a rate limiter. Replies with 1 if all are within the limit, else 0.
    Allow {
        /// The name of the rate limiter's binding.
        binding: &'a str,
        /// The key whose calls are counted.
        key: &'a str,
        /// The number of calls.
        calls: u32,
    },
    /// Verifies a signature. Replies with 1 if it is valid, else 0.
    Verify {
        /// The name of the algorithm in a JWT, such as `HS256`.
        algorithm: &'a str,
        /// A secret, or a JWK as JSON.
        key: &'a str,
        /// The signature in base64url.
        signature: &'a str,
        /// The signed text.
        signed: &'a str,
    },
    /// Waits so many milliseconds.
    Wait(u32),
}

/// The reply to a host call; see [`HostCall`] for the meaning of its parts.
#[derive(Clone, Debug)]
pub struct HostReply {
    /// The number.
    pub number: f64,
    /// The text; empty if the call replies with none.
    pub text: String,
}

/// The reply to a host call, or the cause of its failure.
type HostResult = Result<HostReply, String>;

/// The state of a host call until its future has taken the result.
enum CallState {
    Started(Option<Waker>),
    Settled(HostResult),
}

/// The state of an event until it finishes.
enum EventState {
    Waiting(Event),
    /// It is being polled; `woken` if it must be polled again.
    Polled {
        woken: bool,
    },
}

/// An event that waits for a host call.
struct Event {
    future: Pin<Box<dyn Future<Output = String>>>,
    /// Whether its requests to the store may be coalesced.
    may_coalesce: bool,
}

/// Values by number. There are as many as requests at a time.
struct Numbered<T>(RefCell<Vec<(u32, T)>>);

impl<T> Numbered<T> {
    const fn new() -> Self {
        Self(RefCell::new(Vec::new()))
    }

    /// Sets the value of a number and returns the one before.
    fn insert(&self, number: u32, value: T) -> Option<T> {
        let before = self.remove(number);
        self.0.borrow_mut().push((number, value));
        before
    }

    fn remove(&self, number: u32) -> Option<T> {
        let mut values = self.0.borrow_mut();
        let index = values.iter().position(|(known, _)| *known == number)?;
        Some(values.swap_remove(index).1)
    }
}

/// While no event is polled.
const NO_EVENT: (u32, bool) = (0, false);

thread_local! {
    static LAST_CALL: Cell<u32> = const { Cell::new(0) };
    static CALLS: Numbered<CallState> = const { Numbered::new() };
    static EVENTS: Numbered<EventState> = const { Numbered::new() };
    /// The number of the event that is being polled, and whether it may coalesce its requests to the store.
    static POLLED: Cell<(u32, bool)> = const { Cell::new(NO_EVENT) };
}

impl HostCall<'_> {
    /// Starts the operation and returns a future of its reply. Fails with the cause.
    pub fn start(self) -> impl Future<Output = HostResult> + 'static {
        let number = LAST_CALL.get().wrapping_add(1);
        LAST_CALL.set(number);
        CALLS.with(|calls| calls.insert(number, CallState::Started(None)));
        match self {
            Self::Post {
                url,
                authorization,
                timeout,
                body,
            } => {
                let (event, may_coalesce) = POLLED.get();
                start_post(
                    number,
                    event,
                    url,
                    authorization,
                    timeout,
                    body,
                    may_coalesce,
                );
            }
            Self::Find { url, oldest } => start_find(number, url, oldest),
            Self::Allow {
                binding,
                key,
                calls,
            } => start_allow(number, binding, key, calls),
            Self::Verify {
                algorithm,
                key,
                signature,
                signed,
            } => start_verify(number, algorithm, key, signature, signed),
            Self::Wait(milliseconds) => start_wait(number, milliseconds),
        }
        Started(number)
    }
}

/// A host call that has been started, by its number.
struct Started(u32);

impl Future for Started {
    type Output = HostResult;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<HostResult> {
        CALLS.with(|calls| match calls.remove(self.0) {
            Some(CallState::Settled(result)) => Poll::Ready(result),
            Some(CallState::Started(_)) | None => {
                let waker = context.waker().clone();
                calls.insert(self.0, CallState::Started(Some(waker)));
                Poll::Pending
            }
        })
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        CALLS.with(|calls| calls.remove(self.0));
    }
}

/// Passes the reply to a host call.
#[wasm_bindgen]
pub fn settle(call: u32, number: f64, text: String) {
    complete(call, Ok(HostReply { number, text }));
}

/// Passes the cause of a host call's failure.
#[wasm_bindgen]
pub fn fail(call: u32, cause: String) {
    complete(call, Err(cause));
}

fn complete(call: u32, result: HostResult) {
    let waker = CALLS.with(|calls| match calls.remove(call) {
        Some(CallState::Started(waker)) => {
            calls.insert(call, CallState::Settled(result));
            waker
        }
        // The future of the call has been dropped.
        Some(CallState::Settled(_)) | None => None,
    });
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// Runs an event; its result is passed to `finish`.
pub fn run(event: u32, future: impl Future<Output = String> + 'static) {
    start(event, Box::pin(future), false);
}

/// Runs a request of a client, as [`run`] does. Its requests to the store may be coalesced with those
/// of other clients: `coalesce.js`.
pub fn run_request(event: u32, future: impl Future<Output = String> + 'static) {
    start(event, Box::pin(future), true);
}

fn start(number: u32, future: Pin<Box<dyn Future<Output = String>>>, may_coalesce: bool) {
    let event = Event {
        future,
        may_coalesce,
    };
    EVENTS.with(|events| events.insert(number, EventState::Waiting(event)));
    poll(number);
}

/// Drops an event that will never be woken again.
#[wasm_bindgen(js_name = "dropEvent")]
pub fn drop_event(event: u32) {
    EVENTS.with(|events| events.remove(event));
}

/// Wakes an event by its number.
struct EventWaker(u32);

impl Wake for EventWaker {
    fn wake(self: Arc<Self>) {
        poll(self.0);
    }
}

/// Polls an event. If it is being polled already, it is polled again afterwards.
fn poll(number: u32) {
    let set = |state| EVENTS.with(|events| events.insert(number, state));
    let mut event = match set(EventState::Polled { woken: false }) {
        Some(EventState::Waiting(event)) => event,
        Some(EventState::Polled { .. }) => {
            set(EventState::Polled { woken: true });
            return;
        }
        // It has finished.
        None => {
            EVENTS.with(|events| events.remove(number));
            return;
        }
    };
    let waker = Waker::from(Arc::new(EventWaker(number)));
    POLLED.set((number, event.may_coalesce));
    let polled = event.future.as_mut().poll(&mut Context::from_waker(&waker));
    POLLED.set(NO_EVENT);
    match polled {
        Poll::Ready(text) => {
            EVENTS.with(|events| events.remove(number));
            finish(number, &text);
        }
        Poll::Pending => {
            let polled = set(EventState::Waiting(event));
            if let Some(EventState::Polled { woken: true }) = polled {
                poll(number);
            }
        }
    }
}
