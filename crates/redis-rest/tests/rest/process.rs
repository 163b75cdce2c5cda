//! The `redis-rest` process: configuration errors, log lines and shutdown.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use reqwest::{Method, RequestBuilder};

use test_support::until;

use crate::support::{TOKEN, client, failed, ok, private_redis, send, within};

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_redis-rest"));
    configure(&mut command);
    command
}

/// Sets variables without a token.
fn configure(command: &mut Command) {
    let url = test_support::redis().url();
    command.env_clear();
    command.env("LISTEN", "127.0.0.1:0").env("REDIS_URL", url);
}

/// Returns the program with a token.
fn ready() -> Command {
    let mut command = program();
    command.env("REDIS_REST_TOKEN", TOKEN);
    command
}

fn output(command: &mut Command) -> (Option<i32>, String, String) {
    let output = command.output().expect("the program runs");
    let [stdout, stderr] = [output.stdout, output.stderr].map(String::from_utf8);
    (output.status.code(), stdout.unwrap(), stderr.unwrap())
}

/// Starts the program and returns its URL from the readiness line.
fn start(command: &mut Command) -> (Child, String) {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut line = String::new();
    let mut stdout = BufReader::new(child.stdout.as_mut().unwrap());
    stdout.read_line(&mut line).unwrap();
    let url = line.strip_prefix("redis-rest listening on ");
    let url = url.expect("the readiness line").trim_end().to_owned();
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
    (child, url)
}

