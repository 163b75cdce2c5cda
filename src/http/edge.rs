//! The way between the wasm and JavaScript, and what carries out futures on it: texts alone cross.
//!
//! ```text
//! JavaScript                         Rust
//!   begin(event, text)       ──►       a task: the future that makes the answer
//!   perform(text)            ◄──       it waits for an effect: `ask`, `found`, `send` …
//!   resume(text)             ──►       the effect is done, the task goes on
//!   answer(text)             ◄──       it has ended
//! ```
//!
//! The usual way, `wasm-bindgen` with futures that wait for promises, crosses for each header, each
//! promise and each closure that it calls back: 40 times for one activity, where this takes 7, and
//! its glue is a sixth of the whole bundle. `src/entry.js` is the other half of this file.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::iter;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

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

/// What a deployment has, by name: variables as JSON, and of what is no variable nothing.
#[derive(Debug, Default)]
pub struct Bindings(Vec<(String, String)>);

impl Bindings {
    /// Reads lines of name and value.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let mut lines = text.split('\n').map(str::to_owned);
        Self(iter::from_fn(|| lines.next().zip(lines.next())).collect())
    }

    /// Whether there is anything of this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.variable(name).is_some()
    }

    /// The value of this name.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&str> {
        let mut all = self.0.iter();
        let (_, value) = all.find(|(known, _)| known == name)?;
        Some(value)
    }
}

/// How much a line of the log matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// To whoever develops this.
    Debug = 0,
    /// Done in spite of it.
    Warn = 1,
    /// Not done.
    Error = 2,
}

/// Has JavaScript carry out one of the effects of `src/entry.js`, and waits for what comes of it. Of
/// what it takes the last alone may have line ends.
///
/// # Errors
///
/// What its failure says.
pub async fn perform(effect: &str, takes: &[&str]) -> Result<String, String> {
    platform::perform(CURRENT.get(), &text_of(effect, takes));
    // A task waits for one effect at a time: what comes next is of this one.
    poll_fn(|_| DONE.take().map_or(Poll::Pending, Poll::Ready)).await
}

/// Has JavaScript carry out an effect, and waits for nothing.
pub fn defer(effect: &str, takes: &[&str]) {
    platform::defer(CURRENT.get(), &text_of(effect, takes));
}

fn text_of(effect: &str, takes: &[&str]) -> String {
    let mut text = String::from(effect);
    for one in takes {
        text.push('\n');
        text.push_str(one);
    }
    text
}

/// Milliseconds since 1970. A request happens at the one instant of its [`Call`](super::call::Call):
/// this is for what takes time.
pub fn clock() -> i64 {
    platform::now() as i64
}

/// Local time of a zone minus UTC at an instant, in milliseconds; none where there is no such zone.
pub fn offset(zone: &str, at: i64) -> Option<i64> {
    let offset = platform::offset(zone, at as f64);
    (!offset.is_nan()).then_some(offset as i64)
}

/// Writes a line to the log.
pub fn log(level: Level, line: &str) {
    platform::log(level, line);
}

/// Lets a task go on up to its next effect, or to its end.
#[cfg_attr(
    not(target_arch = "wasm32"),
    allow(dead_code, reason = "JavaScript calls it")
)]
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

/// What JavaScript calls, and what it is called for.
#[cfg(target_arch = "wasm32")]
mod platform {
    use super::{DONE, Level, TASKS, go_on};
    use crate::http;

    #[link(wasm_import_module = "edge")]
    unsafe extern "C" {
        #[link_name = "answer"]
        fn answer_text(task: u32, at: *const u8, length: usize);
        #[link_name = "defer"]
        fn defer_text(task: u32, at: *const u8, length: usize);
        #[link_name = "log"]
        fn log_text(level: u32, at: *const u8, length: usize);
        #[link_name = "now"]
        pub safe fn now() -> f64;
        #[link_name = "offset"]
        fn offset_of(at: *const u8, length: usize, instant: f64) -> f64;
        #[link_name = "perform"]
        fn perform_text(task: u32, at: *const u8, length: usize);
    }

