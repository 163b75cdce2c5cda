//! The circuit breaker of the store: while Redis is down, requests fail at once instead of waiting.
//!
//! Only a timeout counts as a failure. A store that refuses connections fails at once, costs
//! nothing, and is found again soonest by the next request.

use std::cell::Cell;

/// Consecutive timeouts that open the circuit.
const MAX_TIMEOUTS: u32 = 5;

/// Timeouts within this time, in milliseconds, count as one: the Worker coalesces requests, which then
/// time out together.
const TOGETHER: i64 = 10;

/// Initial time for which the circuit stays open, in milliseconds. A failed probe doubles it.
const MIN_OPEN: i64 = 2_000;
const MAX_OPEN: i64 = 30_000;

/// The circuit breaker of one isolate. Instants are milliseconds since 1970.
#[derive(Debug, Default)]
pub struct CircuitBreaker(Cell<State>);

#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// Timeouts since the last response.
    timeouts: u32,
    /// When the last of them was counted.
    counted: i64,
    /// When the circuit opened, and for how long; 0 while it is closed.
    opened: i64,
    open_for: i64,
}

/// The permission to send one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permit {
    /// The circuit is closed.
    Closed,
    /// The circuit is half-open: this one request probes the store.
    Probe,
}

/// The state of a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CircuitState {
    /// Requests are sent.
    Closed,
    /// Requests fail at once.
    Open,
    /// The next request probes the store.
    HalfOpen,
}

impl CircuitState {
    /// Returns the name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half-open",
        }
    }
}

impl CircuitBreaker {
    /// Returns the state at an instant.
    #[must_use]
    pub fn state(&self, now: i64) -> CircuitState {
        let State {
            opened, open_for, ..
        } = self.0.get();
        match open_for {
            0 => CircuitState::Closed,
            _ if Self::is_open(opened, open_for, now) => CircuitState::Open,
            _ => CircuitState::HalfOpen,
        }
    }

    /// Returns whether an open circuit lets nothing pass; not so with a clock that was set back.
    fn is_open(opened: i64, open_for: i64, now: i64) -> bool {
        (opened..opened + open_for).contains(&now)
    }

    /// Returns a permit, or `None` while the circuit is open.
    #[must_use]
    pub fn try_acquire(&self, clock: impl Fn() -> i64) -> Option<Permit> {
        let state = self.0.get();
        if state.open_for == 0 {
            return Some(Permit::Closed);
        }
        let now = clock();
        if Self::is_open(state.opened, state.open_for, now) {
            return None;
        }
        // Other requests wait for another period: the client of this probe may go away.
        self.0.set(State {
            opened: now,
            ..state
        });
        Some(Permit::Probe)
    }

    /// Closes the circuit: the store responded.
    pub fn record_response(&self) {
        self.0.set(State::default());
    }

    /// Records that the request with this permit timed out at `now`.
    pub fn record_timeout(&self, permit: Permit, now: i64) {
        let state = self.0.get();
        let together = state.timeouts > 0 && (now - state.counted).abs() < TOGETHER;
        if together && permit == Permit::Closed {
            return;
        }
        let state = State {
            timeouts: state.timeouts.saturating_add(1),
            counted: now,
            ..state
        };
        let open_for = match (permit, state.open_for) {
            (Permit::Probe, open_for) => (open_for * 2).clamp(MIN_OPEN, MAX_OPEN),
            (Permit::Closed, 0) if state.timeouts >= MAX_TIMEOUTS => MIN_OPEN,
            // Below the threshold, or sent before the circuit opened.
            (Permit::Closed, _) => {
                self.0.set(state);
                return;
            }
        };
        self.0.set(State {
            opened: now,
            open_for,
            ..state
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records timeouts that count each, the last one at an instant.
    fn time_out(breaker: &CircuitBreaker, timeouts: u32, at: i64) {
        for later in (0..timeouts).rev() {
            breaker.record_timeout(Permit::Closed, at - i64::from(later) * TOGETHER);
        }
    }

    fn down(at: i64) -> CircuitBreaker {
        let breaker = CircuitBreaker::default();
        for _ in 0..MAX_TIMEOUTS {
            assert_eq!(breaker.try_acquire(|| at), Some(Permit::Closed));
        }
        time_out(&breaker, MAX_TIMEOUTS, at);
        breaker
    }

    #[test]
    fn occasional_timeouts_keep_circuit_closed() {
        let breaker = CircuitBreaker::default();
        for _ in 0..10 {
            time_out(&breaker, MAX_TIMEOUTS - 1, 0);
            breaker.record_response();
        }
        assert_eq!(breaker.try_acquire(|| 0), Some(Permit::Closed));
    }

    #[test]
    fn coalesced_timeouts_count_once() {
        let breaker = CircuitBreaker::default();
        for at in 0..TOGETHER {
            breaker.record_timeout(Permit::Closed, at);
        }
        assert_eq!(breaker.try_acquire(|| TOGETHER), Some(Permit::Closed));
        time_out(&breaker, MAX_TIMEOUTS - 1, MAX_OPEN);
        assert_eq!(breaker.try_acquire(|| MAX_OPEN), None);
    }

    #[test]
    fn timeouts_open_circuit_then_one_probe() {
        let breaker = down(1_000);
        assert_eq!(breaker.try_acquire(|| 1_000), None);
        assert_eq!(breaker.try_acquire(|| 2_999), None);
        assert_eq!(breaker.state(2_999), CircuitState::Open);
        assert_eq!(breaker.state(3_000), CircuitState::HalfOpen);
        assert_eq!(breaker.try_acquire(|| 3_000), Some(Permit::Probe));
        assert_eq!(breaker.try_acquire(|| 3_000), None);
        assert_eq!(breaker.state(3_000), CircuitState::Open);
    }

    #[test]
    fn lost_probe_is_replaced() {
        let breaker = down(0);
        assert_eq!(breaker.try_acquire(|| 2_000), Some(Permit::Probe));
        assert_eq!(breaker.try_acquire(|| 3_999), None);
        assert_eq!(breaker.try_acquire(|| 4_000), Some(Permit::Probe));
    }

    #[test]
    fn failed_probes_double_open_time_up_to_30_s() {
        let breaker = down(0);
        let (mut now, mut open_times) = (0, Vec::new());
        while open_times.len() < 6 {
            let opened = now;
            while breaker.try_acquire(|| now).is_none() {
                now += 1_000;
            }
            open_times.push(now - opened);
            breaker.record_timeout(Permit::Probe, now);
        }
        assert_eq!(open_times, [2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    }

    #[test]
    fn late_timeouts_keep_open_time() {
        let breaker = down(0);
        for _ in 0..20 {
            breaker.record_timeout(Permit::Closed, 1_000);
        }
        assert_eq!(breaker.try_acquire(|| 1_999), None);
        assert_eq!(breaker.try_acquire(|| 2_000), Some(Permit::Probe));
    }

    #[test]
    fn response_closes_circuit() {
        let breaker = down(0);
        breaker.record_response();
        assert_eq!(breaker.state(1), CircuitState::Closed);
        assert_eq!(breaker.try_acquire(|| 1), Some(Permit::Closed));
        time_out(&breaker, MAX_TIMEOUTS - 1, 1);
        assert_eq!(breaker.try_acquire(|| 1), Some(Permit::Closed));
    }

    #[test]
    fn clock_set_back_allows_probe() {
        let breaker = down(100_000);
        assert_eq!(breaker.try_acquire(|| 50_000), Some(Permit::Probe));
        assert_eq!(breaker.try_acquire(|| 50_001), None);
    }
}
