//! The service over HTTP: the built wasm in workerd, the gateway and a real redis-server.
//! One module per URL.

use test_support::Worker;

#[tokio::test]
async fn the_worker_answers() {
    let worker = Worker::start();
    worker.api().get("/").await.assert_status(200);
}
