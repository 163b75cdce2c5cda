//! A Redis Cluster of the tests' own: three primaries, each with one replica.

use std::{
    fs,
    path::PathBuf,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use redis::{Client, Connection, FromRedisValue, cmd};

use super::redis::{Redis, free_port};

pub const PRIMARIES: usize = 3;
const NODES: usize = 2 * PRIMARIES;
/// How long a node is missed before a replica takes its place, in milliseconds.
const NODE_TIMEOUT: &str = "1000";

enum Node {
    Up(Redis),
    Down((u16, Vec<String>)),
}

/// Six servers that end with this value; the first three begin as primaries.
pub struct Cluster {
    nodes: Vec<Node>,
    ports: Vec<u16>,
    folder: PathBuf,
}

impl Cluster {
    pub fn start() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!(
            "cluster-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&folder).expect("a folder");
        let nodes: Vec<Redis> = (0..NODES).map(|_| Self::node(&folder)).collect();
        let cluster = Self {
            ports: nodes.iter().map(Redis::port).collect(),
            nodes: nodes.into_iter().map(Node::Up).collect(),
            folder,
        };
        cluster.form();
        cluster
    }

    fn node(folder: &std::path::Path) -> Redis {
        Redis::start_with(|| Self::options(folder))
    }

    fn options(folder: &std::path::Path) -> Vec<String> {
        let bus = free_port();
        let options = [
            ("--cluster-enabled", "yes".to_owned()),
            ("--cluster-port", bus.to_string()),
            ("--cluster-config-file", format!("nodes-{bus}.conf")),
            ("--cluster-node-timeout", NODE_TIMEOUT.to_owned()),
            // The other slots go on while one has no primary.
            ("--cluster-require-full-coverage", "no".to_owned()),
            ("--repl-diskless-sync-delay", "0".to_owned()),
            ("--dir", folder.display().to_string()),
        ];
        options
            .into_iter()
            .flat_map(|(name, value)| [name.to_owned(), value])
            .collect()
    }

    /// Deals the slots out, introduces the nodes and waits until they agree.
    fn form(&self) {
        for (place, (first, last)) in [(0, 5460), (5461, 10922), (10923, 16383)]
            .into_iter()
            .enumerate()
        {
            self.run::<()>(
                place,
                &[
                    "CLUSTER",
                    "ADDSLOTSRANGE",
                    &format!("{first}"),
                    &format!("{last}"),
                ],
            );
        }
        for place in 0..NODES {
            self.run::<()>(
                place,
                &["CLUSTER", "SET-CONFIG-EPOCH", &format!("{}", place + 1)],
            );
        }
        let bus = |place: usize| -> String {
            let (_, port): (String, String) = self.run(place, &["CONFIG", "GET", "cluster-port"]);
            port
        };
        for place in 1..NODES {
            let port = self.ports[place].to_string();
            self.run::<()>(0, &["CLUSTER", "MEET", "127.0.0.1", &port, &bus(place)]);
        }
        until("all know each other", || {
            (0..NODES).all(|place| self.info(place).contains("cluster_known_nodes:6"))
        });
        for place in PRIMARIES..NODES {
            let primary: String = self.run(place - PRIMARIES, &["CLUSTER", "MYID"]);
            until("the replica knows its primary", || {
                self.try_run::<()>(place, &["CLUSTER", "REPLICATE", &primary])
                    .is_ok()
            });
        }
        until("all are well", || {
            (0..NODES).all(|place| {
                self.info(place).contains("cluster_state:ok")
                    && self.info(place).contains("cluster_size:3")
            }) && (PRIMARIES..NODES).all(|place| self.follows(place))
        });
    }

    /// Whether a replica is up to date with its primary.
    pub fn follows(&self, place: usize) -> bool {
        let replication: Result<String, _> = self.try_run(place, &["INFO", "replication"]);
        replication.is_ok_and(|told| told.contains("master_link_status:up"))
    }

    pub fn url(&self) -> String {
        let nodes: Vec<String> = self
            .ports
            .iter()
            .take(PRIMARIES)
            .map(|port| format!("127.0.0.1:{port}"))
            .collect();
        format!("redis+cluster://{}", nodes.join(","))
    }

    pub fn port(&self, place: usize) -> u16 {
        self.ports[place]
    }

    /// Asks one node, past the gateway.
    pub fn run<T: FromRedisValue>(&self, place: usize, words: &[&str]) -> T {
        self.try_run(place, words)
            .unwrap_or_else(|problem| panic!("{words:?}: {problem}"))
    }

    pub fn try_run<T: FromRedisValue>(
        &self,
        place: usize,
        words: &[&str],
    ) -> redis::RedisResult<T> {
        let mut command = cmd(words[0]);
        command.arg(&words[1..]);
        command.query(&mut self.connection(place)?)
    }

    pub fn connection(&self, place: usize) -> redis::RedisResult<Connection> {
        Client::open(format!("redis://127.0.0.1:{}", self.ports[place]))?.get_connection()
    }

    fn info(&self, place: usize) -> String {
        self.run(place, &["CLUSTER", "INFO"])
    }

    /// Ends a node at once, as a crash would.
    pub fn kill(&mut self, place: usize) {
        let gone = Node::Down((0, Vec::new()));
        self.nodes[place] = match std::mem::replace(&mut self.nodes[place], gone) {
            Node::Up(redis) => Node::Down(redis.crash()),
            down @ Node::Down(_) => down,
        };
    }

    /// Starts a killed node again, without its data. Where a replica has taken its place, it
    /// becomes one itself.
    pub fn revive(&mut self, place: usize) {
        if let Node::Down(was) = &self.nodes[place] {
            self.nodes[place] = Node::Up(Redis::again(was.clone()));
        }
    }

    /// Whether a node is a primary.
    pub fn leads(&self, place: usize) -> bool {
        let replication: Result<String, _> = self.try_run(place, &["INFO", "replication"]);
        replication.is_ok_and(|told| told.contains("role:master"))
    }

    /// Takes slots from one primary to another, key by key, as resharding does.
    pub fn reshard(&self, slots: impl Iterator<Item = u16>, from: usize, to: usize) {
        let [source, target]: [String; 2] =
            [from, to].map(|place| self.run(place, &["CLUSTER", "MYID"]));
        let port = self.ports[to].to_string();
        for slot in slots {
            let slot = slot.to_string();
            self.run::<()>(to, &["CLUSTER", "SETSLOT", &slot, "IMPORTING", &source]);
            self.run::<()>(from, &["CLUSTER", "SETSLOT", &slot, "MIGRATING", &target]);
            loop {
                let keys: Vec<String> = self.run(from, &["CLUSTER", "GETKEYSINSLOT", &slot, "1"]);
                let Some(key) = keys.first() else {
                    break;
                };
                self.run::<()>(from, &["MIGRATE", "127.0.0.1", &port, key, "0", "5000"]);
            }
            self.run::<()>(to, &["CLUSTER", "SETSLOT", &slot, "NODE", &target]);
            self.run::<()>(from, &["CLUSTER", "SETSLOT", &slot, "NODE", &target]);
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.nodes.clear();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Looks again and again.
#[track_caller]
pub fn until(what: &str, probe: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !probe() {
        assert!(Instant::now() < deadline, "{what}: not within a minute");
        std::thread::sleep(Duration::from_millis(10));
    }
}
