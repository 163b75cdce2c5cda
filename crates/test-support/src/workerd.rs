//! The built Worker in plain workerd, and its configuration in Cap'n Proto's text format.
//!
//! D1, KV and Queues are Workers that workerd brings: `bundled` names them, and the header of each, in the binary, describes
//! its configuration.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::{Map, Value, json};

use crate::repository;
use crate::server_process::ServerProcess;
use crate::services::{Cache, Queues, Services};

/// The folder of persisted state.
pub(crate) const STATE: &str = "state";

/// The folders of state, and of large values of KV.
const FOLDERS: [&str; 2] = [STATE, "blobs"];

/// The file name of the configuration.
const CONFIG: &str = "worker.capnp";

/// The file name of the Cache API's module.
const CACHE: &str = "memory_cache.js";

/// The file name of the module of a caller that aborts requests.
const CALLER: &str = "aborting_caller.js";

/// The databases by binding, with their migrations.
const DATABASES: [(&str, &str); 2] = [
    ("ARCHIVE", "migrations/archive"),
    ("JOURNAL", "migrations/journal"),
];

/// Writes the modules, the configuration and the migrated databases of a Worker to a folder.
///
/// # Panics
///
/// Panics when the Worker has not been built.
pub(crate) fn prepare(folder: &Path, bundle: &Path, vars: &Map<String, Value>, services: Services) {
    let mut modules = repository::copy_bundle(bundle, folder);
    if services.check_interval > 0 {
        set_check_interval(folder, services.check_interval);
    }
    if services.ahead != 0 {
        modules.push(shift_clock(folder, services.ahead));
    }
    if services.wasm_memory {
        modules.extend(add_wasm_memory(folder));
    }
    if services.is_probed() {
        modules.extend(wrap_in_probe(folder));
    }
    if services.aborting {
        write_caller(folder);
    }
    if let Some(cache) = services.cache {
        let module = match cache {
            Cache::Memory => include_str!("memory_cache.js"),
            Cache::Forgetful => include_str!("forgetful_cache.js"),
        };
        std::fs::write(folder.join(CACHE), module).expect("the cache");
    }
    if services.archive || services.journal {
        for (path, bytes) in migrated() {
            write_file(&folder.join(path), bytes);
        }
    }
    write_config(folder, &modules, vars, services);
}

fn write_config(folder: &Path, modules: &[String], vars: &Map<String, Value>, services: Services) {
    // workerd resolves paths relative to its working directory, and makes no folder.
    for name in FOLDERS {
        std::fs::create_dir_all(folder.join(name)).expect("a folder");
    }
    let config = config(modules, vars, services);
    std::fs::write(folder.join(CONFIG), config).expect("the configuration");
}

/// Serves a Worker that [`prepare`] has written, and returns its URL.
///
/// # Panics
///
/// Panics when workerd does not start.
pub(crate) fn serve(folder: &Path) -> (ServerProcess, String) {
    let mut command = Command::new(repository::npm("workerd"));
    // D1, KV, Queues and Analytics Engine are experimental.
    command.args(["serve", "--control-fd=1", "--experimental", CONFIG]);
    command.current_dir(folder);
    let (child, port) = ServerProcess::start("workerd", "KILL", &command, listening_port)
        .unwrap_or_else(|reason| panic!("{reason}"));
    (child, format!("http://127.0.0.1:{port}"))
}

/// Files by their path in the folder of a Worker.
type Files = Vec<(PathBuf, Vec<u8>)>;

/// Returns the state of the databases after all migrations, which run once in a process.
fn migrated() -> &'static Files {
    static MIGRATED: OnceLock<Files> = OnceLock::new();
    MIGRATED.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder for workerd");
        let folder = folder.path();
        let mut statements = Map::new();
        for (binding, migrations) in DATABASES {
            let files = repository::root().join(migrations).read_dir();
            let files = files
                .expect("migrations")
                .map(|file| file.expect("a file").path());
            let mut files: Vec<PathBuf> = files.collect();
            files.sort();
            let texts = files
                .iter()
                .map(|file| std::fs::read_to_string(file).expect("SQL"));
            statements.insert(binding.to_owned(), Value::from_iter(texts));
        }
        let script = include_str!("migrate.js");
        std::fs::write(folder.join("index.js"), script).expect("the script");
        let vars = Map::from_iter([("MIGRATIONS".to_owned(), Value::Object(statements))]);
        let services = Services {
            archive: true,
            journal: true,
            ..Services::default()
        };
        write_config(folder, &["index.js".to_owned()], &vars, services);
        let (child, url) = serve(folder);
        // A thread of its own: tests call this in async functions, and the client blocks.
        let response = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let api = crate::api::Api::new(&url);
            let response = runtime.expect("a runtime").block_on(api.get("/"));
            (response.status, response.text)
        });
        assert_eq!(
            response.join().expect("a response"),
            (200, "migrated".to_owned())
        );
        drop(child);
        let mut files = Files::new();
        read_files(folder, Path::new(STATE), &mut files);
        files
    })
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

