//! A store that refuses writes of one request of a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use test_support::{Fault, Forwarder, Recorded, Refusal, depth};

use crate::run::Run;

const ERROR: &str = "OOM command not allowed when used memory > 'maxmemory'.";

/// Commands that write, outside of scripts.
const WRITES: [&str; 4] = ["DEL", "HSET", "SET", "UNLINK"];

/// The writes that the store refuses.
#[derive(Clone, Copy, Debug)]
pub struct Refused {
    /// The index of the request, counting only requests that run a script or write.
    pub call: usize,
    /// The writes of its script.
    pub writes: Refusal,
    /// Whether the store refuses all writes of later requests.
    pub and_later: bool,
}

/// Refuses each write of each request in turn, alone and with all later ones. In `make test` it refuses one of seven
/// writes, alone.
pub struct Refusals {
    next: Option<Refused>,
    number: usize,
    /// The number of runs that failed.
    failed: usize,
    stride: usize,
}

impl Refusals {
    pub fn new() -> Self {
        let first = Refused {
            call: 0,
            writes: Refusal::Only(1),
            and_later: false,
        };
        Self {
            next: Some(first),
            number: 1,
            failed: 0,
            stride: depth(7, 1),
        }
    }

    /// Returns the writes to refuse in the next run.
    pub fn next(&self) -> Option<Refused> {
        self.next
    }

    /// Records a run, and the number of requests that it sent.
    pub fn record(&mut self, has_failed: bool, calls: usize) {
        self.failed += usize::from(has_failed);
        self.next = self.next.and_then(|refused| match refused.writes {
            Refusal::Only(number) if has_failed && self.stride == 1 => Some(Refused {
                writes: Refusal::From(number),
                and_later: true,
                ..refused
            }),
            // The request has fewer writes.
            Refusal::Only(_) if !has_failed => {
                let call = refused.call + depth(2, 1);
                // Not the first one of each.
                self.number = 1 + call % self.stride;
                (call < calls).then_some(Refused {
                    call,
                    writes: Refusal::Only(self.number),
                    and_later: false,
                })
            }
            Refusal::Only(_) | Refusal::From(_) | Refusal::Both(..) => {
                self.number += self.stride;
                Some(Refused {
                    writes: Refusal::Only(self.number),
                    and_later: false,
                    ..refused
                })
            }
        });
    }

    /// Asserts that more than `least` runs failed, and the same share of them in short runs.
    #[track_caller]
    pub fn assert_failed(&self, least: usize) {
        println!("{} runs failed", self.failed);
        let least = least / depth(4 * self.stride, 1);
        assert!(self.failed > least, "{}", self.failed);
    }
}

/// Lets the store refuse writes of the next run. Returns a counter of the requests that run a script or
/// write.
pub fn refuse(forwarder: &Forwarder, refused: Refused) -> Arc<AtomicUsize> {
    let calls = Arc::new(AtomicUsize::new(0));
    let (counted, mut by_digest) = (Arc::clone(&calls), false);
    forwarder.fail(move |request| {
        let name = name(request);
        let is_script = ["EVAL", "EVALSHA"].contains(&name.as_str());
        if !is_script && !WRITES.contains(&name.as_str()) {
            return None;
        }
        // A script that the store does not know is sent again, as text.
        let is_new = !(by_digest && name == "EVAL");
        by_digest = name == "EVALSHA";
        let call = calls.fetch_add(usize::from(is_new), Ordering::Relaxed) - usize::from(!is_new);
        let writes = match call {
            _ if call == refused.call => refused.writes,
            _ if call > refused.call && refused.and_later => Refusal::From(1),
            _ => return None,
        };
        let is_refused = writes == Refusal::Only(1) || writes == Refusal::From(1);
        match is_script {
            true => Some(Fault::RefuseWrites(writes)),
            false => is_refused.then(|| Fault::Respond(200, format!(r#"[{{"error":"{ERROR}"}}]"#))),
        }
    });
    counted
}

fn name(request: &Recorded) -> String {
    let name = request.commands()[0][0].as_str().map(str::to_owned);
    name.unwrap_or_default()
}

/// Asserts that a command failed with the error of the store.
#[track_caller]
pub fn assert_refused(run: &Run, context: &str) {
    assert_eq!(run.code, Some(3), "{context}: {run:?}");
    let is_clear = run.stderr.contains("error: ") && run.stderr.contains(ERROR);
    assert!(is_clear, "{context}: {run:?}");
}
