//! The same commands past the gateway: redis-benchmark.

use super::load::{KEYS, Load, VALUE};
use super::store::Store;
use crate::client::CONNECTIONS;
use std::process::Command;

/// Commands a second of redis-benchmark.
pub fn measure(store: &Store, load: Load, seconds: f64) -> Result<f64, String> {
    let url = store.redis.url();
    let port = url.rsplit(':').next().unwrap_or_default();
    let commands = format!("{:.0}", load.direct * seconds);
    let mut command = Command::new("redis-benchmark");
    command.args(["-p", port, "-n", &commands, "--csv"]);
    for (option, number) in [
        ("-c", CONNECTIONS),
        ("-P", load.depth),
        ("-r", KEYS as usize),
    ] {
        command.args([option, &number.to_string()]);
    }
    match load.writes {
        true => command.args(["SET", "key:__rand_int__", VALUE]),
        false => command.args(["GET", "key:__rand_int__"]),
    };
    let output = command
        .output()
        .map_err(|error| format!("redis-benchmark: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let figure = text.lines().last().and_then(|line| line.split(',').nth(1));
    figure
        .and_then(|figure| figure.trim_matches('"').parse().ok())
        .ok_or_else(|| {
            format!(
                "redis-benchmark: {text}{}",
                String::from_utf8_lossy(&output.stderr)
            )
        })
}
