//! Starts the real components a test needs, each within moments, and ends them with the test.
//!
//! ```text
//! Api ──► Worker (workerd or Miniflare, the built wasm) ──► [Forwarder] ──► Gateway ──► RedisServer
//! ```
//!
//! Most tests need two lines. All tests of one process share a redis-server and a gateway; each
//! Worker belongs to one test and has its own key prefix:
//!
//! ```no_run
//! # use test_support::{Worker, json};
//! # async fn test() {
//! let worker = Worker::start();
//! worker.api().get("/healthz").await.assert(200, json!({ "status": "ok" }));
//! # }
//! ```
//!
//! Every server listens on its own port and ends with the test process, however that ends.
//! With `CONFORMANCE_URL`, `CONFORMANCE_TOKEN` and `CONFORMANCE_PREFIX` the shared Redis and gateway are
//! a proxy to a store elsewhere: `make conformance` sets them.
//! The environment variable `SHARDS` sets the number of shards of every Worker; a test that needs
//! users of one shard takes them from [`peers`]. With `CLUSTER=1` the shared Redis is a cluster of
//! six nodes.
//!
//! The binaries come from this checkout: run `make build` after a change of the Worker and
//! `cargo build -p redis-rest` after a change of the gateway (`make test` does both).

mod api;
mod builder;
mod cluster;
mod command_line;
pub mod conformance;
mod cron_cost;
mod depth;
mod forwarder;
mod gateway;
mod journal;
mod listener;
mod miniflare;
mod redis_server;
pub mod reference;
mod replica;
mod repository;
mod rest_client;
mod server_process;
mod services;
mod sharding;
mod shared;
mod slowness;
mod store_proxy;
mod stream;
mod until;
mod worker;
mod workerd;

pub use api::{Answer, Api, SERVICE_KEY};
pub use builder::WorkerBuilder;
pub use command_line::{command_line, recount_event};
pub use cron_cost::CronCost;
pub use depth::depth;
pub use forwarder::{Fault, Forwarder, Recorded, Refusal};
pub use gateway::{Gateway, TOKEN};
pub use journal::journal_entry;
pub use redis_server::{RedisOptions, RedisServer};
pub use replica::Replica;
pub use repository::{npm, root, target};
pub use reqwest::Method;
pub use rest_client::{RestClient, RestResponse};
pub use serde_json::{Value, json};
pub use sharding::{
    has_generation, key, key_in, key_of, key_on, owner, peer, peers, rest, shard_among, shard_of,
    shards,
};
pub use shared::{gateway, redis, scan, unique_prefix};
pub use slowness::scaled;
pub use store_proxy::StoreProxy;
pub use stream::{Event, Stream};
pub use until::until;
pub use worker::{DataPoint, Worker};
