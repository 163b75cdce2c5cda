//! `sync github` against a server that answers as GitHub does.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use test_support::{Value, json};

use super::{Source, assert_ends, boards, serve, start};
use crate::TestResult;
use crate::cli::{command, finish};
use crate::journal_app::JournalApp;
use crate::run::Run;

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

/// Removes the activity that a test adds with the label.
fn without_new(answer: &mut Value) {
    match answer {
        Value::Array(items) => {
            let is_new = |item: &Value| {
                let id = [&item["id"], &item["databaseId"], &item["fullDatabaseId"]];
                id.iter().any(|id| **id == 24 || **id == 64 || **id == "43")
            };
            items.retain(|item| !is_new(item));
            items.iter_mut().for_each(without_new);
        }
        Value::Object(fields) => fields.values_mut().for_each(without_new),
        _ => {}
    }
}

/// The state of the server.
#[derive(Default)]
pub struct Server {
    was_limited: AtomicBool,
    was_query_limited: AtomicBool,
    /// Whether the issues, the pull request and the discussion have a label, and new activity.
    is_labeled: AtomicBool,
    /// Whether the repository is private.
    is_private: AtomicBool,
}

/// Answers requests. The first request for comments and the first query of GraphQL meet the rate limit.
async fn respond(
    State(server): State<Arc<Server>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    assert_eq!(headers["authorization"], "Bearer github-token");
    let bot = json!({"id": 9, "login": "bot", "type": "Bot"});
    let at = "2026-11-02T08:00:00Z";
    let page_two = uri.query().unwrap_or_default().contains("page=2");
    let is_labeled = server.is_labeled.load(Relaxed);
    let labels = match is_labeled {
        true => json!([{"name": "bug"}, {"name": "invalid"}]),
        false => json!([{"name": "bug"}]),
    };
    let is_private = server.is_private.load(Relaxed);
    let mut answer = match uri.path() {
        "/repos/o/r" => {
            json!({"id": 5, "full_name": "o/r", "html_url": "https://github.com/o/r", "private": is_private})
        }
        "/repos/o/secret" => json!({"id": 6, "full_name": "o/secret", "private": true}),
        path if path.starts_with("/repos/o/secret/") => json!([]),
        "/repos/o/r/stargazers" => {
            json!([{"starred_at": at, "user": person(1)}, {"starred_at": at, "user": person(2)}])
        }
        "/repos/o/r/issues" if page_two => json!([issue(12, 2, bot)]),
        "/repos/o/r/issues" => {
            let mut pull = issue(13, 3, person(1));
            pull["pull_request"] = json!({});
            let host = headers["host"].to_str().unwrap_or_default();
            let link = format!("<http://{host}/repos/o/r/issues?page=2>; rel=\"next\"");
            let mut issues = json!([issue(11, 1, person(1)), pull]);
            for issue in issues.as_array_mut().into_iter().flatten() {
                issue["labels"] = labels.clone();
            }
            return ([("link", link)], axum::Json(issues)).into_response();
        }
        "/repos/o/r/issues/comments" if !server.was_limited.swap(true, Relaxed) => {
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
                comment(23, 1, bot),
                comment(24, 1, person(3))
            ])
        }
        "/repos/o/r/pulls" => {
            json!([{"id": 31, "title": "Pull", "user": person(1), "merged_at": at, "labels": labels}, {"id": 32, "user": person(1), "merged_at": null}])
        }
        "/graphql" if !server.was_query_limited.swap(true, Relaxed) => {
            let error = json!({"type": "RATE_LIMITED", "message": "API rate limit exceeded"});
            let limit = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "0")];
            return (limit, axum::Json(json!({"errors": [error]}))).into_response();
        }
        "/graphql" => {
            let query = String::from_utf8_lossy(&body);
            let discussion = json!({"id": "D1", "databaseId": 51, "title": "Welcome", "createdAt": at, "author": author(2), "labels": {"nodes": labels},
                "answerChosenAt": at, "answer": {"databaseId": 61, "author": author(1)}});
            let giscus = json!({"id": "D2", "databaseId": 52, "title": "posts/1", "createdAt": at, "author": {"__typename": "Bot"}});
            let review = |id: &str, state: &str, by: u64| json!({"fullDatabaseId": id, "state": state, "submittedAt": at, "author": author(by)});
            let comment = |id: u64, by: u64, replies: Value| json!({"id": "C", "databaseId": id, "createdAt": at, "author": author(by), "replies": connection(replies)});
            let data = if query.contains("\"secret\"") {
                json!({"repository": {"pullRequests": connection(json!([])), "discussions": connection(json!([]))}})
            } else if query.contains("pullRequests") {
                let reviews = json!([
                    review("41", "APPROVED", 2),
                    review("42", "COMMENTED", 2),
                    review("43", "APPROVED", 3)
                ]);
                json!({"repository": {"pullRequests": connection(json!([{"id": "P1", "labels": {"nodes": labels}, "reviews": connection(reviews)}]))}})
            } else if query.contains("discussions") {
                json!({"repository": {"discussions": connection(json!([discussion, giscus]))}})
            } else if query.contains("\"D1\"") {
                json!({"node": {"comments": connection(json!([comment(61, 1, json!([comment(62, 3, json!([]))])), comment(64, 3, json!([]))]))}})
            } else {
                json!({"node": {"comments": connection(json!([comment(63, 1, json!([]))]))}})
            };
            json!({ "data": data })
        }
        path => return (StatusCode::NOT_FOUND, path.to_owned()).into_response(),
    };
    if !is_labeled {
        without_new(&mut answer);
    }
    axum::Json(answer).into_response()
}

