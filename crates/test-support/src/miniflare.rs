//! The built Worker in Miniflare, with the bindings of wrangler.toml.

use std::path::Path;
use std::process::Command;

use serde_json::{Map, Value, json};

use crate::repository;
use crate::server_process::ServerProcess;
use crate::services::{Queues, Services};
use crate::workerd::{STATE, wrap_in_probe};

/// The file name of the Worker's configuration.
pub(crate) const CONFIG: &str = "wrangler.json";

/// Writes the modules and the configuration of a Worker to a folder.
pub(crate) fn prepare(
    folder: &Path,
    bundle: &Path,
    vars: Map<String, Value>,
    limits: &[(String, u32)],
    services: Services,
) {
    repository::copy_bundle(bundle, folder);
    if services.is_probed() {
        wrap_in_probe(folder);
    }
    let mut config = config(vars, limits, services.queues);
    config["services"] = json!([{"binding": "SELF", "service": config["name"]}]);
    let table = config.as_object_mut().expect("a table");
    if !services.archive {
        table.remove("kv_namespaces");
    }
    if !services.analytics {
        table.remove("analytics_engine_datasets");
    }
    if !services.live {
        table.remove("durable_objects");
        table.remove("migrations");
    }
    let databases = config["d1_databases"].as_array_mut().expect("databases");
    databases.retain(|database| match database["binding"].as_str() {
        Some("ARCHIVE") => services.archive,
        _ => services.journal,
    });
    for database in databases {
        let migrations = database["migrations_dir"].as_str().expect("a folder");
        database["migrations_dir"] = json!(repository::root().join(migrations));
    }
    std::fs::write(folder.join(CONFIG), config.to_string()).expect("the configuration");
}

/// Serves a Worker by the name of its configuration, and returns its URL.
///
/// # Panics
///
/// Panics when Miniflare does not start.
pub(crate) fn serve(folder: &Path, config: &str) -> (ServerProcess, String) {
    let mut command = Command::new(repository::npm("node"));
    command.arg(repository::root().join("tests/miniflare.mjs"));
    command.args([config, STATE].map(|name| folder.join(name)));
    // The folder is removed when this process is killed.
    command.current_dir(folder);
    // TERM, not KILL, which would leave its workerd running.
    ServerProcess::start("Miniflare", "TERM", &command, ready_url)
        .unwrap_or_else(|reason| panic!("{reason}"))
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

/// Returns the address in `Ready on http://127.0.0.1:1234`.
fn ready_url(line: &str) -> Option<String> {
    let (_, url) = line.split_once("Ready on ")?;
    Some(url.trim().to_owned())
}