fn write_file(path: &Path, bytes: &[u8]) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, bytes).expect("a file");
}

/// Wraps the entry point in the probe. Returns the names of the modules that this adds.
pub(crate) fn wrap_in_probe(folder: &Path) -> [String; 2] {
    write_caller(folder);
    [
        wrap_entry(folder, "rank.js", include_str!("probe.js")),
        CALLER.to_owned(),
    ]
}

fn write_caller(folder: &Path) {
    let caller = include_str!("aborting_caller.js");
    std::fs::write(folder.join(CALLER), caller).expect("the script");
}

/// Renders a configuration that serves the modules next to it, the entry point first, on a port that
/// workerd chooses. Strings become text bindings, tables and numbers JSON bindings, as wrangler does
/// with `[vars]`. A request with `X-Forwarded-Proto: https` counts as HTTPS.
fn config(modules: &[String], vars: &Map<String, Value>, services: Services) -> String {
    let settings = repository::wrangler_toml();
    let date = settings["compatibility_date"].as_str().expect("a date");
    let mut config = Config {
        date: quoted(date),
        bindings: String::new(),
        services: String::new(),
        extensions: String::new(),
    };
    for (name, value) in vars {
        let (kind, content) = match value {
            Value::String(text) => ("text", text.clone()),
            other => ("json", other.to_string()),
        };
        config.bind(name, &format!("{kind} = {}", quoted(&content)));
    }
    config.bind("SELF", "service = \"main\"");
    for folder in FOLDERS {
        config.serve(
            folder,
            &format!("disk = (path = {}, writable = true)", quoted(folder)),
        );
    }
    if services.files {
        let folder = repository::root().join("build/web").canonicalize();
        let folder = folder.expect("build/web: run `make build`");
        let folder = quoted(folder.to_str().expect("a path in UTF-8"));
        config.bind("ASSETS", "service = \"files\"");
        config.serve("files", &format!("disk = (path = {folder})"));
    }
    if services.limited {
        for name in ["WRITE_LIMIT", "READ_LIMIT"] {
            config.bind(name, "wrapped = (moduleName = \"limiter\")");
        }
        let code = "export default () => ({ limit: async () => ({ success: true }) })";
        let _ = write!(
            config.extensions,
            "(modules = [(name = \"limiter\", internal = true, esModule = {})])",
            quoted(code)
        );
    }
    if services.analytics {
        config.bind("ANALYTICS", "analyticsEngine = \"points\"");
        // workerd sends each data point as JSON.
        let code = "export default { async fetch(request) { \
            console.log(`POINT ${await request.text()}`); return new Response() } }";
        config.serve_worker("points", &format!("esModule = {}", quoted(code)), "");
    }
    config.bind_databases(services);
    if let Some(queues) = services.queues {
        config.bind_queues(queues);
    }
    let mut main = String::new();
    if services.live {
        config.bind("LIVE", "durableObjectNamespace = \"Live\"");
        main += "durableObjectNamespaces = [(className = \"Live\", uniqueKey = \"live\", enableSql = true)],
  durableObjectStorage = (inMemory = void),";
    }
    if services.cache.is_some() {
        let code = format!("esModule = embed {}", quoted(CACHE));
        config.serve_worker("cache", &code, "");
        main += "cacheApiOutbound = \"cache\",";
    }
    let mut entry = "main";
    if services.aborting {
        let code = format!("esModule = embed {}", quoted(CALLER));
        let more = "compatibilityFlags = [\"enable_request_signal\"], \
            bindings = [(name = \"MAIN\", service = \"main\")]";
        config.serve_worker("caller", &code, more);
        entry = "caller";
    }
    let modules: Vec<_> = modules.iter().map(|name| module(name)).collect();
    let Config {
        date,
        bindings,
        services,
        extensions,
    } = config;
    format!(
        r#"using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "internet", network = (allow = ["public", "private", "local"])),
{services}  ],
  sockets = [(
    name = "http",
    address = "127.0.0.1:0",
    http = (forwardedProtoHeader = "X-Forwarded-Proto"),
    service = "{entry}",
  )],
  extensions = [{extensions}],
);

const main :Workerd.Worker = (
  modules = [
{modules}
  ],
  compatibilityDate = {date},
  bindings = [
{bindings}  ],
  {main}
);
"#,
        modules = modules.join("\n"),
    )
}

/// The parts of a configuration that grow with the services.
struct Config {
    date: String,
    bindings: String,
    services: String,
    extensions: String,
}

// Writing to a String cannot fail.
impl Config {
    fn bind(&mut self, name: &str, value: &str) {
        let _ = writeln!(self.bindings, "    (name = {}, {value}),", quoted(name));
    }

