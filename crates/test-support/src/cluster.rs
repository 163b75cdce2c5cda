//! A Redis Cluster for tests, and a proxy that makes it look like one server.
//!
//! Tests inspect keys by name, whichever node serves them. The proxy accepts any command on one
//! port, forwards it to the node that serves its key, and runs KEYS and SCAN on all primaries.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use redis::{Connection, ConnectionLike, RedisResult, Value, cmd};

use crate::redis_server::{Cluster, RedisOptions, RedisServer};
use crate::server_process::free_port;

/// The proxy encodes the node in two bits of a SCAN cursor.
const MAX_PRIMARIES: usize = 4;
const LAST_SLOT: usize = 16_383;

impl RedisServer {
    /// Starts a private cluster of up to four primaries without replicas.
    ///
    /// # Panics
    ///
    /// Panics as [`spawn`](Self::spawn) does, or when the nodes do not form a cluster.
    pub fn spawn_cluster(primaries: usize) -> Self {
        spawn(primaries, 0)
    }
}

/// Starts the nodes, forms the cluster and starts the proxy. `replicas` is per primary.
pub(crate) fn spawn(primaries: usize, replicas: usize) -> RedisServer {
    assert!(
        (1..=MAX_PRIMARIES).contains(&primaries),
        "{primaries} primaries"
    );
    let count = primaries * (1 + replicas);
    let mut nodes: Vec<RedisServer> = (0..count).map(|_| spawn_node()).collect();
    form_cluster(&nodes, primaries);
    let ports: Vec<u16> = nodes.iter().map(RedisServer::port).collect();
    let addresses: Vec<String> = ports
        .iter()
        .map(|port| format!("127.0.0.1:{port}"))
        .collect();
    let first = nodes.remove(0);
    first.with_cluster(Cluster {
        _others: nodes,
        url: format!("redis+cluster://{}", addresses.join(",")),
        proxy_port: serve_clients(move |stream| serve(stream, &ports[..primaries])),
    })
}

fn spawn_node() -> RedisServer {
    let bus = free_port().to_string();
    let options = [
        "--cluster-enabled",
        "yes",
        "--cluster-port",
        &bus,
        // A primary that waits for further replicas delays the first one by 5 seconds.
        "--repl-diskless-sync-delay",
        "0",
    ];
    RedisServer::spawn(
        options
            .iter()
            .fold(RedisOptions::default(), |options, argument| {
                options.arg(argument)
            }),
    )
}

fn form_cluster(nodes: &[RedisServer], primaries: usize) {
    for (index, node) in nodes.iter().enumerate() {
        let mut node = node.connection();
        if index < primaries {
            let first = index * (LAST_SLOT + 1) / primaries;
            let last = (index + 1) * (LAST_SLOT + 1) / primaries - 1;
            let mut slots = cmd("CLUSTER");
            slots.arg("ADDSLOTSRANGE").arg(first).arg(last);
            slots.exec(&mut node).expect("slots");
        }
        let mut epoch = cmd("CLUSTER");
        epoch.arg("SET-CONFIG-EPOCH").arg(index + 1);
        epoch.exec(&mut node).expect("an epoch");
    }
    for other in &nodes[1..] {
        let bus: Vec<String> = cmd("CONFIG")
            .arg("GET")
            .arg("cluster-port")
            .query(&mut other.connection())
            .expect("a port");
        let mut meet = cmd("CLUSTER");
        meet.arg("MEET")
            .arg("127.0.0.1")
            .arg(other.port())
            .arg(&bus[1]);
        meet.exec(&mut nodes[0].connection()).expect("a meeting");
    }
    for (replica, primary) in nodes[primaries..]
        .iter()
        .zip(nodes[..primaries].iter().cycle())
    {
        let id: String = cmd("CLUSTER")
            .arg("MYID")
            .query(&mut primary.connection())
            .expect("an id");
        until(|| {
            let mut replicate = cmd("CLUSTER");
            replicate.arg("REPLICATE").arg(&id);
            replicate.exec(&mut replica.connection()).is_ok()
        });
    }
    let size = format!("cluster_size:{primaries}\r\n");
    until(|| {
        nodes.iter().all(|node| {
            let info: String = cmd("CLUSTER")
                .arg("INFO")
                .query(&mut node.connection())
                .expect("INFO");
            info.contains("cluster_state:ok") && info.contains(&size)
        })
    });
    // A replica that is not in sync would lose data when it replaces its primary.
    until(|| {
        nodes[primaries..].iter().all(|node| {
            let mut replication = cmd("INFO");
            replication.arg("replication");
            let info: RedisResult<String> = replication.query(&mut node.connection());
            info.is_ok_and(|info| info.contains("master_link_status:up"))
        })
    });
}

fn until(mut probe: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !probe() {
        assert!(
            Instant::now() < deadline,
            "the cluster did not form within a minute"
        );
        thread::sleep(Duration::from_millis(10));
    }
}

