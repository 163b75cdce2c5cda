//! Starts redis-server and the gateway, and sends requests to the gateway.

mod cluster;
mod gateway;

use std::time::Duration;

use redis::{Client, cmd};
use serde_json::Value;
use test_support::{RedisOptions, RedisServer, scaled};

pub use cluster::{Cluster, PRIMARIES, wait_until};
pub use gateway::{
    Gateway, HttpResponse, READ_ONLY_TOKEN, TOKEN, client, failed, no_permission, not_allowed, ok,
    pong, send,
};

/// Returns a key prefix that no other test of this process uses.
pub fn prefix() -> String {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("t{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Starts a server for a test that stops or blocks it.
pub fn private_redis() -> RedisServer {
    RedisServer::spawn(RedisOptions::default())
}

/// Starts a server that replies BUSY, and accepts SCRIPT KILL, soon after the start of a script.
pub fn impatient_redis() -> RedisServer {
    let options = RedisOptions::default().arg("--busy-reply-threshold");
    RedisServer::spawn(options.arg("10"))
}

/// Returns a time in milliseconds on this machine.
pub fn scaled_ms(milliseconds: u64) -> u64 {
    let scaled = scaled(Duration::from_millis(milliseconds)).as_millis();
    scaled.try_into().expect("a short time")
}

/// Returns a script that runs for a time and returns 1.
pub fn busy_script(milliseconds: u64) -> String {
    let microseconds = scaled_ms(milliseconds) * 1000;
    format!(
        "local t = redis.call('TIME') local from = t[1] * 1000000 + t[2] \
         repeat t = redis.call('TIME') until t[1] * 1000000 + t[2] - from > {microseconds} return 1"
    )
}

/// Waits until a script runs on an [`impatient_redis`].
pub async fn wait_until_busy(redis: &RedisServer) {
    let url = redis.url();
    let busy = tokio::task::spawn_blocking(move || {
        let mut connection = Client::open(url).unwrap().get_connection().unwrap();
        while cmd("PING").query::<String>(&mut connection).is_ok() {}
    });
    within("the script runs", busy).await.unwrap();
}

/// Sends a command until the response is the expected one.
pub async fn wait_for(gateway: &Gateway, command: Value, expected: (u16, Value)) {
    let replies = async {
        while gateway.single(command.clone()).await != expected {
            tokio::task::yield_now().await;
        }
    };
    within("the response is the expected one", replies).await;
}

/// Waits for a minute.
pub async fn within<T>(what: &str, event: impl Future<Output = T>) -> T {
    let timeout = scaled(Duration::from_secs(60));
    tokio::time::timeout(timeout, event).await.expect(what)
}
