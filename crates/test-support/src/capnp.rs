//! The configuration of a plain workerd, in Cap'n Proto's text format.

use std::fmt::Write;
use std::path::Path;

use serde_json::{Map, Value};

/// The file name of the Cache API's module.
pub(crate) const CACHE: &str = "memory_cache.js";

/// The file name of the module of a caller that aborts requests.
pub(crate) const CALLER: &str = "aborting_caller.js";

/// A Cache API.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cache {
    /// In memory.
    Memory,
    /// Stores nothing and does not fail, as under workers.dev.
    Forgetful,
}

impl Cache {
    /// Returns the module that serves it.
    pub(crate) fn module(self) -> &'static str {
        match self {
            Self::Memory => include_str!("memory_cache.js"),
            Self::Forgetful => {
                "export default { fetch: ({ method }) => method === 'PUT' ? new Response(null, { status: 204 }) \
                 : new Response(null, { status: 504, headers: { 'cf-cache-status': 'MISS' } }) }"
            }
        }
    }
}

/// Platform services of a Worker in plain workerd.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Services {
    /// The binding `ASSETS` with the files of `build/web/`.
    pub files: bool,
    /// The Cache API, in memory.
    pub cache: Option<Cache>,
    /// The Durable Object of live boards.
    pub live: bool,
    /// A Worker in front that forwards requests, and aborts those with `X-Abort-After`.
    pub aborting: bool,
    /// Rate limiters that never reach their limit: plain workerd has none.
    pub limited: bool,
    /// The dataset of Analytics Engine, whose data points are logged.
    pub analytics: bool,
    /// Seconds between two checks of a live board; 0 for the Worker's own.
    pub check_interval: u64,
    /// Whether a request runs cron.
    pub cron: bool,
    /// Whether a request reads the size of the wasm's memory.
    pub wasm_memory: bool,
    /// Milliseconds by which the Worker's clock is ahead.
    pub ahead: i64,
}

/// Renders a configuration that serves the modules next to it, the entry point first, on a port that
/// workerd chooses. Strings become text bindings, tables and numbers JSON bindings, as wrangler does
/// with `[vars]`. A request with `X-Forwarded-Proto: https` counts as HTTPS. The Cache API is served
/// by [`CACHE`] if enabled and throws otherwise.
pub(crate) fn config(
    (date, flags): (&str, &[String]),
    modules: &[String],
    vars: &Map<String, Value>,
    web: &Path,
    Services {
        files,
        cache,
        live,
        limited,
        aborting,
        analytics,
        ..
    }: Services,
) -> String {
    let mut bindings = String::new();
    for (name, value) in vars {
        let (kind, content) = match value {
            Value::String(text) => ("text", text.clone()),
            other => ("json", other.to_string()),
        };
        let (name, content) = (quoted(name), quoted(&content));
        // Writing to a String cannot fail.
        let _ = writeln!(bindings, "    (name = {name}, {kind} = {content}),");
    }
    let mut services = String::new();
    if files {
        bindings += "    (name = \"ASSETS\", service = \"files\"),\n";
        let folder = quoted(web.to_str().expect("a path in UTF-8"));
        let _ = write!(
            services,
            "\n    (name = \"files\", disk = (path = {folder})),"
        );
    }
    let mut objects = "";
    if live {
        bindings.push_str("    (name = \"LIVE\", durableObjectNamespace = \"Live\"),\n");
        objects = r#"
  durableObjectNamespaces = [(className = "Live", uniqueKey = "live", enableSql = true)],
  durableObjectStorage = (inMemory = void),"#;
    }
    let mut extensions = String::new();
    if limited {
        for name in ["WRITE_LIMIT", "READ_LIMIT"] {
            let _ = writeln!(
                bindings,
                "    (name = {}, wrapped = (moduleName = \"limiter\")),",
                quoted(name)
            );
        }
        let code = "export default () => ({ limit: async () => ({ success: true }) })";
        let _ = write!(
            extensions,
            "\n  extensions = [(modules = [(name = \"limiter\", internal = true, esModule = {})])],",
            quoted(code)
        );
    }
    if analytics {
        bindings.push_str("    (name = \"ANALYTICS\", analyticsEngine = \"points\"),\n");
        // workerd sends each data point as JSON.
        let code = "export default { async fetch(request) { \
            console.log(`POINT ${await request.text()}`); return new Response() } }";
        let _ = write!(
            services,
            "\n    (name = \"points\", worker = (modules = [(name = \"points.js\", esModule = {})], \
             compatibilityDate = {})),",
            quoted(code),
            quoted(date)
        );
    }
    let modules: Vec<_> = modules.iter().map(|name| module(name)).collect();
    let flags: Vec<_> = flags.iter().map(|flag| quoted(flag)).collect();
    let mut outbound = "";
    if cache.is_some() {
        let cache = module(CACHE);
        let _ = write!(
            services,
            "\n    (name = \"cache\", worker = (modules = [{}], compatibilityDate = {})),",
            cache.trim().trim_end_matches(','),
            quoted(date)
        );
        outbound = "\n  cacheApiOutbound = \"cache\",";
    }
    let mut service = "main";
    if aborting {
        let caller = module(CALLER);
        let _ = write!(
            services,
            "\n    (name = \"caller\", worker = (modules = [{}], compatibilityDate = {}, compatibilityFlags = \
             [\"enable_request_signal\"], bindings = [(name = \"MAIN\", service = \"main\")])),",
            caller.trim().trim_end_matches(','),
            quoted(date)
        );
        service = "caller";
    }
    format!(
        r#"using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "internet", network = (allow = ["public", "private", "local"])),{services}
  ],
  sockets = [(
    name = "http",
    address = "127.0.0.1:0",
    http = (forwardedProtoHeader = "X-Forwarded-Proto"),
    service = "{service}",
  )],{extensions}
);

const main :Workerd.Worker = (
  modules = [
{modules}
  ],
  compatibilityDate = {date},
  compatibilityFlags = [{flags}],
  bindings = [
{bindings}  ],{objects}{outbound}
);
"#,
        date = quoted(date),
        flags = flags.join(", "),
        modules = modules.join("\n"),
    )
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

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn quoted_escapes_quotes_backslashes_and_controls() {
        assert_eq!(quoted("a\"b\\c\nd…"), r#""a\"b\\c\x0ad…""#);
    }
}
