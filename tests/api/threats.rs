//! The threat table of SECURITY.md names only tests that exist.

use std::fs;
use std::path::Path;

const TABLE: &str = include_str!("../../SECURITY.md");

/// Appends the text of every Rust file below a folder.
fn sources(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, text);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            text.push_str(&fs::read_to_string(path).expect("a source"));
        }
    }
}

#[test]
fn tests_named_in_threat_table_exist() {
    let mut all = String::new();
    for folder in ["tests", "crates", "src"] {
        sources(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join(folder),
            &mut all,
        );
    }
    let rows = TABLE.lines().filter(|line| line.starts_with("| "));
    let cells = rows.filter_map(|row| row.trim_end_matches(" |").rsplit_once(" | "));
    let named = cells.flat_map(|(_, tests)| tests.split('`').skip(1).step_by(2));
    let named: Vec<&str> = named.collect();
    assert!(named.len() > 35, "{named:?}");
    for test in named {
        let name = test.rsplit("::").next().unwrap_or_default();
        assert!(all.contains(&format!("fn {name}(")), "no test {test}");
    }
}
