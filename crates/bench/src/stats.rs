//! Measurements: response times, processor time, and their statistics.

use serde::Serialize;
use std::time::Duration;

/// The raw measurements of one round.
#[derive(Default)]
pub struct Sample {
    /// The duration of the round.
    pub time: Duration,
    /// Response times in microseconds.
    latencies: Vec<u32>,
    bytes: usize,
}

/// The figures of one round.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Figures {
    /// Requests per second.
    pub rate: f64,
    /// The median response time in milliseconds.
    pub p50: f64,
    /// The 99th percentile of the response time in milliseconds.
    pub p99: f64,
    /// Processor time of workerd per request in microseconds, where available.
    pub cpu: Option<f64>,
    /// Processor time of the gateway per request in microseconds.
    pub gateway_cpu: Option<f64>,
    /// Processor time of Redis per request in microseconds.
    pub redis_cpu: Option<f64>,
    /// Bytes per response, including the head.
    #[serde(rename = "answer")]
    pub response_bytes: f64,
}

impl Sample {
    /// Adds one response.
    pub fn add(&mut self, latency: Duration, bytes: usize) {
        self.latencies
            .push(u32::try_from(latency.as_micros()).unwrap_or(u32::MAX));
        self.bytes += bytes;
    }

    /// Adds the responses of another round.
    pub fn merge(&mut self, other: Self) {
        self.time += other.time;
        self.latencies.extend(other.latencies);
        self.bytes += other.bytes;
    }

    /// Computes the figures, given the processor time of workerd, the gateway and Redis.
    pub fn figures(mut self, cpu_times: [Option<Duration>; 3]) -> Figures {
        self.latencies.sort_unstable();
        let count = self.latencies.len();
        let requests = count.max(1) as f64;
        let quantile = |share: f64| {
            let index = (share * count as f64) as usize;
            self.latencies
                .get(index)
                .map_or(0.0, |micros| f64::from(*micros) / 1e3)
        };
        let [cpu, gateway_cpu, redis_cpu] =
            cpu_times.map(|time| Some(time?.as_secs_f64() * 1e6 / requests));
        Figures {
            rate: count as f64 / self.time.as_secs_f64(),
            p50: quantile(0.50),
            p99: quantile(0.99),
            cpu,
            gateway_cpu,
            redis_cpu,
            response_bytes: self.bytes as f64 / requests,
        }
    }
}

/// The median and the range of several values.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// The minimum.
    #[serde(rename = "least")]
    pub min: f64,
    /// The maximum.
    #[serde(rename = "most")]
    pub max: f64,
}

impl Spread {
    /// Computes the spread; `None` without values.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_unstable_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        let middle = values.len() / 2;
        let median = match values.len() % 2 {
            0 => (values[middle - 1] + values[middle]) / 2.0,
            _ => values[middle],
        };
        Some(Self { median, min, max })
    }
}

/// The unit of processor times in `/proc`: 1/100 second (`getconf CLK_TCK`) on every Linux.
const TICK: Duration = Duration::from_millis(10);

/// Measures the processor time of a process from its start on.
pub struct CpuMeter {
    process: u32,
    before: Option<Duration>,
}

impl CpuMeter {
    /// Starts measuring a process by its id.
    pub fn start(process: u32) -> Self {
        let before = cpu_time(process);
        Self { process, before }
    }

    /// Returns the processor time since the start; `None` on systems without `/proc`.
    pub fn elapsed(&self) -> Option<Duration> {
        cpu_time(self.process)?.checked_sub(self.before?)
    }
}

/// Returns the user and system time of all threads.
fn cpu_time(process: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The command name before the fields may contain parentheses itself.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_whitespace().skip(11).map(str::parse);
    let (user, system): (u32, u32) = (times.next()?.ok()?, times.next()?.ok()?);
    Some(TICK * (user + system))
}

#[cfg(test)]
mod tests {
    use super::Spread;

    #[test]
    fn median_of_even_count_is_mean_of_middle_values() {
        let median =
            |values: &[f64]| Spread::of(values.iter().copied()).map(|spread| spread.median);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[]), None);
    }
}