    fn serve(&mut self, name: &str, service: &str) {
        let _ = writeln!(self.services, "    (name = {}, {service}),", quoted(name));
    }

    /// Adds a Worker of one module; `more` are further fields of the Worker.
    fn serve_worker(&mut self, name: &str, module: &str, more: &str) {
        let worker = format!(
            "worker = (modules = [(name = {}, {module})], compatibilityDate = {}, {more})",
            quoted(&format!("{name}.js")),
            self.date
        );
        self.serve(name, &worker);
    }

    /// Adds a Worker that workerd brings, with a class of Durable Objects that store its state on disk.
    fn serve_bundled(&mut self, name: &str, (binding, class): (&str, &str), more: &str) {
        let module = format!("bundled = \"/workerd/{name}.js\"");
        let class = quoted(class);
        let more = format!(
            "durableObjectNamespaces = [(className = {class}, uniqueKey = {}, enableSql = true)], \
             durableObjectStorage = (localDisk = \"state\"), compatibilityFlags = [\"service_binding_extra_handlers\"], \
             bindings = [(name = {}, durableObjectNamespace = {class}), {more}]",
            quoted(name),
            quoted(binding),
        );
        self.serve_worker(name, &module, &more);
    }

    fn bind_databases(&mut self, services: Services) {
        if !services.archive && !services.journal {
            return;
        }
        self.serve_bundled("d1", ("DATABASE", "D1Database"), "");
        for (binding, _) in DATABASES {
            if binding == "ARCHIVE" && !services.archive
                || binding == "JOURNAL" && !services.journal
            {
                continue;
            }
            let database = quoted(&json!({ "database": binding }).to_string());
            let d1 = format!(
                "wrapped = (moduleName = \"cloudflare-internal:d1-api\", innerBindings = [(name = \"fetcher\", \
                 service = (name = \"d1\", props = (json = {database})))])"
            );
            self.bind(binding, &d1);
        }
        if services.archive {
            let blobs = "(name = \"BLOBS\", service = \"blobs\")";
            self.serve_bundled("kv", ("SHARD", "KVNamespace"), blobs);
            let namespace = quoted(&json!({ "namespace": "SNAPSHOTS" }).to_string());
            let kv = format!("kvNamespace = (name = \"kv\", props = (json = {namespace}))");
            self.bind("SNAPSHOTS", &kv);
        }
    }

    fn bind_queues(&mut self, queues: Queues) {
        let settings = repository::wrangler_toml();
        let queue = &settings["queues"]["consumers"][0];
        let number = |name: &str| queue[name].as_integer().expect("a number");
        let text = |name: &str| queue[name].as_str().expect("a name");
        let (timeout, retries) = match queues {
            Queues::Shipped => (number("max_batch_timeout"), number("max_retries")),
            Queues::Immediate { attempts } => (0, i64::from(attempts) - 1),
        };
        let (queued, dead) = (text("queue"), text("dead_letter_queue"));
        let consumers = json!({
            queued: {"consumer": "MAIN", "maxBatchSize": number("max_batch_size"), "maxBatchTimeout": timeout,
                "maxRetries": retries, "maxConcurrency": number("max_concurrency"), "deadLetterQueue": dead},
            dead: {"consumer": "MAIN", "maxBatchTimeout": 0},
        });
        let more = format!(
            "(name = \"MAIN\", service = \"main\"), (name = \"CONSUMERS\", json = {})",
            quoted(&consumers.to_string())
        );
        self.serve_bundled("queues", ("SHARD", "QueueShard"), &more);
        for (binding, queue) in [("HELD", queued), ("DEAD", dead)] {
            let queue = quoted(&json!({ "queue": queue }).to_string());
            let queue = format!("queue = (name = \"queues\", props = (json = {queue}))");
            self.bind(binding, &queue);
        }
    }
}

fn module(name: &str) -> String {
    let kind = if name.ends_with(".wasm") {
        "wasm"
    } else {
        "esModule"
    };
    let name = quoted(name);
    format!("    (name = {name}, {kind} = embed {name}),")
}

/// Returns a text literal with C escapes and plain UTF-8.
fn quoted(text: &str) -> String {
    let mut literal = String::from('"');
    for character in text.chars() {
        match character {
            '"' => literal.push_str("\\\""),
            '\\' => literal.push_str("\\\\"),
            control if control.is_ascii_control() => {
                let _ = write!(literal, "\\x{:02x}", u32::from(control));
            }
            other => literal.push(other),
        }
    }
    literal.push('"');
    literal
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

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn quoted_escapes_quotes_backslashes_and_controls() {
        assert_eq!(quoted("a\"b\\c\nd…"), r#""a\"b\\c\x0ad…""#);
    }
}
