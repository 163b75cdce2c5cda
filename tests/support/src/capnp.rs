//! The configuration of a plain workerd, in Cap'n Proto's text form.

use std::fmt::Write;
use std::path::Path;

use serde_json::{Map, Value};

/// The module of the cache, where there is one.
pub(crate) const CACHE: &str = "support-cache.js";

/// What a Worker has of what the platform provides.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Services {
    /// The files of `web/`.
    pub files: bool,
    /// The Cache API, in memory.
    pub cached: bool,
    /// The object of live boards.
    pub live: bool,
    /// By how many milliseconds its clock is ahead.
    pub ahead: u64,
}

/// A configuration that serves the modules beside it, the entry point first, on a port of workerd's
/// choice. Tables and numbers become JSON bindings and strings text bindings, as wrangler makes
/// them of `[vars]`. The binding `ASSETS` serves a folder. Boards may be live, by a Durable Object of
/// the Worker's. A request with `X-Forwarded-Proto: https` counts as one by https. The Cache API
/// throws, or asks [`CACHE`].
pub(crate) fn config(
    (date, flags): (&str, &[String]),
    modules: &[String],
    vars: &Map<String, Value>,
    web: &Path,
    Services {
        files,
        cached,
        live,
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
        // Writing to a String can't fail.
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
    let modules: Vec<_> = modules.iter().map(|name| module(name)).collect();
    let flags: Vec<_> = flags.iter().map(|flag| quoted(flag)).collect();
    let mut outbound = "";
    if cached {
        let cache = module(CACHE);
        let _ = write!(
            services,
            "\n    (name = \"cache\", worker = (modules = [{}], compatibilityDate = {})),",
            cache.trim().trim_end_matches(','),
            quoted(date)
        );
        outbound = "\n  cacheApiOutbound = \"cache\",";
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
    service = "main",
  )],
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

/// A text literal: C's escapes, UTF-8 as it is.
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
    fn a_literal_escapes_quotes_backslashes_and_control_characters_only() {
        assert_eq!(quoted("a\"b\\c\nd…"), r#""a\"b\\c\x0ad…""#);
    }
}
