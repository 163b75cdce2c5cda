//! The built Worker in its own workerd, and its configuration.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::api::{Api, SERVICE_KEY};
use crate::capnp::{self, Cache, Services};
use crate::gateway::TOKEN;
use crate::miniflare::{Bindings, Miniflare, Queues};
use crate::repository;
use crate::server_process::ServerProcess;
use crate::sharding::shards;
use crate::shared::{gateway, unique_prefix};

/// The store timeout suits a busy machine, where no request should fail because it is slow.
const STORE_TIMEOUT_MS: &str = "20000";

/// A running Worker; ends on drop.
pub struct Worker {
    child: ServerProcess,
    url: String,
    prefix: String,
    /// The bundle and the configuration, removed on drop.
    _folder: TempDir,
}

impl Worker {
    /// Starts a Worker with the defaults of the [`builder`](Self::builder).
    ///
    /// # Panics
    ///
    /// Panics as [`WorkerBuilder::start`] does.
    #[must_use]
    pub fn start() -> Self {
        Self::builder().start()
    }

    /// Returns a builder with the defaults.
    #[must_use]
    pub fn builder() -> WorkerBuilder {
        WorkerBuilder::new()
    }

    pub(crate) fn run(
        bundle: &Path,
        (vars, prefix): (Map<String, Value>, String),
        services: Services,
    ) -> Self {
        let folder = tempfile::tempdir().expect("a folder for workerd");
        let mut modules = repository::copy_bundle(bundle, folder.path());
        if services.check_interval > 0 {
            set_check_interval(folder.path(), services.check_interval);
        }
        if services.ahead != 0 {
            modules.push(shift_clock(folder.path(), services.ahead));
        }
        if services.cron {
            modules.push(add_cron(folder.path()));
        }
        if services.wasm_memory {
            modules.extend(add_wasm_memory(folder.path()));
        }
        let settings = repository::wrangler_toml();
        let date = settings["compatibility_date"].as_str();
        let flags = settings.get("compatibility_flags").cloned();
        let flags: Vec<String> =
            flags.map_or_else(Vec::new, |flags| flags.try_into().expect("flags are text"));
        let compatibility = (date.expect("a date"), flags.as_slice());
        // workerd resolves paths relative to its working directory.
        let web = repository::root().join("build/web").canonicalize();
        let web = web.expect("build/web: run `make build`");
        let config = capnp::config(compatibility, &modules, &vars, &web, services);
        if let Some(cache) = services.cache {
            let path = folder.path().join(capnp::CACHE);
            std::fs::write(path, cache.module()).expect("the cache");
        }
        if services.aborting {
            std::fs::write(
                folder.path().join(capnp::CALLER),
                include_str!("aborting_caller.js"),
            )
            .expect("the caller");
        }
        let path = folder.path().join("worker.capnp");
        std::fs::write(&path, config).expect("the configuration");

        let mut command = Command::new(repository::npm("workerd"));
        command.args(["serve", "--control-fd=1"]);
        if services.analytics {
            command.arg("--experimental");
        }
        command.arg(path);
        command.current_dir(folder.path());
        let (child, port) = ServerProcess::start("workerd", "KILL", &command, listening_port)
            .unwrap_or_else(|reason| panic!("{reason}"));
        Self {
            child,
            url: format!("http://127.0.0.1:{port}"),
            prefix,
            _folder: folder,
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

    /// Returns a client with the service key.
    #[must_use]
    pub fn api(&self) -> Api {
        Api::new(&self.url).with_key(SERVICE_KEY)
    }

    /// Returns the process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.pid()
    }

    /// Kills it (`kill -9`) and waits for its end.
    pub fn kill(&mut self) {
        self.child.kill();
    }

    /// Returns the log so far.
    #[must_use]
    pub fn log(&self) -> String {
        self.child.log()
    }

    /// Returns the data points that the Worker has written so far; requires [`WorkerBuilder::analytics`].
    ///
    /// # Panics
    ///
    /// Panics when one is not as workerd sends it.
    #[must_use]
    pub fn points(&self) -> Vec<DataPoint> {
        let log = self.child.log();
        let points = log.lines().filter_map(|line| line.split_once("POINT "));
        points.map(|(_, point)| DataPoint::parse(point)).collect()
    }
}

/// A data point of Workers Analytics Engine.
#[derive(Clone, Debug, PartialEq)]
pub struct DataPoint {
    /// The index.
    pub index: String,
    /// The texts that were written.
    pub blobs: Vec<String>,
    /// All numbers, with zeros after those that were written.
    pub doubles: [f64; 20],
}

impl DataPoint {
    /// Parses the JSON that workerd sends: a text is a list of its bytes.
    fn parse(json: &str) -> Self {
        let json: Value = serde_json::from_str(json).expect("JSON");
        let text = |name: &str| {
            let bytes: Vec<u8> = serde_json::from_value(json.get(name)?.clone()).expect("bytes");
            Some(String::from_utf8(bytes).expect("UTF-8"))
        };
        let blobs = (1..).map_while(|number| text(&format!("blob{number}")));
        let double = |index: usize| json[format!("double{}", index + 1)].as_f64();
        Self {
            index: text("index1").expect("an index"),
            blobs: blobs.collect(),
            doubles: std::array::from_fn(|index| double(index).expect("a number")),
        }
    }
}

/// The configuration of a Worker. By default it has the shared [`gateway()`], the [`SERVICE_KEY`]
/// and a unique key prefix.
#[derive(Clone, Debug)]
pub struct WorkerBuilder {
    vars: Map<String, Value>,
    limits: Vec<(String, u32)>,
    bindings: Bindings,
    services: Services,
    bundle: PathBuf,
}

impl WorkerBuilder {
    pub(crate) fn new() -> Self {
        let vars = [
            ("UPSTASH_REDIS_REST_TOKEN", TOKEN.to_owned()),
            ("STORE_TIMEOUT_MS", STORE_TIMEOUT_MS.to_owned()),
            ("SERVICE_KEYS", SERVICE_KEY.to_owned()),
            ("PREFIX", unique_prefix("t")),
        ];
        let vars = vars.map(|(name, value)| (name.to_owned(), Value::String(value)));
        let mut vars = Map::from_iter(vars);
        if shards() > 1 {
            vars.insert("SHARDS".to_owned(), json!(shards()));
        }
        Self {
            vars,
            limits: Vec::new(),
            bindings: Bindings::default(),
            services: Services {
                files: true,
                ..Services::default()
            },
            bundle: repository::root().join("build"),
        }
    }

