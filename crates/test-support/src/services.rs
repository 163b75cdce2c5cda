//! The services of the platform.

/// What runs a Worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Platform {
    Workerd,
    Miniflare,
}

/// The services of the platform that a Worker has.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Services {
    /// The binding `ASSETS` with the files of `build/web/`.
    pub files: bool,
    /// The Cache API; workerd throws without one.
    pub cache: Option<Cache>,
    /// The Durable Object of live boards.
    pub live: bool,
    /// The database and the namespace of the archive and the snapshots.
    pub archive: bool,
    /// The database of the journal.
    pub journal: bool,
    pub queues: Option<Queues>,
    /// The dataset of Analytics Engine, whose data points workerd logs.
    pub analytics: bool,
    /// Rate limiters that never reach their limit: workerd has none.
    pub limited: bool,
    /// A Worker in front that forwards requests, and aborts those with `X-Abort-After`.
    pub aborting: bool,
    /// Whether a request runs cron.
    pub cron: bool,
    /// Seconds between two checks of a live board; 0 for the Worker's own.
    pub check_interval: u64,
    /// Whether a request reads the size of the wasm's memory.
    pub wasm_memory: bool,
    /// Milliseconds by which the Worker's clock is ahead.
    pub ahead: i64,
}

impl Services {
    /// Whether the probe is around the Worker: with it requests run cron and read databases.
    pub fn is_probed(&self) -> bool {
        self.cron || self.archive || self.journal || self.queues.is_some()
    }
}

/// A Cache API.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cache {
    /// In memory.
    Memory,
    /// Stores nothing and does not fail, as under workers.dev.
    Forgetful,
}

/// Settings of the queues.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Queues {
    /// The settings of wrangler.toml.
    Shipped,
    /// Delivers messages without batching delay, each up to this number of times.
    Immediate { attempts: u32 },
}
