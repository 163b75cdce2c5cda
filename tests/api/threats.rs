//! SECURITY.md says which test shows what: each of them is there.

use std::fs;
use std::path::Path;

const TABLE: &str = include_str!("../../SECURITY.md");

/// The text of every Rust file below a folder.
fn sources(folder: &Path, found: &mut String) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            found.push_str(&fs::read_to_string(path).expect("a source"));
        }
    }
}

#[test]
fn every_test_that_the_threat_table_names_is_there() {
    let mut all = String::new();
    for folder in ["tests", "gateway", "src"] {
        sources(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join(folder),
            &mut all,
        );
    }
    let rows = TABLE.lines().filter(|line| line.starts_with("| "));
    let shown = rows.filter_map(|row| row.trim_end_matches(" |").rsplit_once(" | "));
    let named = shown.flat_map(|(_, tests)| tests.split('`').skip(1).step_by(2));
    let named: Vec<&str> = named.collect();
    assert!(named.len() > 35, "{named:?}");
    for test in named {
        let name = test.rsplit("::").next().unwrap_or_default();
        assert!(all.contains(&format!("fn {name}(")), "no test {test}");
    }
}