    /// Sets a text variable or a secret: `var("TIMEZONE", "Asia/Shanghai")`.
    #[must_use]
    pub fn var(self, name: &str, value: &str) -> Self {
        self.json(name, json!(value))
    }

    /// Sets a variable that is a table or a number in `wrangler.toml`:
    /// `json("KEEP_DAYS", json!({ "day": 2 }))`.
    #[must_use]
    pub fn json(mut self, name: &str, value: Value) -> Self {
        self.vars.insert(name.to_owned(), value);
        self
    }

    /// Removes a variable, also a default.
    #[must_use]
    pub fn without(self, name: &str) -> Self {
        // Null means "not set": start() does not fill in the default.
        self.json(name, Value::Null)
    }

    /// Sets the URL of the store: a private gateway, a forwarder, or a closed port.
    #[must_use]
    pub fn store(self, url: &str) -> Self {
        self.var("UPSTASH_REDIS_REST_URL", url)
    }

    /// Sets the limit of a `[[ratelimits]]` binding and keeps its period, for
    /// [`start_miniflare`](Self::start_miniflare).
    #[must_use]
    pub fn limit(mut self, name: &str, limit: u32) -> Self {
        self.limits.push((name.to_owned(), limit));
        self
    }

    /// Binds the archive, with its tables, and the snapshots, for
    /// [`start_miniflare`](Self::start_miniflare).
    #[must_use]
    pub fn archive(mut self) -> Self {
        self.bindings.archive = true;
        self
    }

    /// Binds the journal, with its table, for [`start_miniflare`](Self::start_miniflare).
    #[must_use]
    pub fn journal(mut self) -> Self {
        self.bindings.journal = true;
        self
    }

    /// Binds the queues, for [`start_miniflare`](Self::start_miniflare), with immediate delivery. A
    /// message goes to the dead-letter queue after this number of attempts.
    #[must_use]
    pub fn queued(mut self, attempts: u32) -> Self {
        self.bindings.queues = Some(Queues::Immediate { attempts });
        self
    }

    /// Binds the queues with the settings of wrangler.toml, for
    /// [`start_miniflare`](Self::start_miniflare).
    #[must_use]
    pub fn shipped_queues(mut self) -> Self {
        self.bindings.queues = Some(Queues::Shipped);
        self
    }

