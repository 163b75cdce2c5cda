//! Everything a service answers.

use test_support::Value;

use crate::site::{Site, USERS, day};

/// Every answer, by its path.
pub async fn all(site: &Site) -> Vec<(String, Value)> {
    let mut paths = Vec::new();
    for kind in ["day", "week", "month", "year", "all"] {
        for back in [0, 12, 3000] {
            for group in ["", "&group=eu", "&group=a%7Cb:c"] {
                let question = format!("date={}{group}", day(back));
                paths.push(format!("/v1/ranking/{kind}?{question}&limit=100"));
                if back == 0 {
                    let rest = (100..800).step_by(100);
                    paths.extend(rest.map(|offset| {
                        format!("/v1/ranking/{kind}?{question}&limit=100&offset={offset}")
                    }));
                }
                let ids = USERS.join(",");
                paths.push(format!("/v1/ranking/{kind}/users?{question}&ids={ids}"));
                paths
                    .extend(USERS.map(|user| {
                        format!("/v1/ranking/{kind}/users/{user}?{question}&around=2")
                    }));
            }
        }
    }
    for user in USERS {
        paths.push(format!("/v1/users/{user}"));
        paths.push(format!("/v1/users/{user}/activity"));
        paths.push(format!("/v1/users/{user}/moderation"));
    }
    paths.push("/v1/moderation?limit=100".to_owned());
    let mut answers = Vec::new();
    for path in paths {
        let answer = site.api.get(&path).await;
        assert!(
            matches!(answer.status, 200 | 404),
            "{path}: {}",
            answer.text
        );
        answers.push((path, answer.body));
    }
    answers
}

/// Fails the test unless they are the same.
#[track_caller]
pub fn assert_same(found: &[(String, Value)], expected: &[(String, Value)]) {
    assert_eq!(found.len(), expected.len());
    for ((path, found), (_, expected)) in found.iter().zip(expected) {
        assert!(
            found == expected,
            "{path}\nexpected {expected:#}\nfound    {found:#}"
        );
    }
}
