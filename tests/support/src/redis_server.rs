//! A real redis-server.

use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;

use crate::child::Child;
use crate::cluster::{self, Cluster};
use crate::port;

/// The redis-server that all tests of this process share; with `CLUSTER=1` six of them as a
/// cluster. Never flush it: other tests' keys live in it, each under its own prefix.
pub fn redis() -> &'static RedisServer {
    static SHARED: OnceLock<RedisServer> = OnceLock::new();
    SHARED.get_or_init(|| {
        if cluster::wanted() {
            // A cluster as it should be: three, each with a replica.
            Cluster::spawn(3, 1)
        } else {
            RedisServer::spawn(RedisOptions::default())
        }
    })
}

/// How a private redis-server differs from the shared one.
#[derive(Clone, Debug, Default)]
pub struct RedisOptions {
    append_only: bool,
    acl: Vec<String>,
    args: Vec<String>,
}

impl RedisOptions {
    /// Writes every change to disk before answering, so that a kill loses nothing.
    #[must_use]
    pub fn append_only(mut self) -> Self {
        self.append_only = true;
        self
    }

    /// Adds a line of the ACL file, such as `user ours on >secret ~{ar:*}* +@all`. The default
    /// user may do all unless a line says otherwise.
    #[must_use]
    pub fn acl(mut self, line: &str) -> Self {
        self.acl.push(line.to_owned());
        self
    }

    /// Adds an argument of redis-server's command line: `arg("--maxmemory").arg("10mb")`.
    #[must_use]
    pub fn arg(mut self, argument: &str) -> Self {
        self.args.push(argument.to_owned());
        self
    }
}

/// A running redis-server with a folder of its own; ends on drop.
pub struct RedisServer {
    child: Child,
    port: u16,
    folder: TempDir,
    options: RedisOptions,
    /// Where this is the first node of a cluster, the whole of it.
    cluster: Option<Cluster>,
}

impl RedisServer {
    /// Starts one that nobody else uses.
    ///
    /// # Panics
    ///
    /// When there is no redis-server (`REDIS_SERVER` may name another) or it refuses to run.
    #[must_use]
    pub fn spawn(options: RedisOptions) -> Self {
        let folder = tempfile::tempdir().expect("a folder for redis-server");
        let acl = options.acl.join("\n") + "\n";
        std::fs::write(folder.path().join("users.acl"), acl).expect("the ACL file");
        loop {
            let port = port::free();
            match start(port, &folder, &options) {
                Ok(child) => {
                    return Self {
                        child,
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

    /// Starts a cluster of so many primaries, up to four and without replicas, that nobody else
    /// uses.
    ///
    /// # Panics
    ///
    /// As [`spawn`](Self::spawn) does, or when the nodes do not come together.
    #[must_use]
    pub fn spawn_cluster(primaries: usize) -> Self {
        Cluster::spawn(primaries, 0)
    }

    /// The first node of a cluster, for all of it.
    pub(crate) fn of(mut first: Self, cluster: Cluster) -> Self {
        first.cluster = Some(cluster);
        first
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// `redis://127.0.0.1:<port>`, as the default user; `redis+cluster://…` of a cluster.
    #[must_use]
    pub fn url(&self) -> String {
        match &self.cluster {
            Some(cluster) => cluster.url(),
            None => format!("redis://127.0.0.1:{}", self.port),
        }
    }

    /// The same as another user of the ACL.
    #[must_use]
    pub fn url_as(&self, user: &str, password: &str) -> String {
        format!("redis://{user}:{password}@127.0.0.1:{}", self.port)
    }

    /// A connection straight to Redis, past everything under test.
    ///
    /// # Panics
    ///
    /// When the server has been killed.
    #[must_use]
    pub fn connection(&self) -> redis::Connection {
        let port = self.cluster.as_ref().map_or(self.port, Cluster::door);
        redis::Client::open(format!("redis://127.0.0.1:{port}"))
            .and_then(|client| client.get_connection())
            .expect("redis-server accepts a connection")
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.pid()
    }

    /// Kills it (`kill -9`) and waits until it is gone.
    pub fn kill(&mut self) {
        self.child.kill();
    }

    /// Starts a killed one again on the same port and folder: with
    /// [`append_only`](RedisOptions::append_only) it knows all it knew.
    ///
    /// # Panics
    ///
    /// When it does not come back.
    pub fn restart(&mut self) {
        self.kill();
        self.child = start(self.port, &self.folder, &self.options)
            .unwrap_or_else(|reason| panic!("{reason}"));
    }

    /// What redis-server has logged since its (last) start.
    #[must_use]
    pub fn log(&self) -> String {
        self.child.log()
    }
}

fn start(port: u16, folder: &TempDir, options: &RedisOptions) -> Result<Child, String> {
    let program = std::env::var("REDIS_SERVER").unwrap_or_else(|_| "redis-server".to_owned());
    let mut command = Command::new(program);
    command.current_dir(folder.path());
    command.args(["--port", &port.to_string(), "--bind", "127.0.0.1"]);
    command.args(["--aclfile", "users.acl", "--save", ""]);
    match options.append_only {
        true => command.args(["--appendonly", "yes", "--appendfsync", "always"]),
        false => command.args(["--appendonly", "no"]),
    };
    command.args(&options.args);
    let ready = |line: &str| line.contains("Ready to accept connections").then_some(());
    let (child, ()) = Child::start("redis-server", "KILL", &command, ready)?;
    Ok(child)
}
