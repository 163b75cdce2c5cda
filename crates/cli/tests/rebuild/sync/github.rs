//! `sync github` against a server that answers as GitHub does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use test_support::{Value, json};

use super::{assert_ends, boards, serve, start};
use crate::TestResult;
use crate::cli::{command, finish};

fn person(id: u64) -> Value {
    json!({"id": id, "login": format!("user-{id}"), "type": "User", "avatar_url": "https://a.example/1.png",
        "html_url": format!("https://github.com/user-{id}")})
}

fn author(id: u64) -> Value {
    json!({"__typename": "User", "databaseId": id, "login": format!("user-{id}"), "avatarUrl": "https://a.example/1.png",
        "url": format!("https://github.com/user-{id}")})
}

fn connection(nodes: Value) -> Value {
    json!({"pageInfo": {"hasNextPage": false, "endCursor": null}, "nodes": nodes})
}

fn issue(id: u64, number: u64, user: Value) -> Value {
    json!({"id": id, "number": number, "title": format!("Issue {number}"), "user": user,
        "html_url": format!("https://github.com/o/r/issues/{number}"), "created_at": "2026-11-01T08:00:00Z"})
}

/// Answers requests. The first request for comments meets the rate limit.
async fn respond(
    State(was_limited): State<Arc<AtomicBool>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    assert_eq!(headers["authorization"], "Bearer github-token");
    let bot = json!({"id": 9, "login": "bot", "type": "Bot"});
    let at = "2026-11-02T08:00:00Z";
    let page_two = uri.query().unwrap_or_default().contains("page=2");
    let answer = match uri.path() {
        "/repos/o/r" => {
            json!({"id": 5, "full_name": "o/r", "html_url": "https://github.com/o/r", "private": false})
        }
        "/repos/o/secret" => json!({"id": 6, "full_name": "o/secret", "private": true}),
        "/repos/o/r/stargazers" => {
            json!([{"starred_at": at, "user": person(1)}, {"starred_at": at, "user": person(2)}])
        }
        "/repos/o/r/issues" if page_two => json!([issue(12, 2, bot)]),
        "/repos/o/r/issues" => {
            let mut pull = issue(13, 3, person(1));
            pull["pull_request"] = json!({});
            let host = headers["host"].to_str().unwrap_or_default();
            let link = format!("<http://{host}/repos/o/r/issues?page=2>; rel=\"next\"");
            return (
                [("link", link)],
                axum::Json(json!([issue(11, 1, person(1)), pull])),
            )
                .into_response();
        }
        "/repos/o/r/issues/comments" if !was_limited.swap(true, Ordering::Relaxed) => {
            return (StatusCode::FORBIDDEN, [("retry-after", "0")], "{}").into_response();
        }
        "/repos/o/r/issues/comments" => {
            let comment = |id: u64, number: u64, user: Value| {
                json!({"id": id, "user": user, "created_at": at,
                    "issue_url": format!("https://api.github.com/repos/o/r/issues/{number}")})
            };
            json!([
                comment(21, 1, person(2)),
                comment(22, 3, person(2)),
                comment(23, 1, bot)
            ])
        }
        "/repos/o/r/pulls" => {
            json!([{"id": 31, "title": "Pull", "user": person(1), "merged_at": at}, {"id": 32, "user": person(1), "merged_at": null}])
        }
        "/graphql" => {
            let query = String::from_utf8_lossy(&body);
            let discussion = json!({"id": "D1", "databaseId": 51, "title": "Welcome", "createdAt": at, "author": author(2)});
            let giscus = json!({"id": "D2", "databaseId": 52, "title": "posts/1", "createdAt": at, "author": {"__typename": "Bot"}});
            let review = |id: &str, state: &str, by: u64| json!({"fullDatabaseId": id, "state": state, "submittedAt": at, "author": author(by)});
            let comment = |id: u64, by: u64, replies: Value| json!({"id": "C", "databaseId": id, "createdAt": at, "author": author(by), "replies": connection(replies)});
            let data = if query.contains("pullRequests") {
                let reviews = json!([review("41", "APPROVED", 2), review("42", "COMMENTED", 2)]);
                json!({"repository": {"pullRequests": connection(json!([{"id": "P1", "reviews": connection(reviews)}]))}})
            } else if query.contains("discussions") {
                json!({"repository": {"discussions": connection(json!([discussion, giscus]))}})
            } else if query.contains("\"D1\"") {
                json!({"node": {"comments": connection(json!([comment(61, 1, json!([comment(62, 3, json!([]))]))]))}})
            } else {
                json!({"node": {"comments": connection(json!([comment(63, 1, json!([]))]))}})
            };
            json!({ "data": data })
        }
        path => return (StatusCode::NOT_FOUND, path.to_owned()).into_response(),
    };
    axum::Json(answer).into_response()
}

#[tokio::test(flavor = "multi_thread")]
async fn sync_reads_github() -> TestResult {
    let app = start();
    let url = serve(Router::new().fallback(respond).with_state(Arc::default())).await?;
    let sync = |args: &[&str]| {
        let mut command = command(
            &app,
            &[
                &["sync", "github", "o/r", "o/secret", "--api-url", &url],
                args,
            ]
            .concat(),
        );
        command.env("GITHUB_TOKEN", "github-token");
        finish(command)
    };
    let synced = sync(&[])?;
    assert_eq!(synced.code, Some(0), "{synced:?}");
    assert_eq!(
        synced.stderr,
        "rate limit of GitHub: waiting 0 s\no/secret is private: left out\n"
    );
    assert_ends(&sync(&["--compare"])?, 0, "0 differ");
    let [members, authors, targets] = boards(&app).await;
    let board = |all: &[(&str, i64)]| {
        all.iter()
            .map(|(id, points)| ((*id).to_owned(), *points))
            .collect()
    };
    // An issue, a pull request and two comments of a discussion; then a discussion, two comments and a review.
    let expected = board(&[("github:1", 21), ("github:2", 21), ("github:3", 3)]);
    assert_eq!(members, expected);
    // The issue gives to its author, too.
    let expected = board(&[("github:1", 9), ("github:2", 6)]);
    assert_eq!(authors, expected);
    let expected = [
        ("github:repository:5", 4),
        ("github:issue:11", 6),
        ("github:issue:13", 3),
        ("github:discussion:51", 6),
    ];
    let received: std::collections::BTreeMap<String, i64> = board(&expected);
    assert!(
        received
            .iter()
            .all(|(id, points)| targets.get(id) == Some(points)),
        "{targets:?}"
    );
    assert!(!targets.contains_key("github:pull:31"), "{targets:?}");
    Ok(())
}
