//! The built Worker in a workerd of its own.

use std::path::Path;
use std::process::Command;

use serde_json::{Map, Value};
use tempfile::TempDir;

use crate::api::Api;
use crate::capnp::Services;
use crate::child::Child;
use crate::worker_builder::WorkerBuilder;
use crate::{capnp, repository};

/// The service key of every Worker a test starts.
pub const SERVICE_KEY: &str = "test-service-key";

/// A running Worker; ends on drop.
pub struct Worker {
    child: Child,
    url: String,
    prefix: String,
    /// The bundle and the configuration, removed at the end.
    _folder: TempDir,
}

impl Worker {
    /// Starts one as the [`builder`](Self::builder) makes it.
    ///
    /// # Panics
    ///
    /// As [`WorkerBuilder::start`].
    #[must_use]
    pub fn start() -> Self {
        Self::builder().start()
    }

    /// Configures one first.
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
        if services.ahead > 0 {
            modules.push(set_ahead(folder.path(), services.ahead));
        }
        let settings = repository::wrangler_toml();
        let date = settings["compatibility_date"].as_str();
        let flags = settings.get("compatibility_flags").cloned();
        let flags: Vec<String> =
            flags.map_or_else(Vec::new, |flags| flags.try_into().expect("flags are text"));
        let compatibility = (date.expect("a date"), flags.as_slice());
        // workerd knows no path relative to anything but the folder it runs in.
        let web = repository::root().join("web").canonicalize();
        let web = web.expect("the folder web");
        let config = capnp::config(compatibility, &modules, &vars, &web, services);
        if services.cached {
            std::fs::write(folder.path().join(capnp::CACHE), include_str!("cache.js"))
                .expect("the cache");
        }
        let path = folder.path().join("worker.capnp");
        std::fs::write(&path, config).expect("the configuration");

        let mut command = Command::new(repository::npm("workerd"));
        command.args(["serve", "--control-fd=1"]).arg(path);
        command.current_dir(folder.path());
        let (child, port) = Child::start("workerd", "KILL", &command, listening)
            .unwrap_or_else(|reason| panic!("{reason}"));
        Self {
            child,
            url: format!("http://127.0.0.1:{port}"),
            prefix,
            _folder: folder,
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

    /// A client with the service key.
    #[must_use]
    pub fn api(&self) -> Api {
        Api::new(&self.url).with_key(SERVICE_KEY)
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

    /// What it has logged so far.
    #[must_use]
    pub fn log(&self) -> String {
        self.child.log()
    }
}

/// Puts an entry point with another clock before that in a folder, and returns the name of that.
fn set_ahead(folder: &Path, by: u64) -> String {
    let name = "rank.js";
    std::fs::rename(folder.join("index.js"), folder.join(name)).expect("the entry point");
    let entry = format!(
        "const clock = Date.now; Date.now = () => clock() + {by};\n\
         export * from './{name}'; export {{ default }} from './{name}';\n"
    );
    std::fs::write(folder.join("index.js"), entry).expect("an entry point");
    name.to_owned()
}

/// The port in `{"event":"listen","socket":"http","port":1234}`.
fn listening(line: &str) -> Option<u64> {
    let event: Value = serde_json::from_str(line).ok()?;
    event.get("port")?.as_u64()
}
