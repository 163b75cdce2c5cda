//! What is stored of a counted activity stays as little as it is said to be.

use std::process::Command;

#[test]
fn an_activity_takes_less_than_118_bytes_with_two_boards_and_177_with_five() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bench"));
    let output = command.arg("memory").env("USERS", "3000");
    let output = output.output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{output:?}");
    let bytes = |data: &str, layout: &str| -> [f64; 2] {
        let row = told.lines().map(str::split_whitespace).map(Vec::from_iter);
        let words: Vec<&str> = [data].into_iter().chain(layout.split(' ')).collect();
        let mut row = row.filter(|row| row.starts_with(&words));
        // The first table has the totals.
        let row = row
            .next()
            .unwrap_or_else(|| panic!("no {data}, {layout}: {told}"));
        let [.., usage, used] = row[..] else {
            panic!("{told}");
        };
        [usage, used].map(|bytes| bytes.parse().unwrap())
    };
    for data in ["community", "month"] {
        let [usage, used] = bytes(data, "ours, five boards");
        assert!(usage <= 177.0, "{data}: {told}");
        let [usage_of_two, used_of_two] = bytes(data, "ours, two boards");
        assert!(usage_of_two < 118.0, "{data}: {told}");
        // What an empty server needs is too much of a month of few.
        if data == "community" {
            assert!(used <= 177.0 && used_of_two < 118.0, "{told}");
        }
        // The measure of both figures: what is compared with is still stored as it was.
        let [posts, _] = bytes(data, "posts, two boards");
        assert!((75.0..100.0).contains(&posts), "{data}: {told}");
    }
}
