//! The cost of a run of cron.

use serde_json::Value;

/// The subrequests of a run of cron.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CronCost {
    /// Requests to the store, batches of D1 and operations of KV.
    pub subrequests: u64,
    /// Requests to the store.
    pub store_requests: u64,
    /// Statements of D1.
    pub queries: u64,
    /// Rows that D1 read.
    pub rows_read: u64,
    /// Rows that D1 wrote, also in indexes.
    pub rows_written: u64,
    /// Reads of KV.
    pub kv_reads: u64,
    /// Writes of KV.
    pub kv_writes: u64,
}

impl CronCost {
    pub(crate) fn decode(cost: &Value) -> Self {
        let number = |name: &str| cost[name].as_u64().expect("a number");
        Self {
            subrequests: number("subrequests"),
            store_requests: number("store_requests"),
            queries: number("queries"),
            rows_read: number("rows_read"),
            rows_written: number("rows_written"),
            kv_reads: number("kv_reads"),
            kv_writes: number("kv_writes"),
        }
    }

    /// Adds the cost of another run.
    pub fn add(&mut self, other: Self) {
        self.subrequests += other.subrequests;
        self.store_requests += other.store_requests;
        self.queries += other.queries;
        self.rows_read += other.rows_read;
        self.rows_written += other.rows_written;
        self.kv_reads += other.kv_reads;
        self.kv_writes += other.kv_writes;
    }
}
