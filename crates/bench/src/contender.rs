//! The contenders: their names, their bundles, and their running Workers.

use crate::client;
use crate::load::{self, ActivityLog, JWT_SECRET, Load, Requests, user_id};
use crate::stack::{Stack, profile, worker_builder, write_profiles};
use crate::templates::{Responses, Templates};
use activity_rank_core::score::Layout;
use std::cell::RefCell;
use std::path::PathBuf;
use std::process::Command;
use test_support::{Api, RedisServer, Worker, WorkerBuilder, json};

/// One implementation. The sources of all except ours are in `crates/bench/peers`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// The Worker.
    Ours,
    /// Another build of the Worker, in the folder of the variable `BEFORE`.
    Before,
    /// JavaScript that sends the same store requests and returns the store's response unchanged.
    Limit,
    /// The SDK with one call per command.
    Posts,
    /// Hono, the SDK, and our script in one call.
    Hono,
    /// A constant response without a store request.
    Fixed,
}

impl Contender {
    /// All contenders.
    pub const ALL: [Self; 6] = [
        Self::Ours,
        Self::Before,
        Self::Limit,
        Self::Posts,
        Self::Hono,
        Self::Fixed,
    ];

    /// Returns the name in options and figures, the name in the table, and the entry point in
    /// `crates/bench/peers`.
    fn description(self) -> (&'static str, &'static str, Option<&'static str>) {
        match self {
            Self::Ours => ("ours", "a  ours", None),
            Self::Before => ("before", "a' ours, before", None),
            Self::Limit => ("limit", "b  the limit", Some("limit.js")),
            Self::Posts => ("posts", "c  call by call", Some("posts.js")),
            Self::Hono => ("hono", "d  Hono, one EVALSHA", Some("hono/index.js")),
            Self::Fixed => ("fixed", "e  a fixed answer", Some("fixed.js")),
        }
    }

    /// Returns the name in options and figures.
    pub fn name(self) -> &'static str {
        self.description().0
    }

    /// Returns the name in the table.
    pub fn title(self) -> &'static str {
        self.description().1
    }

    /// Returns whether it implements a load.
    pub fn supports(self, load: Load) -> bool {
        match (self, load) {
            (Self::Posts, Load::Cached)
            | (Self::Fixed, Load::Repeats | Load::Top | Load::Standing | Load::Crowd)
            | (Self::Limit | Self::Posts | Self::Hono | Self::Fixed, Load::Member) => false,
            (
                Self::Ours | Self::Before | Self::Limit | Self::Posts | Self::Hono | Self::Fixed,
                _,
            ) => true,
        }
    }

    /// Returns whether it stores boards as the Worker does.
    pub fn has_our_boards(self) -> bool {
        match self {
            Self::Ours | Self::Before | Self::Limit | Self::Hono => true,
            Self::Posts | Self::Fixed => false,
        }
    }

    /// Returns the folder of its bundle.
    fn bundle(self) -> PathBuf {
        match self {
            Self::Ours => test_support::root().join("build"),
            Self::Before => std::env::var_os("BEFORE").map_or_else(PathBuf::new, PathBuf::from),
            Self::Limit | Self::Posts | Self::Hono | Self::Fixed => {
                test_support::target().join("bench-peers").join(self.name())
            }
        }
    }
}

/// Bundles each JavaScript contender into one module with the esbuild that npm installed.
pub fn bundle_all() -> Result<(), String> {
    for contender in Contender::ALL {
        let Some(source) = contender.description().2 else {
            continue;
        };
        let mut command = Command::new(test_support::npm("esbuild"));
        command.arg(test_support::root().join("crates/bench/peers").join(source));
        command.args(["--bundle", "--format=esm", "--minify"]);
        command.args(["--log-level=warning", "--conditions=workerd,worker"]);
        let output = contender.bundle().join("index.js");
        command.arg(format!("--outfile={}", output.display()));
        let status = command
            .status()
            .map_err(|error| format!("esbuild: {error}"))?;
        if !status.success() {
            return Err(format!("esbuild cannot bundle {source}"));
        }
    }
    Ok(())
}

