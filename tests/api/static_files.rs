//! The files of `build/web/` as Miniflare serves them: without the Worker, with the headers of
//! `_headers`.

use std::fs;

use test_support::{Api, Method, Worker, root};

use crate::problem::unknown_path;

/// Returns path and text of every file of `build/web/`.
pub fn files() -> Vec<(String, String)> {
    let web = root().join("build/web");
    let (mut files, mut folders) = (Vec::new(), vec![web.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(&web).expect("below build/web");
            let name = format!("/{}", name.to_str().expect("UTF-8"));
            files.push((
                name,
                String::from_utf8_lossy(&fs::read(&path).expect("a file")).into_owned(),
            ));
        }
    }
    files
}

fn start() -> (Worker, Api) {
    let miniflare = Worker::builder().miniflare().start();
    let api = Api::new(miniflare.url());
    (miniflare, api)
}

/// Only names with a hash never change.
fn cache_control(path: &str) -> &'static str {
    match path.starts_with("/immutable/") {
        true => "public, max-age=31536000, immutable",
        false => "public, max-age=300",
    }
}

#[tokio::test]
async fn modules_are_public_with_type_and_etag() {
    let (_miniflare, api) = start();
    let modules = files().into_iter();
    // Those of other packages are many.
    let modules = modules.filter(|(path, _)| !path.starts_with("/vendor/scalar/chunks/"));
    let modules: Vec<_> = modules.filter(|(path, _)| path.ends_with(".js")).collect();
    assert!(modules.len() > 1, "{modules:?}");
    for (path, text) in modules {
        let origin = [("origin", "https://anywhere.example")];
        let response = api.send(Method::GET, &path, "", &origin).await;
        assert_eq!((response.status, &response.text), (200, &text), "{path}");
        for (name, value) in [
            ("content-type", "text/javascript; charset=utf-8"),
            ("access-control-allow-origin", "*"),
            ("cross-origin-resource-policy", "cross-origin"),
            ("cache-control", cache_control(&path)),
            ("x-content-type-options", "nosniff"),
            ("strict-transport-security", "max-age=31536000"),
        ] {
            assert_eq!(response.header(name), Some(value), "{path}: {name}");
        }
        let tag = response.header("etag").expect("a tag");
        let known = [("if-none-match", tag)];
        let same = api.send(Method::GET, &path, "", &known).await;
        assert_eq!((same.status, &*same.text), (304, ""), "{path}");
        let head = api.send(Method::HEAD, &path, "", &[]).await;
        assert_eq!((head.status, head.header("etag")), (200, Some(tag)));
    }
}

#[tokio::test]
async fn unknown_and_internal_files_return_404() {
    let (_miniflare, api) = start();
    let problem = unknown_path().body();
    let paths = "/nowhere.js /elements /elements/ /elements/nowhere.js /index.html /docs.html /admin.html /docs/ \
        /page/ /index /_headers /.assetsignore /favicon.ico /%2e%2e/wrangler.toml";
    for path in paths.split(' ') {
        let response = api.get(path).await;
        assert_eq!(response.assert_status(404).body, problem, "{path}");
    }
}

#[tokio::test]
async fn worker_serves_the_pages_and_the_document() {
    let (_miniflare, api) = start();
    for path in [
        "/",
        "/u/module.js",
        "/admin",
        "/gallery",
        "/docs",
        "/openapi.json",
    ] {
        let response = api.get(path).await;
        assert_eq!(response.status, 200, "{path}");
        assert!(response.header("x-request-id").is_some(), "{path}");
        let response = api.send(Method::POST, path, "", &[]).await;
        assert_eq!(response.status, 405, "{path}");
        assert_eq!(response.header("allow"), Some("GET, HEAD"), "{path}");
    }
    // A user id may look like a file name.
    let response = api.get("/v1/users/module.js").await;
    let media_type = response.header("content-type");
    assert_eq!(media_type, Some("application/problem+json"));
}
