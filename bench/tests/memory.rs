//! What is stored of a counted activity stays as little as it is said to be.

use std::process::Command;

#[test]
fn an_activity_takes_less_than_the_blog_posts_with_two_boards_and_half_as_much_again_with_five() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memory"));
    let output = command.env("USERS", "300").output().unwrap();
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
        let five = bytes(data, "ours, five boards");
        let two = bytes(data, "ours, two boards");
        let posts = bytes(data, "posts, two boards");
        for measure in 0..2 {
            assert!(two[measure] < posts[measure], "{told}");
            assert!(five[measure] <= 1.5 * posts[measure], "{told}");
        }
    }
    let [usage, _] = bytes("community", "ours, five boards");
    assert!(usage <= 177.0, "{told}");
    let [usage, _] = bytes("community", "ours, two boards");
    assert!(usage < 118.0, "{told}");
}
