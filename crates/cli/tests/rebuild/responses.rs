//! The responses of a service on all read routes.

use test_support::{Value, depth, json};

use crate::app::{TestApp, USERS, day};

/// Reads every board, standing, profile, history and moderation state. Returns bodies by path. Short tests read the boards of
/// groups today, and on each board two pages and the standings of two users.
pub async fn read_all(app: &TestApp) -> Vec<(String, Value)> {
    let mut paths = Vec::new();
    for period in ["day", "week", "month", "year", "all"] {
        let board = format!("/v1/ranking/{period}");
        for days_ago in [0, 12, 3000] {
            let groups = ["", "&group=eu", "&group=a%7Cb:c"].into_iter();
            for group in groups.take(if days_ago == 0 { 3 } else { depth(1, 3) }) {
                let query = format!("date={}{group}", day(days_ago));
                paths.push(format!("{board}?{query}&limit=100"));
                if days_ago == 0 {
                    for offset in (100..depth(200, 800)).step_by(100) {
                        paths.push(format!("{board}?{query}&limit=100&offset={offset}"));
                    }
                }
                paths.push(format!("{board}/users?{query}&ids={}", USERS.join(",")));
                let users = USERS.iter().cycle().skip(paths.len());
                let users = users.take(depth(2, USERS.len()));
                paths.extend(users.map(|user| format!("{board}/users/{user}?{query}&around=2")));
            }
        }
    }
    for user in USERS {
        for route in ["", "/activity", "/moderation"] {
            paths.push(format!("/v1/users/{user}{route}"));
        }
    }
    // The state of the event a:b changes while tests run.
    for event in ["season", "again", "deleted"] {
        let board = format!("/v1/events/{event}/ranking");
        paths.extend(USERS.map(|user| format!("{board}/users/{user}?around=2")));
        paths.push(board);
    }
    let mut responses = read(app, paths).await;
    responses.push(read_audit_log(app).await);
    responses
}

/// Returns the bodies of these paths.
pub async fn read(app: &TestApp, paths: Vec<String>) -> Vec<(String, Value)> {
    let mut responses = Vec::new();
    for path in paths {
        let response = app.api.get(&path).await;
        let is_known = matches!(response.status, 200 | 404);
        assert!(is_known, "{path}: {}", response.text);
        responses.push((path, response.body));
    }
    responses
}

/// Reads all pages of the audit log.
async fn read_audit_log(app: &TestApp) -> (String, Value) {
    let path = "/v1/moderation";
    let (mut entries, mut before) = (Vec::new(), String::new());
    loop {
        let page = app.api.get(&format!("{path}?limit=100{before}")).await;
        page.assert_status(200);
        let listed = page.body["entries"].as_array();
        entries.extend(listed.into_iter().flatten().cloned());
        match page.body["next"].as_str() {
            Some(next) => before = format!("&before={next}"),
            None => return (path.to_owned(), json!({ "entries": entries })),
        }
    }
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
