//! The `redis-rest` program: reads its configuration and serves until told to stop.

use clap::Parser;
use redis_rest::{Config, Server, stop_signal};

fn main() -> std::process::ExitCode {
    let config = match Config::parse().check() {
        Ok(config) => config,
        Err(problem) => return refuse(&problem),
    };
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(problem) => return refuse(&problem.to_string()),
    };
    match runtime.block_on(serve(config)) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(problem) => refuse(&problem),
    }
}

async fn serve(config: Config) -> Result<(), String> {
    // Registered before the readiness line: whoever reads it may send a signal at once.
    let stop = stop_signal().map_err(|problem| problem.to_string())?;
    let server = Server::bind(config).await?;
    println!("redis-rest listening on http://{}", server.address());
    server
        .run(stop)
        .await
        .map_err(|problem| problem.to_string())
}

fn refuse(problem: &str) -> std::process::ExitCode {
    eprintln!("redis-rest: {problem}");
    std::process::ExitCode::from(2)
}
