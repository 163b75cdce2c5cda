//! The built Worker in `wrangler dev`, with everything wrangler.toml gives it.

use std::path::Path;
use std::process::Command;

use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::api::Api;
use crate::child::Child;
use crate::repository;
use crate::worker::SERVICE_KEY;

/// A running `wrangler dev`; ends on drop.
pub struct Wrangler {
    child: Child,
    url: String,
    prefix: String,
    /// The bundle, the configuration and what the local services persist.
    _folder: TempDir,
}

impl Wrangler {
    pub(crate) fn run(bundle: &Path, (vars, prefix): (Map<String, Value>, String)) -> Self {
        let folder = tempfile::tempdir().expect("a folder for wrangler");
        repository::copy_bundle(bundle, folder.path());
        let config = config(vars).to_string();
        std::fs::write(folder.path().join("wrangler.json"), config).expect("the configuration");

        let bin = repository::root().join("node_modules/.bin");
        let mut paths = vec![bin];
        paths.extend(std::env::split_paths(
            &std::env::var_os("PATH").unwrap_or_default(),
        ));
        let mut command = Command::new(repository::npm("wrangler"));
        command.current_dir(folder.path());
        command.args(["dev", "--config", "wrangler.json", "--ip", "127.0.0.1"]);
        command.args(["--port", "0", "--inspector-port", "0"]);
        command.args([
            "--persist-to",
            "state",
            "--show-interactive-dev-session=false",
        ]);
        // wrangler needs the node that npm installed, not the machine's.
        command.env("PATH", std::env::join_paths(paths).expect("PATH"));
        command.env("WRANGLER_SEND_METRICS", "false");
        command.env("CLOUDFLARE_CF_FETCH_ENABLED", "false");
        command.env("WRANGLER_LOG_PATH", folder.path().join("logs"));
        // TERM, not KILL: killed, it would leave its workerd behind.
        let (child, url) = Child::start("wrangler", "TERM", &command, ready)
            .unwrap_or_else(|reason| panic!("{reason}"));
        Self {
            child,
            url,
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

    /// What it has logged so far.
    #[must_use]
    pub fn log(&self) -> String {
        self.child.log()
    }
}

/// wrangler.toml with the bundle beside it, other variables, and without what is of no use in a
/// test: a build command would build anew at each start.
fn config(vars: Map<String, Value>) -> Value {
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
    config
}

/// The address in `Ready on http://127.0.0.1:1234`.
fn ready(line: &str) -> Option<String> {
    let (_, url) = line.split_once("Ready on ")?;
    Some(url.trim().to_owned())
}
