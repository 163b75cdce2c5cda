//! The `redis-rest` process: configuration errors, log lines and shutdown.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

use reqwest::Method;

use test_support::until;

use crate::support::{TOKEN, client, failed, ok, private_redis, send, within};

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_redis-rest"));
    command
        .env_clear()
        .env("LISTEN", "127.0.0.1:0")
        .env("REDIS_URL", test_support::redis().url());
    command
}

fn output(command: &mut Command) -> (Option<i32>, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().expect("the program runs");
    (
        status.code(),
        String::from_utf8(stdout).unwrap(),
        String::from_utf8(stderr).unwrap(),
    )
}

/// Starts the program and returns its URL from the readiness line.
fn start(command: &mut Command) -> (Child, String) {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    let url = line
        .strip_prefix("redis-rest listening on ")
        .expect("the readiness line")
        .trim_end()
        .to_owned();
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
    (child, url)
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill")
        .args([name, &child.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
}

#[test]
fn missing_token_prevents_start() {
    let message = "redis-rest: REDIS_REST_TOKEN is not set: without a token anyone could use this Redis. \
               Set it to a long random string.\n";
    assert_eq!(
        output(&mut program()),
        (Some(2), String::new(), message.to_owned())
    );
    assert_eq!(
        output(program().env("REDIS_REST_TOKEN", "")),
        (Some(2), String::new(), message.to_owned())
    );
}

#[test]
fn invalid_settings_are_named() {
    for (name, value, message) in [
        (
            "LISTEN",
            "nonsense",
            "redis-rest: LISTEN=nonsense cannot be used: ",
        ),
        (
            "REDIS_URL",
            "http://user:hunter2@host",
            "redis-rest: REDIS_URL cannot be used: ",
        ),
        (
            "REDIS_CONNECTIONS",
            "0",
            "redis-rest: REDIS_CONNECTIONS must be at least 1.",
        ),
        (
            "REDIS_REST_READONLY_TOKEN",
            TOKEN,
            "redis-rest: REDIS_REST_READONLY_TOKEN must differ from REDIS_REST_TOKEN.",
        ),
        (
            "TIMEOUT_MS",
            "0",
            "redis-rest: TIMEOUT_MS must be at least 1.",
        ),
        (
            "ALLOW_COMMANDS",
            "SAVE,select",
            "redis-rest: ALLOW_COMMANDS cannot contain SELECT: it would change, block or close a \
             connection that all requests share.",
        ),
        (
            "HEAD_TIMEOUT_MS",
            "0",
            "redis-rest: HEAD_TIMEOUT_MS must be at least 1.",
        ),
        (
            "IDLE_TIMEOUT_MS",
            "0",
            "redis-rest: IDLE_TIMEOUT_MS must be at least 1.",
        ),
        (
            "MAX_CONNECTIONS",
            "0",
            "redis-rest: MAX_CONNECTIONS must be at least 1.",
        ),
    ] {
        let (code, stdout, stderr) =
            output(program().env("REDIS_REST_TOKEN", TOKEN).env(name, value));
        assert_eq!((code, stdout.as_str()), (Some(2), ""));
        assert!(stderr.starts_with(message), "{stderr}");
        assert!(
            !stderr.contains("hunter2") && !stderr.contains(TOKEN),
            "{stderr}"
        );
    }
}

#[test]
fn help_and_version_reveal_no_secret() {
    let (code, help, _) = output(program().arg("--help").env("REDIS_REST_TOKEN", TOKEN));
    assert_eq!(code, Some(0));
    for name in [
        "REDIS_URL",
        "LISTEN",
        "REDIS_REST_TOKEN",
        "MAX_BODY_BYTES",
        "TIMEOUT_MS",
    ] {
        assert!(help.contains(name), "{name} is missing in:\n{help}");
    }
    assert!(
        !help.contains(TOKEN) && !help.contains(&test_support::redis().url()),
        "{help}"
    );
    let version = format!("redis-rest {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(
        output(program().arg("--version")),
        (Some(0), version, String::new())
    );
}

#[tokio::test]
async fn log_does_not_contain_token() {
    let (mut child, url) = start(program().env("REDIS_REST_TOKEN", TOKEN));
    let request = client().request(Method::GET, format!("{url}/ping?_token={TOKEN}"));
    assert_eq!(send(request).await.json(), ok("PONG"));
    signal(&child, "-TERM");
    let (mut stdout, mut stderr) = (String::new(), String::new());
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut stdout)
        .unwrap();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(stdout, "");
    assert!(!stderr.contains(TOKEN), "{stderr}");
}

#[tokio::test]
async fn stop_signal_waits_for_requests_in_flight() {
    let redis = private_redis();
    let mut direct = redis.connection();
    for name in ["-TERM", "-INT"] {
        let (mut child, url) = start(
            program()
                .env("REDIS_REST_TOKEN", TOKEN)
                .env("REDIS_URL", redis.url()),
        );
        let set = client()
            .request(Method::GET, format!("{url}/set/a/b"))
            .bearer_auth(TOKEN);
        assert_eq!(send(set.try_clone().unwrap()).await.json(), ok("OK"));
        let mut client = |words: &[&str]| -> redis::Value {
            redis::cmd("CLIENT").arg(words).query(&mut direct).unwrap()
        };
        client(&["PAUSE", "600000", "WRITE"]);
        let in_flight = tokio::spawn(send(set));
        // The flag of a blocked client.
        until("the command waits", async || {
            format!("{:?}", client(&["LIST"]))
                .contains("flags=b")
                .then_some(())
        })
        .await;
        signal(&child, name);
        // The gateway has received the signal when it no longer listens.
        let address = url.strip_prefix("http://").unwrap();
        until("the signal", async || TcpStream::connect(address).err()).await;
        client(&["UNPAUSE"]);
        assert_eq!(in_flight.await.unwrap().json(), ok("OK"), "{name}");
        assert!(child.wait().unwrap().success());
    }
}

#[tokio::test]
async fn open_stream_does_not_delay_stop() {
    let (mut child, url) = start(program().env("REDIS_REST_TOKEN", TOKEN));
    let request = client()
        .request(Method::POST, format!("{url}/subscribe/a"))
        .bearer_auth(TOKEN);
    let mut response = request.send().await.unwrap();
    assert_eq!(
        response.chunk().await.unwrap().as_deref(),
        Some(&b"data: subscribe,a,1\n\n"[..])
    );
    signal(&child, "-TERM");
    assert_eq!(response.chunk().await.unwrap(), None);
    assert!(child.wait().unwrap().success());
}

/// Returns the program, run by a shell that first sets limits of open files with `ulimit` options.
fn program_with_open_files(limits: &str) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("{limits}; exec \"$0\"")])
        .arg(env!("CARGO_BIN_EXE_redis-rest"))
        .env_clear()
        .env("LISTEN", "127.0.0.1:0")
        .env("REDIS_URL", test_support::redis().url())
        .env("REDIS_REST_TOKEN", TOKEN);
    command
}

