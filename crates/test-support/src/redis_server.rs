//! A real redis-server.

use std::process::Command;

use tempfile::TempDir;

use crate::server_process::{ServerProcess, free_port};

/// Options of a private redis-server.
#[must_use]
#[derive(Clone, Debug, Default)]
pub struct RedisOptions {
    append_only: bool,
    acl: Vec<String>,
    args: Vec<String>,
}

impl RedisOptions {
    /// Writes every change to disk before the reply, so that a kill loses nothing.
    pub fn append_only(mut self) -> Self {
        self.append_only = true;
        self
    }

    /// Adds a line of the ACL file, such as `user ours on >secret ~{ar:*}* +@all`. The default
    /// user may do everything unless a line restricts it.
    pub fn acl(mut self, line: &str) -> Self {
        self.acl.push(line.to_owned());
        self
    }

    /// Adds an argument of redis-server's command line: `arg("--maxmemory").arg("10mb")`.
    pub fn arg(mut self, argument: &str) -> Self {
        self.args.push(argument.to_owned());
        self
    }
}

/// The cluster of a node that is its handle; ends on drop.
pub(crate) struct Cluster {
    /// All nodes except the first.
    pub _others: Vec<RedisServer>,
    /// The URL for a gateway: `redis+cluster://…`.
    pub url: String,
    /// The port of the proxy that makes the cluster look like one server.
    pub proxy_port: u16,
}

/// A running redis-server with its own folder; ends on drop.
#[must_use]
pub struct RedisServer {
    /// `None` for a store elsewhere.
    child: Option<ServerProcess>,
    port: u16,
    folder: TempDir,
    options: RedisOptions,
    /// The rest of the cluster, when this is its first node.
    cluster: Option<Cluster>,
}

impl RedisServer {
    /// Starts a private redis-server.
    ///
    /// # Panics
    ///
    /// Panics when `redis-server` (or the program that `REDIS_SERVER` names) does not start.
    pub fn spawn(options: RedisOptions) -> Self {
        let folder = tempfile::tempdir().expect("a folder for redis-server");
        let acl = options.acl.join("\n") + "\n";
        std::fs::write(folder.path().join("users.acl"), acl).expect("the ACL file");
        loop {
            let port = free_port();
            match start(port, &folder, &options) {
                Ok(child) => {
                    return Self {
                        child: Some(child),
                        port,
                        folder,
                        options,
                        cluster: None,
                    };
                }
                Err(reason) if reason.contains("Address already in use") => {}
                Err(reason) => panic!("{reason}"),
            }
        }
    }

    /// Returns the Redis of a store elsewhere, which a proxy on this port forwards commands to.
    pub(crate) fn elsewhere(port: u16) -> Self {
        Self {
            child: None,
            port,
            folder: tempfile::tempdir().expect("a folder"),
            options: RedisOptions::default(),
            cluster: None,
        }
    }

    fn child(&self) -> &ServerProcess {
        self.child.as_ref().expect(ELSEWHERE)
    }

    /// Makes this node the handle of its cluster.
    pub(crate) fn with_cluster(mut self, cluster: Cluster) -> Self {
        self.cluster = Some(cluster);
        self
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns `redis://127.0.0.1:<port>` for the default user, or `redis+cluster://…` for a cluster.
    pub fn url(&self) -> String {
        match &self.cluster {
            Some(cluster) => cluster.url.clone(),
            None => format!("redis://127.0.0.1:{}", self.port),
        }
    }

    /// Returns the URL for another user of the ACL.
    pub fn url_as(&self, user: &str, password: &str) -> String {
        format!("redis://{user}:{password}@127.0.0.1:{}", self.port)
    }

    /// Connects directly to Redis, bypassing everything under test.
    ///
    /// # Panics
    ///
    /// Panics when the server has been killed.
    pub fn connection(&self) -> redis::Connection {
        let port = self.cluster.as_ref();
        let port = port.map_or(self.port, |cluster| cluster.proxy_port);
        redis::Client::open(format!("redis://127.0.0.1:{port}"))
            .and_then(|client| client.get_connection())
            .expect("redis-server accepts a connection")
    }

    /// Returns the process id.
    ///
    /// # Panics
    ///
    /// Panics, as all methods that follow, for a store elsewhere.
    pub fn pid(&self) -> u32 {
        self.child().pid()
    }

    /// Kills it (`kill -9`) and waits for its end.
    pub fn kill(&mut self) {
        self.child.as_mut().expect(ELSEWHERE).kill();
    }

    /// Restarts it on the same port and folder; with
    /// [`append_only`](RedisOptions::append_only) it keeps its data.
    ///
    /// # Panics
    ///
    /// Panics when it does not start.
    pub fn restart(&mut self) {
        self.kill();
        let child = start(self.port, &self.folder, &self.options);
        self.child = Some(child.unwrap_or_else(|reason| panic!("{reason}")));
    }

    /// Returns the log since the last start.
    pub fn log(&self) -> String {
        self.child().log()
    }
}

/// The message of a test that controls a store which the tests did not start.
const ELSEWHERE: &str = "a redis-server of the tests, not a store elsewhere";

fn start(port: u16, folder: &TempDir, options: &RedisOptions) -> Result<ServerProcess, String> {
    let program = std::env::var("REDIS_SERVER").unwrap_or_else(|_| "redis-server".to_owned());
    let mut command = Command::new(program);
    command.current_dir(folder.path());
    command.args(["--port", &port.to_string(), "--bind", "127.0.0.1"]);
    command.args(["--aclfile", "users.acl", "--save", ""]);
    // On a busy machine, a test that fills thousands of keys would make others fail with BUSY. Redis 7 calls
    // it `busy-reply-threshold`, and knows this name too.
    command.args(["--lua-time-limit", "0"]);
    match options.append_only {
        true => command.args(["--appendonly", "yes", "--appendfsync", "always"]),
        false => command.args(["--appendonly", "no"]),
    };
    command.args(&options.args);
    let ready = |line: &str| line.contains("Ready to accept connections").then_some(());
    let (child, ()) = ServerProcess::start("redis-server", "KILL", &command, ready)?;
    Ok(child)
}
