//! Short runs, which fail when keys, scripts or responses change and the peers do not follow. `make soak` runs those of peers.

mod memory;

use std::path::Path;
use std::process::Command;

use test_support::Value;

/// Runs the program, asserts its success, and returns its stdout.
fn bench(arguments: &[&str], variables: &[(&str, &str)], files: &[(&str, &Path)]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bench"));
    command.args(arguments).envs(variables.iter().copied());
    let output = command.envs(files.iter().copied()).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn read_json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
#[ignore = "soak"]
fn run_measures_all_contenders_and_checks_boards() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("bench.json");
    let variables = [("ROUNDS", "1"), ("SECONDS", "0.1"), ("USERS", "200")];
    bench(&[], &variables, &[("JSON", &json)]);

    let report = read_json(&json);
    let rows = report["rows"].as_array().unwrap();
    let loads = |contender: &str| -> Vec<&str> {
        let of = rows.iter().filter(|row| row["who"] == contender);
        of.map(|row| row["load"].as_str().unwrap()).collect()
    };
    let all = ["fresh", "repeats", "top", "cached", "standing", "crowd"];
    assert_eq!(
        loads("ours"),
        [
            "fresh", "repeats", "member", "top", "cached", "standing", "crowd"
        ]
    );
    assert_eq!(loads("limit"), all);
    assert_eq!(loads("hono"), all);
    assert_eq!(
        loads("posts"),
        ["fresh", "repeats", "top", "standing", "crowd"]
    );
    assert_eq!(loads("fixed"), ["fresh", "cached"]);
    for row in rows {
        assert!(row["rate"]["median"].as_f64().unwrap() > 0.0, "{row}");
    }
}

#[test]
#[ignore = "soak"]
fn growth_measures_every_number_of_shards() {
    let folder = tempfile::tempdir().unwrap();
    let [json, plot] = ["growth.json", "growth.svg"].map(|name| folder.path().join(name));
    let variables = [("MOST", "1000"), ("ROUNDS", "1")];
    bench(&["growth"], &variables, &[("JSON", &json), ("PLOT", &plot)]);
    let rows = read_json(&json);
    let rows = rows.as_array().unwrap().iter();
    let shards: Vec<_> = rows.map(|row| &row["shards"]).collect();
    assert_eq!(shards, [1, 2, 4, 8]);
    assert!(std::fs::read_to_string(plot).unwrap().starts_with("<svg"));
}

#[test]
#[ignore = "soak"]
fn moderation_measures_both_changes() {
    let variables = [("BOARDS", "3000"), ("ENTRIES", "500")];
    let table = bench(&["moderation"], &variables, &[]);
    let rows = table.lines().map(str::split_whitespace).map(Vec::from_iter);
    let rows: Vec<Vec<&str>> = rows
        .filter(|row| ["hide", "erase"].contains(row.first().unwrap_or(&"")))
        .collect();
    assert_eq!(rows.len(), 2, "{table}");
    for row in &rows {
        // A step takes 300 boards.
        let scripts: u32 = row[3].parse().unwrap();
        assert!((10..20).contains(&scripts), "{table}");
    }
}

#[test]
#[ignore = "soak"]
fn gateway_run_compares_redis_benchmark_and_clusters() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("gateway.json");
    let rounds = "2";
    let variables = [("ROUNDS", rounds), ("SECONDS", "0.1")];
    let table = bench(&["gateway"], &variables, &[("JSON", &json)]);
    assert!(table.contains("GET, pipelines of 100"), "{table}");
    assert!(table.contains("cluster, 3 primaries"), "{table}");

    let report = read_json(&json);
    let rows = report["rows"].as_array().unwrap();
    let loads: Vec<_> = rows
        .iter()
        .map(|row| (row["command"].as_str().unwrap(), &row["depth"]))
        .collect();
    let [one, ten, hundred] = [1, 10, 100].map(Value::from);
    let depths = [&one, &ten, &hundred];
    let of = |command| depths.map(|depth| (command, depth));
    assert_eq!(loads, [of("SET"), of("GET")].concat());
    for row in rows {
        assert!(row["redis_benchmark_rate"]["least"].as_f64().unwrap() > 0.0);
        let stores = row["stores"].as_array().unwrap();
        let primaries: Vec<_> = stores.iter().map(|store| &store["primaries"]).collect();
        assert_eq!(primaries, [&Value::Null, &1.into(), &2.into(), &3.into()]);
        for store in stores {
            assert!(store["rate"]["least"].as_f64().unwrap() > 0.0, "{store}");
            let turns = store["turns"].as_array().unwrap().len();
            assert_eq!(turns.to_string(), rounds, "{store}");
        }
        // The first store is compared with itself.
        for what in ["least", "most"] {
            assert_eq!(stores[0]["rate_to_one"][what], 1.0, "{row}");
        }
    }
}

#[test]
fn unknown_name_in_only_is_an_error() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bench"));
    let output = command.env("ONLY", "ours,freshly").output().unwrap();
    assert!(!output.status.success());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.contains("ONLY=freshly is unknown: use ours, before, limit, "),
        "{stderr}"
    );
}
