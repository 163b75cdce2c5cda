//! Prepares the Lua scripts: joins the files of each script, strips comments and indentation, and
//! computes the SHA-1 digest by which `EVALSHA` names it.

use sha1::{Digest, Sha1};
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

/// The scripts of `src/scripts`, and the files that make up each of them.
const SCRIPTS: [(&str, &[&str]); 15] = [
    ("ABOVE", &["above"]),
    ("ARCHIVE_PAGE", &["archive_page"]),
    ("ARCHIVE_STATES", &["archive_states"]),
    ("AROUND", &["rows", "around"]),
    ("AUDITED", &["audited"]),
    ("COMPARE", &["hidden", "compare"]),
    (
        "COUNT",
        &["journal", "audit", "count_call", "count_state", "count"],
    ),
    ("ERASE", &["journal", "audit", "erase"]),
    ("FIRST_PROFILE", &["journal", "first_profile"]),
    ("MODERATE", &["journal", "audit", "visibility", "moderate"]),
    ("PROFILES", &["journal", "audit", "visibility", "profiles"]),
    ("SCORES", &["scores"]),
    ("STANDING", &["rows", "hidden", "standing"]),
    ("TOP", &["rows", "top"]),
    ("WINNERS", &["rows", "winners"]),
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

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=src/scripts");
    let mut code = String::new();
    for (name, files) in SCRIPTS {
        let mut text = String::new();
        for file in files {
            let source = fs::read_to_string(format!("src/scripts/{file}.lua"))?;
            text += &strip(&source.replace("ACTION_CODES", &lua_action_codes()));
        }
        let mut sha = String::new();
        for byte in Sha1::digest(text.as_bytes()) {
            write!(sha, "{byte:02x}")?;
        }
        writeln!(
            code,
            "/// The script of {}.\npub static {name}: Script = Script {{ text: {text:?}, sha: {sha:?} }};",
            files
                .iter()
                .map(|file| format!("`{file}.lua`"))
                .collect::<Vec<_>>()
                .join(", "),
        )?;
    }
    let folder = env::var("OUT_DIR")?;
    fs::write(Path::new(&folder).join("scripts.rs"), code)?;
    let codes = format!("{ACTION_CODES:?}");
    fs::write(Path::new(&folder).join("action_codes.rs"), codes)?;
    Ok(())
}

/// Returns the table of action codes as the fields of a Lua table.
fn lua_action_codes() -> String {
    let fields = ACTION_CODES.map(|(letter, action)| format!("{action} = '{letter}'"));
    fields.join(", ")
}

/// Removes comment lines, indentation and empty lines: the wasm contains every script.
fn strip(lua: &str) -> String {
    let lines = lua.lines().map(str::trim_start);
    let code = lines.filter(|line| !line.is_empty() && !line.starts_with("--"));
    code.flat_map(|line| [line, "\n"]).collect()
}
