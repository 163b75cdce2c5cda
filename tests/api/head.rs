//! `HEAD` wherever there is `GET`.

use test_support::{Answer, json};

use crate::document::document;
use crate::site::Site;

/// Headers, without what differs from answer to answer.
fn headers(answer: &Answer) -> Vec<(String, String)> {
    let differs = |name: &str| ["date", "x-request-id"].contains(&name);
    let headers = answer.headers.iter();
    let headers = headers.filter(|(name, _)| !differs(name.as_str()));
    let mut headers: Vec<_> = headers
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
        .collect();
    headers.sort();
    headers
}

#[tokio::test]
async fn it_has_the_status_and_headers_of_get_and_no_body() {
    let site = Site::start();
    site.count("42", "like", "p").await;
    site.put("/v1/users/42", &json!({"name": "Ada"}))
        .await
        .assert_status(200);
    let gets = document()
        .paths()
        .filter(|(_, item)| item.get("get").is_some());
    let paths: Vec<String> = gets
        .map(|(path, _)| path.replace("{period}", "day").replace("{user}", "42"))
        .collect();
    assert!(paths.len() >= 8, "{paths:?}");
    let queries = ["", "?ids=42", "?limit=0", "?unknown=1"];
    for path in paths
        .iter()
        .flat_map(|path| queries.map(|query| format!("{path}{query}")))
    {
        let (get, head) = (site.get(&path).await, site.head(&path).await);
        assert_eq!((head.status, &*head.text), (get.status, ""), "{path}");
        assert_eq!(headers(&head), headers(&get), "{path}");
    }
}

#[tokio::test]
async fn it_tells_problems_by_status_alone() {
    let site = Site::start();
    for (path, status) in [
        ("/nowhere", 404),
        ("/v1/users/nobody", 404),
        ("/v1/activity", 405),
        ("/v1/users", 405),
    ] {
        let answer = site.head(path).await;
        assert_eq!((answer.status, &*answer.text), (status, ""), "{path}");
        assert_eq!(
            answer.header("content-type"),
            Some("application/problem+json"),
            "{path}"
        );
    }
    let answer = site.without_key().head("/v1/users/42/activity").await;
    assert_eq!(
        (answer.status, answer.header("www-authenticate")),
        (401, Some("Bearer"))
    );
}

#[tokio::test]
async fn it_is_told_when_nothing_has_changed() {
    let site = Site::start();
    let tag = site
        .get("/v1/ranking/day")
        .await
        .header("etag")
        .expect("a tag")
        .to_owned();
    let known = [("if-none-match", tag.as_str())];
    let answer = site
        .send(test_support::Method::HEAD, "/v1/ranking/day", "", &known)
        .await;
    assert_eq!((answer.status, answer.header("etag")), (304, Some(&*tag)));
}
