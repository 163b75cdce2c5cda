//! `GET /openapi.json`, and what it has in common with the pages.

use test_support::{WorkerBuilder, json};

use crate::app::TestApp;
use crate::document;
use crate::problem::problem;
use crate::static_files::files;

#[tokio::test]
async fn openapi_document_is_served_verbatim() {
    let app = TestApp::start();
    let response = app.without_key().get("/openapi.json").await;
    let document = serde_json::from_str(document::TEXT).unwrap();
    response.assert(200, document);
    assert_eq!(response.header("content-type"), Some("application/json"));
}

#[tokio::test]
async fn pages_and_document_support_etags() {
    let app = TestApp::start();
    for path in ["/", "/docs", "/admin", "/gallery", "/openapi.json"] {
        let response = app.get(path).await;
        let expected = Some("public, max-age=300");
        assert_eq!(response.header("cache-control"), expected);
        let tag = response.header("etag").expect("a tag");
        for if_none_match in [tag, &format!("W/{tag}"), &format!("\"other\", {tag}"), "*"] {
            let same = app.get_if_none_match(path, if_none_match).await;
            same.assert(304, json!(null));
            assert_eq!(same.header("etag"), Some(tag));
            assert_eq!(same.header("cache-control"), Some("public, max-age=300"));
        }
        let response = app.get_if_none_match(path, "\"other\"").await;
        response.assert_status(200);
    }
}

#[tokio::test]
async fn missing_assets_are_named_in_the_error() {
    let app = TestApp::with(WorkerBuilder::without_files);
    for (path, name) in [
        ("/", "index.html"),
        ("/u/42", "user.html"),
        ("/docs", "docs.html"),
        ("/openapi.json", "openapi.json"),
    ] {
        let detail = format!("ASSETS: has no {name}; deploy the folder web with the Worker");
        let response = app.get(path).await;
        response.assert(500, problem("misconfigured", detail));
    }
    app.get("/healthz").await.assert_status(200);
}

/// Markup in a user name is shown as text, because no script writes HTML.
#[test]
fn web_files_contain_no_html_sinks() {
    let own = files().into_iter();
    // The policy of /docs restricts what the code of other packages can do.
    let own = own.filter(|(path, _)| !path.starts_with("/vendor/"));
    let scripts = own.filter(|(path, _)| path.ends_with(".js") || path.ends_with(".html"));
    for (path, text) in scripts {
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
