//! Servers and their files end with the test process, even when it is killed.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use test_support::{Gateway, RedisOptions, RedisServer, Worker, until};

const ROLE: &str = "ORPHANS_START_AND_WAIT";

/// Starts one server of each kind, prints the addresses, and waits to be killed. The test below runs
/// itself as a child process in this role.
fn start_servers_and_wait() -> ! {
    let redis = RedisServer::spawn(RedisOptions::default());
    let gateway = Gateway::spawn(&redis.url());
    let worker = Worker::builder().store(&gateway.url()).start();
    let miniflare = Worker::builder().store(&gateway.url()).miniflare().start();
    for url in [&redis.url(), &gateway.url(), worker.url(), miniflare.url()] {
        println!("started {url}");
    }
    loop {
        std::thread::park();
    }
}

#[tokio::test]
#[ignore = "soak"]
async fn killed_test_process_leaves_nothing_behind() {
    if std::env::var_os(ROLE).is_some() {
        start_servers_and_wait();
    }
    let folder = tempfile::tempdir().unwrap();
    let mut process = Command::new(std::env::current_exe().unwrap())
        .env("TMPDIR", folder.path())
        .args([
            "--nocapture",
            "--include-ignored",
            "killed_test_process_leaves_nothing_behind",
        ])
        .env(ROLE, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let addresses: Vec<_> = lines
        .map_while(Result::ok)
        .filter_map(|line| {
            Some(
                line.split_once("started ")?
                    .1
                    .split_once("//")?
                    .1
                    .to_owned(),
            )
        })
        .take(4)
        .collect();
    assert_eq!(addresses.len(), 4);
    for address in &addresses {
        TcpStream::connect(address).unwrap();
    }

    process.kill().unwrap();
    process.wait().unwrap();

    for address in &addresses {
        until("the end of the server", async || {
            TcpStream::connect(address).err()
        })
        .await;
    }
    until("the removal of the folders", async || {
        let mut entries = folder.path().read_dir().unwrap();
        entries.next().is_none().then_some(())
    })
    .await;
}
