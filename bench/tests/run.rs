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
