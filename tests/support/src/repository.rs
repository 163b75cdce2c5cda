//! Where the parts of this checkout lie.

use std::path::{Path, PathBuf};

/// The root of the repository.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder of cargo's output to which the running test belongs, such as `target/debug`.
///
/// # Panics
///
/// Never in a test: cargo puts them two levels deep.
#[must_use]
pub fn target() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own path");
    let folder = test.parent().and_then(Path::parent);
    folder
        .expect("tests lie in a folder of the profile's")
        .to_owned()
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
pub(crate) fn npm(name: &str) -> PathBuf {
    let path = root().join("node_modules/.bin").join(name);
    assert!(path.exists(), "no {}: run `make tools`", path.display());
    path
}

/// Copies the built Worker, `index.js` and `index_bg.wasm`, so that a build meanwhile can't
/// change it under a test.
///
/// # Panics
///
/// When it has not been built.
pub(crate) fn copy_bundle(to: &Path) {
    for file in ["index.js", "index_bg.wasm"] {
        let built = root().join("build").join(file);
        std::fs::copy(&built, to.join(file))
            .unwrap_or_else(|error| panic!("{}: {error}: run `make build`", built.display()));
    }
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
