//! Where the parts of this checkout lie.

use std::path::{Path, PathBuf};

/// The root of the repository.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder of cargo's output to which the running program belongs, such as `target/debug`.
///
/// # Panics
///
/// Never in what cargo has built.
#[must_use]
pub fn target() -> PathBuf {
    let program = std::env::current_exe().expect("a program knows its own path");
    let folder = program.parent().expect("a program lies in a folder");
    // Tests lie one deeper.
    let folder = match folder.ends_with("deps") {
        true => folder.parent().expect("of the profile"),
        false => folder,
    };
    folder.to_owned()
}

/// A binary of this workspace, built with the test's profile.
///
/// # Panics
///
/// When it has not been built.
pub(crate) fn binary(name: &str) -> PathBuf {
    let path = target().join(name);
    assert!(path.exists(), "no {}: run `make test`", path.display());
    path
}

/// A command that npm installed, such as `workerd`.
///
/// # Panics
///
/// When npm has not been run.
#[must_use]
pub fn npm(name: &str) -> PathBuf {
    let path = root().join("node_modules/.bin").join(name);
    assert!(path.exists(), "no {}: run `make tools`", path.display());
    path
}

/// Copies the modules of a bundle, so that a build meanwhile can't change them under a test;
/// returns their names, the entry point first.
///
/// # Panics
///
/// When it has not been built.
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

/// wrangler.toml as a table.
///
/// # Panics
///
/// When it is not valid.
pub(crate) fn wrangler_toml() -> toml::Table {
    let text = std::fs::read_to_string(root().join("wrangler.toml")).expect("wrangler.toml");
    text.parse().expect("wrangler.toml is valid TOML")
}
