//! A short run: whoever changes keys, scripts or answers sees here whether the peers still follow.

use std::process::Command;

use test_support::Value;

#[test]
fn a_short_run_measures_everybody_and_finds_every_board_right() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("bench.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_bench"));
    command.envs([("ROUNDS", "1"), ("SECONDS", "0.1"), ("USERS", "200")]);
    let output = command.env("JSON", &json).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");

    let report: Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    let rows = report["rows"].as_array().unwrap();
    let measured = |who: &str| -> Vec<&str> {
        let of = rows.iter().filter(|row| row["who"] == who);
        of.map(|row| row["load"].as_str().unwrap()).collect()
    };
    let all = ["fresh", "repeats", "top", "cached", "standing"];
    assert_eq!(measured("ours"), all);
    assert_eq!(measured("limit"), all);
    assert_eq!(measured("hono"), all);
    assert_eq!(measured("posts"), ["fresh", "repeats", "top", "standing"]);
    assert_eq!(measured("fixed"), ["fresh", "cached"]);
    for row in rows {
        assert!(row["rate"]["median"].as_f64().unwrap() > 0.0, "{row}");
    }
}

#[test]
fn a_short_look_at_growth_asks_small_boards_of_every_number_of_shards() {
    let folder = tempfile::tempdir().unwrap();
    let [json, plot] = ["growth.json", "growth.svg"].map(|name| folder.path().join(name));
    let mut command = Command::new(env!("CARGO_BIN_EXE_bench"));
    command
        .arg("growth")
        .envs([("MOST", "1000"), ("ROUNDS", "1")]);
    let output = command
        .env("JSON", &json)
        .env("PLOT", &plot)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let rows: Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    let shards: Vec<_> = rows
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["shards"])
        .collect();
    assert_eq!(shards, [1, 2, 4, 8]);
    assert!(std::fs::read_to_string(plot).unwrap().starts_with("<svg"));
}

#[test]
fn a_short_look_at_the_gateway_compares_it_with_redis_benchmark_and_one_redis_with_clusters() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("gateway.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_bench"));
    command
        .arg("gateway")
        .envs([("ROUNDS", "2"), ("SECONDS", "0.1")]);
    let output = command.env("JSON", &json).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(table.contains("GET, pipelines of 100"), "{table}");
    assert!(table.contains("cluster, 3 primaries"), "{table}");

    let report: Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
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
            assert_eq!(store["turns"].as_array().unwrap().len(), 2, "{store}");
        }
        // Each round is compared with itself.
        for what in ["least", "most"] {
            assert_eq!(stores[0]["rate_to_one"][what], 1.0, "{row}");
        }
    }
}

#[test]
fn what_is_not_known_is_not_left_out_in_silence() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bench"));
    let output = command.env("ONLY", "ours,freshly").output().unwrap();
    assert!(!output.status.success());
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        told.contains("ONLY=freshly: there are ours, limit, "),
        "{told}"
    );
}