    /// Removes the binding `ASSETS`, for [`start`](Self::start).
    #[must_use]
    pub fn without_files(mut self) -> Self {
        self.services.files = false;
        self
    }

    /// Adds an in-memory Cache API, for [`start`](Self::start); Miniflare always has one.
    #[must_use]
    pub fn cached(mut self) -> Self {
        self.services.cache = Some(Cache::Memory);
        self
    }

    /// Adds a Cache API that stores nothing, as under workers.dev, for [`start`](Self::start).
    #[must_use]
    pub fn forgetful_cache(mut self) -> Self {
        self.services.cache = Some(Cache::Forgetful);
        self
    }

    /// Puts a caller in front that aborts a request with `X-Abort-After` after these milliseconds
    /// and responds with 499, for [`start`](Self::start). Plain workerd does not notice that a client
    /// closes its connection. In Miniflare the archive, the journal and the queues bring such a caller.
    #[must_use]
    pub fn aborting(mut self) -> Self {
        self.services.aborting = true;
        self
    }

    /// Binds the dataset of Analytics Engine. In plain workerd its data points are logged, see
    /// [`Worker::points`]; Miniflare drops them.
    #[must_use]
    pub fn analytics(mut self) -> Self {
        self.services.analytics = true;
        self.bindings.analytics = true;
        self
    }

    /// Runs cron on request as Miniflare does, see [`Api::minute`], and the consumer of the queue for
    /// `POST /cdn-cgi/handler/queue` with a list of messages, for [`start`](Self::start).
    #[must_use]
    pub fn cron(mut self) -> Self {
        self.services.cron = true;
        self
    }

    /// Responds to `/cdn-cgi/wasm-memory` with the bytes of the wasm's memory, for [`start`](Self::start).
    #[must_use]
    pub fn wasm_memory(mut self) -> Self {
        self.services.wasm_memory = true;
        self
    }

    /// Binds rate limiters that never reach their limit, for [`start`](Self::start): each call of a
    /// limiter takes its time.
    #[must_use]
    pub fn limited(mut self) -> Self {
        self.services.limited = true;
        self
    }

    /// Sets the Worker's clock ahead, or behind if the milliseconds are negative, for [`start`](Self::start).
    #[must_use]
    pub fn ahead(mut self, milliseconds: i64) -> Self {
        self.services.ahead = milliseconds;
        self
    }

    /// Binds the Durable Object of live boards, in plain workerd and in Miniflare.
    #[must_use]
    pub fn live(mut self) -> Self {
        self.services.live = true;
        self.bindings.live = true;
        self
    }

    /// Sets the seconds between two checks of a live board for changes made elsewhere, for
    /// [`start`](Self::start).
    #[must_use]
    pub fn check_interval(mut self, seconds: u64) -> Self {
        self.services.check_interval = seconds;
        self
    }

    /// Uses the modules of this folder, with `index.js` as the entry point, instead of `build/`.
    #[must_use]
    pub fn bundle(mut self, folder: &Path) -> Self {
        self.bundle = folder.to_owned();
        self
    }

    /// Returns the key prefix.
    ///
    /// # Panics
    ///
    /// Panics when it has been removed.
    #[must_use]
    pub fn prefix(&self) -> &str {
        let prefix = self.vars.get("PREFIX").and_then(Value::as_str);
        prefix.expect("PREFIX is set")
    }

    /// Starts the Worker in plain workerd, which takes milliseconds. Its only platform services are
    /// the files, the Cache API if [`cached`](Self::cached) and live boards if [`live`](Self::live).
    /// Without the Cache API, boards are not cached in the isolate either, unless `BOARD_MAX_AGE` is
    /// set.
    ///
    /// # Panics
    ///
    /// Panics when the Worker has not been built or workerd does not start.
    #[must_use]
    pub fn start(mut self) -> Worker {
        let services = self.services;
        // Most tests read a board again after a write.
        if services.cache.is_none() && !self.vars.contains_key("BOARD_MAX_AGE") {
            self = self.var("BOARD_MAX_AGE", "0");
        }
        Worker::run(&self.bundle.clone(), self.vars_and_prefix(), services)
    }

