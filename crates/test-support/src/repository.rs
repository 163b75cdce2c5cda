//! Paths and files of this checkout.

use std::path::{Path, PathBuf};

/// Returns the root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns cargo's output folder of the running program, such as `target/debug`.
///
/// # Panics
///
/// Never panics in a program that cargo built.
pub fn target() -> PathBuf {
    let program = std::env::current_exe().expect("a program knows its own path");
    let folder = program.parent().expect("a program is in a folder");
    // Test binaries are one level deeper.
    let folder = match folder.ends_with("deps") {
        true => folder.parent().expect("the folder of the profile"),
        false => folder,
    };
    folder.to_owned()
}

/// Returns the path of a binary of this workspace, built with the test's profile.
///
/// # Panics
///
/// Panics when it has not been built.
pub(crate) fn binary(name: &str) -> PathBuf {
    let path = target().join(name);
    assert!(
        path.exists(),
        "{} is missing: run `make test`",
        path.display()
    );
    path
}

/// Returns the path of a command that npm installed, such as `workerd`.
///
/// # Panics
///
/// Panics when it is not installed.
pub fn npm(name: &str) -> PathBuf {
    let path = root().join("node_modules/.bin").join(name);
    assert!(
        path.exists(),
        "{} is missing: run `make tools`",
        path.display()
    );
    path
}

/// Copies the modules of a bundle, so that a concurrent build cannot change them during a test.
/// Returns their names, the entry point first.
///
/// # Panics
///
/// Panics when the bundle has not been built.
pub(crate) fn copy_bundle(from: &Path, to: &Path) -> Vec<String> {
    let not_built = |error| panic!("{}: {error}: run `make build`", from.display());
    let entries = from.read_dir().unwrap_or_else(not_built);
    let names = entries.flatten().map(|entry| entry.file_name());
    let mut modules: Vec<String> = names
        .filter_map(|name| name.into_string().ok())
        .filter(|name| name.ends_with(".js") || name.ends_with(".wasm"))
        .collect();
    modules.sort_by_key(|name| name != "index.js");
    for name in &modules {
        std::fs::copy(from.join(name), to.join(name)).expect("a copy");
    }
    modules
}

/// Returns the configuration of the environment `development` in wrangler.toml, with what it inherits.
///
/// # Panics
///
/// Panics when it is not valid TOML.
pub(crate) fn wrangler_toml() -> toml::Table {
    let text = std::fs::read_to_string(root().join("wrangler.toml")).expect("wrangler.toml");
    let mut table: toml::Table = text.parse().expect("wrangler.toml is valid TOML");
    let environments = table.remove("env").expect("environments");
    let development = environments["development"].as_table().expect("a table");
    table.extend(development.clone());
    table
}