/// Serves each client of a free port on a thread of its own. Returns the port.
pub(crate) fn serve_clients(
    serve: impl Fn(TcpStream) -> RedisResult<()> + Clone + Send + 'static,
) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = serve.clone();
            // The error is a client that disconnected.
            thread::spawn(move || serve(stream));
        }
    });
    port
}

/// Serves a client with connections of its own to the nodes.
fn serve(stream: TcpStream, primaries: &[u16]) -> RedisResult<()> {
    stream.set_nodelay(true)?;
    let mut output = stream.try_clone()?;
    let mut input = BufReader::new(stream);
    let mut nodes = Vec::new();
    for port in primaries {
        let url = format!("redis://127.0.0.1:{port}");
        nodes.push((*port, redis::Client::open(url)?.get_connection()?));
    }
    while let Some(words) = read_command(&mut input)? {
        let mut reply = Vec::new();
        encode(&mut reply, &route(&mut nodes, &words)?);
        output.write_all(&reply)?;
    }
    Ok(())
}

/// Reads one command, an array of bulk strings; `None` at the end of the stream.
pub(crate) fn read_command(stream: &mut impl BufRead) -> RedisResult<Option<Vec<Vec<u8>>>> {
    let Some(count) = read_length(stream)? else {
        return Ok(None);
    };
    let mut words = Vec::with_capacity(count);
    for _ in 0..count {
        let mut word = vec![0; read_length(stream)?.unwrap_or(0) + 2];
        stream.read_exact(&mut word)?;
        word.truncate(word.len() - 2);
        words.push(word);
    }
    Ok(Some(words))
}

fn read_length(stream: &mut impl BufRead) -> RedisResult<Option<usize>> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    Ok(line
        .trim_end()
        .get(1..)
        .and_then(|digits| digits.parse().ok()))
}

fn route(nodes: &mut [(u16, Connection)], words: &[Vec<u8>]) -> RedisResult<Value> {
    match words[0].to_ascii_uppercase().as_slice() {
        b"KEYS" => {
            let mut all = Vec::new();
            for (_, node) in nodes {
                all.extend(execute(node, words)?.into_sequence().unwrap_or_default());
            }
            Ok(Value::Array(all))
        }
        b"SCAN" => scan(nodes, words),
        _ => {
            let reply = execute(&mut nodes[0].1, words)?;
            match moved_to(&reply) {
                None => Ok(reply),
                Some(port) => {
                    let node = nodes.iter_mut().find(|(own, _)| *own == port);
                    execute(&mut node.expect("a primary").1, words)
                }
            }
        }
    }
}

/// Runs SCAN over all nodes. The lowest two bits of the cursor are the node.
fn scan(nodes: &mut [(u16, Connection)], words: &[Vec<u8>]) -> RedisResult<Value> {
    let text = std::str::from_utf8(&words[1]).expect("a cursor");
    let cursor: u64 = text.parse().expect("a cursor");
    let node = (cursor & 3) as usize;
    let mut words = words.to_vec();
    words[1] = (cursor >> 2).to_string().into_bytes();
    let reply = execute(&mut nodes[node].1, &words)?;
    let (next, keys): (u64, Vec<Vec<u8>>) = redis::from_redis_value(reply)?;
    let next = match next {
        0 if node + 1 == nodes.len() => 0,
        0 => node as u64 + 1,
        next => (next << 2) | node as u64,
    };
    let keys = keys.into_iter().map(Value::BulkString).collect();
    let next = Value::BulkString(next.to_string().into_bytes());
    Ok(Value::Array(vec![next, Value::Array(keys)]))
}

fn execute(node: &mut Connection, words: &[Vec<u8>]) -> RedisResult<Value> {
    let mut command = redis::Cmd::new();
    words.iter().for_each(|word| {
        command.arg(word);
    });
    node.req_packed_command(&command.get_packed_command())
}

/// Returns the port of the node that a MOVED error names.
fn moved_to(reply: &Value) -> Option<u16> {
    let Value::ServerError(error) = reply else {
        return None;
    };
    if error.code() != "MOVED" {
        return None;
    }
    error.details()?.rsplit(':').next()?.parse().ok()
}

fn encode(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Nil => out.extend_from_slice(b"$-1\r\n"),
        Value::Int(number) => out.extend_from_slice(format!(":{number}\r\n").as_bytes()),
        Value::Okay => out.extend_from_slice(b"+OK\r\n"),
        Value::SimpleString(text) => out.extend_from_slice(format!("+{text}\r\n").as_bytes()),
        Value::BulkString(bytes) => {
            out.extend_from_slice(format!("${}\r\n", bytes.len()).as_bytes());
            out.extend_from_slice(bytes);
            out.extend_from_slice(b"\r\n");
        }
        Value::Array(values) => {
            out.extend_from_slice(format!("*{}\r\n", values.len()).as_bytes());
            values.iter().for_each(|value| encode(out, value));
        }
        Value::ServerError(error) => {
            let details = error.details().unwrap_or_default();
            out.extend_from_slice(format!("-{} {details}\r\n", error.code()).as_bytes());
        }
        other => panic!("expected a RESP2 reply, found {other:?}"),
    }
}
