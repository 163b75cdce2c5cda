//! The built Worker in Miniflare, with the bindings of wrangler.toml.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::api::{Api, SERVICE_KEY};
use crate::capnp;
use crate::repository;
use crate::server_process::{ServerProcess, Signal, descendants, send_signal};
use crate::until::until;

/// The file name of the Worker's configuration.
const CONFIG: &str = "wrangler.json";

/// The folder of the persisted state of the local services.
const STATE: &str = "state";

/// The optional bindings of wrangler.toml that are enabled.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bindings {
    /// The archive and the snapshots.
    pub archive: bool,
    pub journal: bool,
    pub live: bool,
    pub analytics: bool,
    pub queues: Option<Queues>,
}

/// Settings of the queues.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Queues {
    /// The settings of wrangler.toml.
    Shipped,
    /// Delivers messages without batching delay, each up to this number of times.
    Immediate { attempts: u32 },
}

/// A Worker that `tests/miniflare.mjs` serves; ends on drop.
pub struct Miniflare {
    child: ServerProcess,
    url: String,
    prefix: String,
    /// The bundle, the configuration and the persisted state of the local services.
    folder: Arc<TempDir>,
}

/// The subrequests of a run of cron.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CronCost {
    /// Requests to the store, batches of D1 and operations of KV.
    pub subrequests: u64,
    /// Requests to the store.
    pub store_requests: u64,
    /// Statements of D1.
    pub queries: u64,
    /// Rows that D1 read.
    pub rows_read: u64,
    /// Rows that D1 wrote, also in indexes.
    pub rows_written: u64,
    /// Reads of KV.
    pub kv_reads: u64,
    /// Writes of KV.
    pub kv_writes: u64,
}

impl CronCost {
    fn decode(cost: &Value) -> Self {
        let number = |name: &str| cost[name].as_u64().expect("a number");
        Self {
            subrequests: number("subrequests"),
            store_requests: number("store_requests"),
            queries: number("queries"),
            rows_read: number("rows_read"),
            rows_written: number("rows_written"),
            kv_reads: number("kv_reads"),
            kv_writes: number("kv_writes"),
        }
    }

    /// Adds the cost of another run.
    pub fn add(&mut self, other: Self) {
        self.subrequests += other.subrequests;
        self.store_requests += other.store_requests;
        self.queries += other.queries;
        self.rows_read += other.rows_read;
        self.rows_written += other.rows_written;
        self.kv_reads += other.kv_reads;
        self.kv_writes += other.kv_writes;
    }
}

