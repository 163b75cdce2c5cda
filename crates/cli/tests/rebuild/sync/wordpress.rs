//! `sync wordpress` against a server that answers as WordPress does.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use test_support::{Value, json};
use tokio::sync::Mutex;

use super::github::board;
use super::{assert_ends, boards, query, serve, start};
use crate::TestResult;
use crate::cli::{command, fails, finish, succeed};
use crate::journal_app::JournalApp;
use crate::run::Run;

const AT: &str = "2026-11-02T08:00:00";

/// A site, and what it does to its next requests.
#[derive(Default)]
struct StandIn {
    posts: Vec<Value>,
    comments: Vec<Value>,
    pages: Vec<Value>,
    is_limited: bool,
    /// Whether the first comment is deleted after the first page.
    loses_comment: bool,
    /// The page of comments that fails.
    broken: Option<usize>,
}

type Shared = Arc<Mutex<StandIn>>;

fn post(id: u64, author: u64) -> Value {
    json!({"id": id, "author": author, "date_gmt": AT, "title": {"rendered": "Q&#038;A"},
        "link": format!("https://example.com/{id}"), "content": {"protected": false}})
}

fn comment(id: u64, post: u64, author: u64) -> Value {
    json!({"id": id, "post": post, "author": author, "date_gmt": AT})
}

async fn respond(State(site): State<Shared>, uri: Uri, headers: HeaderMap) -> Response {
    let query = query(&uri);
    let is_known = headers.get("authorization").map(|value| value.as_bytes())
        == Some(b"Basic YWRtaW46YSBwYXNzd29yZA==");
    let mut site = site.lock().await;
    let refuse = |status, message| {
        let problem = json!({"code": "rest_forbidden", "message": message});
        (status, axum::Json(problem)).into_response()
    };
    if std::mem::take(&mut site.is_limited) {
        return (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "0")]).into_response();
    }
    let page: usize = query["page"].parse().unwrap_or(1);
    let path = uri.path().strip_prefix("/blog/wp-json/wp/v2/");
    let list = match path.unwrap_or_default() {
        "users" if query["orderby"] != "id" && !is_known => {
            return refuse(StatusCode::UNAUTHORIZED, "You may not order users.");
        }
        "users" => (1..=3)
            .map(|id| json!({"id": id, "name": "Tom &amp; Jerry", "url": "", "avatar_urls": {"96": "https://a.example/1.png"}}))
            .collect(),
        "comments" if site.broken == Some(page) => {
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        }
        "comments" => site.comments.clone(),
        "posts" => site.posts.clone(),
        "pages" => site.pages.clone(),
        _ => return refuse(StatusCode::NOT_FOUND, "No route was found."),
    };
    if path == Some("comments") && std::mem::take(&mut site.loses_comment) {
        site.comments.remove(0);
    }
    let headers = [
        ("x-wp-total", list.len().to_string()),
        ("x-wp-totalpages", list.len().div_ceil(100).to_string()),
    ];
    let list: Vec<Value> = list.into_iter().skip((page - 1) * 100).take(100).collect();
    (headers, axum::Json(list)).into_response()
}

fn sync(app: &JournalApp, url: &str, args: &[&str]) -> std::io::Result<Run> {
    let url = format!("{url}/blog");
    let all = ["sync", "wordpress", &url, "--retries", "0"];
    let mut command = command(app, &[&all, args].concat());
    command.env("WORDPRESS_USER", "admin");
    command.env("WORDPRESS_APPLICATION_PASSWORD", "a password");
    finish(command)
}

#[tokio::test(flavor = "multi_thread")]
async fn sync_reads_wordpress() -> TestResult {
    let app = start();
    let protected = json!({"id": 8, "author": 2, "date_gmt": AT, "title": {"rendered": "Secret"},
        "link": "https://example.com/8", "content": {"protected": true}});
    let mut comments: Vec<Value> = (1..=250).map(|id| comment(id, 7, 2)).collect();
    comments.extend([comment(301, 8, 3), comment(302, 9, 3), comment(303, 7, 0)]);
    let site = Shared::new(Mutex::new(StandIn {
        posts: vec![post(7, 1), protected],
        comments,
        pages: vec![post(9, 1), post(10, 1)],
        is_limited: true,
        loses_comment: true,
        broken: None,
    }));
    let router = axum::Router::new().fallback(respond);
    let url = serve(router.with_state(site.clone())).await?;
    let synced = sync(&app, &url, &[])?.assert_code(0);
    assert_eq!(synced.stderr, "rate limit of WordPress: waiting 0 s\n");
    assert_ends(&sync(&app, &url, &["--compare"])?, 0, "0 differ");
    let [members, authors, targets] = boards(&app).await;
    // The first comment was deleted while the pages were read.
    assert_eq!(members, board(&[("1", 10), ("2", 10 + 249 * 3), ("3", 6)]));
    assert_eq!(authors, board(&[("1", 249 * 3 + 3), ("2", 3)]));
    let expected = [("post-7", 249 * 3), ("post-8", 3), ("post-9", 3)];
    assert_eq!(targets, board(&expected));
    let post =
        json!({"id": "post-7", "title": "Q&A", "url": "https://example.com/7", "author": "1"});
    for (id, expected) in [
        ("post-7", post),
        ("post-8", json!({"id": "post-8", "author": "2"})),
    ] {
        let target = app.api.get(&format!("/v1/targets/{id}")).await;
        assert_eq!(target.body, expected);
    }
    assert_eq!(app.api.get("/v1/targets/post-10").await.status, 404);
    let profile = app.api.get("/v1/users/2").await;
    assert_eq!(profile.body["name"], "Tom & Jerry");

    // A lost deletion, and what other pages count.
    for target in ["comment-999", "site-2:comment-5", "/about"] {
        app.act("9", "comment", target).await;
    }
    // A part of the source heals nothing.
    site.lock().await.broken = Some(2);
    sync(&app, &url, &["--heal"])?.assert_error(3, "status 500");
    site.lock().await.broken = None;
    assert_ends(&sync(&app, &url, &["--compare"])?, 4, "1 differ");
    assert_ends(&sync(&app, &url, &["--heal"])?, 0, "0 differ");
    let [members, ..] = boards(&app).await;
    assert_eq!(members.get("9"), Some(&6));

    // The public part of a site can be read, and not be compared.
    let blog = format!("{url}/blog");
    succeed(&app, &["sync", "wordpress", &blog, "--dry-run"])?;
    let compare = ["sync", "wordpress", &blog, "--compare"];
    fails(&app, &compare, 2, "set the variable WORDPRESS_USER")?;
    Ok(())
}

/// Sites of a network have targets of their own, and the same users.
#[tokio::test(flavor = "multi_thread")]
async fn sync_reads_second_wordpress_site() -> TestResult {
    let app = start();
    let site = Shared::new(Mutex::new(StandIn {
        posts: vec![post(7, 1)],
        comments: vec![comment(3, 7, 2)],
        ..StandIn::default()
    }));
    let url = serve(axum::Router::new().fallback(respond).with_state(site)).await?;
    let second = ["--site", "2"];
    sync(&app, &url, &second)?.assert_code(0);
    let compared = sync(&app, &url, &[&second[..], &["--compare"]].concat())?;
    assert_ends(&compared, 0, "0 differ");
    let [members, _, targets] = boards(&app).await;
    assert_eq!(members, board(&[("1", 10), ("2", 3)]));
    assert_eq!(targets, board(&[("site-2:post-7", 3)]));
    Ok(())
}
