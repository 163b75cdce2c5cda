//! The files of `web/`, as `wrangler dev` serves them: past the Worker, with what `_headers` says.

use std::fs;

use test_support::{Api, Method, Wrangler, json, root};

use crate::site::patient;

/// Path and text of every file of `web/`.
pub fn files() -> Vec<(String, String)> {
    let web = root().join("web");
    let (mut files, mut folders) = (Vec::new(), vec![web.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(&web).expect("below web");
            let name = format!("/{}", name.to_str().expect("UTF-8"));
            files.push((name, fs::read_to_string(&path).expect("a text")));
        }
    }
    files
}

fn start() -> (Wrangler, Api) {
    let wrangler = patient().start_wrangler();
    let api = Api::new(wrangler.url());
    (wrangler, api)
}

#[tokio::test]
async fn modules_are_served_to_any_page_with_their_type_and_a_tag() {
    let (_wrangler, api) = start();
    let modules = files().into_iter();
    let modules: Vec<_> = modules.filter(|(path, _)| path.ends_with(".js")).collect();
    assert!(modules.len() > 1, "{modules:?}");
    for (path, text) in modules {
        let origin = [("origin", "https://anywhere.example")];
        let answer = api.send(Method::GET, &path, "", &origin).await;
        assert_eq!((answer.status, &answer.text), (200, &text), "{path}");
        for (name, value) in [
            ("content-type", "text/javascript; charset=utf-8"),
            ("access-control-allow-origin", "*"),
            ("cross-origin-resource-policy", "cross-origin"),
            ("cache-control", "public, max-age=300"),
            ("x-content-type-options", "nosniff"),
            ("strict-transport-security", "max-age=31536000"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{path}: {name}");
        }
        let tag = answer.header("etag").expect("a tag");
        let known = [("if-none-match", tag)];
        let same = api.send(Method::GET, &path, "", &known).await;
        assert_eq!((same.status, &*same.text), (304, ""), "{path}");
        let head = api.send(Method::HEAD, &path, "", &[]).await;
        assert_eq!((head.status, head.header("etag")), (200, Some(tag)));
    }
}

#[tokio::test]
async fn what_is_no_file_and_what_is_none_for_visitors_is_a_problem() {
    let (_wrangler, api) = start();
    let problem = json!({"type": "/problems/not-found", "title": "There is nothing here",
        "status": 404, "detail": "No route has this path."});
    for path in [
        "/nowhere.js",
        "/elements",
        "/elements/",
        "/elements/nowhere.js",
        "/index.html",
        "/docs.html",
        "/docs/",
        "/page/",
        "/index",
        "/_headers",
        "/.assetsignore",
        "/favicon.ico",
        "/%2e%2e/wrangler.toml",
    ] {
        let answer = api.get(path).await;
        assert_eq!((answer.status, &answer.body), (404, &problem), "{path}");
    }
}

#[tokio::test]
async fn the_worker_answers_for_the_pages_and_the_document() {
    let (_wrangler, api) = start();
    for path in ["/", "/docs", "/openapi.json"] {
        let answer = api.get(path).await;
        assert_eq!(answer.status, 200, "{path}");
        assert!(answer.header("x-request-id").is_some(), "{path}");
        let answer = api.send(Method::POST, path, "", &[]).await;
        assert_eq!(answer.status, 405, "{path}");
        assert_eq!(answer.header("allow"), Some("GET, HEAD"), "{path}");
    }
    // A user's id may look like a file's name.
    let answer = api.get("/v1/users/module.js").await;
    assert_eq!(
        answer.header("content-type"),
        Some("application/problem+json")
    );
}
