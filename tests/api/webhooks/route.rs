//! `/v1/webhooks/deliveries`.

use test_support::{Answer, Method, SERVICE_KEY, Value, json};

use super::{HookApp, SECRET, start, start_with};
use crate::app::TestApp;
use crate::client::Client;
use crate::problem::problem;

const PATH: &str = "/v1/webhooks/deliveries";
const UNKNOWN: &str = "msg_00000000000000000000000000000000";

async fn page(app: &HookApp, query: &str) -> (Vec<String>, Value) {
    let page = app.read(&format!("{PATH}?{query}")).await;
    let deliveries = page["deliveries"].as_array().expect("deliveries").iter();
    let ids = deliveries.map(|delivery| delivery["id"].as_str().expect("an id").to_owned());
    (ids.collect(), page["next"].clone())
}

async fn retry(app: &Client, id: &str) -> Answer {
    app.send(Method::POST, &format!("{PATH}/{id}/retry"), "", &[])
        .await
}

#[tokio::test]
async fn pages_list_every_delivery_newest_first() {
    let app = start();
    for user in 0..5 {
        app.moderate(&format!("u{user}"), true, false).await;
    }
    app.minute().await;
    let (all, next) = page(&app, "limit=100").await;
    assert_eq!((all.len(), next), (6, Value::Null));
    let (first, next) = page(&app, "limit=4").await;
    assert_eq!(first, all[..4]);
    assert_eq!(next, json!(all[3]));
    let (second, next) = page(&app, &format!("limit=4&before={}", all[3])).await;
    assert_eq!((second, next), (all[4..].to_vec(), Value::Null));
    let (delivered, _) = page(&app, "state=delivered&limit=5").await;
    let (dropped, _) = page(&app, "state=dropped").await;
    assert_eq!((delivered.len(), dropped.len()), (5, 1));
    assert_eq!(page(&app, "state=failed").await, (Vec::new(), Value::Null));
    let expected = (Vec::new(), Value::Null);
    assert_eq!(page(&app, &format!("before={UNKNOWN}")).await, expected);
}

/// Another deployment in the same database has other deliveries.
#[tokio::test]
async fn deliveries_of_other_deployments_are_hidden() {
    let app = start();
    app.moderate("42", true, false).await;
    app.minute().await;
    let (all, _) = page(&app, "").await;
    app.worker.sql("UPDATE deliveries SET site = 'other'").await;
    assert_eq!(page(&app, "").await, (Vec::new(), Value::Null));
    let retry = retry(&app, &all[0]).await;
    retry.assert(404, problem("not-found", "No delivery has this id."));
}

#[tokio::test]
async fn page_contains_neither_url_nor_secret() {
    let endpoint = json!({"url": "https://user-7.example.invalid/s3cret-path", "secret": SECRET});
    let app = start_with(|worker| worker.json("WEBHOOKS", json!([endpoint])));
    app.moderate("42", true, false).await;
    app.worker.minute().await;
    let text = app.get(PATH).await.text;
    assert!(
        text.contains("\"endpoint\":\"user-7.example.invalid\""),
        "{text}"
    );
    let log = app.worker.log();
    for secret in ["s3cret-path", &SECRET[6..]] {
        assert!(!text.contains(secret) && !log.contains(secret), "{secret}");
    }
}

#[tokio::test]
async fn webhooks_without_journal_are_misconfigured() {
    let endpoint = json!({"url": "https://s3cret.example", "secret": SECRET});
    let app = TestApp::with(|worker| worker.json("WEBHOOKS", json!([endpoint])));
    let detail =
        "WEBHOOKS: needs the database of the journal: bind JOURNAL, or remove this variable";
    let client = app.with_key(SERVICE_KEY);
    let response = client.get(PATH).await;
    response.assert(500, problem("misconfigured", detail));
}
