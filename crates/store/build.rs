//! Prepares the Lua scripts: joins the files of each script, strips comments and indentation, and
//! computes the SHA-1 digests by which `EVALSHA` names it, with and without its flags.

use sha1::{Digest, Sha1};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

/// The scripts of `src/scripts`, and the files that make up each of them, after [`FIRST`].
const SCRIPTS: [(&str, &[&str]); 33] = [
    ("ABOVE", &["above"]),
    ("ACCOUNT", &["journal", "integers", "audit", "account"]),
    ("ADJUST", &["integers", "score", "user", "adjust"]),
    ("ARCHIVE_PAGE", &["order", "archive_page"]),
    ("ARCHIVE_STATES", &["order", "archive_states"]),
    (
        "AROUND",
        &["rows", "bytes", "count_above", "related", "around"],
    ),
    ("AUDITED", &["audited"]),
    ("AWARD", &["journal", "integers", "audit", "award"]),
    ("COMPARE", &["related", "comparison", "compare"]),
    ("COUNT", &["integers", "score", "user", "count"]),
    ("DEFINE", &["journal", "integers", "set_field", "define"]),
    (
        "ERASE",
        &["journal", "integers", "audit", "pending", "erase"],
    ),
    ("ERASED", &["erased"]),
    ("FIRST_PROFILE", &["journal", "first_profile"]),
    (
        "FRIENDS",
        &["bytes", "follows", "related", "comparison", "friends"],
    ),
    ("HOT", &["rows", "bytes", "hot"]),
    (
        "MODERATE",
        &["journal", "integers", "audit", "pending", "moderate"],
    ),
    (
        "MODERATE_TARGET",
        &["journal", "integers", "audit", "pending", "moderate_target"],
    ),
    (
        "NEXT_ABOVE",
        &["bytes", "count_above", "count_friends", "next_above"],
    ),
    ("PAUSE", &["journal", "pause"]),
    (
        "PROFILES",
        &["journal", "integers", "audit", "pending", "profiles"],
    ),
    (
        "RECEIVE",
        &["integers", "score", "order", "set_field", "receive"],
    ),
    ("RESUME", &["resume"]),
    ("SCORES", &["scores"]),
    (
        "SETTLE",
        &[
            "journal", "integers", "score", "order", "audit", "pending", "settle",
        ],
    ),
    ("STANDING", &["rows", "related", "standing"]),
    (
        "STANDINGS",
        &["bytes", "follows", "count_friends", "standings"],
    ),
    ("TARGETS", &["integers", "journal", "targets"]),
    ("TOP", &["rows", "related", "top"]),
    ("TOTALS", &["totals"]),
    ("USER_TARGETS", &["bytes", "user_targets"]),
    ("WATCH", &["integers", "watch"]),
    ("WINNERS", &["rows", "winners"]),
];

/// The file that every script begins with.
const FIRST: &str = "users";

/// The script that runs others as functions, with those and its files.
const SCRATCH: (&str, [&str; 3]) = ("SCRATCH", ["COUNT", "RECEIVE", "ACCOUNT"]);
const SCRATCH_FILES: [&str; 3] = ["scratch_start", "calls", "scratch"];

/// The scripts that write. Upstash runs the others beside each other.
const WRITING: [&str; 17] = [
    "ACCOUNT",
    "ADJUST",
    "AWARD",
    "COUNT",
    "DEFINE",
    "ERASE",
    "FIRST_PROFILE",
    "MODERATE",
    "MODERATE_TARGET",
    "PAUSE",
    "PROFILES",
    "RECEIVE",
    "RESUME",
    "SCRATCH",
    "SETTLE",
    "TARGETS",
    "WATCH",
];

/// The letters that replace actions in fields: those of the default rules, and adjustments. No rule
/// can name an action like one of these letters. Stored data contains them, so they never change.
const ACTION_CODES: [(&str, &str); 7] = [
    ("A", "adjust"),
    ("B", "bookmark"),
    ("C", "comment"),
    ("F", "follow"),
    ("L", "like"),
    ("P", "publish"),
    ("V", "visit"),
];