    /// Starts the Worker in Miniflare, which takes about a second, with all bindings of
    /// wrangler.toml. Archive, snapshots, journal, queues and live boards are opt-in.
    ///
    /// # Panics
    ///
    /// Panics when the Worker has not been built or Miniflare does not start.
    #[must_use]
    pub fn start_miniflare(mut self) -> Miniflare {
        let limits = std::mem::take(&mut self.limits);
        let (bundle, bindings) = (self.bundle.clone(), self.bindings);
        Miniflare::run(&bundle, self.vars_and_prefix(), &limits, bindings)
    }

    /// Returns the final variables, and the prefix among them.
    fn vars_and_prefix(mut self) -> (Map<String, Value>, String) {
        // Not earlier, so that a Worker with another store does not start the shared one.
        if !self.vars.contains_key("UPSTASH_REDIS_REST_URL") {
            self = self.store(&gateway().url());
        }
        self.vars.retain(|_, value| !value.is_null());
        let prefix = self.vars.get("PREFIX").and_then(Value::as_str);
        let prefix = prefix.unwrap_or_default().to_owned();
        (self.vars, prefix)
    }
}

/// Replaces the interval of `live.js` in the bundle.
fn set_check_interval(folder: &Path, seconds: u64) {
    let path = folder.join("index.js");
    let bundle = std::fs::read_to_string(&path).expect("the bundle");
    let interval = "CHECK_INTERVAL = 60 *";
    assert!(bundle.contains(interval), "no {interval} in the bundle");
    let bundle = bundle.replace(interval, &format!("CHECK_INTERVAL = {seconds} *"));
    std::fs::write(path, bundle).expect("the bundle");
}

/// Wraps the entry point in a module whose clock is ahead. Returns the name of the wrapped module.
fn shift_clock(folder: &Path, milliseconds: i64) -> String {
    let entry = format!(
        "const clock = Date.now; Date.now = () => clock() + {milliseconds};\n\
         export * from './unshifted.js'; export {{ default }} from './unshifted.js';\n"
    );
    wrap_entry(folder, "unshifted.js", &entry)
}

/// Wraps the entry point in a module that runs cron and the queue's consumer on request. Returns the name of the wrapped module.
fn add_cron(folder: &Path) -> String {
    let entry = "import rank from './rank.js'
export * from './rank.js'
export default {
  async fetch(request, env, context) {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname === '/cdn-cgi/handler/queue') {
      const message = (body, index) => ({ id: `${index}`, body, timestamp: new Date(), attempts: 1, ack() {}, retry() {} })
      await rank.queue({ messages: (await request.json()).map(message) }, env, context)
      return new Response('ok')
    }
    if (pathname !== '/cdn-cgi/local/scheduled') return rank.fetch(request, env, context)
    await rank.scheduled({ cron: searchParams.get('cron') }, env, context)
    return new Response('ok')
  },
}
";
    wrap_entry(folder, "rank.js", entry)
}

/// Wraps the entry point in a module that responds with the size of the wasm's memory. Returns the names of the wrapped module
/// and of one that it needs.
fn add_wasm_memory(folder: &Path) -> [String; 2] {
    // Modules run in the order of their imports: this one before the wasm is instantiated.
    let instances = "export const instances = []
WebAssembly.Instance = class extends WebAssembly.Instance {
  constructor(...parameters) {
    super(...parameters)
    instances.push(this)
  }
}
";
    std::fs::write(folder.join("instances.js"), instances).expect("a module");
    let entry = "import { instances } from './instances.js'
import rank from './bare.js'
export * from './bare.js'
export default {
  ...rank,
  fetch(request, env, context) {
    if (new URL(request.url).pathname !== '/cdn-cgi/wasm-memory') return rank.fetch(request, env, context)
    return new Response(`${instances.at(-1)?.exports.memory.buffer.byteLength ?? 0}`)
  },
}
";
    [
        wrap_entry(folder, "bare.js", entry),
        "instances.js".to_owned(),
    ]
}

fn wrap_entry(folder: &Path, name: &str, entry: &str) -> String {
    std::fs::rename(folder.join("index.js"), folder.join(name)).expect("the entry point");
    std::fs::write(folder.join("index.js"), entry).expect("an entry point");
    name.to_owned()
}

/// Returns the port in `{"event":"listen","socket":"http","port":1234}`.
fn listening_port(line: &str) -> Option<u64> {
    let event: Value = serde_json::from_str(line).ok()?;
    event.get("port")?.as_u64()
}
