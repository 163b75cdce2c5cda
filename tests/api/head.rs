//! `HEAD` on every path that has `GET`.

use test_support::{Answer, Method};

use crate::app::TestApp;
use crate::document::document;

/// Returns the headers, sorted, except those that differ between any two responses.
fn headers(response: &Answer) -> Vec<(String, String)> {
    let differs = |name: &str| ["date", "x-request-id"].contains(&name);
    let headers = response.headers.iter();
    let headers = headers.filter(|(name, _)| !differs(name.as_str()));
    let mut headers: Vec<_> = headers
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
        .collect();
    headers.sort();
    headers
}

#[tokio::test]
async fn head_has_status_and_headers_of_get() {
    let app = TestApp::start();
    app.count("42", "like", "p").await;
    app.set_name("42", "Ada").await;
    let gets = document().paths();
    let gets = gets.filter(|(_, item)| item["get"].is_object());
    let example = |path: &str| path.replace("{period}", "day").replace("{user}", "42");
    let paths: Vec<String> = gets.map(|(path, _)| example(path)).collect();
    assert!(paths.len() >= 8, "{paths:?}");
    let queries = ["", "?ids=42", "?limit=0", "?unknown=1"];
    for path in paths
        .iter()
        .flat_map(|path| queries.map(|query| format!("{path}{query}")))
    {
        let (get, head) = (app.get(&path).await, app.head(&path).await);
        assert_eq!((head.status, &*head.text), (get.status, ""), "{path}");
        let [mut head, mut get] = [headers(&head), headers(&get)];
        // Its numbers change between two requests, and with them its length.
        if ["/v1/status", "/metrics"].contains(&path.as_str()) {
            for headers in [&mut head, &mut get] {
                headers.retain(|(name, _)| name != "content-length");
            }
        }
        assert_eq!(head, get, "{path}");
    }

    for (path, status) in [
        ("/nowhere", 404),
        ("/v1/users/unknown", 404),
        ("/v1/activity", 405),
        ("/v1/users", 405),
    ] {
        let response = app.head(path).await;
        assert_eq!((response.status, &*response.text), (status, ""), "{path}");
        let media_type = response.header("content-type");
        assert_eq!(media_type, Some("application/problem+json"), "{path}");
    }
    let response = app.without_key().head("/v1/users/42/activity").await;
    let found = (response.status, response.header("www-authenticate"));
    assert_eq!(found, (401, Some("Bearer")));

    let board = app.get("/v1/ranking/day").await;
    let tag = board.header("etag").expect("a tag");
    let known = [("if-none-match", tag)];
    let head = app.send(Method::HEAD, "/v1/ranking/day", "", &known).await;
    assert_eq!((head.status, head.header("etag")), (304, Some(tag)));
}