/// Opens connections that send one byte.
fn half_open(url: &str, count: usize) -> Vec<TcpStream> {
    let address = url.strip_prefix("http://").unwrap();
    let open = |_| {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(b"G").unwrap();
        stream
    };
    (0..count).map(open).collect()
}

#[tokio::test]
async fn half_open_connections_do_not_block_others() {
    let (mut child, url) = start(&mut program_with_open_files("ulimit -Sn 64"));
    let _half_open = half_open(&url, 100);
    let request = client().request(Method::GET, format!("{url}/ping?_token={TOKEN}"));
    let response = within("a response", send(request)).await;
    assert_eq!(response.json(), ok("PONG"));
    signal(&child, "-KILL");
    child.wait().unwrap();
}

#[tokio::test]
async fn open_file_limit_lowers_connection_limit() {
    let (mut child, url) = start(program_with_open_files("ulimit -n 134").env("MAX_STREAMS", "0"));
    let error = failed(
        503,
        "ERR max number of connections per address exceeded. Limit: 3",
    );
    let half_open = half_open(&url, 3);
    let ping = || client().request(Method::GET, format!("{url}/ping?_token={TOKEN}"));
    assert_eq!(send(ping()).await.json(), error);
    drop(half_open);
    let answered = async { while send(ping()).await.status != 200 {} };
    within("closed connections no longer count", answered).await;
    signal(&child, "-TERM");
    let mut stderr = String::new();
    let mut pipe = child.stderr.take().unwrap();
    pipe.read_to_string(&mut stderr).unwrap();
    assert!(child.wait().unwrap().success());
    let line = "redis-rest: at most 6 connections, 3 from one address; \
                the limit of open files does not allow MAX_CONNECTIONS=5000\n";
    assert!(stderr.contains(line), "{stderr}");
}