/// The Workers of a contender, and the activities sent to them.
pub struct RunningContender {
    /// The contender.
    pub contender: Contender,
    /// The activities sent so far.
    pub activity_log: RefCell<ActivityLog>,
    builder: WorkerBuilder,
    uncached: Worker,
    cached: Worker,
    /// Our Worker with the same key prefix, if the contender stores boards as it does.
    board_reader: Option<Worker>,
}

impl RunningContender {
    /// Starts a contender and counts one activity of every user.
    pub async fn start(
        contender: Contender,
        stack: &Stack,
        templates: &(Templates, Responses),
        users: usize,
    ) -> Result<Self, String> {
        let prefix = format!("bench-{}", contender.name());
        let store = stack.gateway.url();
        let builder = builder(contender, &prefix, templates).store(&store);
        let board_reader = contender.has_our_boards().then(|| {
            let reader = worker_builder(&prefix).store(&store);
            // An earlier build may store boards in another form.
            match contender {
                Contender::Before => reader.bundle(&contender.bundle()).start(),
                _ => reader.start(),
            }
        });
        let running = Self {
            contender,
            activity_log: RefCell::new(ActivityLog::new(users)),
            uncached: builder.clone().start(),
            cached: with_cache(builder.clone()).start(),
            builder,
            board_reader,
        };
        match &running.board_reader {
            Some(worker) => write_profiles(&worker.api(), users).await?,
            None => write_plain_profiles(&stack.redis, &prefix, users)?,
        }
        if contender != Contender::Fixed {
            let mut requests = Requests::new(Load::Fresh, &running.activity_log);
            let url = running.uncached.url();
            client::send(url, &mut requests, load::CONNECTIONS, users).await?;
        }
        Ok(running)
    }

    /// Returns the Worker for a load.
    pub fn worker(&self, load: Load) -> &Worker {
        match load {
            Load::Cached => &self.cached,
            _ => &self.uncached,
        }
    }

    /// Starts another Worker for a load, with the store at another URL.
    pub fn start_worker(&self, load: Load, store: &str) -> Worker {
        let builder = self.builder.clone().store(store);
        match load {
            Load::Cached => with_cache(builder).start(),
            _ => builder.start(),
        }
    }

    /// Returns a client that reads its boards.
    pub fn board_reader(&self) -> Api {
        self.board_reader.as_ref().unwrap_or(&self.uncached).api()
    }
}

/// Configures a contender with a key prefix.
pub fn builder(
    contender: Contender,
    prefix: &str,
    (templates, responses): &(Templates, Responses),
) -> WorkerBuilder {
    let builder = worker_builder(prefix);
    match contender {
        Contender::Ours | Contender::Before => builder
            .bundle(&contender.bundle())
            .limited()
            .var("JWT_SECRET", JWT_SECRET)
            // A member sends more likes than a day may count by default.
            .json("RULES", json!({"like": {"member_cap": Layout::DEFAULT.max_points()}})),
        Contender::Limit | Contender::Posts | Contender::Hono | Contender::Fixed => builder
            .bundle(&contender.bundle())
            .json("TEMPLATES", json!(templates.with_prefix(prefix)))
            .json("RESPONSES", json!(responses)),
    }
}

fn with_cache(builder: WorkerBuilder) -> WorkerBuilder {
    builder.cached().json("CACHED", json!(true))
}

/// Writes a profile for every user into the plain hash of `posts.js`.
fn write_plain_profiles(redis: &RedisServer, prefix: &str, users: usize) -> Result<(), String> {
    let mut command = redis::cmd("HSET");
    command.arg(format!("{prefix}:profiles"));
    for user in 0..users {
        command.arg(user_id(user)).arg(profile(user).to_string());
    }
    let added = command.query::<i64>(&mut redis.connection());
    added.map(drop).map_err(|error| error.to_string())
}
