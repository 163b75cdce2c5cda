//! The parts a test needs, each started in a moment and none left behind.
//!
//! ```text
//! Api ──► Worker (workerd, the built wasm) ──► [Forwarder] ──► Gateway ──► RedisServer
//!         or Wrangler (adds the Cache API and the other bindings)
//! ```
//!
//! A test usually needs two lines; redis-server and gateway are shared by all tests of one
//! process, the Worker is the test's own and has a key prefix of its own:
//!
//! ```no_run
//! # use test_support::{Worker, json};
//! # async fn test() {
//! let worker = Worker::start();
//! worker.api().get("/healthz").await.assert(200, json!({ "status": "ok" }));
//! # }
//! ```
//!
//! Every server listens on a port of its own and ends with the test process, however that ends.
//! The variable `SHARDS` splits the users of every Worker; a test that needs users of one shard
//! asks for [`peers`]. With `CLUSTER=1` the shared redis-server is a cluster of six nodes.
//!
//! The binaries are those of this checkout: run `make build` after a change of the Worker and
//! `cargo build -p redis-rest` after one of the gateway (`make test` does both).

mod answer;
mod api;
mod capnp;
mod child;
mod client;
mod cluster;
mod fault;
mod forwarder;
mod gateway;
mod part;
mod port;
mod process;
mod recorded;
mod redis_server;
pub mod reference;
mod repository;
mod sharding;
mod stream;
mod until;
mod worker;
mod worker_builder;
mod wrangler;

pub use answer::Answer;
pub use api::Api;
pub use fault::Fault;
pub use forwarder::Forwarder;
pub use gateway::{Gateway, TOKEN, gateway};
pub use recorded::Recorded;
pub use redis_server::{RedisOptions, RedisServer, redis};
pub use repository::{npm, root, target};
pub use reqwest::Method;
pub use serde_json::{Value, json};
pub use sharding::{key, key_of, owner, peer, peers, rest, shard_among, shard_of, shards};
pub use stream::{Event, Stream};
pub use until::until;
pub use worker::{SERVICE_KEY, Worker};
pub use worker_builder::WorkerBuilder;
pub use wrangler::Wrangler;
