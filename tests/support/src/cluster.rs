//! Several redis-servers as one cluster, and one door to all of them.
//!
//! What looks into Redis past everything under test asks for keys by name, whichever node has them.
//! The door is a port that takes any command, hands it to the node that serves its keys, and goes
//! through all primaries with those that concern every key.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use redis::{Connection, ConnectionLike, RedisResult, Value, cmd};

use crate::port;
use crate::redis_server::{RedisOptions, RedisServer};

/// Primaries that the door can tell apart.
const MOST: usize = 4;
const LAST_SLOT: usize = 16_383;

/// Whether all tests of this process share a cluster: what the environment's `CLUSTER` says.
pub(crate) fn wanted() -> bool {
    std::env::var("CLUSTER").is_ok_and(|wanted| wanted == "1")
}

/// All of a cluster but its first node; ends on drop.
pub(crate) struct Cluster {
    _others: Vec<RedisServer>,
    url: String,
    door: u16,
}

impl Cluster {
    /// Starts so many primaries with so many replicas each, makes them one cluster and opens the
    /// door.
    pub(crate) fn spawn(primaries: usize, replicas: usize) -> RedisServer {
        assert!((1..=MOST).contains(&primaries), "{primaries} primaries");
        let count = primaries * (1 + replicas);
        let mut nodes: Vec<RedisServer> = (0..count).map(|_| node()).collect();
        form(&nodes, primaries);
        let ports: Vec<u16> = nodes.iter().map(RedisServer::port).collect();
        let addresses: Vec<String> = ports
            .iter()
            .map(|port| format!("127.0.0.1:{port}"))
            .collect();
        let first = nodes.remove(0);
        let cluster = Self {
            _others: nodes,
            url: format!("redis+cluster://{}", addresses.join(",")),
            door: open(ports[..primaries].to_vec()),
        };
        RedisServer::of(first, cluster)
    }

    /// For a gateway: `redis+cluster://…`
    pub(crate) fn url(&self) -> String {
        self.url.clone()
    }

    /// The port for everybody else.
    pub(crate) fn door(&self) -> u16 {
        self.door
    }
}

fn node() -> RedisServer {
    let bus = port::free().to_string();
    let options = ["--cluster-enabled", "yes", "--cluster-port", &bus];
    RedisServer::spawn(
        options
            .iter()
            .fold(RedisOptions::default(), |all, one| all.arg(one)),
    )
}

fn form(nodes: &[RedisServer], primaries: usize) {
    for (place, node) in nodes.iter().enumerate() {
        let mut node = node.connection();
        if place < primaries {
            let first = place * (LAST_SLOT + 1) / primaries;
            let last = (place + 1) * (LAST_SLOT + 1) / primaries - 1;
            let mut slots = cmd("CLUSTER");
            slots.arg("ADDSLOTSRANGE").arg(first).arg(last);
            slots.exec(&mut node).expect("slots");
        }
        let mut epoch = cmd("CLUSTER");
        epoch.arg("SET-CONFIG-EPOCH").arg(place + 1);
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
            let mut follow = cmd("CLUSTER");
            follow.arg("REPLICATE").arg(&id);
            follow.exec(&mut replica.connection()).is_ok()
        });
    }
    let size = format!("cluster_size:{primaries}\r\n");
    until(|| {
        nodes.iter().all(|node| {
            let told: String = cmd("CLUSTER")
                .arg("INFO")
                .query(&mut node.connection())
                .expect("INFO");
            told.contains("cluster_state:ok") && told.contains(&size)
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

/// Opens a port; whoever connects has a thread and connections of their own.
fn open(primaries: Vec<u16>) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let primaries = primaries.clone();
            // It ends with an error when the other side has gone.
            thread::spawn(move || serve(stream, &primaries));
        }
    });
    port
}

fn serve(stream: TcpStream, primaries: &[u16]) -> RedisResult<()> {
    stream.set_nodelay(true)?;
    let mut answers = stream.try_clone()?;
    let mut requests = BufReader::new(stream);
    let mut nodes = Vec::new();
    for port in primaries {
        let url = format!("redis://127.0.0.1:{port}");
        nodes.push((*port, redis::Client::open(url)?.get_connection()?));
    }
    while let Some(words) = request(&mut requests)? {
        let mut answer = Vec::new();
        encode(&mut answer, &route(&mut nodes, &words)?);
        answers.write_all(&answer)?;
    }
    Ok(())
}

/// One command as clients send it: an array of strings.
fn request(stream: &mut impl BufRead) -> RedisResult<Option<Vec<Vec<u8>>>> {
    let Some(count) = length(stream)? else {
        return Ok(None);
    };
    let mut words = Vec::with_capacity(count);
    for _ in 0..count {
        let mut word = vec![0; length(stream)?.unwrap_or(0) + 2];
        stream.read_exact(&mut word)?;
        word.truncate(word.len() - 2);
        words.push(word);
    }
    Ok(Some(words))
}

fn length(stream: &mut impl BufRead) -> RedisResult<Option<usize>> {
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
                all.extend(ask(node, words)?.into_sequence().unwrap_or_default());
            }
            Ok(Value::Array(all))
        }
        b"SCAN" => scan(nodes, words),
        _ => {
            let answer = ask(&mut nodes[0].1, words)?;
            match moved(&answer) {
                None => Ok(answer),
                Some(port) => {
                    let node = nodes.iter_mut().find(|(own, _)| *own == port);
                    ask(&mut node.expect("a primary").1, words)
                }
            }
        }
    }
}

/// The node is in the lowest two bits of the cursor.
fn scan(nodes: &mut [(u16, Connection)], words: &[Vec<u8>]) -> RedisResult<Value> {
    let text = std::str::from_utf8(&words[1]).expect("a cursor");
    let cursor: u64 = text.parse().expect("a cursor");
    let node = (cursor & 3) as usize;
    let mut words = words.to_vec();
    words[1] = (cursor >> 2).to_string().into_bytes();
    let answer = ask(&mut nodes[node].1, &words)?;
    let (next, keys): (u64, Vec<Vec<u8>>) = redis::from_redis_value(answer)?;
    let next = match next {
        0 if node + 1 == nodes.len() => 0,
        0 => node as u64 + 1,
        next => (next << 2) | node as u64,
    };
    let keys = keys.into_iter().map(Value::BulkString).collect();
    let next = Value::BulkString(next.to_string().into_bytes());
    Ok(Value::Array(vec![next, Value::Array(keys)]))
}

fn ask(node: &mut Connection, words: &[Vec<u8>]) -> RedisResult<Value> {
    let mut command = redis::Cmd::new();
    words.iter().for_each(|word| {
        command.arg(word);
    });
    node.req_packed_command(&command.get_packed_command())
}

fn moved(answer: &Value) -> Option<u16> {
    let Value::ServerError(error) = answer else {
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
        other => panic!("Redis answers in RESP2, not {other:?}"),
    }
}