impl Miniflare {
    pub(crate) fn run(
        bundle: &Path,
        (vars, prefix): (Map<String, Value>, String),
        limits: &[(String, u32)],
        bindings: Bindings,
    ) -> Self {
        let folder = tempfile::tempdir().expect("a folder for wrangler");
        repository::copy_bundle(bundle, folder.path());
        if bindings.queues.is_some() || bindings.journal || bindings.archive {
            wrap_worker(folder.path());
        }
        let mut config = config(vars, limits, bindings.queues);
        config["services"] = json!([{"binding": "SELF", "service": config["name"]}]);
        if !bindings.archive {
            config
                .as_object_mut()
                .expect("a table")
                .remove("kv_namespaces");
        }
        if !bindings.analytics {
            let config = config.as_object_mut().expect("a table");
            config.remove("analytics_engine_datasets");
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
        for database in databases {
            let migrations = database["migrations_dir"].as_str().expect("a folder");
            database["migrations_dir"] = json!(repository::root().join(migrations));
            for (path, bytes) in migrated(database).iter() {
                let path = folder.path().join(path);
                std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
                std::fs::write(path, bytes).expect("a migrated database");
            }
        }
        std::fs::write(folder.path().join(CONFIG), config.to_string()).expect("the configuration");
        Self::serve(Arc::new(folder), prefix, CONFIG)
    }

    /// Starts another Worker with the same settings and the same persisted state, as on another machine.
    ///
    /// # Panics
    ///
    /// Panics when Miniflare does not start.
    #[must_use]
    pub fn beside(&self) -> Self {
        Self::serve(Arc::clone(&self.folder), self.prefix.clone(), CONFIG)
    }

    /// Restarts it with the persisted state and empty memory, as a new isolate on another machine
    /// would start.
    ///
    /// # Panics
    ///
    /// Panics when Miniflare does not start.
    #[must_use]
    pub fn restart(self) -> Self {
        let (folder, prefix) = self.end();
        Self::serve(folder, prefix, CONFIG)
    }

    /// Kills the workerd that runs the Worker (`kill -9`), which loses everything in memory, such as
    /// queued messages, and waits for its end. Miniflare starts another at the same address.
    /// `just_before` runs when the process has been found, immediately before the signal.
    ///
    /// # Panics
    ///
    /// Panics when there is no such process or it does not end.
    pub fn kill_workerd(&self, just_before: impl FnOnce()) {
        let runs_worker = |command: &str| command.contains("workerd serve");
        let processes = || descendants(self.child.pid()).into_iter();
        let worker = processes().find(|(_, command)| runs_worker(command));
        let (worker, _) = worker.expect("a workerd that runs the Worker");
        just_before();
        send_signal(Signal::KILL, worker);
        let deadline = Instant::now() + Duration::from_secs(10);
        while processes().any(|(id, command)| id == worker && runs_worker(&command)) {
            assert!(Instant::now() < deadline, "workerd did not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Kills every workerd (`kill -9`), whatever it is doing, and restarts.
    ///
    /// # Panics
    ///
    /// Panics when Miniflare does not start.
    #[must_use]
    pub fn kill(self) -> Self {
        for (process, command) in descendants(self.child.pid()) {
            if command.contains("workerd serve") {
                send_signal(Signal::KILL, process);
            }
        }
        self.restart()
    }

    /// Replaces the Worker by a script that can change the persisted state, until
    /// [`restart`](Self::restart).
    ///
    /// # Panics
    ///
    /// Panics when Miniflare does not start.
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

    /// Ends it and returns its folder and prefix.
    fn end(self) -> (Arc<TempDir>, String) {
        drop(self.child);
        (self.folder, self.prefix)
    }

    fn serve(folder: Arc<TempDir>, prefix: String, config: &str) -> Self {
        let mut command = Command::new(repository::npm("node"));
        command.arg(repository::root().join("tests/miniflare.mjs"));
        command.args([config, STATE].map(|name| folder.path().join(name)));
        // The folder is removed when this process is killed.
        command.current_dir(folder.path());
        // TERM, not KILL, which would leave its workerd running.
        let (child, url) = ServerProcess::start("Miniflare", "TERM", &command, ready_url)
            .unwrap_or_else(|reason| panic!("{reason}"));
        Self {
            child,
            url,
            prefix,
            folder,
        }
    }

    /// Returns `http://127.0.0.1:<port>`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the prefix of its keys in Redis.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Triggers the cron job that runs every five minutes.
    pub async fn tick(&self) {
        self.cron("*/5 * * * *").await;
    }

    /// Triggers the cron job that runs every minute.
    pub async fn minute(&self) {
        self.cron("* * * * *").await;
    }

    /// Returns the scheduled instant, in milliseconds, which no other run has.
    async fn cron(&self, cron: &str) -> i64 {
        static LAST: AtomicI64 = AtomicI64::new(0);
        let now = jiff::Timestamp::now().as_millisecond();
        let after = |last: i64| now.max(last + 1);
        let last = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| {
            Some(after(last))
        });
        let time = after(last.expect("a change"));
        let cron = cron.replace(' ', "+");
        let path = format!("/cdn-cgi/local/scheduled?cron={cron}&time={time}");
        let response = self.api().get(&path).await;
        assert_eq!((response.status, response.text.as_str()), (200, "ok"));
        time
    }

    /// Triggers the cron job that runs every five minutes, and returns its cost.
    ///
    /// # Panics
    ///
    /// Panics without the archive, the journal or queues.
    pub async fn metered_tick(&self) -> CronCost {
        self.metered("*/5 * * * *").await
    }

    /// Triggers the cron job that runs every minute, and returns its cost, as
    /// [`metered_tick`](Self::metered_tick) does.
    pub async fn metered_minute(&self) -> CronCost {
        self.metered("* * * * *").await
    }

    async fn metered(&self, cron: &str) -> CronCost {
        // The lines of earlier runs may come later.
        let line = format!("CRON {} ", self.cron(cron).await);
        until("the cost of cron", async || {
            let log = self.log();
            let cost = log.lines().find_map(|text| text.strip_prefix(&line))?;
            Some(CronCost::decode(&serde_json::from_str(cost).expect("JSON")))
        })
        .await
    }

    /// Returns everything that the isolate has sent so far.
    ///
    /// # Panics
    ///
    /// As [`metered_tick`](Self::metered_tick).
    pub async fn sent(&self) -> CronCost {
        let response = Api::new(&self.url).get("/sent").await;
        CronCost::decode(&response.assert_status(200).body)
    }

    /// Runs a statement in the journal's database, or the archive's without a journal, bypassing the
    /// Worker, and returns the rows.
    ///
    /// # Panics
    ///
    /// Panics when the statement fails.
    pub async fn sql(&self, statement: &str) -> Value {
        self.run_sql("/sql", statement).await
    }

    /// Runs a statement as [`sql`](Self::sql) does, in the archive's database.
    ///
    /// # Panics
    ///
    /// As [`sql`](Self::sql).
    pub async fn archive_sql(&self, statement: &str) -> Value {
        self.run_sql("/sql/archive", statement).await
    }

    async fn run_sql(&self, path: &str, statement: &str) -> Value {
        let api = Api::new(&self.url);
        let response = api.send(Method::POST, path, statement.to_owned(), &[]);
        response.await.assert_status(200).body.clone()
    }

    /// Returns a client with the service key.
    #[must_use]
    pub fn api(&self) -> Api {
        Api::new(&self.url).with_key(SERVICE_KEY)
    }

    /// Enqueues a message; requires a Worker [built](crate::WorkerBuilder::queued) with queues.
    ///
    /// # Panics
    ///
    /// Panics when the queue rejects the message.
    pub async fn enqueue(&self, message: &str) {
        let api = Api::new(&self.url);
        let response = api.send(Method::POST, "/queue", message.to_owned(), &[]);
        response.await.assert_status(204);
    }

    /// Returns the bodies of all messages that have reached the dead-letter queue.
    #[must_use]
    pub fn dead(&self) -> Vec<String> {
        let log = self.log();
        let lines = log.lines().filter_map(|line| line.strip_prefix("DEAD "));
        lines
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    /// Returns the log so far.
    #[must_use]
    pub fn log(&self) -> String {
        self.child.log()
    }

    /// Waits for a text in the log, because log lines arrive shortly after the event.
    ///
    /// # Panics
    ///
    /// Panics when the text does not appear.
    pub async fn logs(&self, text: &str) {
        until(text, async || self.log().contains(text).then_some(())).await;
    }

    /// Returns the complete lines of the log from a byte offset on.
    #[must_use]
    pub fn log_from(&self, offset: usize) -> String {
        self.child.log_from(offset)
    }
}

/// Returns the command of wrangler with `folder` as its working directory.
fn wrangler(folder: &Path) -> Command {
    let bin = repository::root().join("node_modules/.bin");
    let mut paths = vec![bin];
    paths.extend(std::env::split_paths(
        &std::env::var_os("PATH").unwrap_or_default(),
    ));
    let mut command = Command::new(repository::npm("wrangler"));
    command.current_dir(folder);
    // wrangler needs the node version that npm installed, not the system's.
    command.env("PATH", std::env::join_paths(paths).expect("PATH"));
    command.env("WRANGLER_SEND_METRICS", "false");
    command.env("CLOUDFLARE_CF_FETCH_ENABLED", "false");
    command.env("WRANGLER_LOG_PATH", folder.join("logs"));
    command
}

/// Files by their path in the folder of a Worker.
type Files = Vec<(PathBuf, Vec<u8>)>;

/// Returns the persisted state of a new database after its migrations. They run once per process and
/// database, because wrangler takes seconds for them.
fn migrated(database: &Value) -> Arc<Files> {
    static MIGRATED: Mutex<BTreeMap<String, Arc<Files>>> = Mutex::new(BTreeMap::new());
    let name = database["binding"].as_str().expect("a name");
    let mut migrated = MIGRATED.lock().expect("no migration has failed");
    let files = migrated
        .entry(name.to_owned())
        .or_insert_with(|| Arc::new(migrate(name, database)));
    Arc::clone(files)
}

/// Applies the migrations of a database in a folder of its own, and returns the files of its state.
fn migrate(name: &str, database: &Value) -> Files {
    let folder = tempfile::tempdir().expect("a folder for wrangler");
    let date = &repository::wrangler_toml()["compatibility_date"];
    let config =
        json!({"name": "migrations", "compatibility_date": date, "d1_databases": [database]});
    std::fs::write(folder.path().join(CONFIG), config.to_string()).expect("the configuration");
    let mut command = wrangler(folder.path());
    command.args(["d1", "migrations", "apply", name, "--local"]);
    command.args(["--persist-to", STATE, "--config", CONFIG]);
    // CI=1 skips the confirmation prompt.
    let output = command.env("CI", "1").output().expect("wrangler runs");
    assert!(output.status.success(), "{output:?}");
    let mut files = Files::new();
    read_files(folder.path(), Path::new(STATE), &mut files);
    files
}

/// Reads all files below `root/path`.
fn read_files(root: &Path, path: &Path, files: &mut Files) {
    for entry in root.join(path).read_dir().expect("a folder") {
        let entry = entry.expect("an entry");
        let path = path.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            read_files(root, &path, files);
        } else {
            let bytes = std::fs::read(root.join(&path)).expect("a file");
            files.push((path, bytes));
        }
    }
}

/// Returns wrangler.toml as JSON, with these variables, rate limits and queues, without the build
/// command, which would run at each start.
fn config(vars: Map<String, Value>, limits: &[(String, u32)], queues: Option<Queues>) -> Value {
    let mut table = repository::wrangler_toml();
    table.remove("build");
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
        let mut matching = bindings.filter(|binding| binding["name"] == **name);
        matching.next().expect("a binding of this name")["simple"]["limit"] = json!(limit);
    }
    match queues {
        Some(queues) => configure_queues(&mut config["queues"], queues),
        None => drop(config.as_object_mut().expect("a table").remove("queues")),
    }
    config
}

/// Applies the settings of the queues, and adds a consumer to the dead-letter queue.
fn configure_queues(config: &mut Value, queues: Queues) {
    let consumers = config["consumers"].as_array_mut();
    let consumers = consumers.expect("consumers of queues");
    if let Queues::Immediate { attempts } = queues {
        consumers[0]["max_batch_timeout"] = json!(0);
        consumers[0]["max_retries"] = json!(attempts - 1);
    }
    let dead = consumers[0]["dead_letter_queue"].clone();
    consumers.push(json!({"queue": dead, "max_batch_timeout": 0}));
}

/// Wraps the Worker in the probe.
fn wrap_worker(folder: &Path) {
    std::fs::rename(folder.join("index.js"), folder.join("rank.js")).expect("the entry point");
    std::fs::write(folder.join("index.js"), include_str!("probe.js")).expect("the script");
    let caller = include_str!("aborting_caller.js");
    std::fs::write(folder.join(capnp::CALLER), caller).expect("the script");
}

/// Returns the address in `Ready on http://127.0.0.1:1234`.
fn ready_url(line: &str) -> Option<String> {
    let (_, url) = line.split_once("Ready on ")?;
    Some(url.trim().to_owned())
}