fn signal(child: &Child, name: &str) {
    let mut kill = Command::new("kill");
    let sent = kill.args([name, &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

/// Stops the program with SIGTERM, and returns the rest of its output and its log.
fn stop(child: &mut Child) -> [String; 2] {
    signal(child, "-TERM");
    let (mut stdout, mut stderr) = (String::new(), String::new());
    let output = child.stdout.as_mut().unwrap();
    output.read_to_string(&mut stdout).unwrap();
    let log = child.stderr.as_mut().unwrap();
    log.read_to_string(&mut stderr).unwrap();
    assert!(child.wait().unwrap().success());
    [stdout, stderr]
}

/// Creates a PING with the token in the query.
fn ping(url: &str) -> RequestBuilder {
    client().request(Method::GET, format!("{url}/ping?_token={TOKEN}"))
}

#[test]
fn missing_token_prevents_start() {
    let message = "redis-rest: REDIS_REST_TOKEN is not set: without a token anyone could use this Redis. \
               Set it to a long random string.\n";
    let expected = (Some(2), String::new(), message.to_owned());
    assert_eq!(output(&mut program()), expected);
    assert_eq!(output(program().env("REDIS_REST_TOKEN", "")), expected);
}

#[test]
fn invalid_settings_are_named() {
    let least = "must be at least 1.";
    let select = "cannot contain SELECT: it would change, block or close a connection that all requests share.";
    for (name, value, message) in [
        ("LISTEN", "nonsense", "LISTEN=nonsense cannot be used: "),
        ("REDIS_URL", "http://user:hunter2@host", "cannot be used: "),
        ("REDIS_CONNECTIONS", "0", least),
        (
            "REDIS_REST_READONLY_TOKEN",
            TOKEN,
            "must differ from REDIS_REST_TOKEN.",
        ),
        ("TIMEOUT_MS", "0", least),
        ("ALLOW_COMMANDS", "SAVE,select", select),
        ("HEAD_TIMEOUT_MS", "0", least),
        ("IDLE_TIMEOUT_MS", "0", least),
        ("MAX_CONNECTIONS", "0", least),
    ] {
        let (code, stdout, stderr) = output(ready().env(name, value));
        assert_eq!((code, stdout.as_str()), (Some(2), ""));
        let message = match name {
            "LISTEN" => format!("redis-rest: {message}"),
            _ => format!("redis-rest: {name} {message}"),
        };
        assert!(stderr.starts_with(&message), "{stderr}");
        for secret in ["hunter2", TOKEN] {
            assert!(!stderr.contains(secret), "{stderr}");
        }
    }
}

#[test]
fn help_and_version_reveal_no_secret() {
    let (code, help, _) = output(ready().arg("--help"));
    assert_eq!(code, Some(0));
    for name in "REDIS_URL LISTEN REDIS_REST_TOKEN MAX_BODY_BYTES TIMEOUT_MS".split(' ') {
        assert!(help.contains(name), "{name} is missing in:\n{help}");
    }
    for secret in [TOKEN, &test_support::redis().url()] {
        assert!(!help.contains(secret), "{help}");
    }
    let version = format!("redis-rest {}\n", env!("CARGO_PKG_VERSION"));
    let expected = (Some(0), version, String::new());
    assert_eq!(output(program().arg("--version")), expected);
}

#[tokio::test]
async fn log_does_not_contain_token() {
    let (mut child, url) = start(&mut ready());
    assert_eq!(send(ping(&url)).await.json(), ok("PONG"));
    let [stdout, stderr] = stop(&mut child);
    assert_eq!(stdout, "");
    assert!(!stderr.contains(TOKEN), "{stderr}");
}

#[tokio::test]
async fn stop_signal_waits_for_requests_in_flight() {
    let redis = private_redis();
    let mut direct = redis.connection();
    for name in ["-TERM", "-INT"] {
        let (mut child, url) = start(ready().env("REDIS_URL", redis.url()));
        let set = client().request(Method::GET, format!("{url}/set/a/b"));
        let set = set.bearer_auth(TOKEN);
        assert_eq!(send(set.try_clone().unwrap()).await.json(), ok("OK"));
        let mut client = |words: &[&str]| -> redis::Value {
            redis::cmd("CLIENT").arg(words).query(&mut direct).unwrap()
        };
        client(&["PAUSE", "600000", "WRITE"]);
        let in_flight = tokio::spawn(send(set));
        // The flag of a blocked client.
        let waits = async || {
            let clients = format!("{:?}", client(&["LIST"]));
            clients.contains("flags=b").then_some(())
        };
        until("the command waits", waits).await;
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
    let (mut child, url) = start(&mut ready());
    let request = client().request(Method::POST, format!("{url}/subscribe/a"));
    let mut response = request.bearer_auth(TOKEN).send().await.unwrap();
    let subscribed = response.chunk().await.unwrap().unwrap();
    assert_eq!(subscribed, "data: subscribe,a,1\n\n");
    signal(&child, "-TERM");
    assert_eq!(response.chunk().await.unwrap(), None);
    assert!(child.wait().unwrap().success());
}

/// Returns the program, run by a shell that first sets limits of open files with `ulimit` options.
fn program_with_open_files(limits: &str) -> Command {
    let mut command = Command::new("sh");
    configure(&mut command);
    command.env("REDIS_REST_TOKEN", TOKEN);
    command.args(["-c", &format!("{limits}; exec \"$0\"")]);
    command.arg(env!("CARGO_BIN_EXE_redis-rest"));
    command
}

/// The arguments and commands of a body take little more memory than the body.
#[tokio::test]
async fn body_of_many_parts_takes_little_memory() {
    let (mut child, url) = start(ready().env("MAX_TOTAL_BODY_BYTES", "80000000"));
    let status = format!("/proc/{}/status", child.id());
    for (path, part, expected) in [("pipeline", "[]", 413), ("", "1", 503)] {
        let body = vec![part; 16_000_000 / (part.len() + 1)].join(",");
        let request = client().request(Method::POST, format!("{url}/{path}"));
        let request = request.bearer_auth(TOKEN).body(format!("[{body}]"));
        assert_eq!(send(request).await.status, expected);
    }
    let status = fs::read_to_string(status).unwrap();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    let kilobytes: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kilobytes < 4 * 16_000 + 20_000, "{kilobytes} kB");
    stop(&mut child);
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
    let response = within("a response", send(ping(&url))).await;
    assert_eq!(response.json(), ok("PONG"));
    signal(&child, "-KILL");
    child.wait().unwrap();
}

#[tokio::test]
async fn open_file_limit_lowers_connection_limit() {
    let (mut child, url) = start(program_with_open_files("ulimit -n 134").env("MAX_STREAMS", "0"));
    let error = "ERR max number of connections per address exceeded. Limit: 3";
    let half_open = half_open(&url, 3);
    assert_eq!(send(ping(&url)).await.json(), failed(503, error));
    drop(half_open);
    let answered = async { while send(ping(&url)).await.status != 200 {} };
    within("closed connections no longer count", answered).await;
    let [_, stderr] = stop(&mut child);
    let line = "redis-rest: at most 6 connections, 3 from one address; \
                the limit of open files does not allow MAX_CONNECTIONS=5000\n";
    assert!(stderr.contains(line), "{stderr}");
}

/// A half-open connection has no request to wait for.
#[test]
fn half_open_connection_does_not_delay_stop() {
    let mut program = ready();
    program.env("TIMEOUT_MS", "600000");
    let (mut child, url) = start(program.env("HEAD_TIMEOUT_MS", "600000"));
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
    let (mut child, url) = start(&mut ready());
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
    let mut connection = redis.connection();
    let warning = "redis-rest: WARNING: scripts can run commands that the gateway does not make \
        available: SELECT, SWAPDB. Use a Redis user that may not run them: see \
        \"Scripts\" in the documentation\n";
    let documented = "+@all -@admin -select -swapdb -move -migrate +script +function";
    for (commands, warnings) in [("+@all -slowlog", 1), (documented, 0)] {
        let rules = format!("SETUSER operator reset on >password ~app:* &* {commands}");
        let mut acl = redis::cmd("ACL");
        acl.arg(rules.split(' ').collect::<Vec<_>>());
        acl.exec(&mut connection).unwrap();
        let url = redis.url_as("operator", "password");
        let (mut child, _url) = start(ready().env("REDIS_URL", url));
        let [_, stderr] = stop(&mut child);
        assert_eq!(stderr.matches(warning).count(), warnings, "{stderr}");
        assert_eq!(stderr.matches("WARNING").count(), warnings, "{stderr}");
    }
}
