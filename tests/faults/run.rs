//! The shared state of all tasks of a run.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use fastrand::Rng;
use test_support::{Answer, Method};

use crate::in_flight::InFlight;
use crate::metrics::{Metrics, limit};
use crate::service::{Received, Service, lock};
use crate::tracker::Tracker;

/// The interval between retries, so that they add no significant load.
const RETRY_INTERVAL: Duration = Duration::from_millis(10);

/// The store is healthy after this number of consecutive responses from it.
const HEALTHY_AFTER: u32 = 5;

/// The longest delay of a store request while clients disconnect. Without delays most responses would
/// arrive before.
pub const SLOW_STORE: Duration = Duration::from_millis(100);

/// Clients that disconnect, as one fault.
pub struct Disconnects {
    /// The number of the fault.
    pub fault: usize,
    pub random: Rng,
}

impl Disconnects {
    /// Returns the time after which a client disconnects: for most requests while the store is slow,
    /// for the others also while it hangs.
    fn after(&mut self) -> Duration {
        let slow = u64::try_from(SLOW_STORE.as_millis()).unwrap_or(u64::MAX);
        let most = if self.random.u8(..3) < 2 { slow } else { 1_000 };
        Duration::from_millis(self.random.u64(0..most))
    }
}

pub struct Run {
    pub service: Service,
    pub tracker: Tracker,
    pub in_flight: InFlight,
    pub metrics: Metrics,
    /// `None` while clients wait for their responses.
    pub disconnects: Mutex<Option<Disconnects>>,
    /// Ends load, reads and faults.
    pub is_over: AtomicBool,
    /// The number of consecutive responses that came from the store.
    store_responses: AtomicU32,
    next_retry: Mutex<Instant>,
}

impl Run {
    pub fn new(service: Service) -> Self {
        Self {
            service,
            tracker: Tracker::default(),
            in_flight: InFlight::default(),
            metrics: Metrics::default(),
            disconnects: Mutex::default(),
            is_over: AtomicBool::new(false),
            store_responses: AtomicU32::new(0),
            next_retry: Mutex::new(Instant::now()),
        }
    }

    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Sends a request and measures its time. A fault injected meanwhile has affected the request if
    /// the response is late or missing, or if `shows_fault` says so. Its client may disconnect.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        body: String,
        shows_fault: impl Fn(&Answer) -> bool,
    ) -> Received {
        let disconnect = lock(&self.disconnects)
            .as_mut()
            .map(|disconnects| (disconnects.fault, disconnects.after()));
        let after = disconnect.map(|(_, after)| after);
        let (request, start) = (self.in_flight.begin(), Instant::now());
        let received = self.service.send(method, path, body, after).await;
        let (end, duration) = (Instant::now(), start.elapsed());
        let is_aborted = matches!(received, Received::Aborted);
        if let Some((fault, _)) = disconnect {
            self.in_flight.record_affected(fault, is_aborted);
        }
        let (has_response, is_affected) = match &received {
            Received::Response(response) => (true, duration > limit() || shows_fault(response)),
            Received::Nothing => (false, true),
            Received::Aborted => {
                self.in_flight.end(request, false);
                return received;
            }
        };
        let was_down = self.service.was_down(start, end);
        self.metrics
            .record_request(duration, has_response, was_down);
        self.in_flight.end(request, is_affected);
        received
    }

    /// Sends a read to the Worker in another location and measures its time.
    pub async fn read_remotely(&self, path: &str) -> Option<Answer> {
        let start = Instant::now();
        let response = match self.service.read_remotely(path).await {
            Received::Response(response) => Some(response),
            Received::Nothing | Received::Aborted => None,
        };
        let (duration, was_down) = (start.elapsed(), false);
        self.metrics
            .record_request(duration, response.is_some(), was_down);
        response
    }

    /// Records whether a response came from the store.
    pub fn record_store_response(&self, from_store: bool) {
        if from_store {
            self.store_responses.fetch_add(1, Ordering::Relaxed);
        } else {
            self.store_responses.store(0, Ordering::Relaxed);
        }
    }

    pub fn is_store_healthy(&self) -> bool {
        self.store_responses.load(Ordering::Relaxed) >= HEALTHY_AFTER
    }

    /// Waits for the next slot for a retry.
    pub async fn retry_slot(&self) {
        let slot = {
            let mut next = lock(&self.next_retry);
            *next = (*next).max(Instant::now()) + RETRY_INTERVAL;
            *next
        };
        tokio::time::sleep_until(slot.into()).await;
    }
}

/// Follows Miniflare's log: acknowledged messages, dead letters and panics.
pub async fn watch_log(run: &Run) {
    loop {
        let lines = run.service.new_log_lines();
        lines.lines().for_each(|line| read_log_line(run, line));
        // The forwarder's recordings are unused and would fill the memory.
        run.service.forwarder.reset();
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

fn read_log_line(run: &Run, line: &str) {
    if let Some(acknowledged) = line.strip_prefix("DONE ") {
        let acknowledged: Vec<String> = serde_json::from_str(acknowledged).unwrap_or_default();
        let Some((isolate, messages)) = acknowledged.split_first() else {
            return run.metrics.record_unexpected(line.to_owned());
        };
        for message in messages {
            run.tracker.acknowledged(isolate, message);
        }
    }
    for named in line.split("boards of the user ").skip(1) {
        if let Some((user, _)) = named.split_once(" may be wrong until a rebuild") {
            run.metrics.record_damaged(user);
        }
    }
    let is_dropped = line.starts_with("DEAD ") || line.contains("\"cause\":\"dropped");
    if is_dropped || line.contains("panicked at") {
        run.metrics.record_unexpected(line.to_owned());
    }
}
