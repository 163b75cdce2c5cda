//! Runs a Redis Cluster: three primaries with one replica each.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use redis::{FromRedisValue, cmd};
use test_support::{RedisOptions, RedisServer, scaled};

use super::scaled_ms;

pub const PRIMARIES: usize = 3;
const NODES: usize = 2 * PRIMARIES;
/// `cluster-node-timeout` in milliseconds, after which a replica is promoted.
const NODE_TIMEOUT: u64 = 1_000;
/// The same until the cluster is complete. On a busy machine, nodes need longer to meet.
const FIRST_NODE_TIMEOUT: u64 = 5_000;

/// Six servers. Nodes 0 to 2 start as primaries, nodes 3 to 5 as their replicas.
pub struct Cluster(Vec<RedisServer>);

impl Cluster {
    /// Starts a cluster whose replicas are promoted soon.
    pub fn start() -> Self {
        Self::start_with(scaled_ms(NODE_TIMEOUT))
    }

    /// Starts a cluster that promotes no replica: on a busy machine, nodes may miss heartbeats.
    pub fn start_without_failover() -> Self {
        Self::start_with(600_000)
    }

    fn start_with(node_timeout: u64) -> Self {
        let cluster = Self((0..NODES).map(|_| Self::start_node()).collect());
        cluster.form();
        let timeout = node_timeout.to_string();
        for node in 0..NODES {
            cluster.run::<()>(node, &["CONFIG", "SET", "cluster-node-timeout", &timeout]);
        }
        cluster
    }

    fn start_node() -> RedisServer {
        let bus = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let bus = bus.expect("a free port").port();
        let arguments = format!(
            "--cluster-enabled yes --cluster-port {bus} --cluster-node-timeout {} \
             --cluster-require-full-coverage no --repl-diskless-sync-delay 0",
            scaled_ms(FIRST_NODE_TIMEOUT)
        );
        let arguments = arguments.split_whitespace();
        RedisServer::spawn(arguments.fold(RedisOptions::default(), RedisOptions::arg))
    }

    /// Assigns the slots, connects the nodes and waits until they agree.
    fn form(&self) {
        let ranges = [["0", "5460"], ["5461", "10922"], ["10923", "16383"]];
        for (node, [first, last]) in ranges.into_iter().enumerate() {
            self.run::<()>(node, &["CLUSTER", "ADDSLOTSRANGE", first, last]);
        }
        for node in 0..NODES {
            let epoch = (node + 1).to_string();
            self.run::<()>(node, &["CLUSTER", "SET-CONFIG-EPOCH", &epoch]);
        }
        let bus = |node: usize| -> String {
            let (_, port): (String, String) = self.run(node, &["CONFIG", "GET", "cluster-port"]);
            port
        };
        for node in 1..NODES {
            let port = self.port(node).to_string();
            self.run::<()>(0, &["CLUSTER", "MEET", "127.0.0.1", &port, &bus(node)]);
        }
        wait_until("all nodes know each other", || {
            (0..NODES).all(|node| self.info(node).contains("cluster_known_nodes:6"))
        });
        for node in PRIMARIES..NODES {
            let primary: String = self.run(node - PRIMARIES, &["CLUSTER", "MYID"]);
            wait_until("the replica knows its primary", || {
                let replicate = ["CLUSTER", "REPLICATE", &primary];
                self.try_run::<()>(node, &replicate).is_ok()
            });
        }
        // Every node has to know the roles of the others: otherwise the gateway may read a topology in
        // which a replica is still a primary.
        wait_until("the cluster is complete", || {
            (0..NODES).all(|node| {
                let info = self.info(node);
                info.contains("cluster_state:ok")
                    && info.contains("cluster_size:3")
                    && self.known_replicas(node) == NODES - PRIMARIES
            }) && (PRIMARIES..NODES).all(|node| self.is_synced(node))
        });
    }

    /// Returns whether a replica is connected to its primary.
    fn is_synced(&self, node: usize) -> bool {
        let replication: Result<String, _> = self.try_run(node, &["INFO", "replication"]);
        replication.is_ok_and(|info| info.contains("master_link_status:up"))
    }

    pub fn url(&self) -> String {
        let nodes = (0..PRIMARIES).map(|node| format!("127.0.0.1:{}", self.port(node)));
        let nodes: Vec<String> = nodes.collect();
        format!("redis+cluster://{}", nodes.join(","))
    }

    pub fn port(&self, node: usize) -> u16 {
        let url = self.0[node].url();
        let (_, port) = url.rsplit_once(':').expect("a port");
        port.parse().expect("a port")
    }

    /// Runs a command on one node, without the gateway.
    pub fn run<T: FromRedisValue>(&self, node: usize, words: &[&str]) -> T {
        self.try_run(node, words)
            .unwrap_or_else(|error| panic!("{words:?}: {error}"))
    }

    fn try_run<T: FromRedisValue>(&self, node: usize, words: &[&str]) -> redis::RedisResult<T> {
        let mut command = cmd(words[0]);
        command.arg(&words[1..]);
        command.query(&mut self.0[node].connection())
    }

    /// Returns the number of replicas that a node knows.
    fn known_replicas(&self, node: usize) -> usize {
        let nodes: String = self.run(node, &["CLUSTER", "NODES"]);
        let flags = nodes.lines().filter_map(|line| line.split(' ').nth(2));
        flags.filter(|flags| flags.contains("slave")).count()
    }

    fn info(&self, node: usize) -> String {
        self.run(node, &["CLUSTER", "INFO"])
    }

    /// Kills a node.
    pub fn kill(&mut self, node: usize) {
        self.0[node].kill();
    }

    /// Starts a killed node again, without its data. It becomes a replica if another node was
    /// promoted in the meantime.
    pub fn restart(&mut self, node: usize) {
        self.0[node].restart();
    }

    /// Returns whether a node is a primary.
    pub fn is_primary(&self, node: usize) -> bool {
        let replication: Result<String, _> = self.try_run(node, &["INFO", "replication"]);
        replication.is_ok_and(|info| info.contains("role:master"))
    }

    /// Moves slots from one primary to another, key by key, as `redis-cli --cluster reshard` does.
    pub fn reshard(&self, slots: impl Iterator<Item = u16>, from: usize, to: usize) {
        let [source, target]: [String; 2] =
            [from, to].map(|node| self.run(node, &["CLUSTER", "MYID"]));
        let port = self.port(to).to_string();
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

/// Waits until `condition` holds. Panics after two minutes.
#[track_caller]
pub fn wait_until(description: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + scaled(Duration::from_secs(120));
    while !condition() {
        assert!(Instant::now() < deadline, "not in time: {description}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
