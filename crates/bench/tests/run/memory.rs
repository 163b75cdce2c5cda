//! The documented memory usage per counted activity.

use crate::bench;

#[test]
fn activity_uses_at_most_118_or_177_bytes() {
    let text = bench(&["memory"], &[("USERS", "3000")], &[]);
    let bytes = |data: &str, layout: &str| -> [f64; 2] {
        let row = text.lines().map(str::split_whitespace).map(Vec::from_iter);
        let words: Vec<&str> = [data].into_iter().chain(layout.split(' ')).collect();
        let mut row = row.filter(|row| row.starts_with(&words));
        // The first table has the totals.
        let row = row
            .next()
            .unwrap_or_else(|| panic!("{data}, {layout} is missing: {text}"));
        let [.., usage, used] = row[..] else {
            panic!("{text}");
        };
        [usage, used].map(|bytes| bytes.parse().unwrap())
    };
    for data in ["community", "month"] {
        let [usage, used] = bytes(data, "ours, five boards");
        assert!(usage <= 177.0, "{data}: {text}");
        let [usage_of_two, used_of_two] = bytes(data, "ours, two boards");
        assert!(usage_of_two < 118.0, "{data}: {text}");
        // The fixed overhead is too large for a month of few users.
        if data == "community" {
            assert!(used <= 177.0 && used_of_two < 118.0, "{text}");
        }
        // The layout that ours is compared with must not change.
        let [posts, _] = bytes(data, "posts, two boards");
        assert!((75.0..100.0).contains(&posts), "{data}: {text}");
    }
}
