//! Probes the store of a conformance run, and removes the keys of a run.
//!
//! ```text
//! conformance probe PREFIX    prints what the store supports
//! conformance clean PREFIX    removes all keys of the prefix
//! conformance serve           starts redis-server and a gateway, and prints the gateway's URL and token
//! ```
//!
//! The store is at `CONFORMANCE_URL`, with the token `CONFORMANCE_TOKEN`.

use std::env;
use std::io::Read;
use std::process::ExitCode;

use test_support::conformance::{clean, probe, table};
use test_support::{Gateway, RedisOptions, RedisServer, RestClient};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        ["probe", prefix] => run_probe(prefix),
        ["clean", prefix] => run_clean(prefix),
        ["serve"] => {
            serve();
            Ok(())
        }
        _ => Err("usage: conformance probe PREFIX | clean PREFIX | serve".to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(cause) => {
            eprintln!("conformance: {cause}");
            ExitCode::FAILURE
        }
    }
}

fn connect() -> Result<RestClient, String> {
    let variable = |name: &str| env::var(name).map_err(|_| format!("{name} is not set"));
    RestClient::connect(
        &variable("CONFORMANCE_URL")?,
        &variable("CONFORMANCE_TOKEN")?,
    )
}

fn run_probe(prefix: &str) -> Result<(), String> {
    print!("{}", table(&probe(&connect()?, prefix)?));
    Ok(())
}

fn run_clean(prefix: &str) -> Result<(), String> {
    let removed = clean(&connect()?, prefix)?;
    println!("conformance: {removed} keys of {prefix} removed");
    Ok(())
}

/// Runs a store on this machine until standard input ends.
fn serve() {
    let redis = RedisServer::spawn(RedisOptions::default());
    // Not the token that Workers in tests send.
    let token = "conformance-store-token";
    let gateway = Gateway::spawn_with_token(&redis.url(), token);
    println!("{} {token}", gateway.url());
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}