/// A part of a script.
#[derive(Clone)]
enum Part {
    /// A file, which scripts share.
    File(&'static str),
    /// A text.
    Text(String),
}

impl Part {
    fn text<'a>(&'a self, files: &'a BTreeMap<&str, String>) -> &'a str {
        match self {
            Self::File(file) => files.get(file).map_or("", String::as_str),
            Self::Text(text) => text,
        }
    }

    /// Returns a reference to the constant.
    fn constant(&self) -> String {
        match self {
            Self::File(file) => format!("&{}_LUA", file.to_uppercase()),
            Self::Text(text) => format!("&{text:?}"),
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=src/scripts");
    let mut code = String::new();
    // Each file is one constant: the wasm contains it once, however many scripts use it.
    let mut parts = BTreeMap::new();
    let listed = SCRIPTS.iter().flat_map(|(_, files)| files.iter());
    for file in listed.chain([&FIRST]).chain(&SCRATCH_FILES) {
        let source = fs::read_to_string(format!("src/scripts/{file}.lua"))?;
        parts.insert(*file, strip(&source));
    }
    for (file, text) in &parts {
        let visibility = if *file == "calls" {
            "/// `calls.lua`.\npub "
        } else {
            ""
        };
        writeln!(
            code,
            "{visibility}static {}_LUA: &str = {text:?};",
            file.to_uppercase()
        )?;
    }
    let mut scripts: Vec<(&str, Vec<Part>)> = Vec::new();
    for (name, files) in SCRIPTS {
        let files = [&FIRST].into_iter().chain(files);
        scripts.push((name, files.map(|file| Part::File(file)).collect()));
    }
    let (name, called) = SCRATCH;
    let [start, rest @ ..] = SCRATCH_FILES;
    let mut scratch = vec![Part::File(start)];
    for called in called {
        let function = called.to_lowercase();
        scratch.push(Part::Text(format!(
            "scripts.{function} = function(KEYS, ARGV)\n"
        )));
        let found = scripts.iter().find(|(name, _)| *name == called);
        scratch.extend(found.into_iter().flat_map(|(_, parts)| parts.clone()));
        scratch.push(Part::Text("end\n".to_owned()));
    }
    scratch.extend(rest.map(Part::File));
    scripts.push((name, scratch));
    for (name, script) in &scripts {
        let text: String = script.iter().map(|part| part.text(&parts)).collect();
        let constants: Vec<String> = script.iter().map(Part::constant).collect();
        let no_writes = if WRITING.contains(name) {
            ""
        } else {
            ",no-writes"
        };
        let shebang = format!("#!lua flags=allow-key-locking{no_writes}\n");
        let (sha, plain_sha) = (sha1(&format!("{shebang}{text}"))?, sha1(&text)?);
        let files = script.iter().filter_map(|part| match part {
            Part::File(file) => Some(format!("`{file}.lua`")),
            Part::Text(_) => None,
        });
        let files: Vec<String> = files.collect();
        writeln!(
            code,
            "/// The script of {}.\npub static {name}: Script = Script {{ shebang: {shebang:?}, \
             parts: &[{}], sha: {sha:?}, plain_sha: {plain_sha:?} }};",
            files.join(", "),
            constants.join(", "),
        )?;
    }
    let names = scripts.iter();
    let names: Vec<String> = names
        .map(|(name, _)| format!("({name:?}, &{name})"))
        .collect();
    writeln!(
        code,
        "/// Every script, by name.\npub static ALL: [(&str, &Script); {}] = [{}];",
        names.len(),
        names.join(", "),
    )?;
    let folder = env::var("OUT_DIR")?;
    fs::write(Path::new(&folder).join("scripts.rs"), code)?;
    let codes = format!("{ACTION_CODES:?}");
    fs::write(Path::new(&folder).join("action_codes.rs"), codes)?;
    Ok(())
}

/// Returns the SHA-1 digest of a text in lower-case hexadecimal.
fn sha1(text: &str) -> Result<String, std::fmt::Error> {
    let mut digits = String::new();
    for byte in Sha1::digest(text.as_bytes()) {
        write!(digits, "{byte:02x}")?;
    }
    Ok(digits)
}

/// Removes comment lines, indentation and empty lines: the wasm contains every script.
fn strip(lua: &str) -> String {
    let lines = lua.lines().map(str::trim_start);
    let code = lines.filter(|line| !line.is_empty() && !line.starts_with("--"));
    code.flat_map(|line| [line, "\n"]).collect()
}
