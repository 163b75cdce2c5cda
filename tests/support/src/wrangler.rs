//! The built Worker in `wrangler dev`, with everything wrangler.toml gives it.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::api::Api;
use crate::child::Child;
use crate::process::{self, Signal};
use crate::repository;
use crate::until::until;
use crate::worker::SERVICE_KEY;

/// The configuration of the Worker, in its folder.
const CONFIG: &str = "wrangler.json";

/// What it has of the bindings of wrangler.toml that are optional.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bindings {
    /// The archive, and the snapshots.
    pub archive: bool,
    pub journal: bool,
    pub live: bool,
    /// The queues.
    pub queues: Option<Queues>,
}

/// The queues of a Worker under test.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Queues {
    /// As wrangler.toml says.
    Shipped,
    /// Without the wait for more messages, and with so many tries of each.
    Quick { tries: u32 },
}

/// A running `wrangler dev`; ends on drop.
pub struct Wrangler {
    child: Child,
    url: String,
    prefix: String,
    /// The bundle, the configuration and what the local services persist.
    folder: TempDir,
}

impl Wrangler {
    pub(crate) fn run(
        bundle: &Path,
        (vars, prefix): (Map<String, Value>, String),
        limits: &[(String, u32)],
        bindings: Bindings,
    ) -> Self {
        let folder = tempfile::tempdir().expect("a folder for wrangler");
        repository::copy_bundle(bundle, folder.path());
        if bindings.queues.is_some() || bindings.journal {
            wrap(folder.path());
        }
        let mut config = config(vars, limits, bindings.queues);
        if !bindings.archive {
            config
                .as_object_mut()
                .expect("a table")
                .remove("kv_namespaces");
        }
        if !bindings.live {
            let config = config.as_object_mut().expect("a table");
            config.remove("durable_objects");
            config.remove("migrations");
        }
        let databases = config["d1_databases"].as_array_mut().expect("databases");
        databases.retain(|database| match database["binding"].as_str() {
            Some("ARCHIVE") => bindings.archive,
            _ => bindings.journal,
        });
        let mut names = Vec::new();
        for database in databases {
            let folder = database["migrations_dir"].as_str().expect("a folder");
            database["migrations_dir"] = json!(repository::root().join(folder));
            names.push(database["binding"].as_str().expect("a name").to_owned());
        }
        std::fs::write(folder.path().join(CONFIG), config.to_string()).expect("the configuration");
        for name in names {
            migrate(folder.path(), &name);
        }
        Self::serve(folder, prefix, CONFIG)
    }

    /// Ends it and starts it anew, with all that was persisted and nothing that was in memory:
    /// what an isolate on another machine finds.
    ///
    /// # Panics
    ///
    /// When wrangler refuses it.
    #[must_use]
    pub fn restart(self) -> Self {
        let (folder, prefix) = self.end();
        Self::serve(folder, prefix, CONFIG)
    }

