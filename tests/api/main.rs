//! The service over HTTP: the built wasm in workerd, the gateway and a real redis-server.
//! One module per URL.

// Tests fail by panicking, and run on the host, where std has clocks.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::disallowed_methods
)]

mod activity;

use test_support::Worker;

#[tokio::test]
async fn the_worker_answers() {
    let worker = Worker::start();
    worker.api().get("/").await.assert_status(200);
}