/// Starts the server. Returns its state and its address.
pub async fn start_server() -> io::Result<(Arc<Server>, String)> {
    let server = Arc::new(Server::default());
    let state = Arc::clone(&server);
    let url = serve(Router::new().fallback(respond).with_state(state)).await?;
    Ok((server, url))
}

/// Runs `sync github`.
pub fn sync(app: &JournalApp, url: &str, args: &[&str]) -> io::Result<Run> {
    let all = ["sync", "github", "--api-url", url];
    let mut command = command(app, &[&all, args].concat());
    command.env("GITHUB_TOKEN", "github-token");
    finish(command)
}

pub fn board(all: &[(&str, i64)]) -> BTreeMap<String, i64> {
    let all = all.iter();
    all.map(|(id, points)| ((*id).to_owned(), *points))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn sync_reads_github() -> TestResult {
    let app = start();
    let (_, url) = start_server().await?;
    let sync = |args: &[&str]| sync(&app, &url, &[&["o/r", "o/secret"], args].concat());
    let synced = sync(&[])?.assert_code(0);
    let expected = "rate limit of GitHub: waiting 0 s\nrate limit of GitHub: waiting 0 s\n\
                    o/secret is private: not sent\n1 row of the type solution left out: --map solution=ACTION counts them\n";
    assert_eq!(synced.stderr, expected);
    assert_ends(&sync(&["--compare"])?, 0, "0 differ");
    let [members, authors, targets] = boards(&app).await;
    // An issue, a pull request and two comments of a discussion; then a discussion, two comments and a review.
    let expected = board(&[("github:1", 21), ("github:2", 21), ("github:3", 3)]);
    assert_eq!(members, expected);
    // The issue gives to its author, too.
    let expected = board(&[("github:1", 9), ("github:2", 6)]);
    assert_eq!(authors, expected);
    for (id, points) in [
        ("github:repository:5", Some(&4)),
        ("github:issue:11", Some(&6)),
        ("github:issue:13", Some(&3)),
        ("github:discussion:51", Some(&6)),
        ("github:pull:31", None),
    ] {
        assert_eq!(targets.get(id), points, "{id}");
    }
    Ok(())
}

/// Labels come after the activity has counted, with new activity on the labeled content.
#[tokio::test(flavor = "multi_thread")]
async fn labels_of_github_take_only_the_content() -> TestResult {
    let (app, source) = (start(), Source::new()?);
    let (server, url) = start_server().await?;
    let mapping = source.write("mapping.json", r#"{"users": {}, "labels": ["invalid"]}"#)?;
    let sync = |args: &[&str]| sync(&app, &url, &[&["o/r", "--users", &mapping], args].concat());
    sync(&[])?.assert_code(0);
    server.is_labeled.store(true, Relaxed);
    let expected = "too many: github:1 comment github:issue:11
too many: github:1 publish github:pull:31
too many: github:2 publish github:discussion:51
3 differ
";
    sync(&["--compare"])?.assert_stdout(4, expected);
    assert_ends(&sync(&["--heal"])?, 0, "0 differ");
    let [members, _, _] = boards(&app).await;
    let expected = board(&[("github:1", 8), ("github:2", 11), ("github:3", 3)]);
    assert_eq!(members, expected);
    let path = "/v1/users/github:1/points?limit=100";
    let points = app.api.get(path).await.assert_status(200).body.clone();
    let entries = points["entries"].as_array().into_iter().flatten();
    let undos: Vec<[&Value; 2]> = entries
        .filter(|entry| entry["type"] == "undo")
        .map(|entry| [&entry["target"]["id"], &entry["source_gone"]])
        .collect();
    // The content is still there.
    let expected = ["github:pull:31", "github:issue:11"].map(|id| [json!(id), Value::Null]);
    assert_eq!(json!(undos), json!(expected), "{points}");
    server.is_labeled.store(false, Relaxed);
    assert_ends(&sync(&["--heal"])?, 0, "0 differ");
    let [members, _, _] = boards(&app).await;
    let expected = board(&[("github:1", 21), ("github:2", 21), ("github:3", 3)]);
    assert_eq!(members, expected);
    Ok(())
}

/// GitHub removes the stars of a repository that becomes private.
#[tokio::test(flavor = "multi_thread")]
async fn private_repository_of_github_keeps_its_points() -> TestResult {
    let app = start();
    let (server, url) = start_server().await?;
    let sync = |args: &[&str]| sync(&app, &url, &[&["o/r"], args].concat());
    sync(&[])?.assert_code(0);
    let public = boards(&app).await;
    server.is_private.store(true, Relaxed);
    // Nothing new counts.
    server.is_labeled.store(true, Relaxed);
    assert_ends(&sync(&["--compare"])?, 0, "0 differ");
    assert_ends(&sync(&["--heal"])?, 0, "0 differ");
    assert_eq!(boards(&app).await, public);
    Ok(())
}
