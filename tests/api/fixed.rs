//! `GET /openapi.json`, `GET /` and `GET /docs`

use test_support::{WorkerBuilder, json};

use crate::document;
use crate::files::files;
use crate::misconfigured::problem;
use crate::site::Site;

#[tokio::test]
async fn the_document_is_served_as_it_is() {
    let site = Site::start();
    let answer = site.without_key().get("/openapi.json").await;
    let document = serde_json::from_str(document::TEXT).unwrap();
    answer.assert(200, document);
    assert_eq!(answer.header("content-type"), Some("application/json"));
}

#[tokio::test]
async fn the_pages_are_html() {
    let site = Site::start();
    for (path, name) in [("/", "/index.html"), ("/docs", "/docs.html")] {
        let answer = site.without_key().get(path).await;
        answer.assert_status(200);
        assert_eq!(
            answer.header("content-type"),
            Some("text/html; charset=utf-8")
        );
        let (_, text) = files()
            .into_iter()
            .find(|(path, _)| path == name)
            .expect(name);
        assert_eq!(answer.text, text);
        let policy = answer.header("content-security-policy").expect("a policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self'; "));
    }
}

#[tokio::test]
async fn all_may_be_kept_and_asked_for_by_their_tag() {
    let site = Site::start();
    for path in ["/", "/docs", "/openapi.json"] {
        let answer = site.get(path).await;
        assert_eq!(answer.header("cache-control"), Some("public, max-age=300"));
        let tag = answer.header("etag").expect("a tag");
        for known in [tag, &format!("W/{tag}"), &format!("\"other\", {tag}"), "*"] {
            let same = site.get_unless(path, known).await;
            same.assert(304, json!(null));
            assert_eq!(same.header("etag"), Some(tag));
            assert_eq!(same.header("cache-control"), Some("public, max-age=300"));
        }
        site.get_unless(path, "\"other\"").await.assert_status(200);
    }
}

#[tokio::test]
async fn none_needs_the_store() {
    let site = Site::with(|worker| worker.store("http://127.0.0.1:1"));
    for path in ["/", "/docs", "/openapi.json"] {
        site.get(path).await.assert_status(200);
    }
}

#[tokio::test]
async fn a_deployment_without_its_files_says_what_is_missing() {
    let site = Site::with(WorkerBuilder::without_files);
    for (path, name) in [
        ("/", "index.html"),
        ("/docs", "docs.html"),
        ("/openapi.json", "openapi.json"),
    ] {
        let detail = format!("ASSETS: has no {name}; deploy the folder web with the Worker");
        site.get(path).await.assert(500, problem(&detail));
    }
    site.get("/healthz").await.assert_status(200);
}

/// A name that holds markup is shown as the text it is.
#[test]
fn the_page_and_the_elements_write_text_and_never_html() {
    let files = files().into_iter();
    let written = files.filter(|(path, _)| path.ends_with(".js") || path.ends_with(".html"));
    for (path, text) in written {
        for sink in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "createContextualFragment",
            "DOMParser",
            "setHTML",
            "srcdoc",
            "eval(",
            "new Function",
            "javascript:",
        ] {
            assert!(!text.contains(sink), "{path}: {sink}");
        }
    }
}
