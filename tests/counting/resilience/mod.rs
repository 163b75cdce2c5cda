//! Exact totals in spite of lost responses, killed servers and outages.

mod outage_queue;
mod restarts;
mod retries;
