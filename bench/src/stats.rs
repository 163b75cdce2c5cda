//! From single answers to figures.

use serde::Serialize;
use std::time::Duration;

/// What one turn saw.
#[derive(Default)]
pub struct Sample {
    /// How long it took.
    pub time: Duration,
    /// Microseconds of each answer.
    latencies: Vec<u32>,
    bytes: usize,
}

/// What one turn came to.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Figures {
    /// Requests a second.
    pub rate: f64,
    /// Milliseconds within which half of the answers came.
    pub p50: f64,
    /// Milliseconds within which 99 of 100 came.
    pub p99: f64,
    /// Processor time of a request in microseconds, where the system tells: of workerd.
    pub cpu: Option<f64>,
    /// Of the gateway.
    pub gateway_cpu: Option<f64>,
    /// Of Redis.
    pub redis_cpu: Option<f64>,
    /// Bytes of an answer, its head included.
    pub answer: f64,
}

impl Sample {
    /// One more answer.
    pub fn add(&mut self, took: Duration, bytes: usize) {
        self.latencies
            .push(u32::try_from(took.as_micros()).unwrap_or(u32::MAX));
        self.bytes += bytes;
    }

    /// The answers of another turn too.
    pub fn join(&mut self, other: Self) {
        self.time += other.time;
        self.latencies.extend(other.latencies);
        self.bytes += other.bytes;
    }

    /// The figures, with the processor time that workerd, the gateway and Redis took.
    pub fn figures(mut self, times: [Option<Duration>; 3]) -> Figures {
        self.latencies.sort_unstable();
        let count = self.latencies.len();
        let requests = count.max(1) as f64;
        let within = |share: f64| {
            let place = (share * count as f64) as usize;
            self.latencies
                .get(place)
                .map_or(0.0, |micros| f64::from(*micros) / 1e3)
        };
        let [cpu, gateway_cpu, redis_cpu] =
            times.map(|time| Some(time?.as_secs_f64() * 1e6 / requests));
        Figures {
            rate: count as f64 / self.time.as_secs_f64(),
            p50: within(0.50),
            p99: within(0.99),
            cpu,
            gateway_cpu,
            redis_cpu,
            answer: self.bytes as f64 / requests,
        }
    }
}

/// The middle of several values, and how far they lie apart.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Spread {
    /// Half are below.
    pub median: f64,
    /// The least.
    pub least: f64,
    /// The most.
    pub most: f64,
}

impl Spread {
    /// Of these; nothing where there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_unstable_by(f64::total_cmp);
        let (least, most) = (*values.first()?, *values.last()?);
        let middle = values.len() / 2;
        let median = match values.len() % 2 {
            0 => (values[middle - 1] + values[middle]) / 2.0,
            _ => values[middle],
        };
        Some(Self {
            median,
            least,
            most,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Spread;

    #[test]
    fn the_median_lies_in_the_middle() {
        let of = |values: &[f64]| Spread::of(values.iter().copied()).map(|spread| spread.median);
        assert_eq!(of(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(of(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(of(&[]), None);
    }
}
