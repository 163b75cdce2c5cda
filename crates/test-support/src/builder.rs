//! The settings with which a Worker starts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::api::SERVICE_KEY;
use crate::gateway::TOKEN;
use crate::repository;
use crate::services::{Cache, Platform, Queues, Services};
use crate::sharding::shards;
use crate::shared::{gateway, unique_prefix};
use crate::worker::Worker;
use crate::{miniflare, workerd};

/// The store timeout suits a busy machine, where no request should fail because it is slow. It is the longest that the Worker
/// accepts.
const STORE_TIMEOUT_MS: &str = "30000";

impl Worker {
    /// Starts a Worker with the defaults of the [`builder`](Self::builder).
    ///
    /// # Panics
    ///
    /// Panics as [`WorkerBuilder::start`] does.
    pub fn start() -> Self {
        Self::builder().start()
    }

    /// Returns a builder with the defaults.
    pub fn builder() -> WorkerBuilder {
        WorkerBuilder::new()
    }
}

/// The configuration of a Worker. By default it has the shared [`gateway()`], the [`SERVICE_KEY`]
/// and a unique key prefix.
#[must_use]
#[derive(Clone, Debug)]
pub struct WorkerBuilder {
    vars: Map<String, Value>,
    limits: Vec<(String, u32)>,
    services: Services,
    platform: Platform,
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
            services: Services {
                files: true,
                ..Services::default()
            },
            platform: Platform::Workerd,
            bundle: repository::root().join("build"),
        }
    }

    /// Sets a text variable or a secret: `var("TIMEZONE", "Asia/Shanghai")`.
    pub fn var(self, name: &str, value: &str) -> Self {
        self.json(name, json!(value))
    }

    /// Sets a variable that is a table or a number in `wrangler.toml`:
    /// `json("KEEP_DAYS", json!({ "day": 2 }))`.
    pub fn json(mut self, name: &str, value: Value) -> Self {
        self.vars.insert(name.to_owned(), value);
        self
    }

    /// Removes a variable, also a default.
    pub fn without(self, name: &str) -> Self {
        // Null means "not set": start() does not fill in the default.
        self.json(name, Value::Null)
    }

    /// Sets the URL of the store: a private gateway, a forwarder, or a closed port.
    pub fn store(self, url: &str) -> Self {
        self.var("UPSTASH_REDIS_REST_URL", url)
    }

    /// Starts the Worker in Miniflare instead of plain workerd, which takes a second instead of milliseconds: for rate
    /// limits, assets as the platform serves them, a Cache API that outlives a restart, and a workerd that is replaced
    /// when it is killed. It has these bindings of wrangler.toml and the services of the builder.
    pub fn miniflare(mut self) -> Self {
        self.platform = Platform::Miniflare;
        self
    }

    /// Sets the limit of a `[[ratelimits]]` binding and keeps its period, in [`miniflare`](Self::miniflare).
    pub fn limit(mut self, name: &str, limit: u32) -> Self {
        self.limits.push((name.to_owned(), limit));
        self.miniflare()
    }

    /// Binds rate limiters that never reach their limit: each call of a limiter takes its time.
    pub fn limited(mut self) -> Self {
        self.services.limited = true;
        self
    }

    /// Binds the archive, with its tables, and the snapshots.
    pub fn archive(mut self) -> Self {
        self.services.archive = true;
        self
    }

    /// Binds the journal, with its tables.
    pub fn journal(mut self) -> Self {
        self.services.journal = true;
        self
    }

    /// Binds the queues with immediate delivery. A message goes to the dead-letter queue after this number of attempts.
    pub fn queued(mut self, attempts: u32) -> Self {
        self.services.queues = Some(Queues::Immediate { attempts });
        self
    }

    /// Binds the queues with the settings of wrangler.toml.
    pub fn shipped_queues(mut self) -> Self {
        self.services.queues = Some(Queues::Shipped);
        self
    }

    /// Binds the dataset of Analytics Engine. In workerd its data points are logged, see [`Worker::points`]; Miniflare
    /// drops them.
    pub fn analytics(mut self) -> Self {
        self.services.analytics = true;
        self
    }

    /// Binds the Durable Object of live boards.
    pub fn live(mut self) -> Self {
        self.services.live = true;
        self
    }

    /// Removes the binding `ASSETS`, in workerd.
    pub fn without_files(mut self) -> Self {
        self.services.files = false;
        self
    }

    /// Adds an in-memory Cache API, in workerd; Miniflare always has one.
    pub fn cached(mut self) -> Self {
        self.services.cache = Some(Cache::Memory);
        self
    }

    /// Adds a Cache API that stores nothing, as under workers.dev, in workerd.
    pub fn forgetful_cache(mut self) -> Self {
        self.services.cache = Some(Cache::Forgetful);
        self
    }

    /// Puts a caller in front that aborts a request with `X-Abort-After` after these milliseconds
    /// and responds with 499, in workerd, which does not notice that a client closes its connection. The archive, the
    /// journal and the queues bring such a caller.
    pub fn aborting(mut self) -> Self {
        self.services.aborting = true;
        self
    }

    /// Runs cron on request, see [`Worker::minute`], and the consumer of the queue for `POST /cdn-cgi/handler/queue` with a
    /// list of messages. The archive, the journal and the queues bring it.
    pub fn cron(mut self) -> Self {
        self.services.cron = true;
        self
    }

    /// Responds to `/cdn-cgi/wasm-memory` with the bytes of the wasm's memory, in workerd.
    pub fn wasm_memory(mut self) -> Self {
        self.services.wasm_memory = true;
        self
    }

    /// Sets the Worker's clock ahead, or behind if the milliseconds are negative, in workerd.
    pub fn ahead(mut self, milliseconds: i64) -> Self {
        self.services.ahead = milliseconds;
        self
    }

    /// Sets the seconds between two checks of a live board for changes made elsewhere, in workerd.
    pub fn check_interval(mut self, seconds: u64) -> Self {
        self.services.check_interval = seconds;
        self
    }

    /// Uses the modules of this folder, with `index.js` as the entry point, instead of `build/`.
    pub fn bundle(mut self, folder: &Path) -> Self {
        self.bundle = folder.to_owned();
        self
    }

    /// Returns the key prefix.
    ///
    /// # Panics
    ///
    /// Panics when it has been removed.
    pub fn prefix(&self) -> &str {
        let prefix = self.vars.get("PREFIX").and_then(Value::as_str);
        prefix.expect("PREFIX is set")
    }

    /// Starts the Worker in workerd with the services of this builder. Without a Cache API, boards are not cached in the
    /// isolate either, unless `BOARD_MAX_AGE` is set.
    ///
    /// # Panics
    ///
    /// Panics when the Worker has not been built or does not start.
    pub fn start(mut self) -> Worker {
        let has_cache = self.services.cache.is_some() || self.platform == Platform::Miniflare;
        // Most tests read a board again after a write.
        if !has_cache && !self.vars.contains_key("BOARD_MAX_AGE") {
            self = self.var("BOARD_MAX_AGE", "0");
        }
        // Not earlier, so that a Worker with another store does not start the shared one.
        if !self.vars.contains_key("UPSTASH_REDIS_REST_URL") {
            self = self.store(&gateway().url());
        }
        self.vars.retain(|_, value| !value.is_null());
        let prefix = self.vars.get("PREFIX").and_then(Value::as_str);
        let prefix = prefix.unwrap_or_default().to_owned();
        let folder = tempfile::tempdir().expect("a folder for the Worker");
        match self.platform {
            Platform::Workerd => {
                workerd::prepare(folder.path(), &self.bundle, &self.vars, self.services);
            }
            Platform::Miniflare => {
                let services = self.services;
                miniflare::prepare(
                    folder.path(),
                    &self.bundle,
                    self.vars,
                    &self.limits,
                    services,
                );
            }
        }
        Worker::serve(Arc::new(folder), prefix, self.platform)
    }
}
