//! Whether the store is known to be down, so that nobody waits for it in vain.
//!
//! Only requests that cost somebody time count as silence. A store that fails at once costs
//! nothing, and whoever asks it again finds it soonest when it is back.

use std::cell::Cell;

/// So many in a row without an answer, and the store counts as down.
const SILENCES: u32 = 5;

/// For so long nobody asks, in milliseconds; doubled each time that one who asks again gets no
/// answer either.
const PAUSE: i64 = 2_000;
const LONGEST_PAUSE: i64 = 30_000;

/// What an isolate knows of the store. Instants are milliseconds since 1970.
#[derive(Debug, Default)]
pub struct Breaker(Cell<State>);

#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// Requests without an answer since the last answer.
    silences: u32,
    /// When the pause began, and how long it is; 0 where there is none.
    since: i64,
    pause: i64,
}

/// Leave to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// As everybody has.
    Free,
    /// To one alone, to find out whether the store is back.
    Probe,
}

impl Breaker {
    /// Leave to ask; none where the store is known to be down.
    #[must_use]
    pub fn leave(&self, clock: impl Fn() -> i64) -> Option<Leave> {
        let state = self.0.get();
        if state.pause == 0 {
            return Some(Leave::Free);
        }
        let now = clock();
        // Of a clock that was set back nothing is known.
        if (state.since..state.since + state.pause).contains(&now) {
            return None;
        }
        // The others wait on: a probe whose caller goes away may never come back.
        self.0.set(State {
            since: now,
            ..state
        });
        Some(Leave::Probe)
    }

    /// The store answered, whatever it said.
    pub fn answered(&self) {
        self.0.set(State::default());
    }

    /// The store kept silent to one who had this leave.
    pub fn silent(&self, leave: Leave, now: i64) {
        let State {
            silences, pause, ..
        } = self.0.get();
        let silences = silences.saturating_add(1);
        let pause = match (leave, pause) {
            (Leave::Probe, _) => (pause * 2).clamp(PAUSE, LONGEST_PAUSE),
            (Leave::Free, 0) if silences >= SILENCES => PAUSE,
            // Not down yet, or asked before it was known to be.
            (Leave::Free, _) => {
                let state = self.0.get();
                return self.0.set(State { silences, ..state });
            }
        };
        self.0.set(State {
            silences,
            since: now,
            pause,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn down(at: i64) -> Breaker {
        let breaker = Breaker::default();
        for _ in 0..SILENCES {
            assert_eq!(breaker.leave(|| at), Some(Leave::Free));
        }
        for _ in 0..SILENCES {
            breaker.silent(Leave::Free, at);
        }
        breaker
    }

    #[test]
    fn while_the_store_answers_now_and_then_everybody_may_ask() {
        let breaker = Breaker::default();
        for _ in 0..10 {
            for _ in 1..SILENCES {
                breaker.silent(Leave::Free, 0);
            }
            breaker.answered();
        }
        assert_eq!(breaker.leave(|| 0), Some(Leave::Free));
    }

    #[test]
    fn a_store_that_keeps_silent_is_left_alone_and_then_asked_by_one() {
        let breaker = down(1_000);
        assert_eq!(breaker.leave(|| 1_000), None);
        assert_eq!(breaker.leave(|| 2_999), None);
        assert_eq!(breaker.leave(|| 3_000), Some(Leave::Probe));
        assert_eq!(breaker.leave(|| 3_000), None);
    }

    #[test]
    fn a_probe_that_never_comes_back_makes_way_for_another() {
        let breaker = down(0);
        assert_eq!(breaker.leave(|| 2_000), Some(Leave::Probe));
        assert_eq!(breaker.leave(|| 3_999), None);
        assert_eq!(breaker.leave(|| 4_000), Some(Leave::Probe));
    }

    #[test]
    fn pauses_grow_while_probes_find_nothing_up_to_half_a_minute() {
        let breaker = down(0);
        let (mut now, mut pauses) = (0, Vec::new());
        while pauses.len() < 6 {
            let began = now;
            while breaker.leave(|| now).is_none() {
                now += 1_000;
            }
            pauses.push(now - began);
            breaker.silent(Leave::Probe, now);
        }
        assert_eq!(pauses, [2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    }

    #[test]
    fn those_on_their_way_when_it_was_found_down_lengthen_nothing() {
        let breaker = down(0);
        for _ in 0..20 {
            breaker.silent(Leave::Free, 1_000);
        }
        assert_eq!(breaker.leave(|| 1_999), None);
        assert_eq!(breaker.leave(|| 2_000), Some(Leave::Probe));
    }

    #[test]
    fn the_first_answer_lets_everybody_ask_again() {
        let breaker = down(0);
        breaker.answered();
        assert_eq!(breaker.leave(|| 1), Some(Leave::Free));
        for _ in 1..SILENCES {
            breaker.silent(Leave::Free, 1);
        }
        assert_eq!(breaker.leave(|| 1), Some(Leave::Free));
    }

    #[test]
    fn a_clock_set_back_lets_one_ask() {
        let breaker = down(100_000);
        assert_eq!(breaker.leave(|| 50_000), Some(Leave::Probe));
        assert_eq!(breaker.leave(|| 50_001), None);
    }
}
