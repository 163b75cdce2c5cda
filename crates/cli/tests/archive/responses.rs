//! The responses of a service on all read routes.

use test_support::Value;

use crate::app::{TestApp, USERS, day};

/// Reads every board, standing, profile, history and moderation state. Returns bodies by path.
pub async fn read_all(app: &TestApp) -> Vec<(String, Value)> {
    let mut paths = Vec::new();
    for period in ["day", "week", "month", "year", "all"] {
        let board = format!("/v1/ranking/{period}");
        for days_ago in [0, 12, 3000] {
            for group in ["", "&group=eu", "&group=a%7Cb:c"] {
                let query = format!("date={}{group}", day(days_ago));
                paths.push(format!("{board}?{query}&limit=100"));
                if days_ago == 0 {
                    let offsets = (100..800).step_by(100);
                    paths.extend(
                        offsets.map(|offset| format!("{board}?{query}&limit=100&offset={offset}")),
                    );
                }
                paths.push(format!("{board}/users?{query}&ids={}", USERS.join(",")));
                paths.extend(USERS.map(|user| format!("{board}/users/{user}?{query}&around=2")));
            }
        }
    }
    for user in USERS {
        for route in ["", "/activity", "/moderation"] {
            paths.push(format!("/v1/users/{user}{route}"));
        }
    }
    paths.push("/v1/moderation?limit=100".to_owned());
    // The state of the event a:b changes while tests run.
    for event in ["season", "again", "deleted"] {
        let board = format!("/v1/events/{event}/ranking");
        paths.extend(USERS.map(|user| format!("{board}/users/{user}?around=2")));
        paths.push(board);
    }
    let mut responses = Vec::new();
    for path in paths {
        let response = app.api.get(&path).await;
        assert!(
            matches!(response.status, 200 | 404),
            "{path}: {}",
            response.text
        );
        responses.push((path, response.body));
    }
    responses
}

/// Asserts that all responses are equal.
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