    /// Kills the workerd that runs the Worker (`kill -9`) with all that it had in memory, such as the
    /// messages of its queues, and waits until it is gone. wrangler starts another at the same address.
    /// Something is done just before, when it is known which one it is.
    ///
    /// # Panics
    ///
    /// When there is none, or it stays.
    pub fn kill_workerd(&self, just_before: impl FnOnce()) {
        // The other one is wrangler's own, through which all requests go; it alone has no inspector.
        // Without it wrangler would never answer again.
        let runs = |command: &str| {
            command.contains("workerd serve") && command.contains("--inspector-addr")
        };
        let family = || process::under(self.child.pid()).into_iter();
        let worker = family().find(|(_, command)| runs(command));
        let (worker, _) = worker.expect("a workerd that runs the Worker");
        just_before();
        process::signal(Signal::KILL, worker);
        let deadline = Instant::now() + Duration::from_secs(10);
        while family().any(|(id, command)| id == worker && runs(&command)) {
            assert!(Instant::now() < deadline, "workerd stays");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Kills every workerd (`kill -9`) in the middle of what it does, and starts all anew.
    ///
    /// # Panics
    ///
    /// When it does not run, or does not come back.
    #[must_use]
    pub fn kill(self) -> Self {
        for (process, command) in process::under(self.child.pid()) {
            if command.contains("workerd serve") {
                process::signal(Signal::KILL, process);
            }
        }
        self.restart()
    }

    /// Ends it and starts a script of the test's own in its place, to change what was persisted.
    /// [`restart`](Self::restart) brings the Worker back.
    ///
    /// # Panics
    ///
    /// When wrangler refuses it.
    #[must_use]
    pub fn replace(self, script: &str) -> Self {
        let (folder, prefix) = self.end();
        let date = &repository::wrangler_toml()["compatibility_date"];
        let config = json!({"name": "other", "main": "other.js", "compatibility_date": date});
        let write = |name, text: &str| std::fs::write(folder.path().join(name), text);
        write("other.js", script).expect("the script");
        write("other.json", &config.to_string()).expect("the configuration");
        Self::serve(folder, prefix, "other.json")
    }

    /// What is left of it when it has ended.
    fn end(self) -> (TempDir, String) {
        drop(self.child);
        (self.folder, self.prefix)
    }

    fn serve(folder: TempDir, prefix: String, config: &str) -> Self {
        let mut command = wrangler(folder.path());
        command.args(["dev", "--config", config, "--ip", "127.0.0.1"]);
        command.args(["--port", "0", "--inspector-port", "0"]);
        command.args([
            "--persist-to",
            "state",
            "--show-interactive-dev-session=false",
        ]);
        // TERM, not KILL: killed, it would leave its workerd behind.
        let (child, url) = Child::start("wrangler", "TERM", &command, ready)
            .unwrap_or_else(|reason| panic!("{reason}"));
        Self {
            child,
            url,
            prefix,
            folder,
        }
    }

    /// `http://127.0.0.1:<port>`
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The prefix of its keys in Redis.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Lets cron do what is due from time to time.
    pub async fn tick(&self) {
        self.cron("*/5 * * * *").await;
    }

    /// Lets cron do what is due each minute.
    pub async fn minute(&self) {
        self.cron("* * * * *").await;
    }

    async fn cron(&self, cron: &str) {
        let path = format!("/cdn-cgi/handler/scheduled?cron={}", cron.replace(' ', "+"));
        let answer = self.api().get(&path).await;
        assert_eq!((answer.status, answer.text.as_str()), (200, "ok"));
    }

    /// Runs a statement in the journal's database, past the Worker: rows by column.
    ///
    /// # Panics
    ///
    /// When the database does not take it.
    pub async fn sql(&self, statement: &str) -> Value {
        let api = Api::new(&self.url);
        let answer = api.send(Method::POST, "/sql", statement.to_owned(), &[]);
        answer.await.assert_status(200).body.clone()
    }

    /// A client with the service key.
    #[must_use]
    pub fn api(&self) -> Api {
        Api::new(&self.url).with_key(SERVICE_KEY)
    }

    /// Puts a message on its queue; it must have been [built](crate::WorkerBuilder::queued) with one.
    ///
    /// # Panics
    ///
    /// When it does not take it.
    pub async fn enqueue(&self, message: &str) {
        let api = Api::new(&self.url);
        let answer = api.send(Method::POST, "/queue", message.to_owned(), &[]);
        answer.await.assert_status(204);
    }

    /// What has ended in the dead-letter queue so far: texts.
    #[must_use]
    pub fn dead(&self) -> Vec<String> {
        let log = self.log();
        let lines = log.lines().filter_map(|line| line.strip_prefix("DEAD "));
        lines
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    /// What it has logged so far.
    #[must_use]
    pub fn log(&self) -> String {
        self.child.log()
    }

    /// Waits until it has logged this: a line comes a little after what it tells of.
    ///
    /// # Panics
    /// When it does not come.
    pub async fn logs(&self, text: &str) {
        until(text, async || self.log().contains(text).then_some(())).await;
    }

    /// What it has logged behind so many bytes, in whole lines.
    #[must_use]
    pub fn log_from(&self, bytes: usize) -> String {
        self.child.log_from(bytes)
    }
}

/// The command, in a folder.
fn wrangler(folder: &Path) -> Command {
    let bin = repository::root().join("node_modules/.bin");
    let mut paths = vec![bin];
    paths.extend(std::env::split_paths(
        &std::env::var_os("PATH").unwrap_or_default(),
    ));
    let mut command = Command::new(repository::npm("wrangler"));
    command.current_dir(folder);
    // wrangler needs the node that npm installed, not the machine's.
    command.env("PATH", std::env::join_paths(paths).expect("PATH"));
    command.env("WRANGLER_SEND_METRICS", "false");
    command.env("CLOUDFLARE_CF_FETCH_ENABLED", "false");
    command.env("WRANGLER_LOG_PATH", folder.join("logs"));
    // Its views of a Worker take two thirds as much time as the Worker itself.
    command.env("X_LOCAL_EXPLORER", "false");
    command.env("X_LOCAL_OBSERVABILITY", "false");
    command
}

/// Makes the tables of a database.
fn migrate(folder: &Path, binding: &str) {
    let mut command = wrangler(folder);
    command.args(["d1", "migrations", "apply", binding, "--local"]);
    command.args(["--persist-to", "state", "--config", CONFIG]);
    // Nobody is there to confirm it.
    let output = command.env("CI", "1").output().expect("wrangler runs");
    assert!(output.status.success(), "{output:?}");
}

/// wrangler.toml with the bundle beside it, other variables and limits, and without what is of no
/// use in a test: a build command would build anew at each start.
fn config(vars: Map<String, Value>, limits: &[(String, u32)], queues: Option<Queues>) -> Value {
    let mut table = repository::wrangler_toml();
    table.remove("build");
    table.remove("env");
    if let Some(folder) = table.get_mut("assets").and_then(|a| a.get_mut("directory")) {
        let path = folder.as_str().map(|path| repository::root().join(path));
        *folder = path
            .expect("a path")
            .to_str()
            .expect("UTF-8")
            .to_owned()
            .into();
    }
    let mut config = serde_json::to_value(table).expect("TOML is a subset of JSON");
    config["main"] = json!("index.js");
    config["vars"] = Value::Object(vars);
    for (name, limit) in limits {
        let bindings = config["ratelimits"].as_array_mut().into_iter().flatten();
        let mut named = bindings.filter(|binding| binding["name"] == **name);
        named.next().expect("a binding of this name")["simple"]["limit"] = json!(limit);
    }
    match queues {
        Some(queues) => queue(&mut config["queues"], queues),
        None => drop(config.as_object_mut().expect("a table").remove("queues")),
    }
    config
}

/// Has messages delivered at once and tried so often, unless they are to be as they are; and what is
/// given up delivered too.
fn queue(config: &mut Value, queues: Queues) {
    let consumers = config["consumers"].as_array_mut();
    let consumers = consumers.expect("consumers of queues");
    if let Queues::Quick { tries } = queues {
        consumers[0]["max_batch_timeout"] = json!(0);
        consumers[0]["max_retries"] = json!(tries - 1);
    }
    let dead = consumers[0]["dead_letter_queue"].clone();
    consumers.push(json!({"queue": dead, "max_batch_timeout": 0}));
}

/// Puts a script of the test's own around the Worker in a folder.
fn wrap(folder: &Path) {
    std::fs::rename(folder.join("index.js"), folder.join("rank.js")).expect("the entry point");
    std::fs::write(folder.join("index.js"), include_str!("around.js")).expect("the script");
}

/// The address in `Ready on http://127.0.0.1:1234`.
fn ready(line: &str) -> Option<String> {
    let (_, url) = line.split_once("Ready on ")?;
    Some(url.trim().to_owned())
}
