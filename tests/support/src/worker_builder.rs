//! What a Worker under test is configured with.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Map, Value, json};

use crate::capnp::Services;
use crate::gateway::{TOKEN, gateway};
use crate::repository;
use crate::sharding::shards;
use crate::worker::{SERVICE_KEY, Worker};
use crate::wrangler::{Bindings, Queues, Wrangler};

/// The variables of a Worker about to start. Left alone it gets the shared
/// [`gateway()`], one [`SERVICE_KEY`] and a key prefix that nobody else has.
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
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let vars = [
            ("UPSTASH_REDIS_REST_TOKEN", TOKEN.to_owned()),
            ("SERVICE_KEYS", SERVICE_KEY.to_owned()),
            ("PREFIX", format!("t{}-{number}", std::process::id())),
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

    /// A text variable or a secret: `var("TIMEZONE", "Asia/Shanghai")`.
    #[must_use]
    pub fn var(self, name: &str, value: &str) -> Self {
        self.json(name, json!(value))
    }

    /// A variable that is a table or a number in `wrangler.toml`:
    /// `json("KEEP_DAYS", json!({ "day": 2 }))`.
    #[must_use]
    pub fn json(mut self, name: &str, value: Value) -> Self {
        self.vars.insert(name.to_owned(), value);
        self
    }

    /// Takes a variable away, one of the defaults too.
    #[must_use]
    pub fn without(self, name: &str) -> Self {
        // Null stands for "not set", so that a default is not filled in later.
        self.json(name, Value::Null)
    }

    /// The store's URL: a private gateway's, a forwarder's, or one that nobody listens on.
    #[must_use]
    pub fn store(self, url: &str) -> Self {
        self.var("UPSTASH_REDIS_REST_URL", url)
    }

    /// Another limit of a `[[ratelimits]]` binding, for [`start_wrangler`](Self::start_wrangler);
    /// the period stays.
    #[must_use]
    pub fn limit(mut self, name: &str, limit: u32) -> Self {
        self.limits.push((name.to_owned(), limit));
        self
    }

    /// Binds the archive, with its tables, and the snapshots, for [`start_wrangler`](Self::start_wrangler).
    #[must_use]
    pub fn archive(mut self) -> Self {
        self.bindings.archive = true;
        self
    }

    /// Binds the journal, with its table, for [`start_wrangler`](Self::start_wrangler).
    #[must_use]
    pub fn journal(mut self) -> Self {
        self.bindings.journal = true;
        self
    }

    /// Binds the queues, for [`start_wrangler`](Self::start_wrangler): a message is tried so often,
    /// and then ends in the dead-letter queue.
    #[must_use]
    pub fn queued(mut self, tries: u32) -> Self {
        self.bindings.queues = Some(Queues::Quick { tries });
        self
    }

    /// Binds the queues as wrangler.toml says, for [`start_wrangler`](Self::start_wrangler).
    #[must_use]
    pub fn shipped_queues(mut self) -> Self {
        self.bindings.queues = Some(Queues::Shipped);
        self
    }

    /// Without the files of the deployment, for [`start`](Self::start).
    #[must_use]
    pub fn without_files(mut self) -> Self {
        self.services.files = false;
        self
    }

    /// A Cache API in memory, for [`start`](Self::start): `wrangler dev` has one anyway.
    #[must_use]
    pub fn cached(mut self) -> Self {
        self.services.cached = true;
        self
    }

    /// A clock that is ahead by milliseconds, for [`start`](Self::start).
    #[must_use]
    pub fn ahead(mut self, by: u64) -> Self {
        self.services.ahead = by;
        self
    }

    /// Binds the object of live boards, in plain workerd and in `wrangler dev`.
    #[must_use]
    pub fn live(mut self) -> Self {
        self.services.live = true;
        self.bindings.live = true;
        self
    }

    /// Another bundle than that in `build/`: the modules in a folder, `index.js` the entry point.
    #[must_use]
    pub fn bundle(mut self, folder: &Path) -> Self {
        self.bundle = folder.to_owned();
        self
    }

    /// The key prefix this Worker will have.
    ///
    /// # Panics
    ///
    /// When it has been taken away.
    #[must_use]
    pub fn prefix(&self) -> &str {
        let prefix = self.vars.get("PREFIX").and_then(Value::as_str);
        prefix.expect("PREFIX is set")
    }

    /// Starts it in plain workerd: at once, but without other services, and without the Cache API
    /// unless it is [`cached`](Self::cached), or live boards unless it is [`live`](Self::live).
    ///
    /// # Panics
    ///
    /// When the Worker has not been built, or workerd refuses it.
    #[must_use]
    pub fn start(self) -> Worker {
        let services = self.services;
        Worker::run(&self.bundle.clone(), self.prefixed(), services)
    }

    /// Starts it in `wrangler dev`: takes a second or two, has everything wrangler.toml names;
    /// archive, snapshots, journal, queues and live boards only where they are asked for.
    ///
    /// # Panics
    ///
    /// When the Worker has not been built, or wrangler refuses it.
    #[must_use]
    pub fn start_wrangler(mut self) -> Wrangler {
        let limits = std::mem::take(&mut self.limits);
        let (bundle, bindings) = (self.bundle.clone(), self.bindings);
        Wrangler::run(&bundle, self.prefixed(), &limits, bindings)
    }

    /// The variables to start with, and the prefix among them.
    fn prefixed(mut self) -> (Map<String, Value>, String) {
        // Only now, so that whoever names a store of its own needs no shared one.
        if !self.vars.contains_key("UPSTASH_REDIS_REST_URL") {
            self = self.store(&gateway().url());
        }
        self.vars.retain(|_, value| !value.is_null());
        let prefix = self.vars.get("PREFIX").and_then(Value::as_str);
        let prefix = prefix.unwrap_or_default().to_owned();
        (self.vars, prefix)
    }
}
