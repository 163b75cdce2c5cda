//! Prices and quotas of the platforms, in dollars and for a month of 30 days. Change the figures here, and
//! run `make cost` to compute the tables of `docs/costs.md` again.
//!
//! Read in November 2026:
//!
//! - Upstash: <https://upstash.com/docs/redis/overall/billing> (free plan, pay-as-you-go), and
//!   <https://upstash.com/pricing/redis> as transcribed on 2026-09-20 by
//!   <https://github.com/api-evangelist/upstash> (fixed plan)
//! - Durable Objects: <https://developers.cloudflare.com/durable-objects/platform/pricing>
//! - Workers: requests a day of the free plan
//!   <https://developers.cloudflare.com/workers/platform/limits/>; prices of the paid plan as copied on
//!   2026-08-03 by <https://github.com/halideworks/onelight/wiki/Pricing>
//! - D1 and KV: <https://developers.cloudflare.com/d1/platform/pricing/> and
//!   <https://developers.cloudflare.com/kv/platform/pricing/>, as transcribed by
//!   <https://github.com/api-evangelist/cloudflare-d1> and
//!   <https://github.com/api-evangelist/cloudflare-kv>

/// A quota, and the price of a million units beyond it.
#[derive(Clone, Copy, Debug)]
pub struct Quota {
    /// Units that the plan includes: in a month, on the free plan in a day.
    pub included: f64,
    /// Dollars for a million more; `None` if the plan refuses more.
    pub million: Option<f64>,
}

const fn free(daily: f64) -> Quota {
    Quota {
        included: daily,
        million: None,
    }
}

const fn paid(included: f64, million: f64) -> Quota {
    Quota {
        included,
        million: Some(million),
    }
}

/// Commands a month of Upstash's free plan.
pub const UPSTASH_FREE: f64 = 500_000.0;
/// Dollars for 100,000 commands of Upstash's pay-as-you-go plan.
pub const UPSTASH_PAY_AS_YOU_GO: f64 = 0.2;
/// Dollars a month of Upstash's smallest fixed plan, which lists no quota of commands, and the bytes that it holds.
pub const UPSTASH_FIXED: (f64, f64) = (10.0, 250e6);

/// Dollars a month of the paid plan of Workers.
pub const WORKERS_PAID: f64 = 5.0;

/// The quotas of Workers, free and paid: requests, rows that D1 reads and writes, reads and writes of
/// KV, GB-s of Durable Objects.
pub const WORKERS: [[Quota; 6]; 2] = [
    [
        free(100_000.0),
        free(5e6),
        free(100_000.0),
        free(100_000.0),
        free(1000.0),
        free(13_000.0),
    ],
    [
        paid(10e6, 0.3),
        paid(25e9, 0.001),
        paid(50e6, 1.0),
        paid(10e6, 0.5),
        paid(1e6, 5.0),
        paid(400_000.0, 12.5),
    ],
];

/// GB of a Durable Object while it is awake.
pub const OBJECT_GB: f64 = 0.128;
