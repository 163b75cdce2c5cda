//! The `redis-rest` program: reads its configuration and serves until it receives a stop signal.

use std::process::ExitCode;

use clap::Parser;
use redis_rest::{Config, Server, raise_open_file_limit, stop_signal};

fn main() -> ExitCode {
    match start() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("redis-rest: {message}");
            ExitCode::from(2)
        }
    }
}

fn start() -> Result<(), String> {
    let config = Config::parse().check()?;
    raise_open_file_limit();
    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    runtime.block_on(serve(config))
}

async fn serve(config: Config) -> Result<(), String> {
    // Registered before the readiness line, because its reader may send a signal at once.
    let stop = stop_signal().map_err(|error| error.to_string())?;
    let server = Server::bind(config).await?;
    println!("redis-rest listening on http://{}", server.address());
    server.run(stop).await;
    Ok(())
}