/// A half-open connection has no request to wait for.
#[test]
fn half_open_connection_does_not_delay_stop() {
    let (mut child, url) = start(
        program()
            .env("REDIS_REST_TOKEN", TOKEN)
            .env("TIMEOUT_MS", "600000")
            .env("HEAD_TIMEOUT_MS", "600000"),
    );
    let mut half_open = half_open(&url, 1);
    signal(&child, "-TERM");
    let started = Instant::now();
    assert!(child.wait().unwrap().success());
    assert!(started.elapsed() < Duration::from_secs(300));
    assert_eq!(half_open[0].read(&mut [0]).unwrap_or(0), 0);
}

/// The gateway has run the command and stored its response, which the client reads only now.
#[test]
fn stop_waits_for_unread_response() {
    let (mut child, url) = start(program().env("REDIS_REST_TOKEN", TOKEN));
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    // Longer than the buffers of both sockets.
    let path = format!("/eval/return%20string.rep('x',10000000)/0?_token={TOKEN}");
    write!(stream, "GET {path} HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    let mut response = vec![0];
    stream.read_exact(&mut response).unwrap();
    signal(&child, "-TERM");
    // The gateway has received the signal when it no longer listens.
    while TcpStream::connect(address).is_ok() {}
    stream.read_to_end(&mut response).unwrap();
    let end = "x\"}";
    assert!(response.len() > 10_000_000 && response.ends_with(end.as_bytes()));
    assert!(child.wait().unwrap().success());
}

/// An operator who restricts the Redis user of the gateway also decides what its scripts can do.
#[test]
fn user_with_unrestricted_scripts_is_reported() {
    let redis = private_redis();
    let mut connection = redis::Client::open(redis.url())
        .unwrap()
        .get_connection()
        .unwrap();
    let warning = "redis-rest: WARNING: scripts can run commands that the gateway does not make \
        available: SELECT, SWAPDB. Use a Redis user that may not run them: see \
        \"Scripts\" in the documentation\n";
    let documented = "+@all -@admin -select -swapdb -move -migrate +script +function";
    for (commands, warnings) in [("+@all -slowlog", 1), (documented, 0)] {
        redis::cmd("ACL")
            .arg("SETUSER")
            .arg(&["operator", "reset", "on", ">password", "~app:*", "&*"])
            .arg(commands.split(' ').collect::<Vec<_>>())
            .exec(&mut connection)
            .unwrap();
        let url = redis
            .url()
            .replace("redis://", "redis://operator:password@");
        let (mut child, _url) = start(
            program()
                .env("REDIS_REST_TOKEN", TOKEN)
                .env("REDIS_URL", url),
        );
        signal(&child, "-TERM");
        let mut stderr = String::new();
        let mut pipe = child.stderr.take().unwrap();
        pipe.read_to_string(&mut stderr).unwrap();
        assert!(child.wait().unwrap().success());
        assert_eq!(stderr.matches(warning).count(), warnings, "{stderr}");
        assert_eq!(stderr.matches("WARNING").count(), warnings, "{stderr}");
    }
}