    // In all of these JavaScript reads the text and keeps nothing of where it lies.

    pub fn answer(task: u32, text: &str) {
        // SAFETY: see above.
        unsafe { answer_text(task, text.as_ptr(), text.len()) }
    }

    pub fn defer(task: u32, text: &str) {
        // SAFETY: see above.
        unsafe { defer_text(task, text.as_ptr(), text.len()) }
    }

    pub fn log(level: Level, line: &str) {
        // SAFETY: see above.
        unsafe { log_text(level as u32, line.as_ptr(), line.len()) }
    }

    pub fn offset(zone: &str, at: f64) -> f64 {
        // SAFETY: see above.
        unsafe { offset_of(zone.as_ptr(), zone.len(), at) }
    }

    pub fn perform(task: u32, text: &str) {
        // SAFETY: see above.
        unsafe { perform_text(task, text.as_ptr(), text.len()) }
    }

    /// Makes room for a text that JavaScript is about to hand over.
    #[unsafe(no_mangle)]
    extern "C" fn room(bytes: usize) -> *mut u8 {
        let mut room = std::mem::ManuallyDrop::new(Vec::<u8>::with_capacity(bytes));
        room.as_mut_ptr()
    }

    /// The text that JavaScript has put there.
    ///
    /// # Safety
    ///
    /// `at` must be of [`room`], called for just as many bytes, and be handed over once; what lies
    /// there for `length` bytes must be UTF-8.
    unsafe fn taken(at: *mut u8, bytes: usize, length: usize) -> String {
        // SAFETY: as told above.
        unsafe { String::from_raw_parts(at, length, bytes) }
    }

    /// Tells what the deployment has, before all else.
    ///
    /// # Safety
    ///
    /// As [`taken`].
    #[unsafe(no_mangle)]
    unsafe extern "C" fn start(at: *mut u8, bytes: usize, length: usize) {
        std::panic::set_hook(Box::new(|panic| log(Level::Error, &panic.to_string())));
        // SAFETY: the caller's promise.
        http::deploy(&unsafe { taken(at, bytes, length) });
    }

    /// Begins a task at a number that no other has.
    ///
    /// # Safety
    ///
    /// As [`taken`].
    #[unsafe(no_mangle)]
    unsafe extern "C" fn begin(event: u32, task: u32, at: *mut u8, bytes: usize, length: usize) {
        // SAFETY: the caller's promise.
        let text = unsafe { taken(at, bytes, length) };
        go_on(
            task,
            match event {
                0 => Box::pin(http::respond(text)),
                1 => Box::pin(http::run_scheduled(text)),
                _ => Box::pin(http::queue::count(text)),
            },
        );
    }

    /// Tells a task what came of its effect, right or not.
    ///
    /// # Safety
    ///
    /// As [`taken`].
    #[unsafe(no_mangle)]
    unsafe extern "C" fn resume(task: u32, right: u32, at: *mut u8, bytes: usize, length: usize) {
        // SAFETY: the caller's promise.
        let text = unsafe { taken(at, bytes, length) };
        let waiting = TASKS.with_borrow_mut(|tasks| tasks.get_mut(task as usize)?.take());
        if let Some(waiting) = waiting {
            DONE.set(Some(if right == 1 { Ok(text) } else { Err(text) }));
            go_on(task, waiting);
        }
    }
}

/// On the host there is nobody to call: nothing there waits for an effect.
#[cfg(not(target_arch = "wasm32"))]
mod platform {
    use super::Level;

    pub fn answer(_task: u32, _text: &str) {}
    pub fn defer(_task: u32, _text: &str) {}
    pub fn log(_level: Level, _line: &str) {}
    pub fn now() -> f64 {
        0.0
    }
    pub fn offset(_zone: &str, _at: f64) -> f64 {
        f64::NAN
    }
    pub fn perform(_task: u32, _text: &str) {}
}
