//! The way between the wasm and JavaScript, and what carries out futures on it: texts alone cross.
//!
//! ```text
//! JavaScript                         Rust
//!   fetch(text)              ──►       a task: the future that makes the answer
//!   perform(text)            ◄──       it waits for an effect: `ask`, `found`, `send` …
//!   resume(text)             ──►       the effect is done, the task goes on
//!   answer(text)             ◄──       it has ended
//! ```
//!
//! The usual way, futures that wait for promises and hold what JavaScript made, crosses for each
//! header, each promise and each closure that it calls back: 40 times for one activity, where this
//! takes 7. `edge.js` is the other half of this file.

use super::{live, queue};
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::Env;
use worker::js_sys::{Date, Reflect};

/// What JavaScript does for a task, by the number of it.
mod platform {
    use wasm_bindgen::prelude::wasm_bindgen;
    use worker::Env;

    // The name that scripts/build gives `edge.js`.
    #[wasm_bindgen(raw_module = "edge")]
    extern "C" {
        pub fn env() -> Env;
        pub fn answer(task: u32, text: &str);
        pub fn perform(task: u32, text: &str);
        pub fn offset(zone: &str, at: f64) -> f64;
    }
}

/// What somebody in JavaScript waits for.
type Task = Pin<Box<dyn Future<Output = String>>>;

thread_local! {
    /// Those that wait for an effect, each at its number.
    static TASKS: RefCell<Vec<Option<Task>>> = const { RefCell::new(Vec::new()) };
    /// The number of the one that goes on now.
    static CURRENT: Cell<u32> = const { Cell::new(0) };
    /// What came of the effect that it waited for.
    static DONE: RefCell<Option<Result<String, String>>> = const { RefCell::new(None) };
}

/// Has JavaScript carry out one of the effects of `edge.js`, and waits for what comes of it. Of
/// what it takes the last alone may have line ends.
///
/// # Errors
///
/// What its failure says.
pub async fn perform(effect: &str, takes: &[&str]) -> Result<String, String> {
    let mut text = String::from(effect);
    for one in takes {
        text.push('\n');
        text.push_str(one);
    }
    platform::perform(CURRENT.get(), &text);
    // A task waits for one effect at a time: what comes next is of this one.
    poll_fn(|_| DONE.take().map_or(Poll::Pending, Poll::Ready)).await
}

pub(super) use platform::env;

/// What a deployment has under a name.
pub fn binding(env: &Env, name: &str) -> Option<JsValue> {
    let binding = Reflect::get(env, &JsValue::from_str(name)).ok()?;
    (!binding.is_undefined()).then_some(binding)
}

/// Whether a deployment has anything under a name.
pub fn is_bound(env: &Env, name: &str) -> bool {
    binding(env, name).is_some()
}

/// Milliseconds since 1970. A request happens at the one instant of its `Call`:
/// this is for what takes time.
pub fn clock() -> i64 {
    Date::now() as i64
}

/// Local time of a zone minus UTC at an instant, in milliseconds; none where there is no such zone.
pub fn offset(zone: &str, at: i64) -> Option<i64> {
    let offset = platform::offset(zone, at as f64);
    (!offset.is_nan()).then_some(offset as i64)
}

/// Comes before all else.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|panic| worker::console_error!("{panic}")));
}

/// Begins to answer a request, as a task of a number that no other has.
#[wasm_bindgen]
pub fn fetch(task: u32, request: String) {
    go_on(task, Box::pin(super::respond(request)));
}

/// Begins to do what is due from time to time.
#[wasm_bindgen]
pub fn scheduled(task: u32, cron: String) {
    go_on(task, Box::pin(super::run_scheduled(cron)));
}

/// Begins to count what was held back.
#[wasm_bindgen]
pub fn queue(task: u32, batch: String) {
    go_on(task, Box::pin(queue::count(batch)));
}

/// Begins to read a board for those who watch it.
#[wasm_bindgen]
pub fn look(task: u32, text: String) {
    go_on(task, Box::pin(live::look(text)));
}

/// Tells a task what came of its effect, right or not.
#[wasm_bindgen]
pub fn resume(task: u32, right: bool, text: String) {
    let waiting = TASKS.with_borrow_mut(|tasks| tasks.get_mut(task as usize)?.take());
    if let Some(waiting) = waiting {
        DONE.set(Some(if right { Ok(text) } else { Err(text) }));
        go_on(task, waiting);
    }
}

/// Lets a task go on up to its next effect, or to its end.
fn go_on(number: u32, mut task: Task) {
    CURRENT.set(number);
    match task.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => platform::answer(number, &answer),
        Poll::Pending => TASKS.with_borrow_mut(|tasks| {
            let place = number as usize;
            if tasks.len() <= place {
                tasks.resize_with(place + 1, || None);
            }
            if let Some(slot) = tasks.get_mut(place) {
                *slot = Some(task);
            }
        }),
    }
}
