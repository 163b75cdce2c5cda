//! `sync ghost` with an export, and against a server that answers as Ghost does.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use test_support::{Value, json};

use super::{Source, assert_ends, boards, query, serve, start};
use crate::TestResult;
use crate::cli::{command, finish, run, succeed};
use crate::journal_app::JournalApp;
use crate::run::Run;

const POSTS: usize = 120;
const AT: &str = "2026-11-02T08:00:00.000Z";

fn post(id: usize, status: &str, visibility: &str) -> Value {
    json!({"id": format!("p{id}"), "title": format!("Post {id}"), "status": status, "visibility": visibility,
        "published_at": AT, "type": "post", "feature_image": null})
}

/// Returns posts that count, and a private one.
fn posts() -> Vec<Value> {
    let mut posts: Vec<Value> = (0..POSTS)
        .map(|id| post(id, "published", "public"))
        .collect();
    posts.push(post(POSTS, "sent", "public"));
    posts.push(post(POSTS + 1, "published", "members"));
    posts
}

fn author(id: usize) -> Value {
    json!({"id": format!("a{id}"), "name": format!("Author {id}"), "slug": format!("author-{id}"), "profile_image": null})
}

async fn respond(
    State(is_broken): State<Arc<AtomicBool>>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let query = query(&uri);
    assert_eq!(uri.path(), "/blog/ghost/api/admin/posts/");
    assert_eq!(query["filter"], "status:[published,sent]");
    let token = headers["authorization"].to_str().unwrap_or_default();
    let parts: Vec<&str> = token.trim_start_matches("Ghost ").split('.').collect();
    assert_eq!(parts.len(), 3, "{token}");
    // {"alg":"HS256","kid":"5f1","typ":"JWT"}
    let header = "eyJhbGciOiJIUzI1NiIsImtpZCI6IjVmMSIsInR5cCI6IkpXVCJ9";
    assert_eq!(parts[0], header);
    let page: usize = query["page"].parse().unwrap_or(1);
    if page == 2 && is_broken.load(Ordering::Relaxed) {
        let error = json!({"errors": [{"message": "No permission"}]});
        return (StatusCode::FORBIDDEN, axum::Json(error)).into_response();
    }
    let all = posts();
    let (total, pages) = (all.len(), all.len().div_ceil(100));
    let found = all.into_iter().enumerate().skip((page - 1) * 100).take(100);
    let found = found.map(|(index, mut post)| {
        post["primary_author"] = author(index % 2);
        post["url"] = json!(format!("https://example.com/{index}/"));
        post
    });
    let pagination = json!({"page": page, "limit": 100, "pages": pages, "total": total});
    axum::Json(json!({"posts": found.collect::<Vec<_>>(), "meta": {"pagination": pagination}}))
        .into_response()
}

fn sync(app: &JournalApp, url: &str, args: &[&str]) -> std::io::Result<Run> {
    let url = format!("{url}/blog");
    let all = ["sync", "ghost", &url, "--retries", "0"];
    let mut command = command(app, &[&all, args].concat());
    command.env("GHOST_ADMIN_API_KEY", "5f1:00ff7a");
    finish(command)
}

fn points() -> BTreeMap<String, i64> {
    let mut points = BTreeMap::new();
    for index in 0..=POSTS {
        *points.entry(format!("ghost:a{}", index % 2)).or_default() += 10;
    }
    points
}

#[tokio::test(flavor = "multi_thread")]
async fn sync_reads_ghost() -> TestResult {
    let (app, is_broken) = (start(), Arc::new(AtomicBool::new(false)));
    let router = Router::new()
        .fallback(respond)
        .with_state(is_broken.clone());
    let url = serve(router).await?;
    // A webhook from before the post was for members, and one of a post that is deleted.
    let publish = |user: &str, id: usize| json!({"user": user, "action": "publish", "target": format!("ghost:post:p{id}")});
    app.send(publish("ghost:a1", POSTS + 1)).await;
    app.send(publish("ghost:a9", POSTS + 2)).await;
    sync(&app, &url, &[])?.assert_code(0);
    assert_ends(&sync(&app, &url, &["--compare"])?, 4, "1 differ");
    // A part of the source heals nothing.
    is_broken.store(true, Ordering::Relaxed);
    sync(&app, &url, &["--heal"])?.assert_error(3, "status 403: No permission");
    is_broken.store(false, Ordering::Relaxed);
    assert_ends(&sync(&app, &url, &["--heal"])?, 0, "0 differ");
    let [mut members, ..] = boards(&app).await;
    let mut expected = points();
    *expected.entry("ghost:a1".to_owned()).or_default() += 10;
    members.retain(|_, points| *points > 0);
    assert_eq!(members, expected);
    let target = app.api.get("/v1/targets/ghost:post:p7").await;
    let expected = json!({"id": "ghost:post:p7", "title": "Post 7", "url": "https://example.com/7/", "author": "ghost:a1"});
    assert_eq!(target.body, expected);
    let path = format!("/v1/targets/ghost:post:p{}", POSTS + 1);
    let private = app.api.get(&path).await;
    assert_eq!(private.body.get("title"), None, "{}", private.text);

    // The wrong form of a key.
    let mut refused = command(&app, &["sync", "ghost", &url, "--dry-run"]);
    refused.env("GHOST_ADMIN_API_KEY", "5f1");
    let refused = finish(refused)?.assert_code(2);
    let error = "error: GHOST_ADMIN_API_KEY is not an Admin API key, ID:SECRET\n";
    assert_eq!(refused.stderr, error);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn sync_reads_ghost_export() -> TestResult {
    let (app, source) = (start(), Source::new()?);
    let mut all = posts();
    let mut page = post(POSTS + 3, "published", "public");
    page["type"] = json!("page");
    all.extend([post(POSTS + 2, "draft", "public"), page]);
    all[0]["published_at"] = json!("2026-11-02 08:00:00");
    all[0]["feature_image"] = json!("__GHOST_URL__/content/images/1.png");
    // Each post has a second author.
    let authors = (0..all.len()).flat_map(|index| {
        let row = |order: usize| {
            let author = format!("a{}", (index + order) % 2);
            json!({"post_id": format!("p{index}"), "author_id": author, "sort_order": order})
        };
        [row(1), row(0)]
    });
    let authors: Vec<Value> = authors.collect();
    let data = json!({"posts": all, "posts_authors": authors, "users": [author(0), author(1)]});
    let export = json!({"db": [{"meta": {}, "data": data}]});
    let file = source.write("ghost.json", &export.to_string())?;
    let users = r#"{"site": "https://example.com", "users": {}}"#;
    let users = source.write("mapping.json", users)?;
    let sync = ["sync", "ghost", &file, "--users", &users];
    succeed(&app, &sync)?;
    let compared = run(&app, &[&sync[..], &["--compare"]].concat())?;
    assert_ends(&compared, 0, "0 differ");
    let [members, ..] = boards(&app).await;
    assert_eq!(members, points());
    let target = app.api.get("/v1/targets/ghost:post:p0").await;
    let image = "https://example.com/content/images/1.png";
    assert_eq!(target.body["image"], image);
    let profile = app.api.get("/v1/users/ghost:a1").await;
    let expected = json!({"id": "ghost:a1", "name": "Author 1", "url": "https://example.com/author/author-1/"});
    assert_eq!(profile.body, expected);
    let empty = source.write("other.json", "{}")?;
    let refused = run(&app, &["sync", "ghost", &empty])?.assert_code(2);
    let expected = format!("error: {empty} is no export of Ghost: it has no table users\n");
    assert_eq!(refused.stderr, expected);
    Ok(())
}
